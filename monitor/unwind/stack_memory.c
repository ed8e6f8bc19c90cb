/*
 * Reads the memory of stopped tasks by pages and keeps some of these for as long
 * as a walk lasts.  Knows nothing of frames.
 */
#include "monitor/unwind/stack_memory.h"

#include <string.h>

enum { PAGES = 64 };

/* A page of a task's stack as it was when the walk began. */
struct page {
	uint64_t va;
	unsigned walk;
	uint8_t bytes[PAGE];
};

/* Only one walk is made at a time, so all share these pages. */
static struct page pages[PAGES];

unsigned
stack_memory_begin(void)
{
	static unsigned walk;

	if (++walk == 0)
		walk = 1;
	return walk;
}

static const struct page *
page_get(const struct stack_memory *memory, uint64_t va)
{
	struct page *page = &pages[va / PAGE % PAGES];

	if (page->va == va && page->walk == memory->walk)
		return page;
	page->walk = 0;
	if (memory->host->data_read(memory->tid, va, page->bytes, PAGE))
		return NULL;
	page->va = va;
	page->walk = memory->walk;
	return page;
}

int
stack_memory_read(const struct stack_memory *memory, uint64_t va, void *buf,
		  size_t size)
{
	const struct page *page;
	uint64_t offset;

	for (size_t done = 0, n; done < size; done += n) {
		offset = (va + done) % PAGE;
		page = page_get(memory, va + done - offset);
		if (!page)
			return -1;
		n = size - done;
		if (n > PAGE - offset)
			n = PAGE - offset;
		memcpy((uint8_t *)buf + done, page->bytes + offset, n);
	}
	return 0;
}
