/*
 * The items of a trace of calls, and how those of one thread are written as
 * bytes.  Pure; man/pmon.trace.5 has the format.
 */
#ifndef REPORT_TRACE_TRACE_ITEMS_H
#define REPORT_TRACE_TRACE_ITEMS_H

#include "probe/time_stacks.h"
#include "report/profile/stream.h"

enum trace_kind {
	TRACE_RECORD,		/* a function was entered or left */
	TRACE_END,		/* the thread ended */
	TRACE_EXEC,		/* it runs another program from now on */
	TRACE_STOP,		/* it stood still for pmon */
	TRACE_FORK,		/* it begins with the calls of another thread */
};

/* Something that happened in a thread. */
struct trace_item {
	enum trace_kind kind;
	uint32_t thread;	/* its number; not part of the bytes */
	/*
	 * The CPU's time stamp, and what the thread's clock shows: ticks that
	 * the thread has run, without what pmon took.  Neither goes back.
	 */
	uint64_t stamp, now;
	enum record_kind record;	/* TRACE_RECORD: */
	uint32_t func, sp;	/* the function's number; the low half of the
				   stack pointer */
	uint64_t value;		/* TRACE_END: enum trace_end.  TRACE_STOP: for
				   how many ticks.  TRACE_FORK: the number of
				   the other thread */
};

enum trace_end {
	TRACE_EXITED,		/* also killed */
	TRACE_REPLACED,		/* another thread of its process did exec */
	TRACE_LET_GO,		/* it runs on without pmon */
	TRACE_ENDS,
};

enum {
	TRACE_FUNCS_MAX = 1 << 28,	/* numbers are below */
	TRACE_THREADS_MAX = 1 << 28,
	TRACE_FRAMES_MAX = 4096,	/* that writer and reader foresee */
	TRACE_ITEMS_SIZE = 1 << 18,	/* a chunk that is as large is full */
	TRACE_ITEM_SIZE = 128,		/* no item takes more */
};

/* Calls that have not ended, as far as the records of one stack tell. */
struct trace_frame {
	uint32_t func, sp;
};

struct trace_frames {
	struct trace_frame frames[TRACE_FRAMES_MAX];
	size_t n;
};

/* What the bytes of an item depend on. */
struct trace_state {
	uint64_t stamp, now, lost;	/* the item before's; see the man page */
	uint64_t cost;		/* ticks that a record takes */
	uint32_t sp;
	struct trace_frames frames;
};

/* Items of one thread that become a chunk. */
struct trace_encoder {
	struct trace_state state;
	uint64_t chunk;		/* its number in the thread */
	uint64_t first;		/* the stamp of the first item */
	size_t n;		/* items in it */
	struct sink start, codes, stamps, sps;
};

void trace_encoder_init(struct trace_encoder *encoder, uint64_t cost);
void trace_encoder_clear(struct trace_encoder *encoder);
/* Append an item.  A stamp or time before the last one's counts as that. */
void trace_encode(struct trace_encoder *encoder, const struct trace_item *item);
/* Whether the chunk is full. */
bool trace_encoder_full(const struct trace_encoder *encoder);
/* Put the chunk's bytes, and begin the next one.  It has at least one item. */
void trace_encoder_take(struct trace_encoder *encoder, struct sink *chunk);

/* Items of a chunk. */
struct trace_decoder {
	struct trace_state state;
	uint64_t chunk;		/* its number */
	uint64_t left;		/* items still to come */
	struct trace_frames begun;	/* calls that began before the chunk */
	struct feed codes, stamps, sps;
	bool bad;		/* the bytes are not valid */
};

/*
 * Begin with n bytes of a chunk, which must live as long.  What the decoder has
 * of the chunk before is forgotten.  False, and bad, if they are not valid.
 */
bool trace_decoder_begin(struct trace_decoder *decoder, const uint8_t *bytes,
			 size_t n, uint64_t cost);
/* Get the next item.  False at the end, and if the bytes are not valid. */
bool trace_decode(struct trace_decoder *decoder, struct trace_item *item);

#endif
