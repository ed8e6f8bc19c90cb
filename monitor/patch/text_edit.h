/*
 * Reads and writes the program's text.  text_hold buffers a range so that many
 * small changes are written in few calls.
 */
#ifndef MONITOR_PATCH_TEXT_EDIT_H
#define MONITOR_PATCH_TEXT_EDIT_H

#include "monitor/run.h"
#include "util/fail.h"

/*
 * Like host->mem_read and host->mem_write, but held ranges are read from and
 * written to the buffer.
 */
int text_read(struct run *run, const struct space *space, pid_t tid,
	      uint64_t va, void *buf, size_t n) MUST_CHECK;
int text_write(struct run *run, const struct space *space, pid_t tid,
	       uint64_t va, const void *buf, size_t n);
/*
 * Whether these bytes are there: HOST_OK, HOST_ERROR if others are, without a
 * message, or HOST_GONE.
 */
int text_same(struct run *run, const struct space *space, pid_t tid,
	      uint64_t va, const void *bytes, size_t n) MUST_CHECK;

/*
 * Whether there is memory at va, so that what could not be written there was
 * refused, not gone.
 */
bool text_there(struct run *run, const struct space *space, pid_t tid,
		uint64_t va);

/* What is in a range that is to be held. */
enum held_what {
	HELD_TEXT,
	HELD_FRESH,		/* zeros, as the kernel maps memory; not read */
	HELD_EARLY,		/* text of a process that still runs: until
				   text_unchanged it may change */
};

/*
 * Hold [lo, hi): until text_release its memory is read only once, and changes
 * are only written by text_release.  Meanwhile all tasks of the space stand
 * still (but see HELD_EARLY), and nothing else may change the range.
 */
void text_hold(struct space *space, uint64_t lo, uint64_t hi,
	       enum held_what what);
/*
 * All tasks of the space stand still now: whether the memory of what is held
 * early is still what was read.  Then it is as if it had been held since now.
 */
bool text_unchanged(struct run *run, const struct space *space, pid_t tid);
/* Drop all that is held, and write nothing. */
void text_drop(struct space *space);
/*
 * Write the changes of the range that was held last, if any, and end its hold.
 * HOST_OK, or HOST_GONE if not all could be written; the rest is written
 * anyway.
 */
int text_release(struct run *run, struct space *space, pid_t tid);

#endif
