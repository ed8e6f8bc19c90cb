/*
 * Reads and writes the program's text.  text_buffer buffers a range so that many
 * small changes are written in few calls.
 */
#ifndef MONITOR_PATCH_TEXT_EDIT_H
#define MONITOR_PATCH_TEXT_EDIT_H

#include "monitor/run.h"
#include "util/fail.h"

/*
 * Like host->mem_read and host->mem_write, but buffered ranges are read from and
 * written to their buffers.
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

/* What is in a range that is to be buffered. */
enum buffer_what {
	BUFFER_TEXT,
	BUFFER_FRESH,		/* zeros, as the kernel maps memory; not read */
	BUFFER_EARLY,		/* text of a process that still runs: until
				   text_unchanged it may change */
};

/*
 * Buffer [lo, hi): until text_flush its memory is read only once, and changes
 * are only written by text_flush.  Meanwhile all tasks of the space stand still
 * (but see BUFFER_EARLY), and nothing else may change the range.
 */
void text_buffer(struct space *space, uint64_t lo, uint64_t hi,
		 enum buffer_what what);
/*
 * All tasks of the space stand still now: whether the memory of what is buffered
 * early is still what was read.  Then it is as if it had been buffered now.
 */
bool text_unchanged(struct run *run, const struct space *space, pid_t tid);
/*
 * Write, to each page of what is buffered early that is to be changed, a byte
 * that is there already.  The kernel then makes the page the process's own,
 * which takes it long, while the process still runs.
 */
void text_touch(struct run *run, const struct space *space, pid_t tid);
/* Free all buffers, and write nothing. */
void text_drop(struct space *space);
/*
 * Write the changes of the range that was buffered last, if any, and free its
 * buffer.  HOST_OK, or HOST_GONE if not all could be written; the rest is
 * written anyway.
 */
int text_flush(struct run *run, struct space *space, pid_t tid);

#endif
