/*
 * Finds the instruction by which an indirect jump reads its table, and the
 * entries that lead to the jump's targets.  Decides nothing about where the
 * jump goes: tables.c has done that.
 */
#include "flow/table_use.h"

#include <stdlib.h>

#include "flow/table_find.h"
#include "util/mem.h"

/* Bytes of an entry: an address.  Entries behind the first ENTRIES_MAX would
   cost each thread more memory than they save time. */
enum { ENTRY = 8, ENTRIES_MAX = 512 };

static bool
targets_have(const uint32_t *targets, size_t n, uint32_t insn)
{
	size_t lo = 0;

	while (lo < n) {
		size_t middle = lo + (n - lo) / 2;

		if (targets[middle] == insn)
			return true;
		if (targets[middle] < insn)
			lo = middle + 1;
		else
			n = middle;
	}
	return false;
}

static uint64_t
entry_value(const struct values *v, const uint8_t *p)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < ENTRY; i++)
		value |=
			(uint64_t)p[v->in->arch->big_endian ? ENTRY - 1 - i : i]
			<< 8 * i;
	return value;
}

/*
 * Find the instruction that loads the jump's target; the place that it reads
 * into *at.
 */
static int
load_find(struct values *v, uint32_t jump, struct use *at,
	  struct table_use *use)
{
	const struct effect *e = values_effect(v, jump);

	*at = (struct use){
		.place = e->src,
		.block = cfg_block_of(v->cfg, jump),
		.insn = jump,
	};
	*use = (struct table_use){
		.jump = jump,
		.load = jump,
		.target = REG_NONE,
	};
	if (e->op == EFFECT_SUM)
		return -1;
	if (e->src.kind == PLACE_REG) {
		use->target = e->src.reg;
		if (values_back(v, at) != BACK_MADE)
			return -1;
		e = values_effect(v, at->insn);
		if (e->op != EFFECT_COPY)
			return -1;
		use->load = at->insn;
		at->place = e->src;
	}
	return at->place.kind == PLACE_MEM && at->place.width == ENTRY &&
			       at->place.scale == ENTRY &&
			       at->place.index != REG_NONE &&
			       !at->place.index_width ?
		       0 :
		       -1;
}

int
table_use_find(struct values *v, uint32_t jump, const uint32_t *targets,
	       size_t ntargets, struct table_use *use)
{
	struct table table = { .width = 0 };
	const uint8_t *p;
	struct use at;
	size_t avail;

	if (load_find(v, jump, &at, use) ||
	    table_find(v, &at, &table) != CONSTANT_FOUND ||
	    table.index.insn != use->load ||
	    table.index.place.kind != PLACE_REG ||
	    table.index.place.reg != at.place.index)
		return -1;
	p = v->in->data(v->in->ctx, table.addr, &avail);
	use->table = table.addr;
	use->index = at.place.index;
	for (; p && avail >= ENTRY && use->n < ENTRIES_MAX;
	     p += ENTRY, avail -= ENTRY) {
		long insn = cfg_insn(v->cfg, entry_value(v, p));

		if (insn < 0 ||
		    !targets_have(targets, ntargets, (uint32_t)insn))
			break;
		*vec_push(use->entries, use->n) = (uint32_t)insn;
	}
	return use->n ? 0 : -1;
}
