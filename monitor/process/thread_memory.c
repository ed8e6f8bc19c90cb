/*
 * The memory of a space's thread counter pages: maps chunks of pages into the
 * program, makes accessible what is used of them, and knows which space's tasks
 * have which page.  Never reads a counter or sets a register: thread_pages.c
 * does.
 */
#include "monitor/process/thread_memory.h"

#include <stdlib.h>

#include "arch/fragment.h"
#include "monitor/process/client.h"
#include "monitor/process/regions.h"
#include "monitor/process/task.h"
#include "util/fail.h"
#include "util/mem.h"

/* Pages take much address space, but only counters that are used take memory. */
enum {
	PAGE_STEP = 1 << 16,	/* a page's size is a multiple of this */
	PAGE_MORE = 1 << 29,	/* room for libraries that may be loaded */
	OPEN_MORE = 1 << 22,	/* that much of which can be accessed at first */
	PAGES_FIRST = 16,	/* that can be accessed at first */
};

/* The size of a page, or a part of one, that has `need` bytes of counters. */
static uint64_t
page_round(uint64_t need)
{
	return (need + PAGE_STEP - 1) / PAGE_STEP * PAGE_STEP;
}

/* The bytes of a page before the counters of modules. */
static uint64_t
pages_begin(const struct run *run)
{
	return REGIONS_BEGIN + (client_records(run) ? RECORDS_SIZE : 0);
}

struct thread_pages *
thread_pages_new(const struct run *run, uint64_t need)
{
	struct thread_pages *thread_pages = mem_alloc(sizeof(*thread_pages));
	bool libraries = run->opts->selection.objects.n;

	need += pages_begin(run);
	*thread_pages = (struct thread_pages){
		.size = page_round(need + (libraries ? PAGE_MORE : 0)),
		.open = page_round(need + (libraries ? OPEN_MORE : 0)),
		.used = pages_begin(run),
	};
	return thread_pages;
}

void
thread_pages_free(struct thread_pages *thread_pages)
{
	for (size_t i = 0; i < thread_pages->nchunks; i++) {
		struct chunk *chunk = thread_pages->chunks[i];

		if (--chunk->refs)
			continue;
		shared_close(&chunk->shared);
		free(chunk);
	}
	free(thread_pages->chunks);
	free(thread_pages);
}

uint64_t
thread_page_va(const struct thread_pages *thread_pages, uint32_t thread_page)
{
	return thread_pages->chunks[thread_page / THREAD_PAGES]->shared.va +
	       thread_page % THREAD_PAGES * thread_pages->size;
}

uint8_t *
thread_page_bytes(const struct thread_pages *thread_pages, uint32_t thread_page)
{
	return thread_pages->chunks[thread_page / THREAD_PAGES]->shared.bytes +
	       thread_page % THREAD_PAGES * thread_pages->size;
}

uint8_t *
thread_page_of(const struct task *task)
{
	const struct space *space = task->process ? task->process->space : NULL;

	return task->thread_page && space && space->thread_pages ?
		       thread_page_bytes(space->thread_pages,
					 task->thread_page - 1) :
		       NULL;
}

const struct thread_pages **
thread_page_taker(const struct thread_pages *thread_pages, uint32_t thread_page)
{
	return &thread_pages->chunks[thread_page / THREAD_PAGES]
			->takers[thread_page % THREAD_PAGES];
}

uint32_t
thread_pages_n(const struct thread_pages *thread_pages)
{
	return (uint32_t)thread_pages->nchunks * THREAD_PAGES;
}

const struct shared *
thread_page_at(const struct thread_pages *thread_pages, uint64_t va,
	       uint64_t *lo, uint64_t *size)
{
	for (uint32_t i = 0; i < thread_pages->nopen; i++) {
		*lo = thread_page_va(thread_pages, i);
		*size = thread_pages->open;
		if (va - *lo < *size)
			return &thread_pages->chunks[i / THREAD_PAGES]->shared;
	}
	return NULL;
}

/* Have the task map a chunk of pages.  0, or -1 with the message. */
static int
chunk_map(struct run *run, struct task *task, struct thread_pages *thread_pages)
{
	struct chunk *chunk, new = {
		.refs = 1,
		.shared.size = thread_pages->size * THREAD_PAGES,
	};
	uint32_t n = thread_pages->open < thread_pages->size ? 1 : PAGES_FIRST;

	new.shared.open = (n - 1) * thread_pages->size + thread_pages->open;
	if (shared_open(run, task, &new.shared))
		return -1;
	new.number = run->extended++;
	thread_pages->nopen = thread_pages_n(thread_pages) + n;
	thread_pages->opened = new.number;
	*vec_push(thread_pages->chunks,
		  thread_pages->nchunks) = chunk = mem_alloc(sizeof(*chunk));
	*chunk = new;
	return 0;
}

/*
 * Have the task let all tasks of its space access the first `open` bytes of the
 * first n pages.  0, or -1 with the message.
 */
static int
thread_pages_allow(struct run *run, struct task *task,
		   struct thread_pages *thread_pages, uint32_t n, uint64_t open)
{
	uint32_t i = open == thread_pages->open ? thread_pages->nopen : 0;
	struct range *ranges = NULL;
	size_t nranges = 0;
	int err;

	while (i < n) {
		uint64_t va = thread_page_va(thread_pages, i), from = va;
		uint32_t end = open < thread_pages->size ?
				       i + 1 :
				       (i / THREAD_PAGES + 1) * THREAD_PAGES;

		if (end > n)
			end = n;
		if (i < thread_pages->nopen)
			from += thread_pages->open;
		*vec_push(ranges, nranges) = (struct range){
			from, va + (end - i - 1) * thread_pages->size + open
		};
		i = end;
	}
	err = shared_allow(run, task, ranges, nranges);
	free(ranges);
	if (err)
		return -1;
	thread_pages->nopen = n;
	thread_pages->open = open;
	thread_pages->opened = run->extended++;
	return 0;
}

int
thread_page_allow(struct run *run, struct task *task,
		  struct thread_pages *thread_pages, uint32_t thread_page)
{
	bool fresh = thread_page == thread_pages_n(thread_pages);
	uint32_t n = PAGES_FIRST;

	if (fresh && chunk_map(run, task, thread_pages))
		return -1;
	if (!fresh && thread_page < thread_pages->nopen)
		return 0;
	while (n <= thread_page)
		n *= 2;
	if (n > thread_pages_n(thread_pages))
		n = thread_pages_n(thread_pages);
	return n <= thread_pages->nopen ?
		       0 :
		       thread_pages_allow(run, task, thread_pages, n,
					  thread_pages->open);
}

static uint64_t
region_round(uint64_t need)
{
	return (need + REGIONS_BEGIN - 1) / REGIONS_BEGIN * REGIONS_BEGIN;
}

struct region
thread_pages_foresee(const struct run *run, uint64_t *used, uint64_t need)
{
	struct region region = { REGION_COUNTERS, *used, region_round(need) };

	if (!*used)
		region.offset = pages_begin(run);
	*used = region.offset + region.size;
	return region;
}

int
thread_pages_reserve(struct run *run, struct task *task, uint64_t need,
		     struct region *region)
{
	struct thread_pages *thread_pages = task->process->space->thread_pages;
	uint64_t open;

	need = region_round(need);
	if (!thread_pages || thread_pages->size - thread_pages->used < need)
		return fail("there is no more room for counters");
	open = page_round(thread_pages->used + need + OPEN_MORE);
	if (open > thread_pages->size)
		open = thread_pages->size;
	if (thread_pages->open < thread_pages->used + need &&
	    thread_pages_allow(run, task, thread_pages, thread_pages->nopen,
			       open))
		return -1;
	*region = (struct region){ REGION_COUNTERS, thread_pages->used, need };
	thread_pages->used += need;
	return 0;
}

struct thread_pages *
thread_pages_copy(const struct thread_pages *thread_pages, uint64_t since)
{
	struct thread_pages *copy;

	if (!thread_pages)
		return NULL;
	copy = mem_alloc(sizeof(*copy));
	*copy = *thread_pages;
	copy->chunks = NULL;
	copy->nchunks = 0;
	for (size_t i = 0; i < thread_pages->nchunks; i++) {
		if (thread_pages->chunks[i]->number >= since)
			break;
		thread_pages->chunks[i]->refs++;
		*vec_push(copy->chunks,
			  copy->nchunks) = thread_pages->chunks[i];
	}
	if (copy->opened >= since)
		copy->nopen = 0;
	if (copy->nopen > thread_pages_n(copy))
		copy->nopen = thread_pages_n(copy);
	return copy;
}

int
thread_pages_each(const struct space *space,
		  int (*fn)(void *ctx, uint64_t va, uint64_t size), void *ctx)
{
	const struct thread_pages *thread_pages = space->thread_pages;
	int err = 0;

	for (size_t i = 0; thread_pages && i < thread_pages->nchunks && !err;
	     i++)
		err = fn(ctx, thread_pages->chunks[i]->shared.va,
			 thread_pages->size * THREAD_PAGES);
	return err;
}
