/*
 * Reads and writes the program's text.  text_buffer buffers a range so that
 * many small changes are written in few calls.
 */
#ifndef MONITOR_PATCH_TEXT_EDIT_H
#define MONITOR_PATCH_TEXT_EDIT_H

#include "monitor/run.h"
#include "util/fail.h"

/*
 * Like host->mem_read and host->mem_write, but buffered ranges are read from
 * and written to the buffer.
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

/*
 * Buffer [lo, hi): until text_flush its memory is read only once, and changes
 * are only written by text_flush.  Meanwhile all tasks of the space stand
 * still, and nothing else may change the range.  If it is fresh, just mapped,
 * its memory is not read at all.
 */
void text_buffer(struct space *space, uint64_t lo, uint64_t hi, bool fresh);
/*
 * Write the changes of the range that was buffered last, if any, and free its
 * buffer.  HOST_OK, or HOST_GONE if not all could be written; the rest is
 * written anyway.
 */
int text_flush(struct run *run, struct space *space, pid_t tid);

#endif
