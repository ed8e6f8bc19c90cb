/*
 * Follows a task's calls by their records.  Knows nothing of tasks, clocks and
 * functions' names.
 */
#include "probe/time_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum {
	/* Records that far below or above those of a stack are of another. */
	BELOW = 32 * 1024,
	BELOW_SPARSE = 8 * 1024 * 1024,
	ABOVE = 4 * 1024,
	FRAMES_MAX = 1 << 21,	/* that there is room for, on all stacks */
	GONE = 64,		/* frames left by jumps that are remembered */
};

/* The frames of one stack, the outermost first. */
struct stack_frames {
	struct time_frame *frames;
	size_t n, room;
	struct time_back back;	/* within no frame */
	uint64_t used;		/* when it became the current one */
	uint32_t number;
};

/* One function in this task. */
struct func_frames {
	struct times *times;	/* NULL: not asked for yet */
	uint32_t depth;		/* its frames */
	uint64_t since;		/* if it has any: times->total has what was
				   before */
	uint64_t more;		/* if it has any, when totals are added up: of
				   its outermost frame and those inside */
};

struct time_stacks {
	times_find *find;
	time_call_began *began;
	time_call_ended *ended;
	void *ctx;
	int32_t below;		/* BELOW or BELOW_SPARSE */
	struct stack_frames stacks[TIME_STACKS_MAX];
	size_t n, current;
	size_t room;		/* of all stacks */
	struct func_frames *funcs;
	size_t nfuncs;
	uint64_t last;		/* when time was accounted for last */
	struct time_frame gone[GONE];	/* a ring */
	unsigned ngone;
};

struct time_stacks *
time_stacks_open(times_find *find, time_call_began *began,
		 time_call_ended *ended, void *ctx)
{
	struct time_stacks *stacks = mem_alloc(sizeof(*stacks));

	stacks->find = find;
	stacks->began = began;
	stacks->ended = ended;
	stacks->ctx = ctx;
	stacks->below = BELOW;
	return stacks;
}

void
time_stacks_sparse(struct time_stacks *stacks)
{
	stacks->below = BELOW_SPARSE;
}

void
time_stacks_close(struct time_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->n; i++)
		free(stacks->stacks[i].frames);
	free(stacks->funcs);
	free(stacks);
}

uint32_t
time_stacks_current(const struct time_stacks *stacks)
{
	return stacks->n ? stacks->stacks[stacks->current].number : 0;
}

const struct time_frame *
time_stacks_frames(const struct time_stacks *stacks, uint32_t number, size_t *n)
{
	for (size_t i = 0; i < stacks->n; i++)
		if (stacks->stacks[i].number == number) {
			*n = stacks->stacks[i].n;
			return *n ? stacks->stacks[i].frames : NULL;
		}
	return NULL;
}

/* ---- frames */

static struct func_frames *
func_of(struct time_stacks *stacks, uint32_t func)
{
	struct func_frames *of;

	if (func >= stacks->nfuncs) {
		size_t n = 2 * (size_t)func + 16;

		stacks->funcs = mem_grow(stacks->funcs, n,
					 sizeof(*stacks->funcs));
		memset(stacks->funcs + stacks->nfuncs, 0,
		       (n - stacks->nfuncs) * sizeof(*stacks->funcs));
		stacks->nfuncs = n;
	}
	of = &stacks->funcs[func];
	if (!of->times)
		of->times = stacks->find(stacks->ctx, func);
	return of;
}

/* Make room for another frame, unless there are too many. */
static bool
frame_room(struct time_stacks *stacks, struct stack_frames *stack)
{
	size_t more = stack->room + 16;

	if (stack->n < stack->room)
		return true;
	if (more > FRAMES_MAX - stacks->room)
		more = FRAMES_MAX - stacks->room;
	if (!more)
		return false;
	stack->room += more;
	stacks->room += more;
	stack->frames = mem_grow(stack->frames, stack->room,
				 sizeof(*stack->frames));
	return true;
}

static void
frame_push(struct time_stacks *stacks, struct stack_frames *stack,
	   const struct time_frame *frame)
{
	struct func_frames *of = func_of(stacks, frame->func);

	if (!frame_room(stacks, stack)) {
		of->times->lost = true;
		return;
	}
	stack->frames[stack->n++] = *frame;
	if (!of->depth++)
		of->since = frame->entered;
}

/* One frame of the function less. */
static void
frame_leave(struct func_frames *of, uint64_t now)
{
	if (!--of->depth)
		of->times->total += now - of->since;
}

static struct time_frame *
top_of(const struct stack_frames *stack)
{
	return stack->n ? &stack->frames[stack->n - 1] : NULL;
}

static struct stack_frames *
stack_now(struct time_stacks *stacks)
{
	return &stacks->stacks[stacks->current];
}

/* Account for the time since the last record. */
static void
time_pass(struct time_stacks *stacks, uint64_t now)
{
	const struct time_frame *top = stacks->n ? top_of(stack_now(stacks)) :
						   NULL;

	if (top)
		func_of(stacks, top->func)->times->self += now - stacks->last;
	stacks->last = now;
}

/* The call of the innermost frame ends. */
static void
call_end(struct time_stacks *stacks, struct stack_frames *stack, uint64_t now)
{
	const struct time_frame *frame = top_of(stack);
	struct func_frames *of = func_of(stacks, frame->func);
	uint64_t time = now - frame->entered + frame->more;

	if (!frame->inherited)
		times_ended(of->times, time);
	frame_leave(of, now + frame->more);
	if (stacks->ended)
		stacks->ended(stacks->ctx, stack->frames, stack->n, time);
	if (--stack->n)
		stack->frames[stack->n - 1].more += frame->more;
}

/* How far a stack pointer is above another one. */
static int32_t
sp_above(uint32_t sp, uint32_t other)
{
	return (int32_t)(sp - other);
}

/* End the frames below sp, and with `at` one at sp: they were left by a jump. */
static void
frames_jump(struct time_stacks *stacks, uint32_t sp, bool at, uint64_t now)
{
	struct stack_frames *stack = stack_now(stacks);
	struct time_frame *top;

	while ((top = top_of(stack)) && sp_above(sp, top->sp) >= !at) {
		top->left = true;
		stacks->gone[stacks->ngone++ % GONE] = *top;
		call_end(stacks, stack, now);
	}
}

/* ---- stacks */

/* Is the stack pointer in the stack, as far as its frames tell? */
static bool
stack_has(const struct time_stacks *stacks, const struct stack_frames *stack,
	  uint32_t sp)
{
	const struct time_frame *top = top_of(stack);

	return top && sp_above(sp, top->sp) > -stacks->below &&
	       sp_above(sp, stack->frames[0].sp) < ABOVE;
}

/* Remove a stack without frames. */
static void
stack_drop(struct time_stacks *stacks, size_t i)
{
	free(stacks->stacks[i].frames);
	stacks->room -= stacks->stacks[i].room;
	stacks->n--;
	memmove(&stacks->stacks[i], &stacks->stacks[i + 1],
		(stacks->n - i) * sizeof(*stacks->stacks));
	if (stacks->current > i)
		stacks->current--;
}

/* There is no room for this stack: its calls cannot be followed. */
static void
stack_evict(struct time_stacks *stacks, size_t i, uint64_t now)
{
	struct stack_frames *stack = &stacks->stacks[i];

	stacks->current = i;
	while (stack->n) {
		struct time_frame *top = &stack->frames[stack->n - 1];
		struct func_frames *of = func_of(stacks, top->func);

		of->times->lost = true;
		frame_leave(of, now);
		top->lost = true;
		if (stacks->ended)
			stacks->ended(stacks->ctx, stack->frames, stack->n,
				      now - top->entered);
		stack->n--;
	}
	stack_drop(stacks, i);
}

/* The least number that no stack has. */
static uint32_t
number_free(const struct time_stacks *stacks)
{
	uint64_t taken = 0;

	for (size_t i = 0; i < stacks->n; i++)
		taken |= UINT64_C(1) << stacks->stacks[i].number;
	return (uint32_t)__builtin_ctzll(~taken);
}

/* Begin a stack, if need be in place of the one that was left first. */
static void
stack_begin(struct time_stacks *stacks, uint64_t now)
{
	size_t oldest = 0;

	for (size_t i = 1; i < stacks->n; i++)
		if (stacks->stacks[i].used < stacks->stacks[oldest].used)
			oldest = i;
	if (stacks->n == TIME_STACKS_MAX)
		stack_evict(stacks, oldest, now);
	stacks->current = stacks->n;
	stacks->stacks[stacks->n] = (struct stack_frames){
		.used = now,
		.number = number_free(stacks),
	};
	stacks->n++;
}

/* Make the stack that sp is in the current one. */
static void
stack_find(struct time_stacks *stacks, uint32_t sp, uint64_t now)
{
	size_t old = stacks->current;

	if (!stacks->n)
		stack_begin(stacks, now);
	if (stack_has(stacks, stack_now(stacks), sp))
		return;
	for (size_t i = 0; i < stacks->n; i++)
		if (stack_has(stacks, &stacks->stacks[i], sp)) {
			stacks->current = i;
			stacks->stacks[i].used = now;
			if (!stacks->stacks[old].n)
				stack_drop(stacks, old);
			return;
		}
	if (stack_now(stacks)->n)
		stack_begin(stacks, now);
}

/* ---- records */

/* Where control has gone back to the entry: in the innermost frame. */
static struct time_back *
back_of(struct stack_frames *stack)
{
	return stack->n ? &top_of(stack)->back : &stack->back;
}

/*
 * Is the record of an entry that to which control has gone back?  Signal handlers
 * may have run meanwhile, below; one that left the frame by a jump took it away.
 */
static bool
back_take(struct time_back *back, uint32_t sp)
{
	if (!back->due || sp_above(sp, back->sp) < 0)
		return false;
	back->due = false;
	return sp == back->sp;
}

static void
record_enter(struct time_stacks *stacks, uint32_t func, uint32_t sp,
	     uint64_t now)
{
	struct stack_frames *stack = stack_now(stacks);
	const struct time_frame *top;

	frames_jump(stacks, sp, false, now);
	if (back_take(back_of(stack), sp))
		return;
	frames_jump(stacks, sp, true, now);
	func_of(stacks, func)->times->calls++;
	frame_push(stacks, stack,
		   &(struct time_frame){
			   .func = func, .sp = sp, .entered = now });
	if (stacks->began && (top = top_of(stack)) && top->sp == sp)
		stacks->began(stacks->ctx, stack->frames, stack->n);
}

static void
record_back(struct time_stacks *stacks, uint32_t func, uint32_t sp,
	    uint64_t now)
{
	struct stack_frames *stack = stack_now(stacks);
	const struct func_frames *of = func_of(stacks, func);
	const struct time_frame *top;

	frames_jump(stacks, sp, false, now);
	top = top_of(stack);
	/* The stack was moved while the function made room on it. */
	if (of->depth && (!top || top->func != func))
		of->times->lost = true;
	*back_of(stack) = (struct time_back){ sp, true };
}

/* Was the frame taken to be gone? */
static bool
frame_gone(const struct time_stacks *stacks, uint32_t func, uint32_t sp)
{
	for (size_t i = 0; i < GONE && i < stacks->ngone; i++)
		if (stacks->gone[i].func == func && stacks->gone[i].sp == sp)
			return true;
	return false;
}

/*
 * No frame is there.  If it was taken to be gone, so were the frames above it,
 * which may never be seen to end; and the function on top got their time.
 */
static void
leave_unmatched(struct time_stacks *stacks, uint32_t func, uint32_t sp)
{
	const struct time_frame *top = top_of(stack_now(stacks));

	if (!frame_gone(stacks, func, sp)) {
		/* The call may have begun where the stack was before. */
		if (!top && func_of(stacks, func)->depth)
			func_of(stacks, func)->times->lost = true;
		return;
	}
	if (top)
		func_of(stacks, top->func)->times->lost = true;
	for (size_t i = 0; i < GONE && i < stacks->ngone; i++) {
		const struct time_frame *gone = &stacks->gone[i];

		if (sp_above(gone->sp, sp) >= 0 &&
		    sp_above(gone->sp, sp) < stacks->below)
			func_of(stacks, gone->func)->times->lost = true;
	}
}

/*
 * The function leaves for good if its frame is at sp: else it jumps to another
 * part of itself, or was not entered at its entry.
 */
static void
record_leave(struct time_stacks *stacks, uint32_t func, uint32_t sp,
	     uint64_t now)
{
	struct stack_frames *stack = stack_now(stacks);
	const struct time_frame *top;

	frames_jump(stacks, sp, false, now);
	top = top_of(stack);
	if (!top || top->sp != sp) {
		leave_unmatched(stacks, func, sp);
		return;
	}
	/* If it is another function's, that one has jumped into this one. */
	call_end(stacks, stack, now);
}

void
time_stacks_record(struct time_stacks *stacks, enum record_kind kind,
		   uint32_t func, uint32_t sp, uint64_t now)
{
	time_pass(stacks, now);
	stack_find(stacks, sp, now);
	switch (kind) {
	case RECORD_ENTER:
		record_enter(stacks, func, sp, now);
		break;
	case RECORD_BACK:
		record_back(stacks, func, sp, now);
		break;
	case RECORD_LEAVE:
		record_leave(stacks, func, sp, now);
		break;
	case RECORD_LAND:
		frames_jump(stacks, sp, false, now);
		break;
	case RECORD_KINDS:
		break;
	}
}

/* ---- all calls */

void
time_stacks_inherit(struct time_stacks *stacks, const struct time_stacks *from,
		    uint64_t now)
{
	stacks->last = now;
	stacks->current = from->current;
	for (stacks->n = 0; stacks->n < from->n; stacks->n++) {
		const struct stack_frames *stack = &from->stacks[stacks->n];

		stacks->stacks[stacks->n] = (struct stack_frames){
			.number = stack->number
		};
		for (size_t k = 0; k < stack->n; k++) {
			struct time_frame frame = stack->frames[k];

			frame.entered = now;
			frame.more = 0;
			frame.inherited = true;
			frame_push(stacks, &stacks->stacks[stacks->n], &frame);
		}
	}
}

void
time_stacks_begun(struct time_stacks *stacks, uint32_t func, uint32_t sp,
		  uint64_t now)
{
	struct time_frame frame = {
		.func = func,
		.sp = sp,
		.entered = now,
		.inherited = true,
	};

	stacks->last = now;
	if (!stacks->n)
		stack_begin(stacks, now);
	frame_push(stacks, stack_now(stacks), &frame);
}

void
time_stacks_end(struct time_stacks *stacks, uint64_t now)
{
	time_pass(stacks, now);
	for (size_t i = 0; i < stacks->n; i++) {
		struct stack_frames *stack = &stacks->stacks[i];

		stacks->current = i;
		while (stack->n)
			call_end(stacks, stack, now);
	}
}

/* The stack that sp is in, or NULL. */
static struct stack_frames *
stack_at(struct time_stacks *stacks, uint32_t sp)
{
	if (stacks->n && stack_has(stacks, stack_now(stacks), sp))
		return stack_now(stacks);
	for (size_t i = 0; i < stacks->n; i++)
		if (stack_has(stacks, &stacks->stacks[i], sp))
			return &stacks->stacks[i];
	return NULL;
}

/* Is the stack pointer further out than the frames of the stack? */
static bool
stack_outside(const struct stack_frames *stack, uint32_t sp)
{
	return sp_above(sp, stack->frames[0].sp) > 0 &&
	       sp_above(sp, stack->frames[0].sp) < BELOW_SPARSE;
}

int
time_stacks_more(struct time_stacks *stacks, uint32_t sp, uint64_t more)
{
	struct stack_frames *stack = stack_at(stacks, sp);
	size_t i = stack ? stack->n : 0;

	for (size_t k = 0; k < stacks->n; k++)
		if (stacks->stacks[k].n && &stacks->stacks[k] != stack &&
		    (stack || !stack_outside(&stacks->stacks[k], sp)))
			return -1;

	while (i && sp_above(sp, stack->frames[i - 1].sp) > 0)
		i--;
	if (!i)
		return 0;
	stack->frames[i - 1].more += more;
	func_of(stacks, stack->frames[i - 1].func)->times->self += more;
	return 0;
}

void
time_stacks_gone(struct time_stacks *stacks, uint32_t sp, uint64_t now)
{
	struct stack_frames *stack;

	if (!stacks->n || stack_has(stacks, stack_now(stacks), sp))
		return;
	time_pass(stacks, now);
	stack = stack_now(stacks);
	while (stack->n)
		call_end(stacks, stack, now);
}

/*
 * Add what the stack's frames and those inside them have had more to the totals
 * of functions that are not yet done: a frame that is the first of its function
 * has the total's beginning.
 */
static void
totals_more(struct time_stacks *stacks, const struct stack_frames *stack)
{
	uint64_t more = 0;

	for (size_t i = stack->n; i-- > 0;) {
		struct func_frames *of = func_of(stacks, stack->frames[i].func);

		more += stack->frames[i].more;
		of->more = more;
	}
}

/* Add what functions with frames have taken to their totals. */
static void
totals_add(struct time_stacks *stacks, uint64_t now)
{
	for (size_t i = 0; i < stacks->n; i++)
		totals_more(stacks, &stacks->stacks[i]);
	for (size_t i = 0; i < stacks->nfuncs; i++) {
		struct func_frames *of = &stacks->funcs[i];

		if (!of->depth)
			continue;
		of->times->total += now + of->more - of->since;
		of->since = now + of->more;
	}
}

void
time_stacks_settle(struct time_stacks *stacks, uint64_t now)
{
	time_pass(stacks, now);
	totals_add(stacks, now);
}

void
time_stacks_reset(struct time_stacks *stacks, uint64_t now)
{
	for (size_t i = 0; i < stacks->n; i++)
		for (size_t k = 0; k < stacks->stacks[i].n; k++) {
			stacks->stacks[i].frames[k].entered = now;
			stacks->stacks[i].frames[k].more = 0;
		}
	for (size_t i = 0; i < stacks->nfuncs; i++)
		stacks->funcs[i].since = now;
	stacks->last = now;
}
