/*
 * Makes functions of what was read.  Symbols of one address become one
 * function with aliases; DWARF adds names, declarations and further ranges;
 * split-off parts (foo.cold) go to their functions; unwind entries stand in
 * for the symbols of a stripped file.  In the end no two functions share
 * code.  Never reads a file.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/reading.h"
#include "util/mem.h"
#include "util/search.h"
#include "util/sort.h"

/* A range claimed for a function, before overlaps are resolved. */
struct claim {
	uint64_t lo, hi;
	uint32_t func;
	bool entry;		/* lo is the function's entry */
};

struct making {
	struct reading *r;
	struct claim *claims;
	size_t nclaims;
	size_t nsymbolic;	/* functions made of symbols: sorted */
	struct map names;	/* name, group -> function */
	struct map several;	/* name, group that several functions have */
};

#define ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

static int
name_compare(const char *a, const char *b)
{
	size_t alen, blen;

	if (!a || !b)
		return ORDER(!a, !b);
	if ((*a == '_') != (*b == '_'))
		return *a == '_' ? 1 : -1;
	alen = strlen(a);
	blen = strlen(b);
	return alen != blen ? ORDER(alen, blen) : strcmp(a, b);
}

/* Order by address, and at one address the best name first. */
static int
symbol_compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return ORDER(x->addr, y->addr);
	if (x->rank != y->rank)
		return ORDER(x->rank, y->rank);
	return name_compare(x->name, y->name);
}

/* If name is a cold part's, the length of its function's name; else 0. */
static size_t
cold_stem(const char *name)
{
	const char *dot = NULL, *p = name;

	while (p && (p = strstr(p, ".cold")))
		dot = p++;
	if (!dot || dot == name)
		return 0;
	p = dot + strlen(".cold");
	if (*p == '.' && isdigit((unsigned char)p[1]))
		for (p++; isdigit((unsigned char)*p); p++)
			;
	return *p ? 0 : (size_t)(dot - name);
}

static uint64_t
name_key(const char *name, size_t n, uint32_t group)
{
	return map_hash(name, n) ^ group * (uint64_t)0x9e3779b97f4a7c15;
}

static const char *
made_name(struct reading *r, uint64_t addr)
{
	char buf[32];
	int n = snprintf(buf, sizeof(buf), "func_%" PRIx64, addr);

	return pool_string(r->pool, buf, (size_t)n);
}

static void
claim_add(struct making *m, uint64_t lo, uint64_t hi, uint32_t func, bool entry)
{
	*vec_push(m->claims, m->nclaims) = (struct claim){
		.lo = lo,
		.hi = hi,
		.func = func,
		.entry = entry,
	};
}

static struct func *
func_add(struct making *m, uint64_t addr, uint64_t size, const char *name,
	 enum func_origin origin)
{
	struct image *image = m->r->image;
	struct func *func = vec_push(image->funcs, image->nfuncs);

	*func = (struct func){
		.addr = addr,
		.size = size,
		.name = name ? name : made_name(m->r, addr),
		.file = FILE_NONE,
		.origin = origin,
	};
	return func;
}

/* Note a function's name, by which cold_whose looks for it. */
static void
name_add(struct making *m, const struct symbol *s, uint32_t func)
{
	uint64_t key = name_key(s->name, strlen(s->name), s->group);
	uint32_t other;

	if (!map_put(&m->names, key, func) && map_get(&m->names, key, &other) &&
	    other != func)
		map_put(&m->several, key, 0);
}

/* Make a function of the n symbols of one address, none of them cold. */
static void
symbols_join(struct making *m, const struct symbol *symbols, size_t n)
{
	uint32_t index = (uint32_t)m->r->image->nfuncs;
	struct func *func = func_add(m, symbols->addr, 0, symbols->name,
				     symbols->origin);
	const char *last = func->name;

	func->local = symbols->rank == RANK_LOCAL;
	func->aliases = pool_alloc(m->r->pool, n * sizeof(*func->aliases));
	for (size_t i = 0; i < n; i++) {
		const struct symbol *s = &symbols[i];

		if (s->size > func->size)
			func->size = s->size;
		if (s->origin < func->origin)
			func->origin = s->origin;
		if (!s->name)
			continue;
		name_add(m, s, index);
		if (strcmp(s->name, last) != 0 &&
		    strcmp(s->name, func->name) != 0)
			func->aliases[func->naliases++] = last = s->name;
	}
}

static void
funcs_of_symbols(struct making *m)
{
	struct reading *r = m->r;
	size_t n = 0, i, j;

	/* Only the cold parts stay in r->symbols. */
	struct symbol *warm = mem_alloc(r->nsymbols * sizeof(*warm));

	for (i = 0, j = 0; i < r->nsymbols; i++)
		if (cold_stem(r->symbols[i].name))
			r->symbols[j++] = r->symbols[i];
		else
			warm[n++] = r->symbols[i];
	r->nsymbols = j;
	sort_by_addr_and(warm, n, sizeof(*warm), symbol_compare);
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && warm[j].addr == warm[i].addr; j++)
			;
		symbols_join(m, warm + i, j - i);
	}
	free(warm);
	m->nsymbolic = r->image->nfuncs;
}

/* The last of the first n functions that begins at or before addr. */
static struct func *
func_before(const struct image *image, size_t n, uint64_t addr)
{
	size_t lo = search_first(n, i, image->funcs[i].addr > addr);

	return lo ? &image->funcs[lo - 1] : NULL;
}

static struct func *
func_at(const struct making *m, uint64_t addr)
{
	struct func *func = func_before(m->r->image, m->nsymbolic, addr);

	return func && func->addr == addr ? func : NULL;
}

/* Does the code of a function made of symbols contain addr? */
static bool
func_covers(const struct making *m, uint64_t addr)
{
	struct func *func = func_before(m->r->image, m->nsymbolic, addr);

	return func && addr - func->addr < func->size;
}

/* The range that begins with the subprogram's entry, or the first one. */
static const struct range *
entry_range(const struct making *m, const struct subprogram *sub)
{
	for (size_t i = 0; i < sub->nranges; i++)
		if (sub->entry ? sub->ranges[i].lo == sub->entry :
				 func_at(m, sub->ranges[i].lo) != NULL)
			return &sub->ranges[i];
	return &sub->ranges[0];
}

static void
subprogram_join(struct making *m, const struct subprogram *sub)
{
	const struct range *entry = entry_range(m, sub);
	struct func *func = func_at(m, entry->lo);

	if (func && func->file != FILE_NONE)
		return;		/* a second subprogram of this code */
	if (!func) {
		if (func_covers(m, entry->lo))
			return;
		func = func_add(m, entry->lo, entry->hi - entry->lo, sub->name,
				FUNC_DWARF);
	}
	func->file = sub->file;
	func->line = sub->line;
	if (!func->size)
		func->size = entry->hi - entry->lo;
	for (size_t i = 0; i < sub->nranges; i++)
		if (&sub->ranges[i] != entry)
			claim_add(m, sub->ranges[i].lo, sub->ranges[i].hi,
				  (uint32_t)(func - m->r->image->funcs), false);
}

/* Find the function that cold is a part of; false unless its name is unique. */
static bool
cold_whose(const struct making *m, const struct symbol *cold, uint32_t *func)
{
	size_t n = cold_stem(cold->name);
	uint64_t own = name_key(cold->name, n, cold->group);
	uint64_t global = name_key(cold->name, n, 0);
	uint32_t any;

	if (map_get(&m->names, own, func))
		return !map_get(&m->several, own, &any);
	return map_get(&m->names, global, func) &&
	       !map_get(&m->several, global, &any);
}

static void
cold_join(struct making *m, const struct symbol *cold)
{
	const struct text *text = reading_text(m->r, cold->addr);
	uint64_t size = cold->size;
	uint32_t func;

	if (size > text->hi - cold->addr)
		size = text->hi - cold->addr;
	if (size && cold_whose(m, cold, &func))
		claim_add(m, cold->addr, cold->addr + size, func, false);
}

static void
frame_join(struct making *m, const struct range *frame)
{
	struct func *func = func_at(m, frame->lo);

	if (func && !func->size)
		func->size = frame->hi - frame->lo;
	else if (!func && !func_covers(m, frame->lo))
		func_add(m, frame->lo, frame->hi - frame->lo, NULL,
			 FUNC_EH_FRAME);
}

static int
func_compare(const void *a, const void *b)
{
	const struct func *x = a, *y = b;

	if (x->addr != y->addr)
		return ORDER(x->addr, y->addr);
	if (x->origin != y->origin)
		return ORDER(x->origin, y->origin);
	return ORDER(x->nranges, y->nranges);
}

/*
 * Sort the functions, some of which were added at the end, keep the best one
 * of each address, and renumber the claims.  Meanwhile nranges holds each
 * function's old index, which the claims have.
 */
static void
funcs_sort(struct making *m)
{
	struct image *image = m->r->image;
	uint32_t *moved = mem_alloc(image->nfuncs * sizeof(*moved));
	size_t n = 0;

	for (size_t i = 0; i < image->nfuncs; i++)
		image->funcs[i].nranges = i;
	if (image->nfuncs)
		sort_by_addr_and(image->funcs, image->nfuncs,
				 sizeof(*image->funcs), func_compare);
	for (size_t i = 0; i < image->nfuncs; i++) {
		size_t was = image->funcs[i].nranges;

		if (!n || image->funcs[n - 1].addr != image->funcs[i].addr)
			image->funcs[n++] = image->funcs[i];
		moved[was] = (uint32_t)(n - 1);
		image->funcs[n - 1].nranges = 0;
	}
	image->nfuncs = n;
	for (size_t i = 0; i < m->nclaims; i++)
		m->claims[i].func = moved[m->claims[i].func];
	free(moved);
}

/* Claim each function's own code, up to the end of its text at most. */
static void
funcs_claim(struct making *m)
{
	struct image *image = m->r->image;

	for (size_t i = 0; i < image->nfuncs; i++) {
		struct func *func = &image->funcs[i];
		const struct text *text = reading_text(m->r, func->addr);
		uint64_t size = text->hi - func->addr;

		if (func->size && func->size < size)
			size = func->size;
		else if (!func->size && i + 1 < image->nfuncs &&
			 func[1].addr - func->addr < size)
			size = func[1].addr - func->addr;
		func->end = func->addr + size;
		claim_add(m, func->addr, func->end, (uint32_t)i, true);
	}
}

/* Order by address; at one address entries last, and the longer first. */
static int
claim_compare(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->lo != y->lo)
		return ORDER(x->lo, y->lo);
	if (x->entry != y->entry)
		return ORDER(x->entry, y->entry);
	if (x->hi != y->hi)
		return ORDER(y->hi, x->hi);
	return ORDER(x->func, y->func);
}

static void
part_add(struct image_priv *priv, uint64_t lo, uint64_t hi, uint32_t func)
{
	if (lo < hi)
		*vec_push(priv->ranges, priv->nranges) = (struct func_range){
			.lo = lo,
			.hi = hi,
			.func = func,
		};
}

/* Give every address to the last, in claim_compare's order, that covers it. */
static void
claims_resolve(struct making *m)
{
	struct image_priv *priv = m->r->image->priv;
	struct claim *open = NULL;
	size_t nopen = 0;
	uint64_t done = 0;

	if (m->nclaims)
		sort_by_addr_and(m->claims, m->nclaims, sizeof(*m->claims),
				 claim_compare);
	for (size_t i = 0; i <= m->nclaims; i++) {
		uint64_t lo = i < m->nclaims ? m->claims[i].lo : UINT64_MAX;

		while (nopen && open[nopen - 1].hi <= lo) {
			const struct claim *top = &open[--nopen];

			part_add(priv, done, top->hi, top->func);
			if (top->hi > done)
				done = top->hi;
		}
		if (nopen)
			part_add(priv, done, lo, open[nopen - 1].func);
		done = lo;
		if (i < m->nclaims)
			*vec_push(open, nopen) = m->claims[i];
	}
	free(open);
}

/* Hand the ranges to their functions, the range with the entry first. */
static void
ranges_give(struct reading *r)
{
	struct image *image = r->image;
	struct image_priv *priv = image->priv;

	for (size_t i = 0; i < priv->nranges; i++)
		image->funcs[priv->ranges[i].func].nranges++;
	for (size_t i = 0; i < image->nfuncs; i++) {
		struct func *func = &image->funcs[i];

		func->ranges = pool_alloc(
			r->pool, func->nranges * sizeof(*func->ranges));
		func->nranges = 1;
	}
	for (size_t i = 0; i < priv->nranges; i++) {
		const struct func_range *piece = &priv->ranges[i];
		struct func *func = &image->funcs[piece->func];
		struct range range = { piece->lo, piece->hi };

		if (piece->lo == func->addr) {
			func->ranges[0] = range;
			func->size = range.hi - range.lo;
		} else {
			func->ranges[func->nranges++] = range;
		}
	}
}

void
funcs_make(struct reading *r)
{
	struct making m = { .r = r };

	funcs_of_symbols(&m);
	for (size_t i = 0; i < r->nsubs; i++)
		subprogram_join(&m, &r->subs[i]);
	for (size_t i = 0; i < r->nframes; i++)
		frame_join(&m, &r->frames[i]);
	for (size_t i = 0; i < r->nsymbols; i++)
		cold_join(&m, &r->symbols[i]);
	funcs_sort(&m);
	funcs_claim(&m);
	claims_resolve(&m);
	ranges_give(r);
	free(m.claims);
	map_free(&m.names);
	map_free(&m.several);
}
