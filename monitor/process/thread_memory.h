/*
 * The memory of thread counter pages (thread_pages.h).
 */
#ifndef MONITOR_PROCESS_THREAD_MEMORY_H
#define MONITOR_PROCESS_THREAD_MEMORY_H

#include "monitor/process/shared.h"
#include "monitor/run.h"

enum { THREAD_PAGES = 64 };	/* in one chunk */

/*
 * Thread pages that were mapped at one time.  A fork's child has them at the
 * same place and shares the memory; its tasks take other pages of the chunk.
 */
struct chunk {
	unsigned refs; /* by the thread pages of spaces */
	uint64_t number; /* when it was mapped: see run->extended */
	struct shared shared; /* at the same va in all these spaces */
	/* The thread pages of the space whose task has the page, or NULL. */
	const struct thread_pages *takers[THREAD_PAGES];
};

/* The thread pages of one space. */
struct thread_pages {
	uint64_t size; /* of one page */
	uint64_t used; /* bytes of each page, by modules */
	/*
	 * Tasks can access the first `open` bytes of the first `nopen` pages.
	 * The rest is for libraries and tasks that may come: if the program
	 * locks its memory, nothing is allocated for that.
	 */
	uint64_t open;
	uint32_t nopen;
	uint64_t opened; /* the last time: see run->extended */
	bool marked; /* see reg_thread_mark in arch.h */
	struct chunk **chunks;
	size_t nchunks;
};

/*
 * The thread pages of a space, none of them mapped yet, with room for at least
 * `need` bytes of counters, and for those of libraries that may be loaded and
 * are counted.  To be freed with thread_pages_free.
 */
struct thread_pages *thread_pages_new(const struct run *run, uint64_t need);
/* Unmap the memory in pmon, unless other spaces have it, too. */
void thread_pages_free(struct thread_pages *thread_pages);
/*
 * The thread pages of a fork's child, which shares its parent's memory; its
 * tasks take pages of their own.  What was done since extension number `since`
 * (run->extended) may have come too late for the child.  NULL for NULL.
 */
struct thread_pages *thread_pages_copy(const struct thread_pages *thread_pages,
				       uint64_t since);

/* How many pages are mapped. */
uint32_t thread_pages_n(const struct thread_pages *thread_pages);
/* Where a mapped page is in the program, and in pmon. */
uint64_t thread_page_va(const struct thread_pages *thread_pages,
			uint32_t thread_page);
uint8_t *thread_page_bytes(const struct thread_pages *thread_pages,
			   uint32_t thread_page);
/* Where pmon has the task's page, or NULL: the task has none of its own. */
uint8_t *thread_page_of(const struct task *task);
/* The thread pages of the space whose task has the mapped page, or NULL. */
const struct thread_pages **
thread_page_taker(const struct thread_pages *thread_pages,
		  uint32_t thread_page);

/*
 * The memory of which va is a part that tasks can access: that part of its
 * thread page, of *size bytes from *lo on.  NULL if va is in none.
 */
const struct shared *thread_page_at(const struct thread_pages *thread_pages,
				    uint64_t va, uint64_t *lo, uint64_t *size);

/*
 * Have the stopped task make the page accessible: a mapped one, or the one
 * behind the last, with which a chunk is mapped.  0, or -1 with the message.
 */
int thread_page_allow(struct run *run, struct task *task,
		      struct thread_pages *thread_pages, uint32_t thread_page);
/*
 * Reserve a *region of `need` bytes for counters, at the same offset in all
 * thread pages of the stopped task's space.  0, or -1 with the message.
 */
int thread_pages_reserve(struct run *run, struct task *task, uint64_t need,
			 struct region *region);
/*
 * The region that will be reserved in a space with *used bytes of its thread
 * pages reserved, 0 if it has no pages yet.  Adds the region to *used.
 */
struct region thread_pages_foresee(const struct run *run, uint64_t *used,
				   uint64_t need);
/*
 * Call fn for all memory of the space that has thread pages, until fn returns
 * other than 0.  The last result, or 0.
 */
int thread_pages_each(const struct space *space,
		      int (*fn)(void *ctx, uint64_t va, uint64_t size),
		      void *ctx);

#endif
