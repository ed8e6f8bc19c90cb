/*
 * Decodes data files, see man/pmon.out.5.  A file may be damaged or made to do
 * harm: arrays grow only as their elements are found, each of which takes at
 * least a byte, and profile_fault checks the profile.
 */
#include "report/profile/profile_code.h"
#include "report/profile/profile_inner.h"
#include "report/profile/sections.h"
#include "util/fail.h"
#include "util/mem.h"

struct reader {
	struct profile *profile;
	struct feed feeds[SECTIONS];
};

/* ---- runs, parts, objects */

static void
run_get(struct feed *feed, struct profile_run *run)
{
	size_t n;

	run->id = get_fixed(feed, 8);
	run->start = get_uint(feed);
	run->elapsed = get_uint(feed);
	run->processes = get_uint(feed);
	run->threads = get_uint(feed);
	run->events = get_uint(feed);
	run->command = get_string(feed);
	run->outcome = get_string(feed);
	run->version = get_string(feed);
	n = get_uint(feed);
	while (n-- && !feed->bad)
		*vec_push(run->remarks, run->nremarks) = get_string(feed);
}

static void
runs_get(struct profile *profile, struct feed *feed)
{
	size_t n = get_uint(feed);

	while (n-- && !feed->bad) {
		struct profile_run *run = vec_push(profile->runs,
						   profile->nruns);

		*run = (struct profile_run){ 0 };
		run_get(feed, run);
	}
}

static void
stops_get(struct profile *profile, struct feed *feed)
{
	for (size_t i = 0; i < profile->nruns && feed_left(feed); i++) {
		struct profile_run *run = &profile->runs[i];
		size_t n = get_uint(feed);

		while (n-- && !feed->bad) {
			struct profile_stop *stop = vec_push(run->stops,
							     run->nstops);

			stop->cause = get_string(feed);
			stop->n = get_uint(feed);
			stop->ns = get_uint(feed);
		}
	}
}

static void
deaths_get(struct profile *profile, struct feed *feed)
{
	for (size_t i = 0; i < profile->nruns && feed_left(feed); i++) {
		struct profile_death *death = &profile->runs[i].death;
		death->object = (uint32_t)get_max(feed, UINT32_MAX);
		if (!death->object)
			continue;
		death->addr = get_uint(feed);
		death->how = (uint8_t)get_max(feed, DEATH_CALL);
	}
}

static void
parts_get(struct profile *profile, struct feed *feed)
{
	size_t n = feed_left(feed) ? get_uint(feed) : 0;

	for (size_t i = 0; i < n && !feed->bad; i++) {
		struct profile_part *part = vec_push(profile->parts,
						     profile->nparts);
		uint64_t back;

		part->run = (uint32_t)get_max(feed, UINT32_MAX);
		back = get_max(feed, i);
		part->parent = back ? (uint32_t)(i - back) : PART_NONE;
		part->pid = (uint32_t)get_max(feed, UINT32_MAX);
		part->tid = (uint32_t)get_max(feed, UINT32_MAX);
		part->start = get_uint(feed);
		part->program = get_string(feed);
	}
}

static void
object_get(struct feed *feed, struct profile_object *object, uint64_t *nfuncs)
{
	object->path = get_string(feed);
	object->machine = (uint16_t)get_max(feed, UINT16_MAX);
	object->build_id_len = get_byte(feed);
	if (object->build_id_len > BUILD_ID_MAX) {
		object->build_id_len = 0;
		feed->bad = true;
	}
	get_bytes(feed, object->build_id, object->build_id_len);
	if (!object->build_id_len) {
		object->text_size = get_uint(feed);
		object->text_crc = (uint32_t)get_fixed(feed, 4);
	}
	object->placement = (uint8_t)get_byte(feed);
	object->units = (uint32_t)get_max(feed, UINT32_MAX);
	*nfuncs = get_uint(feed);
}

/* ---- one function */

static unsigned
head_get(const struct reader *reader, struct feed *feed,
	 struct profile_func *func, uint64_t expected, uint64_t *nblocks)
{
	uint64_t part = 0, n;
	unsigned flags;

	func->addr = get_delta(feed, expected);
	if (reader->profile->nparts)
		part = get_max(feed, reader->profile->nparts);
	func->part = part ? (uint32_t)(part - 1) : PART_NONE;
	flags = get_byte(feed);
	func->state = flags & FUNC_STATE;
	func->unresolved = flags & FUNC_UNRESOLVED;
	if (func->state == PROFILE_UNKNOWN)
		func->why = get_string(feed);
	n = flags & FUNC_RANGE ? 1 : get_uint(feed);
	while (n-- && !feed->bad) {
		struct range *range = vec_push(func->ranges, func->nranges);

		range->lo = flags & FUNC_RANGE ? func->addr :
						 get_delta(feed, func->addr);
		range->hi = range->lo + get_uint(feed);
	}
	*nblocks = flags & FUNC_SAME ? 0 : get_max(feed, UINT32_MAX - 2);
	return flags;
}

/*
 * Gaps before blocks.  `next` is the index of the next block that does not
 * begin at the end of the one before, or UINT64_MAX.
 */
struct gaps {
	struct feed *feed;
	uint64_t left, next;
};

static void
gap_next(struct gaps *gaps, uint64_t last)
{
	gaps->next = UINT64_MAX;
	if (!gaps->left)
		return;
	gaps->left--;
	gaps->next = last + get_uint(gaps->feed);
	if (gaps->next <= last)
		gaps->feed->bad = true;
}

static void
blocks_get(struct reader *reader, struct profile_func *func, uint64_t n)
{
	struct feed *sizes = &reader->feeds[SECTION_SIZES];
	struct feed *insns = &reader->feeds[SECTION_INSNS];
	struct gaps gaps = { .feed = &reader->feeds[SECTION_GAPS] };
	uint64_t addr, ninsns;

	if (!n)
		return;
	/* Each takes a byte: no file has more blocks than that. */
	if (n > feed_left(sizes)) {
		sizes->bad = true;
		return;
	}
	func->blocks = vec_make(n, sizeof(*func->blocks));
	addr = get_delta(gaps.feed, func->addr);
	gaps.left = get_uint(gaps.feed);
	gap_next(&gaps, 0);
	for (uint64_t i = 0; i < n && !sizes->bad && !gaps.feed->bad; i++) {
		struct profile_block *block = &func->blocks[func->nblocks++];

		if (i == gaps.next) {
			addr = get_delta(gaps.feed, addr);
			gap_next(&gaps, i);
		}
		*block = (struct profile_block){
			.addr = addr,
			.size = (uint32_t)get_max(sizes, UINT32_MAX),
			.count.state = COUNT_EXACT,
		};
		ninsns = get_delta(insns, block->size / INSN_SIZE);
		if (ninsns > UINT32_MAX)
			insns->bad = true;
		block->ninsns = (uint32_t)ninsns;
		addr += block->size;
	}
	/* A gap is left over. */
	if (gaps.next != UINT64_MAX)
		gaps.feed->bad = true;
}

/* Add the edge of a code; the caller sets the target of GOES_FAR. */
static struct profile_edge *
edge_get(struct profile_func *func, uint32_t vert, unsigned code)
{
	struct profile_edge *edge = vec_push(func->edges, func->nedges);

	code = (code - 1) / 2;
	*edge = (struct profile_edge){
		.from = vert,
		.to = code % GOES == GOES_EXIT ? FLOW_EXIT : vertex_next(vert),
		.by = (uint8_t)(code / GOES),
		.count.state = COUNT_EXACT,
	};
	return edge;
}

/* Read the edges.  Unless a feed is bad, all lead to blocks or FLOW_EXIT. */
static void
edges_get(struct reader *reader, struct profile_func *func)
{
	struct feed *codes = &reader->feeds[SECTION_EDGES];
	struct feed *targets = &reader->feeds[SECTION_TARGETS];
	unsigned taken = edge_code(GOES_FAR, BY_TAKEN, false);
	unsigned fall = edge_code(GOES_NEXT, BY_FALL, false);
	uint32_t vert = FLOW_ROOT, end = FLOW_BLOCK + (uint32_t)func->nblocks;
	uint32_t near = vert;
	unsigned second = 0;

	while (vert < end && !codes->bad && !targets->bad) {
		unsigned code = second ? second : get_byte(codes);
		struct profile_edge *edge;

		second = 0;
		if (code >= EDGES_CODES) {
			codes->bad = true;
		} else if (code >= EDGE_CODES) {
			second = (code == EDGES_TAKEN_FALL ? fall : taken) + 1;
			code = code == EDGES_TAKEN_FALL ? taken : fall;
		}
		if (codes->bad)
			break;
		if (code != EDGES_NONE) {
			edge = edge_get(func, vert, code);
			if ((code - 1) / 2 % GOES == GOES_FAR)
				near = edge->to = (uint32_t)get_delta(targets,
								      near);
			if (edge->to >= end)
				targets->bad = true;
			if (code % 2)
				continue;
		}
		vert = near = vertex_next(vert);
	}
}

static bool
reader_bad(const struct reader *reader)
{
	bool bad = false;

	for (size_t i = 0; i < SECTIONS; i++)
		bad |= reader->feeds[i].bad;
	return bad;
}

/*
 * Copy the graph of the function before (FUNC_SAME).  The counts that are left
 * limit its size, so that a small file cannot make large graphs (SAME_MAX).
 */
static void
graph_copy(struct reader *reader, struct profile_func *func,
	   const struct profile_func *before)
{
	struct feed *counts = &reader->feeds[SECTION_COUNTS];
	size_t arcs = before ? before->nblocks + before->nedges : 0;

	if (!before || func->state != PROFILE_COUNTED ||
	    arcs / SAME_MAX > feed_left(counts) ||
	    arcs > SAME_MAX * arcs_free_count(before)) {
		counts->bad = true;
		return;
	}
	for (size_t i = 0; i < before->nblocks; i++)
		*vec_push(func->blocks, func->nblocks) = before->blocks[i];
	for (size_t i = 0; i < before->nedges; i++)
		*vec_push(func->edges, func->nedges) = before->edges[i];
}

/* Read the states of the counts; returns whether the counts flow. */
static bool
states_get(const struct arcs *arcs, struct feed *feed)
{
	uint64_t how = get_max(feed, 2 * (STATES_ALL + UINT8_MAX) + 1);
	bool flow = how & 1;
	unsigned bits = 0, code = 0;

	how /= 2;
	for (size_t i = 0; i < arcs->n && !feed->bad; i++) {
		struct count *count = arcs->arcs[i].count;

		if (how == STATES_DERIVED) {
			bits = i % 8 ? bits >> 1 : get_byte(feed);
			code = bits & 1 ? COUNT_DERIVED : COUNT_EXACT;
		} else {
			code = how == STATES_EACH ? get_byte(feed) :
						    (unsigned)how - STATES_ALL;
		}
		count->state = code & 3;
		count->reason = (uint8_t)(code >> 2);
		if (flow && count->state == COUNT_UNKNOWN)
			feed->bad = true;
	}
	return flow;
}

static void
counts_get(struct reader *reader, struct profile_func *func)
{
	struct arcs arcs = arcs_list(func);
	struct feed *feed = &reader->feeds[SECTION_COUNTS];
	bool flow = false;

	if (arcs.n)
		flow = states_get(&arcs, &reader->feeds[SECTION_STATES]);
	for (size_t i = 0; i < arcs.n && !feed->bad; i++) {
		struct count *count = arcs.arcs[i].count;
		bool forced;
		uint64_t expected = arc_predict(&arcs, i, &forced);

		if (count->state == COUNT_UNKNOWN)
			expected = 0;
		count->n = flow && forced ? expected :
					    get_delta(feed, expected);
		arc_known(&arcs, i);
	}
	arcs_free(&arcs);
}

static void
abnormals_get(struct profile_func *func, struct feed *feed)
{
	uint64_t n = get_uint(feed), addr = func->addr;

	while (n-- && !feed->bad) {
		struct profile_abnormal *abnormal = vec_push(func->abnormals,
							     func->nabnormals);
		uint64_t rest;

		addr = get_delta(feed, addr);
		rest = get_max(feed, 2 * (uint64_t)UINT32_MAX + 1);
		*abnormal = (struct profile_abnormal){
			.addr = addr,
			.rest = (uint32_t)(rest / 2),
			.during = rest & 1,
			.left = get_uint(feed),
		};
		abnormal->came = get_uint(feed);
	}
}

static void
calls_get(struct profile_func *func, struct feed *feed)
{
	uint64_t n = get_uint(feed), addr = func->addr;

	while (n-- && !feed->bad) {
		struct profile_call *call = vec_push(func->calls, func->ncalls);

		addr = get_delta(feed, addr);
		call->addr = addr;
		call->object = (uint32_t)get_max(feed, UINT32_MAX) - 1;
		call->target = get_uint(feed);
		call->n = get_uint(feed);
	}
}

static void
extras_get(struct profile_func *func, unsigned flags, struct feed *feed)
{
	uint64_t every = 0;

	if (flags & FUNC_ABNORMALS)
		abnormals_get(func, feed);
	if (flags & FUNC_CALLS)
		calls_get(func, feed);
	if (!(flags & FUNC_FIGURES))
		return;
	for (size_t i = 0; i < func->nblocks; i++)
		every += func->blocks[i].count.n;
	func->sites = get_uint(feed);
	func->counters = get_uint(feed);
	func->increments = get_uint(feed);
	func->every = get_delta(feed, every);
}

/* before: the function before it in the object, or NULL. */
static void
func_get(struct reader *reader, struct profile_func *func,
	 const struct profile_func *before)
{
	uint64_t nblocks;
	unsigned flags;

	flags = head_get(reader, &reader->feeds[SECTION_FUNCS], func,
			 addr_expect(before), &nblocks);
	func->name = get_string(&reader->feeds[SECTION_NAMES]);
	if (flags & FUNC_SAME) {
		graph_copy(reader, func, before);
	} else {
		blocks_get(reader, func, nblocks);
		edges_get(reader, func);
	}
	/* Edges of a bad feed may lead nowhere. */
	if (reader_bad(reader))
		return;
	if (func->state != PROFILE_NEVER)
		counts_get(reader, func);
	extras_get(func, flags, &reader->feeds[SECTION_EXTRAS]);
}

/* ---- the file */

static void
objects_get(struct reader *reader)
{
	struct profile *profile = reader->profile;
	struct feed *feed = &reader->feeds[SECTION_OBJECTS];
	uint64_t n = get_uint(feed);

	while (n-- && !reader_bad(reader)) {
		struct profile_object *object = vec_push(profile->objects,
							 profile->nobjects);
		uint64_t nfuncs;

		*object = (struct profile_object){ 0 };
		object_get(feed, object, &nfuncs);
		while (nfuncs-- && !reader_bad(reader)) {
			struct profile_func *func = vec_push(object->funcs,
							     object->nfuncs);

			*func = (struct profile_func){ 0 };
			func_get(reader, func,
				 object->nfuncs > 1 ? func - 1 : NULL);
		}
	}
}

/* Check that no feed was too short or too long, and the profile itself. */
static int
reader_check(const struct reader *reader, const char *path)
{
	const char *fault;

	for (size_t i = 0; i < SECTIONS; i++)
		if (reader->feeds[i].bad)
			return fail("%s: damaged: section %s is truncated or "
				    "has an invalid number",
				    path, section_tag(i));
	for (size_t i = 0; i < SECTIONS; i++)
		if (feed_left(&reader->feeds[i]))
			return fail("%s: damaged: section %s has data after "
				    "its end",
				    path, section_tag(i));
	fault = profile_fault(reader->profile);
	return fault ? fail("%s: damaged: it has %s", path, fault) : 0;
}

struct profile *
profile_decode(const char *path, const uint8_t *bytes, size_t size)
{
	struct reader reader = { 0 };
	struct sink sections[SECTIONS];

	if (sections_unpack(path, bytes, size, sections)) {
		sections_free(sections);
		return NULL;
	}
	for (size_t i = 0; i < SECTIONS; i++)
		reader.feeds[i] = feed_of(&sections[i]);
	reader.profile = mem_alloc(sizeof(*reader.profile));
	runs_get(reader.profile, &reader.feeds[SECTION_RUNS]);
	stops_get(reader.profile, &reader.feeds[SECTION_STOPS]);
	deaths_get(reader.profile, &reader.feeds[SECTION_DEATHS]);
	parts_get(reader.profile, &reader.feeds[SECTION_PARTS]);
	objects_get(&reader);
	if (!reader_bad(&reader))
		doubts_get(reader.profile, &reader.feeds[SECTION_DOUBTS]);
	if (!reader_bad(&reader))
		times_get(reader.profile, &reader.feeds[SECTION_TIMES]);
	if (reader_check(&reader, path)) {
		profile_free(reader.profile);
		reader.profile = NULL;
	}
	sections_free(sections);
	return reader.profile;
}
