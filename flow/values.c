/*
 * Follows values backwards.  Knows of instructions only what struct effect
 * says.
 */
#include "flow/values.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* Records that a search has been in a block for a place. */
struct stamp {
	uint32_t search;
	uint32_t block;
	struct place place;
	uint64_t offset, limit;
};

enum {
	HOPS_MAX = 64
}; /* copies and blocks that one value may
					   pass through */

struct use
use_reg(uint8_t reg, const struct use *at)
{
	struct use use = *at;

	use.place = (struct place){
		.kind = PLACE_REG,
		.width = 8,
		.reg = reg,
		.index = REG_NONE,
	};
	return use;
}

struct use
use_index(const struct place *place, const struct use *at)
{
	struct use use = use_reg(place->index, at);

	if (place->index_width)
		use.place.width = place->index_width;
	return use;
}

uint64_t
values_address(const struct values *v, uint64_t sum)
{
	return v->in->arch->elf_class == ELFCLASS32 ? (uint32_t)sum : sum;
}

void
values_open(struct values *v, const struct cfg *cfg, const struct cfg_input *in)
{
	*v = (struct values){ .cfg = cfg, .in = in };
	v->effects = mem_grow(NULL, cfg->ninsns, sizeof(*v->effects));
	v->known = mem_alloc(cfg->ninsns * sizeof(*v->known));
}

void
values_close(struct values *v)
{
	free(v->effects);
	free(v->known);
	for (int i = 0; i < SEARCHES; i++)
		free(v->stamps[i].stamps);
}

const struct effect *
values_effect(struct values *v, uint32_t insn)
{
	const struct insn *in = &v->cfg->insns[insn];
	struct effect *effect = &v->effects[insn];
	const uint8_t *code;
	size_t avail;

	if (v->known[insn])
		return effect;
	v->known[insn] = true;
	code = v->in->text(v->in->ctx, in->addr, &avail);
	if (!code || v->in->arch->effect(code, avail, in->addr, effect))
		*effect = (struct effect){
			.kills = UINT32_MAX,
			.stores = true,
			.flags = true,
		};
	return effect;
}

bool
values_addressless(const struct values *v, uint32_t insn)
{
	const struct arch *arch = v->in->arch;
	const uint8_t *code;
	size_t avail;

	if (!arch->addressless)
		return false;
	code = v->in->text(v->in->ctx, v->cfg->insns[insn].addr, &avail);
	return code && arch->addressless(code, avail);
}

static bool
kills(const struct effect *e, uint8_t reg)
{
	return reg != REG_NONE && (e->kills | e->spoils) >> reg & 1;
}

bool
values_on_stack(const struct values *v, const struct place *place)
{
	return place->kind == PLACE_MEM && place->index == REG_NONE &&
	       (place->reg == v->in->arch->reg_sp ||
		(v->frame && place->reg == v->in->arch->reg_fp));
}

static bool
same_base(const struct place *a, const struct place *b)
{
	return a->reg == b->reg && a->index == b->index &&
	       (a->index == REG_NONE || a->scale == b->scale);
}

/* What a write to memory at e->dst does to the memory at place. */
static enum back
memory_written(const struct values *v, const struct effect *e,
	       const struct place *place)
{
	const struct place *dst = &e->dst;
	/* Low bytes are at the end if big-endian. */
	int64_t end = v->in->arch->big_endian ? 1 : 0;

	if (!same_base(dst, place))
		return values_on_stack(v, place) || values_on_stack(v, dst) ?
			       BACK_START :
			       BACK_UNKNOWN;
	if (dst->disp + dst->width <= place->disp ||
	    place->disp + place->width <= dst->disp)
		return BACK_START;
	if (dst->disp + end * dst->width == place->disp + end * place->width &&
	    dst->width >= place->width && e->op == EFFECT_COPY)
		return BACK_MADE;
	return BACK_UNKNOWN;
}

/* What an instruction does to the place; BACK_START: nothing. */
static enum back
effect_on(const struct values *v, const struct effect *e, struct place *place)
{
	bool mem = place->kind == PLACE_MEM;

	if (!mem && e->dst.kind == PLACE_REG && e->dst.reg == place->reg &&
	    e->op != EFFECT_OTHER &&
	    (e->dst.width >= 4 || e->dst.width >= place->width))
		return BACK_MADE;
	if (kills(e, place->reg) || (mem && kills(e, place->index)))
		return BACK_UNKNOWN;
	if (e->sp && place->reg == v->in->arch->reg_sp) {
		if (!mem)
			return BACK_UNKNOWN;
		place->disp += e->sp;
	}
	if (!mem)
		return BACK_START;
	if (e->stores && !values_on_stack(v, place))
		return BACK_UNKNOWN;
	if (e->dst.kind == PLACE_MEM)
		return memory_written(v, e, place);
	return BACK_START;
}

enum back
values_back(struct values *v, struct use *use)
{
	uint32_t first = v->cfg->blocks[use->block].first;
	enum back back;

	while (use->insn > first) {
		if (--v->budget < 0)
			return BACK_UNKNOWN;
		use->insn--;
		back = effect_on(v, values_effect(v, use->insn), &use->place);
		if (back != BACK_START)
			return back;
	}
	return BACK_START;
}

bool
values_edge_runs(const struct values *v, const struct edge *edge)
{
	const struct block *blocks = v->cfg->blocks;

	return blocks[edge->to].proof != PROOF_FLOW ||
	       blocks[edge->from].proof == PROOF_FLOW;
}

bool
values_only_before(const struct values *v, struct use *use)
{
	const struct cfg *cfg = v->cfg;
	const struct edge *only = NULL;
	const struct block *before;

	if (cfg->blocks[use->block].external)
		return false;
	for (uint32_t i = cfg->in [use->block]; i < cfg->in[use->block + 1];
	     i++) {
		if (!values_edge_runs(v, &cfg->edges[i]))
			continue;
		if (only)
			return false;
		only = &cfg->edges[i];
	}
	if (!only)
		return false;
	use->block = only->from;
	before = &cfg->blocks[use->block];
	use->insn = before->first + before->count;
	return true;
}

static bool
place_same(const struct place *a, const struct place *b)
{
	return a->kind == b->kind && a->reg == b->reg &&
	       (a->kind == PLACE_REG ||
		(same_base(a, b) && a->disp == b->disp));
}

struct search
search_begin(struct values *v, enum search_level level)
{
	v->stamps[level].n = 0;
	return (struct search){ &v->stamps[level], ++v->search };
}

/* Where a stamp is, or belongs: stamps of earlier searches are void. */
static struct stamp *
stamp_find(const struct search *search, uint32_t block,
	   const struct place *place)
{
	const struct stamps *stamps = search->stamps;
	uint64_t key = (uint64_t)block << 32 ^ (uint64_t)place->disp ^
		       (uint64_t)place->reg << 20;
	size_t i = key * 0x9e3779b97f4a7c15 >> 32;

	for (;; i++) {
		struct stamp *stamp = &stamps->stamps[i & (stamps->size - 1)];

		if (stamp->search != search->number ||
		    (stamp->block == block && place_same(place, &stamp->place)))
			return stamp;
	}
}

static void
stamps_grow(struct search *search)
{
	struct stamps *stamps = search->stamps, old = *stamps;

	stamps->size = old.size ? 2 * old.size : 64;
	stamps->stamps = mem_alloc(stamps->size * sizeof(*stamps->stamps));
	for (size_t i = 0; i < old.size; i++) {
		const struct stamp *stamp = &old.stamps[i];

		if (stamp->search == search->number)
			*stamp_find(search, stamp->block,
				    &stamp->place) = *stamp;
	}
	free(old.stamps);
}

bool
search_pass(struct search *search, uint32_t block, const struct place *place,
	    uint64_t offset, uint64_t limit, bool *clash)
{
	struct stamp *stamp;

	if (2 * (search->stamps->n + 1) > search->stamps->size)
		stamps_grow(search);
	stamp = stamp_find(search, block, place);
	if (stamp->search == search->number) {
		*clash |= offset != stamp->offset;
		if (offset != stamp->offset || limit <= stamp->limit)
			return false;
		stamp->limit = limit;
		return true;
	}
	*stamp = (struct stamp){ search->number, block, *place, offset, limit };
	search->stamps->n++;
	return true;
}

/* A place that a constant being looked for may come from. */
struct wanted {
	struct use use;
	uint64_t offset;
};

struct constants {
	struct values *v;
	enum search_level level;
	struct search search;
	struct wanted *todo;
	size_t n;
	bool found, failed;
	uint64_t value;
};

/*
 * Go on into the predecessors.  Nothing is known of values that come with an
 * exception, over no edge: the value at the call is found on another way.
 */
static void
constants_before(struct constants *c, const struct wanted *w)
{
	const struct cfg *cfg = c->v->cfg;
	uint32_t block = w->use.block;

	if (cfg->blocks[block].first == cfg->entry)
		c->failed = true;
	for (uint32_t i = cfg->in[block]; i < cfg->in[block + 1]; i++) {
		uint32_t from = cfg->edges[i].from;
		const struct block *before = &cfg->blocks[from];

		if (!values_edge_runs(c->v, &cfg->edges[i]) ||
		    !search_pass(&c->search, from, &w->use.place, w->offset, 0,
				 &c->failed))
			continue;
		*vec_push(c->todo, c->n) = (struct wanted){
			.use = { w->use.place, from,
				 before->first + before->count },
			.offset = w->offset,
		};
	}
}

static void
constants_add(struct constants *c, uint64_t value)
{
	c->failed |= c->found && c->value != value;
	c->found = true;
	c->value = value;
}

static enum constant constants_search(struct values *v, const struct use *use,
				      enum search_level level, uint64_t *value);

/* Read an address from constant data at addr; false if there is none. */
static bool
address_read(const struct values *v, uint64_t addr, uint64_t *value)
{
	const struct arch *arch = v->in->arch;
	unsigned n = arch->elf_class == ELFCLASS32 ? 4 : 8;
	const uint8_t *p;
	size_t avail;

	p = v->in->data ? v->in->data(v->in->ctx, addr, &avail) : NULL;
	if (!p || avail < n)
		return false;
	*value = 0;
	for (unsigned i = 0; i < n; i++)
		*value = *value << 8 | p[arch->big_endian ? i : n - 1 - i];
	/* A pointer that the dynamic linker has yet to write is 0. */
	return *value && v->in->data(v->in->ctx, *value, &avail);
}

/* The value is a word of memory that has a constant address. */
static void
constants_load(struct constants *c, const struct wanted *w,
	       const struct place *src)
{
	struct use base = use_reg(src->reg, &w->use);
	uint64_t addr = 0, value;
	enum constant known = CONSTANT_FOUND;

	if (c->level == SEARCH_BASE || src->index != REG_NONE ||
	    src->width < (c->v->in->arch->elf_class == ELFCLASS32 ? 4 : 8)) {
		c->failed = true;
		return;
	}
	if (src->reg != REG_NONE)
		known = constants_search(c->v, &base, SEARCH_BASE, &addr);
	if (known == CONSTANT_UNREACHED)
		return;
	addr = values_address(c->v, addr + (uint64_t)src->disp);
	if (known == CONSTANT_FOUND && address_read(c->v, addr, &value))
		constants_add(c, value + w->offset);
	else
		c->failed = true;
}

/* The instruction at w's use makes the value; true: look back on. */
static bool
constants_made(struct constants *c, struct wanted *w)
{
	const struct effect *e = values_effect(c->v, w->use.insn);

	if (e->op == EFFECT_COPY &&
	    (e->src.kind == PLACE_REG || values_on_stack(c->v, &e->src))) {
		w->use.place = e->src;
		return true;
	}
	if (e->op == EFFECT_COPY && e->src.kind == PLACE_MEM) {
		constants_load(c, w, &e->src);
		return false;
	}
	if (e->op != EFFECT_SUM || e->src.index != REG_NONE) {
		c->failed = true;
		return false;
	}
	if (e->src.reg != REG_NONE) {
		w->offset += (uint64_t)e->src.disp;
		w->use.place = e->src;
		w->use.place.kind = PLACE_REG;
		return true;
	}
	constants_add(c, (uint64_t)e->src.disp + w->offset);
	return false;
}

/*
 * A call that need not preserve the register does so all the same (gcc
 * -fipa-ra): else the code behind it would not use the register's value.
 */
static bool
constants_spared(const struct constants *c, const struct wanted *w)
{
	const struct place *place = &w->use.place;

	return !c->v->strict && c->v->budget >= 0 && place->kind == PLACE_REG &&
	       values_effect(c->v, w->use.insn)->spoils >> place->reg & 1;
}

static void
constants_follow(struct constants *c, struct wanted w)
{
	for (int hops = 0; hops < HOPS_MAX; hops++)
		switch (values_back(c->v, &w.use)) {
		case BACK_START:
			constants_before(c, &w);
			return;
		case BACK_MADE:
			if (!constants_made(c, &w))
				return;
			break;
		case BACK_UNKNOWN:
			if (constants_spared(c, &w))
				break;
			c->failed = true;
			return;
		}
	c->failed = true;
}

static enum constant
constants_search(struct values *v, const struct use *use,
		 enum search_level level, uint64_t *value)
{
	struct constants c = {
		.v = v,
		.level = level,
		.search = search_begin(v, level),
	};

	*vec_push(c.todo, c.n) = (struct wanted){ .use = *use };
	while (c.n && !c.failed)
		constants_follow(&c, c.todo[--c.n]);
	free(c.todo);
	*value = values_address(v, c.value);
	if (c.failed)
		return CONSTANT_NONE;
	return c.found ? CONSTANT_FOUND : CONSTANT_UNREACHED;
}

enum constant
values_constant(struct values *v, const struct use *use, uint64_t *value)
{
	return constants_search(v, use, SEARCH_CONSTANT, value);
}

static void
origin_copied(struct origin *o, const struct effect *e)
{
	if (e->src.width < o->width) {
		o->width = e->src.width;
		o->moved |= o->width <= 2 && o->bias;
		o->signs |= o->width <= 2 && e->sign;
		o->zeros |= o->width <= 2 && !e->sign;
	}
	o->use.place = e->src;
}

struct origin
values_origin(struct values *v, const struct use *use)
{
	struct origin o = { .use = *use, .width = use->place.width };
	const struct effect *e;
	struct use before;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		switch (values_back(v, &o.use)) {
		case BACK_UNKNOWN:
			return o;
		case BACK_START:
			before = o.use;
			if (!values_only_before(v, &before))
				return o;
			o.use = before;
			continue;
		case BACK_MADE:
			break;
		}
		e = values_effect(v, o.use.insn);
		if (e->op == EFFECT_COPY) {
			origin_copied(&o, e);
		} else if (e->op == EFFECT_SUM && e->src.reg != REG_NONE &&
			   e->src.index == REG_NONE && !o.moved) {
			o.bias += e->src.disp;
			o.use.place = e->src;
			o.use.place.kind = PLACE_REG;
		} else {
			return o;
		}
	}
	return o;
}

bool
origin_same(const struct origin *a, const struct origin *b)
{
	return a->use.insn == b->use.insn && a->use.block == b->use.block &&
	       place_same(&a->use.place, &b->use.place);
}
