/*
 * Encodes data files, see man/pmon.out.5.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile/profile_code.h"
#include "report/profile/profile_inner.h"
#include "report/profile/sections.h"
#include "util/fail.h"

static void
runs_put(const struct profile *profile, struct sink *out)
{
	put_uint(out, profile->nruns);
	for (size_t i = 0; i < profile->nruns; i++) {
		const struct profile_run *run = &profile->runs[i];

		put_fixed(out, run->id, 8);
		put_uint(out, run->start);
		put_uint(out, run->elapsed);
		put_uint(out, run->processes);
		put_uint(out, run->threads);
		put_uint(out, run->events);
		put_string(out, run->command);
		put_string(out, run->outcome);
		put_string(out, run->version);
		put_uint(out, run->nremarks);
		for (size_t k = 0; k < run->nremarks; k++)
			put_string(out, run->remarks[k]);
	}
}

/* Stops have a section of their own, which readers may ignore. */
static void
stops_put(const struct profile *profile, struct sink *out)
{
	bool any = false;

	for (size_t i = 0; i < profile->nruns; i++)
		any |= profile->runs[i].nstops != 0;
	for (size_t i = 0; any && i < profile->nruns; i++) {
		const struct profile_run *run = &profile->runs[i];

		put_uint(out, run->nstops);
		for (size_t k = 0; k < run->nstops; k++) {
			put_string(out, run->stops[k].cause);
			put_uint(out, run->stops[k].n);
			put_uint(out, run->stops[k].ns);
		}
	}
}

/* The same is true of where programs ended. */
static void
deaths_put(const struct profile *profile, struct sink *out)
{
	bool any = false;

	for (size_t i = 0; i < profile->nruns; i++)
		any |= profile->runs[i].death.object != 0;
	for (size_t i = 0; any && i < profile->nruns; i++) {
		const struct profile_death *death = &profile->runs[i].death;

		put_uint(out, death->object);
		if (!death->object)
			continue;
		put_uint(out, death->addr);
		put_uint(out, death->how);
	}
}

static void
parts_put(const struct profile *profile, struct sink *out)
{
	if (!profile->nparts)
		return;
	put_uint(out, profile->nparts);
	for (size_t i = 0; i < profile->nparts; i++) {
		const struct profile_part *part = &profile->parts[i];

		put_uint(out, part->run);
		put_uint(out, part->parent == PART_NONE ? 0 : i - part->parent);
		put_uint(out, part->pid);
		put_uint(out, part->tid);
		put_uint(out, part->start);
		put_string(out, part->program);
	}
}

static void
objects_put(const struct profile *profile, struct sink *out)
{
	put_uint(out, profile->nobjects);
	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct profile_object *object = &profile->objects[i];

		put_string(out, object->path);
		put_uint(out, object->machine);
		put_byte(out, (unsigned)object->build_id_len);
		put_bytes(out, object->build_id, object->build_id_len);
		if (!object->build_id_len) {
			put_uint(out, object->text_size);
			put_fixed(out, object->text_crc, 4);
		}
		put_byte(out, object->placement);
		put_uint(out, object->units);
		put_uint(out, object->nfuncs);
	}
}

/* ---- one function */

static unsigned
func_flags(const struct profile_func *func, bool same)
{
	unsigned flags = func->state;

	if (func->unresolved)
		flags |= FUNC_UNRESOLVED;
	if (same)
		flags |= FUNC_SAME;
	if (func->nranges == 1 && func->ranges[0].lo == func->addr)
		flags |= FUNC_RANGE;
	if (func->nabnormals)
		flags |= FUNC_ABNORMALS;
	if (func->ncalls)
		flags |= FUNC_CALLS;
	if (func->sites || func->counters || func->increments || func->every)
		flags |= FUNC_FIGURES;
	return flags;
}

static void
head_put(const struct profile *profile, const struct profile_func *func,
	 uint64_t expected, unsigned flags, struct sink *out)
{
	put_delta(out, func->addr, expected);
	if (profile->nparts)
		put_uint(out, func->part == PART_NONE ? 0 : func->part + 1);
	put_byte(out, flags);
	if (func->why)
		put_string(out, func->why);
	if (flags & FUNC_RANGE) {
		put_uint(out, func->ranges[0].hi - func->addr);
	} else {
		put_uint(out, func->nranges);
		for (size_t i = 0; i < func->nranges; i++) {
			const struct range *range = &func->ranges[i];

			put_delta(out, range->lo, func->addr);
			put_uint(out, range->hi - range->lo);
		}
	}
	if (!(flags & FUNC_SAME))
		put_uint(out, func->nblocks);
}

static uint64_t
block_end(const struct profile_block *block)
{
	return block->addr + block->size;
}

static void
blocks_put(const struct profile_func *func, struct sink *sections)
{
	const struct profile_block *blocks = func->blocks;
	struct sink *gaps = &sections[SECTION_GAPS];
	size_t ngaps = 0, last = 0;

	if (!func->nblocks)
		return;
	for (size_t i = 0; i < func->nblocks; i++) {
		put_uint(&sections[SECTION_SIZES], blocks[i].size);
		put_delta(&sections[SECTION_INSNS], blocks[i].ninsns,
			  blocks[i].size / INSN_SIZE);
		ngaps += i && blocks[i].addr != block_end(&blocks[i - 1]);
	}
	put_delta(gaps, blocks[0].addr, func->addr);
	put_uint(gaps, ngaps);
	for (size_t i = 1; i < func->nblocks; i++) {
		uint64_t end = block_end(&blocks[i - 1]);

		if (blocks[i].addr == end)
			continue;
		put_uint(gaps, i - last);
		put_delta(gaps, blocks[i].addr, end);
		last = i;
	}
}

static enum edge_goes
edge_goes(const struct profile_edge *edge)
{
	if (edge->to == FLOW_EXIT)
		return GOES_EXIT;
	return edge->to == vertex_next(edge->from) ? GOES_NEXT : GOES_FAR;
}

/* Write the codes of the n edges of one vertex, from index `first` on. */
static void
codes_put(const struct profile_func *func, size_t first, size_t n,
	  struct sink *out)
{
	const struct profile_edge *edges = n ? &func->edges[first] : NULL;
	unsigned taken = edge_code(GOES_FAR, BY_TAKEN, false);
	unsigned fall = edge_code(GOES_NEXT, BY_FALL, false);
	unsigned code[2] = { 0 };

	for (size_t i = 0; i < n && i < 2; i++)
		code[i] = edge_code(edge_goes(&edges[i]), edges[i].by, false);
	if (!n)
		put_byte(out, EDGES_NONE);
	else if (n == 2 && code[0] == taken && code[1] == fall)
		put_byte(out, EDGES_TAKEN_FALL);
	else if (n == 2 && code[0] == fall && code[1] == taken)
		put_byte(out, EDGES_FALL_TAKEN);
	else
		for (size_t i = 0; i < n; i++)
			put_byte(out, edge_code(edge_goes(&edges[i]),
						edges[i].by, i + 1 == n));
}

static void
edges_put(const struct profile_func *func, struct sink *sections)
{
	size_t first = 0, last;

	for (uint32_t v = FLOW_ROOT; v < FLOW_BLOCK + func->nblocks;
	     v = vertex_next(v)) {
		uint32_t near = v;

		for (last = first; last < func->nedges; last++) {
			const struct profile_edge *edge = &func->edges[last];

			if (edge->from != v)
				break;
			if (edge_goes(edge) != GOES_FAR)
				continue;
			put_delta(&sections[SECTION_TARGETS], edge->to, near);
			near = edge->to;
		}
		codes_put(func, first, last - first, &sections[SECTION_EDGES]);
		first = last;
	}
}

/* Whether all counts are known, and forced ones are as predicted. */
static bool
counts_flow(const struct profile_func *func)
{
	struct arcs arcs = arcs_list(func);
	bool flow = true;

	for (size_t i = 0; i < arcs.n && flow; i++) {
		const struct count *count = arcs.arcs[i].count;
		bool forced;
		uint64_t expected = arc_predict(&arcs, i, &forced);

		flow = count->state != COUNT_UNKNOWN &&
		       (!forced || count->n == expected);
		arc_known(&arcs, i);
	}
	arcs_free(&arcs);
	return flow;
}

static void
states_put(const struct arcs *arcs, bool flow, struct sink *out)
{
	bool all = true, known = true;
	unsigned bits = 0;

	for (size_t i = 0; i < arcs->n; i++) {
		const struct count *count = arcs->arcs[i].count;

		all &= state_code(count) == state_code(arcs->arcs[0].count);
		known &= count->state != COUNT_UNKNOWN;
	}
	if (all) {
		put_uint(out, flow + 2 * (STATES_ALL +
					  (unsigned)state_code(
						  arcs->arcs[0].count)));
		return;
	}
	put_uint(out, flow + 2 * (known ? STATES_DERIVED : STATES_EACH));
	for (size_t i = 0; i < arcs->n; i++) {
		const struct count *count = arcs->arcs[i].count;

		if (!known) {
			put_byte(out, state_code(count));
			continue;
		}
		bits |= (unsigned)(count->state == COUNT_DERIVED) << i % 8;
		if (i % 8 == 7 || i + 1 == arcs->n) {
			put_byte(out, bits);
			bits = 0;
		}
	}
}

static void
counts_put(const struct profile_func *func, struct sink *sections)
{
	struct arcs arcs = arcs_list(func);
	bool flow = counts_flow(func);

	if (arcs.n)
		states_put(&arcs, flow, &sections[SECTION_STATES]);
	for (size_t i = 0; i < arcs.n; i++) {
		const struct count *count = arcs.arcs[i].count;
		bool forced;
		uint64_t expected = arc_predict(&arcs, i, &forced);

		/* An unknown count is 0, so the difference is 0. */
		if (count->state == COUNT_UNKNOWN)
			expected = 0;
		if (!flow || !forced)
			put_delta(&sections[SECTION_COUNTS], count->n,
				  expected);
		arc_known(&arcs, i);
	}
	arcs_free(&arcs);
}

static void
extras_put(const struct profile_func *func, unsigned flags, struct sink *out)
{
	uint64_t every = 0;

	if (flags & FUNC_ABNORMALS)
		put_uint(out, func->nabnormals);
	for (size_t i = 0; i < func->nabnormals; i++) {
		const struct profile_abnormal *abnormal = &func->abnormals[i];

		put_delta(out, abnormal->addr,
			  i ? abnormal[-1].addr : func->addr);
		put_uint(out, 2 * (uint64_t)abnormal->rest + abnormal->during);
		put_uint(out, abnormal->left);
		put_uint(out, abnormal->came);
	}
	if (flags & FUNC_CALLS)
		put_uint(out, func->ncalls);
	for (size_t i = 0; i < func->ncalls; i++) {
		const struct profile_call *call = &func->calls[i];

		put_delta(out, call->addr, i ? call[-1].addr : func->addr);
		put_uint(out, call->object == OBJECT_NONE ?
				      0 :
				      (uint64_t)call->object + 1);
		put_uint(out, call->target);
		put_uint(out, call->n);
	}
	if (flags & FUNC_FIGURES) {
		for (size_t i = 0; i < func->nblocks; i++)
			every += func->blocks[i].count.n;
		put_uint(out, func->sites);
		put_uint(out, func->counters);
		put_uint(out, func->increments);
		put_delta(out, func->every, every);
	}
}

static bool
same_allowed(const struct profile_func *func)
{
	return func->nblocks + func->nedges <= SAME_MAX * arcs_free_count(func);
}

/* before: the function before it in the object, or NULL. */
static void
func_put(const struct profile *profile, const struct profile_func *func,
	 const struct profile_func *before, struct sink *sections)
{
	bool same = before && func->nblocks && func->state == PROFILE_COUNTED &&
		    graph_same(before, func) && same_allowed(func);
	unsigned flags = func_flags(func, same);

	head_put(profile, func, addr_expect(before), flags,
		 &sections[SECTION_FUNCS]);
	put_string(&sections[SECTION_NAMES], func->name);
	if (!same) {
		blocks_put(func, sections);
		edges_put(func, sections);
	}
	if (func->state != PROFILE_NEVER)
		counts_put(func, sections);
	extras_put(func, flags, &sections[SECTION_EXTRAS]);
}

/* ---- the file */

uint8_t *
profile_encode(const struct profile *profile, size_t *size)
{
	struct sink sections[SECTIONS] = { 0 }, file = { 0 };
	struct func_cursor at = { 0 };
	const struct profile_func *func;

	must(!profile_fault(profile));
	runs_put(profile, &sections[SECTION_RUNS]);
	deaths_put(profile, &sections[SECTION_DEATHS]);
	parts_put(profile, &sections[SECTION_PARTS]);
	stops_put(profile, &sections[SECTION_STOPS]);
	objects_put(profile, &sections[SECTION_OBJECTS]);
	while ((func = func_next(profile, &at)))
		func_put(profile, func, at.func > 1 ? func - 1 : NULL,
			 sections);
	doubts_put(profile, &sections[SECTION_DOUBTS]);
	times_put(profile, &sections[SECTION_TIMES]);
	sections_pack(sections, &file);
	sections_free(sections);
	*size = file.n;
	return file.bytes;
}
