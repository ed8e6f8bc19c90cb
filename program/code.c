/*
 * Divides an image's code among its functions.  Decodes only where symbols
 * overlap, to tell an entry in the middle of a function from a symbol in the
 * middle of an instruction.
 */
#include "program/code.h"

#include <stdlib.h>

#include "util/mem.h"
#include "util/search.h"
#include "util/sort.h"

enum { STUB_ALIGN = 8, STUB_INSNS = 4 };

/* A range with its owner: a function, or nameless code from nfuncs on. */
struct chunk {
	uint64_t lo, hi;
	uint32_t owner;
	bool first;		/* begins with the owner's entry */
	bool stub;		/* nameless: a stub */
};

struct chunks {
	struct chunk *chunks;
	size_t n;
};

static void
chunk_add(struct chunks *to, uint64_t lo, uint64_t hi, uint32_t owner,
	  bool first)
{
	*vec_push(to->chunks, to->n) = (struct chunk){
		.lo = lo,
		.hi = hi,
		.owner = owner,
		.first = first,
	};
}

/* The range against which entries inside it are checked. */
struct walk {
	uint64_t pos, hi;	/* pos: an instruction begins there */
};

static bool
walk_reaches(const struct image *image, struct walk *walk, uint64_t addr)
{
	struct insn insn;
	const uint8_t *text;
	size_t avail;

	while (walk->pos < addr) {
		text = image_text(image, walk->pos, &avail);
		if (!text ||
		    image->arch->decode(text, avail, walk->pos, &insn) < 0) {
			walk->hi = walk->pos;
			return true;
		}
		walk->pos += insn.len;
	}
	return walk->pos == addr;
}

/*
 * The end of the function's code, which has at least one instruction; 0 if it
 * has none.
 */
static uint64_t
func_end(const struct image *image, const struct func *func)
{
	uint64_t hi = func->nranges ? func->ranges[0].hi : 0;
	uint64_t first = image->arch->first(func->addr);
	struct insn insn;
	const uint8_t *text;
	size_t avail;

	if (hi && func->end > hi)
		hi = func->end;
	if (!hi || hi - func->addr >= INSN_MAX)
		return hi;
	text = image_text(image, first, &avail);
	if (text && image->arch->decode(text, avail, first, &insn) >= 0 &&
	    first + insn.len > hi)
		hi = first + insn.len;
	return hi;
}

/*
 * Find the functions whose address is inside an instruction.  Linear in the
 * size of the text, whatever overlaps.  The range of a function in which
 * another begins ends there, but its code (func_end) may go on.
 */
static void
entries_check(const struct image *image, bool *inside)
{
	struct walk walk = { 0 };
	size_t i;

	for (i = 0; i < image->nfuncs; i++) {
		const struct func *func = &image->funcs[i];
		uint64_t hi = func_end(image, func);

		if (func->addr < walk.hi)
			inside[i] = !walk_reaches(image, &walk, func->addr);
		if (!inside[i] && hi > walk.hi)
			walk = (struct walk){ .pos = func->addr, .hi = hi };
	}
}

/* Collect the functions' ranges, cut to the executable bytes. */
static void
ranges_collect(const struct image *image, const bool *inside, struct chunks *to)
{
	size_t i, j, avail;

	for (i = 0; i < image->nfuncs; i++) {
		const struct func *func = &image->funcs[i];

		for (j = 0; j < func->nranges && !inside[i]; j++) {
			struct range r = func->ranges[j];

			if (r.lo >= r.hi || !image_text(image, r.lo, &avail))
				continue;
			if (r.hi - r.lo > avail)
				r.hi = r.lo + avail;
			chunk_add(to, r.lo, r.hi, i, r.lo == func->addr);
		}
	}
}

/*
 * Outer ranges before inner ones.  A part that was split off may have a symbol
 * of its own: the function that it is a part of comes last and so owns it.
 */
static int
by_nesting(const void *va, const void *vb)
{
	const struct chunk *a = va, *b = vb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	if (a->first != b->first)
		return a->first ? -1 : 1;
	return a->owner < b->owner ? -1 : a->owner > b->owner;
}

static void
part_add(struct chunks *to, const struct chunk *of, uint64_t lo, uint64_t hi)
{
	if (lo < hi)
		chunk_add(to, lo, hi, of->owner, of->first && lo == of->lo);
}

/* Cut ranges that overlap into pieces that do not, ascending. */
static void
ranges_split(const struct chunks *from, struct chunks *to)
{
	const struct chunk **stack;
	size_t i, depth = 0;
	uint64_t pos = 0;

	stack = mem_alloc((from->n + 1) * sizeof(*stack));
	for (i = 0; i <= from->n; i++) {
		const struct chunk *next = i < from->n ? &from->chunks[i] :
							 NULL;

		while (depth && (!next || stack[depth - 1]->hi <= next->lo)) {
			const struct chunk *top = stack[--depth];

			part_add(to, top, pos, top->hi);
			if (top->hi > pos)
				pos = top->hi;
		}
		if (!next)
			break;
		if (depth)
			part_add(to, stack[depth - 1], pos, next->lo);
		pos = next->lo;
		stack[depth++] = next;
	}
	free(stack);
}

size_t
code_row(const struct image *image, uint64_t addr)
{
	return search_first(image->nrows, i, image->rows[i].addr >= addr);
}

/*
 * Append nameless code: code that has line rows and belongs to no function.
 * `all` has the functions' pieces at first, ascending.
 */
static void
nameless_add(const struct image *image, struct chunks *all)
{
	uint32_t owner = image->nfuncs;
	size_t i, k = 0, n = all->n, avail;

	for (i = 0; i < image->nrows; i++) {
		const struct row *row = &image->rows[i];
		struct chunk *last = all->n > n ? &all->chunks[all->n - 1] :
						  NULL;
		uint64_t hi = row->end;

		while (k < n && all->chunks[k].hi <= row->addr)
			k++;
		if (k < n && hi > all->chunks[k].lo)
			hi = all->chunks[k].lo;
		if (hi <= row->addr ||
		    (k < n && all->chunks[k].lo <= row->addr) ||
		    !image_text(image, row->addr, &avail))
			continue;
		if (hi - row->addr > avail)
			hi = row->addr + avail;
		if (!last || last->hi < row->addr)
			chunk_add(all, row->addr, hi, owner++, true);
		else if (last->hi < hi)
			last->hi = hi;
	}
}

/* Whether the range shares bytes with one of n chunks, which ascend. */
static bool
chunks_meet(const struct chunk *chunks, size_t n, uint64_t lo, uint64_t hi)
{
	size_t i = search_first(n, k, chunks[k].hi > lo);

	return i < n && chunks[i].lo < hi;
}

/*
 * Whether the instruction fills the gap up to the next stub.  Those are aligned
 * to 8 bytes at least, and may begin with an instruction that does nothing
 * (endbr64).
 */
static bool
insn_pads(const struct arch *arch, const struct insn *insn, const uint8_t *text,
	  size_t avail)
{
	struct emul emul;

	return insn->addr % STUB_ALIGN && insn->kind == INSN_PLAIN &&
	       !arch->emul_prepare(text, avail, insn->addr, &emul) &&
	       emul.only_pc;
}

/* Whether this jump ends one: to a slot's target, or in front of all stubs. */
static bool
stub_ends(const struct insn *insn, const struct range *section)
{
	return insn->kind == INSN_JUMP_INDIRECT ||
	       (insn->kind == INSN_JUMP && insn->target >= section->lo &&
		insn->target < section->hi);
}

/*
 * Append the stubs in a section: each is what goes on up to a jump.  One that
 * is bound at its first call is two, as its slot leads behind its jump at first.
 * Where there is something else the rest is left out.
 */
static void
section_stubs_add(const struct image *image, const struct range *section,
		  size_t nfuncs, size_t nrows, struct chunks *all)
{
	uint64_t lo = section->lo, at = lo;
	struct insn insn;
	const uint8_t *text;
	size_t avail, n = 0;

	for (; at < section->hi; at += insn.len) {
		text = image_text(image, at, &avail);
		if (!text || image->arch->decode(text, avail, at, &insn) < 0)
			return;
		if (at == lo && insn_pads(image->arch, &insn, text, avail)) {
			lo += insn.len;
			continue;
		}
		if (insn.kind == INSN_PLAIN && ++n < STUB_INSNS)
			continue;
		if (!stub_ends(&insn, section))
			return;
		n = 0;
		if (!chunks_meet(all->chunks, nfuncs, lo, at + insn.len) &&
		    !chunks_meet(all->chunks + nfuncs, nrows, lo,
				 at + insn.len)) {
			chunk_add(all, lo, at + insn.len,
				  image->nfuncs + (uint32_t)(all->n - nfuncs),
				  true);
			all->chunks[all->n - 1].stub = true;
		}
		lo = at + insn.len;
	}
}

/* Behind the functions' pieces, the first of all, and code with line rows. */
static void
stubs_add(const struct image *image, struct chunks *all, size_t nfuncs)
{
	size_t nrows = all->n - nfuncs;

	for (size_t i = 0; i < image->nplts; i++)
		section_stubs_add(image, &image->plts[i], nfuncs, nrows, all);
}

static int
by_owner(const void *va, const void *vb)
{
	const struct chunk *a = va, *b = vb;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->first != b->first)
		return a->first ? -1 : 1;
	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static void
codes_make(const struct image *image, struct code_map *map,
	   const struct chunks *all)
{
	struct code *code = NULL;
	size_t i;

	map->ranges = mem_alloc(all->n * sizeof(*map->ranges));
	for (i = 0; i < all->n; i++) {
		const struct chunk *chunk = &all->chunks[i];

		map->ranges[i] = (struct range){ chunk->lo, chunk->hi };
		if (!i || chunk->owner != all->chunks[i - 1].owner) {
			code = vec_push(map->codes, map->ncodes);
			*code = (struct code){
				.func = chunk->owner < image->nfuncs ?
						chunk->owner :
						FUNC_NONE,
				.ranges = &map->ranges[i],
				.entry = chunk->first,
				.stub = chunk->stub,
			};
		}
		code->nranges++;
	}
}

struct code_map *
code_map_make(const struct image *image, unsigned nameless)
{
	struct code_map *map = mem_alloc(sizeof(*map));
	struct chunks whole = { 0 }, pieces = { 0 };
	size_t nfuncs;

	map->inside = mem_alloc(image->nfuncs * sizeof(*map->inside));
	entries_check(image, map->inside);
	ranges_collect(image, map->inside, &whole);
	if (whole.n)
		sort_by_addr_and(whole.chunks, whole.n, sizeof(*whole.chunks),
				 by_nesting);
	ranges_split(&whole, &pieces);
	nfuncs = pieces.n;
	if (nameless & CODE_ROWS)
		nameless_add(image, &pieces);
	if (nameless & CODE_STUBS)
		stubs_add(image, &pieces, nfuncs);
	if (pieces.n)
		sort(pieces.chunks, pieces.n, sizeof(*pieces.chunks), by_owner);
	codes_make(image, map, &pieces);
	free(whole.chunks);
	free(pieces.chunks);
	return map;
}

void
code_map_free(struct code_map *map)
{
	if (!map)
		return;
	free(map->codes);
	free(map->ranges);
	free(map->inside);
	free(map);
}
