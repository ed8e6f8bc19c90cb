/*
 * The calls of functions that a task is in, and the times that it spends in
 * each, from a record of each entry and each exit.  Pure.
 *
 * A record has the stack pointer, which is the same when a function is entered
 * and when it returns, or jumps to another function in place of returning.  A
 * frame that another record shows to be gone was left by a jump (longjmp, an
 * exception).  A function may jump to its own entry, which is no call.  Tasks
 * may have several stacks.
 */
#ifndef PROBE_TIME_STACKS_H
#define PROBE_TIME_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/times.h"
#include "util/fail.h"

enum record_kind {
	RECORD_ENTER,
	RECORD_LEAVE,
	RECORD_BACK,		/* control goes back to the entry within the
				   function; then the entry is recorded */
	RECORD_LAND,		/* an exception is handled in the function */
	RECORD_KINDS,
};

/* The times of a function, by its number; they stay where they are. */
typedef struct times *times_find(void *ctx, uint32_t func);

/* Control goes back to an entry, so that its record at sp is of no call. */
struct time_back {
	uint32_t sp;
	bool due;
};

struct time_frame {
	uint32_t func, sp;
	uint64_t entered;
	struct time_back back;
	uint64_t more;		/* that happened in it, and in those inside that
				   ended, but no record shows it */
	bool inherited;		/* by a child process: its maker has the call */
	bool left;		/* by a jump (longjmp, an exception) */
	bool lost;		/* there was no room to follow it to its end */
};

/*
 * The last of n frames, of which the first is the outermost, has begun or has
 * ended; its call took so long.  Those that a child process inherits are not
 * told when they begin.
 */
typedef void time_call_began(void *ctx, const struct time_frame *frames,
			     size_t n);
typedef void time_call_ended(void *ctx, const struct time_frame *frames,
			     size_t n, uint64_t time);

struct time_stacks;

/* `began` and `ended` may be NULL. */
struct time_stacks *time_stacks_open(times_find *find, time_call_began *began,
				     time_call_ended *ended, void *ctx);
/*
 * Not all functions are recorded, so that frames of one stack may be far apart:
 * frames of several stacks are told apart only if these are far apart, too.
 */
void time_stacks_sparse(struct time_stacks *stacks);
void time_stacks_close(struct time_stacks *stacks);

/*
 * The stack that the task is on, or that the call that ends was on: its number,
 * below TIME_STACKS_MAX, which no other stack has that has frames.
 */
enum { TIME_STACKS_MAX = 64 };
uint32_t time_stacks_current(const struct time_stacks *stacks);
/*
 * The frames of a stack by its number, the outermost first; NULL if it has none.
 */
const struct time_frame *time_stacks_frames(const struct time_stacks *stacks,
					    uint32_t number, size_t *n);
/* Have the stacks of `from` as well, from now on: a child process has. */
void time_stacks_inherit(struct time_stacks *stacks,
			 const struct time_stacks *from, uint64_t now);

/* Have a call that began before there were records: as if it was inherited. */
void time_stacks_begun(struct time_stacks *stacks, uint32_t func, uint32_t sp,
		       uint64_t now);

/*
 * A record of a function, given by its number, with the low half of the stack
 * pointer.  Times never go back.
 */
void time_stacks_record(struct time_stacks *stacks, enum record_kind kind,
			uint32_t func, uint32_t sp, uint64_t now);
/*
 * So much more happened in the innermost frame that is not below sp, and in all
 * frames outside it, than records show.  Returns -1, and has done nothing, if
 * another stack than that of sp has frames: they may be outside it, too.
 */
int time_stacks_more(struct time_stacks *stacks, uint32_t sp,
		     uint64_t more) MUST_CHECK;
/*
 * Control has jumped to a frame at sp that is outside all those it has left: if
 * sp is not in the current stack, all its calls end.
 */
void time_stacks_gone(struct time_stacks *stacks, uint32_t sp, uint64_t now);
/* All calls end. */
void time_stacks_end(struct time_stacks *stacks, uint64_t now);
/* Add what calls that have not ended yet have taken up to now. */
void time_stacks_settle(struct time_stacks *stacks, uint64_t now);
/* All calls that have not ended yet begin now. */
void time_stacks_reset(struct time_stacks *stacks, uint64_t now);

#endif
