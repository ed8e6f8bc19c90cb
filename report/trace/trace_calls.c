/*
 * Makes calls of a trace's items, by the stacks of each thread (time_stacks.c),
 * so that they are those that --time finds.  Prints nothing.
 */
#include "report/trace/trace_calls.h"

#include <stdlib.h>
#include <string.h>

#include "probe/times.h"
#include "util/mem.h"

/* What is known of a thread meanwhile. */
struct caller {
	struct follow *follow;
	uint32_t thread;
	struct time_stacks *stacks;	/* NULL: none yet, or it has ended */
	uint64_t now;		/* at its last item */
};

struct follow {
	const struct trace *trace;
	const struct trace_part *part;
	const struct trace_watch *watch;
	void *ctx;
	struct trace_sums *sums;
	struct caller *callers;	/* per thread */
	struct times unwanted;	/* of other threads */
	uint64_t stamp;		/* of the item that is followed */
	size_t inherited;	/* calls, by forks */
	bool open;		/* the part has begun ... */
	bool closing;		/* ... and ends with this item */
	bool ending;		/* calls end as their thread does */
};

/* ---- telling */

static bool
thread_wanted(const struct follow *follow, uint32_t thread)
{
	return !follow->part->tid ||
	       follow->trace->tables.threads[thread].tid == follow->part->tid;
}

static struct trace_call
call_of(const struct caller *caller, uint32_t stack,
	const struct time_frame *frames, size_t n)
{
	return (struct trace_call){
		.thread = caller->thread,
		.func = frames[n - 1].func,
		.stack = stack,
		.depth = n - 1,
		.stamp = caller->follow->stamp,
		.now = caller->now,
		.before = frames[n - 1].inherited,
	};
}

static void
began_tell(struct follow *follow, const struct trace_call *call)
{
	if (!call->before)
		follow->sums->calls[call->thread]++;
	if (follow->watch->began)
		follow->watch->began(follow->ctx, call);
}

/* Tell all calls of a thread's stacks, as calls that began before. */
static void
stacks_tell(struct caller *caller, bool newest)
{
	struct follow *follow = caller->follow;
	uint32_t current = time_stacks_current(caller->stacks);

	for (uint32_t s = 0; s < TIME_STACKS_MAX; s++) {
		size_t n = 0;
		const struct time_frame *frames = time_stacks_frames(
			caller->stacks, s, &n);

		for (size_t i = 1; frames && i <= n; i++) {
			struct trace_call call = call_of(caller, s, frames, i);

			call.before = !(newest && s == current && i == n);
			began_tell(follow, &call);
		}
	}
}

/* Tell that all calls of a thread go on, as far as is known. */
static void
stacks_leave(struct caller *caller)
{
	struct follow *follow = caller->follow;

	for (uint32_t s = 0; s < TIME_STACKS_MAX; s++) {
		size_t n = 0;
		const struct time_frame *frames = time_stacks_frames(
			caller->stacks, s, &n);

		for (; frames && n; n--) {
			struct trace_call call = call_of(caller, s, frames, n);

			call.how = CALL_OPEN;
			call.ticks = caller->now - frames[n - 1].entered;
			if (follow->watch->ended)
				follow->watch->ended(follow->ctx, &call);
		}
	}
}

/* ---- the part */

static bool
func_is(const struct follow *follow, uint32_t func, const char *name)
{
	char *const *names = follow->part->names;

	return name && (!strcmp(follow->trace->tables.funcs[func].name, name) ||
			(names && !strcmp(names[func], name)));
}

/* The part begins: with the call of `maker` if it begins with one. */
static void
part_open(struct follow *follow, const struct caller *maker)
{
	struct trace_sums *sums = follow->sums;

	follow->open = true;
	for (size_t i = 0; i < follow->trace->tables.nfuncs; i++)
		times_clear(&sums->times[i]);
	for (size_t i = 0; i < follow->trace->tables.nthreads; i++) {
		struct caller *caller = &follow->callers[i];

		if (!caller->stacks)
			continue;
		time_stacks_reset(caller->stacks, caller->now);
		if (thread_wanted(follow, caller->thread))
			stacks_tell(caller, caller == maker);
	}
}

static void
part_close(struct follow *follow)
{
	for (size_t i = 0; i < follow->trace->tables.nthreads; i++) {
		struct caller *caller = &follow->callers[i];

		if (!caller->stacks)
			continue;
		time_stacks_settle(caller->stacks, caller->now);
		if (follow->open && thread_wanted(follow, caller->thread))
			stacks_leave(caller);
	}
}

/* ---- calls */

/* Times of threads that are not wanted go nowhere. */
static struct times *
times_find_of(void *ctx, uint32_t func)
{
	const struct caller *caller = ctx;
	struct follow *follow = caller->follow;

	return thread_wanted(follow, caller->thread) ?
		       &follow->sums->times[func] :
		       &follow->unwanted;
}

static void
call_began(void *ctx, const struct time_frame *frames, size_t n)
{
	struct caller *caller = ctx;
	struct follow *follow = caller->follow;
	struct trace_call call = call_of(caller,
					 time_stacks_current(caller->stacks),
					 frames, n);

	if (!thread_wanted(follow, caller->thread))
		return;
	if (follow->open)
		began_tell(follow, &call);
	else if (func_is(follow, call.func, follow->part->from_func)) {
		part_open(follow, caller);
		follow->sums->times[call.func].calls = 1;
	}
}

static void
call_ended(void *ctx, const struct time_frame *frames, size_t n, uint64_t time)
{
	struct caller *caller = ctx;
	struct follow *follow = caller->follow;
	struct trace_call call = call_of(caller,
					 time_stacks_current(caller->stacks),
					 frames, n);
	const struct time_frame *frame = &frames[n - 1];

	call.how = follow->ending ? CALL_ENDED :
		   frame->lost	  ? CALL_LOST :
		   frame->left	  ? CALL_LEFT :
				    CALL_RETURNED;
	call.ticks = time;
	if (!follow->open || !thread_wanted(follow, caller->thread))
		return;
	if (follow->watch->ended)
		follow->watch->ended(follow->ctx, &call);
	if (func_is(follow, call.func, follow->part->to_func))
		follow->closing = true;
}

static struct time_stacks *
stacks_of(struct caller *caller)
{
	if (!caller->stacks)
		caller->stacks = time_stacks_open(times_find_of, call_began,
						  call_ended, caller);
	return caller->stacks;
}

/* ---- items */

static void
frames_begun(void *ctx, const struct trace_item *first,
	     const struct trace_frame *frames, size_t n)
{
	struct follow *follow = ctx;
	struct caller *caller = &follow->callers[first->thread];

	follow->stamp = first->stamp;
	caller->now = first->now;
	for (size_t i = 0; i < n; i++)
		time_stacks_begun(stacks_of(caller), frames[i].func,
				  frames[i].sp, first->now);
	if (follow->open && n && thread_wanted(follow, caller->thread))
		stacks_tell(caller, false);
}

/* All calls of the thread end. */
static void
thread_end(struct caller *caller)
{
	struct follow *follow = caller->follow;

	if (!caller->stacks)
		return;
	follow->ending = true;
	time_stacks_end(caller->stacks, caller->now);
	follow->ending = false;
	time_stacks_close(caller->stacks);
	caller->stacks = NULL;
}

static size_t
stacks_depth(const struct time_stacks *stacks)
{
	size_t sum = 0, n;

	for (uint32_t s = 0; s < TIME_STACKS_MAX; s++)
		if (time_stacks_frames(stacks, s, &n))
			sum += n;
	return sum;
}

/* So many calls may be inherited, in all: what a trace says costs memory. */
enum { INHERITED_MOST = 1 << 24 };

static void
fork_follow(struct caller *caller, const struct trace_item *item)
{
	const struct caller *maker = &caller->follow->callers[item->value];

	if (!maker->stacks || maker == caller || caller->stacks)
		return;
	caller->follow->inherited += stacks_depth(maker->stacks);
	if (caller->follow->inherited > INHERITED_MOST)
		return;
	time_stacks_inherit(stacks_of(caller), maker->stacks, item->now);
	if (caller->follow->open &&
	    thread_wanted(caller->follow, caller->thread))
		stacks_tell(caller, false);
}

static void
item_follow(struct follow *follow, const struct trace_item *item)
{
	struct caller *caller = &follow->callers[item->thread];

	switch (item->kind) {
	case TRACE_RECORD:
		time_stacks_record(stacks_of(caller), item->record, item->func,
				   item->sp, item->now);
		break;
	case TRACE_END:
	case TRACE_EXEC:
		thread_end(caller);
		break;
	case TRACE_FORK:
		fork_follow(caller, item);
		break;
	case TRACE_STOP:
		break;
	}
}

/* Take note of an item in the part. */
static void
item_sum(struct follow *follow, const struct trace_item *item)
{
	struct trace_sums *sums = follow->sums;

	sums->items++;
	if (!sums->begin)
		sums->begin = item->stamp;
	sums->end = item->stamp;
	if (!sums->first[item->thread])
		sums->first[item->thread] = item->stamp;
	sums->last[item->thread] = item->stamp;
	if (item->kind != TRACE_RECORD && follow->watch->happened)
		follow->watch->happened(follow->ctx, item);
}

/* Follow an item.  False if the part is over. */
static bool
item_take(struct follow *follow, const struct trace_item *item)
{
	const struct trace_part *part = follow->part;
	uint64_t ns = trace_ns(follow->trace, item->stamp);
	struct caller *caller = &follow->callers[item->thread];
	bool wanted = thread_wanted(follow, item->thread);

	if (follow->open && part->to_given && ns > part->to)
		return false;
	follow->stamp = item->stamp;
	if (!follow->open && !part->from_func &&
	    (!part->from_given || ns >= part->from))
		part_open(follow, NULL);
	caller->now = item->now;
	/* Also of others: a child may inherit their calls. */
	item_follow(follow, item);
	if (follow->open && wanted)
		item_sum(follow, item);
	return !follow->closing;
}

static void
follow_close(struct follow *follow)
{
	for (size_t i = 0; i < follow->trace->tables.nthreads; i++)
		time_stacks_close(follow->callers[i].stacks);
	free(follow->callers);
	times_clear(&follow->unwanted);
}

static int
part_check(const struct follow *follow, const char *option, const char *name)
{
	for (size_t i = 0; name && i < follow->trace->tables.nfuncs; i++)
		if (func_is(follow, (uint32_t)i, name))
			return 0;
	return name ? fail("%s: no call of a function named \"%s\" is in the "
			   "trace",
			   option, name) :
		      0;
}

int
trace_follow(const struct trace *trace, const struct trace_part *part,
	     const struct trace_watch *watch, void *ctx,
	     struct trace_sums *sums)
{
	size_t nthreads = trace->tables.nthreads;
	struct follow follow = {
		.trace = trace,
		.part = part,
		.watch = watch,
		.ctx = ctx,
		.sums = sums,
		.callers = mem_alloc(nthreads * sizeof(struct caller)),
	};
	struct trace_cursor *cursor;
	struct trace_item item;
	int got = 0;

	*sums = (struct trace_sums){
		.times = mem_alloc(trace->tables.nfuncs * sizeof(struct times)),
		.calls = mem_alloc(nthreads * sizeof(uint64_t)),
		.first = mem_alloc(nthreads * sizeof(uint64_t)),
		.last = mem_alloc(nthreads * sizeof(uint64_t)),
	};
	for (size_t i = 0; i < nthreads; i++)
		follow.callers[i] = (struct caller){ .follow = &follow,
						     .thread = (uint32_t)i };
	if (part_check(&follow, "--from", part->from_func) ||
	    part_check(&follow, "--to", part->to_func)) {
		follow_close(&follow);
		return -1;
	}
	cursor = trace_cursor_open(trace, frames_begun, &follow);
	while ((got = trace_next(cursor, &item)) > 0 &&
	       item_take(&follow, &item))
		;
	part_close(&follow);
	trace_cursor_close(cursor);
	follow_close(&follow);
	return got < 0 ? -1 : 0;
}

void
trace_sums_free(const struct trace *trace, struct trace_sums *sums)
{
	for (size_t i = 0; sums->times && i < trace->tables.nfuncs; i++)
		times_clear(&sums->times[i]);
	free(sums->times);
	free(sums->calls);
	free(sums->first);
	free(sums->last);
}
