/*
 * Reads the memory of stopped tasks by pages and keeps some of these for as long
 * as a walk lasts.  Knows nothing of frames.
 */
#include "monitor/unwind/stack_memory.h"

#include <string.h>

enum {
	WAYS = 2,		/* pages that an address may be kept in */
	SETS = 32,
};

/* A page of a task's stack as it was when the walk began. */
struct page {
	uint64_t va;
	unsigned walk;
	bool needed;		/* in `needed` */
	uint8_t bytes[PAGE];
};

/* Only one walk is made at a time, so all share these pages. */
static struct page pages[SETS][WAYS];
static struct stack_pages needed;

unsigned
stack_memory_begin(void)
{
	static unsigned walk;

	if (++walk == 0)
		walk = 1;
	needed.n = 0;
	return walk;
}

/* Where the page is kept, or is to be. */
static struct page *
page_place(const struct stack_memory *memory, uint64_t va)
{
	struct page *set = pages[va / PAGE % SETS];

	for (unsigned i = 0; i < WAYS; i++)
		if (set[i].va == va && set[i].walk == memory->walk)
			return &set[i];
	return &set[set[0].walk == memory->walk];
}

static void
page_have(struct page *page, const struct stack_memory *memory, uint64_t va)
{
	page->va = va;
	page->walk = memory->walk;
	page->needed = false;
}

static const struct page *
page_get(const struct stack_memory *memory, uint64_t va)
{
	struct page *page = page_place(memory, va);

	if (page->va != va || page->walk != memory->walk) {
		page->walk = 0;
		if (memory->host->data_read(memory->tid, va, page->bytes, PAGE))
			return NULL;
		page_have(page, memory, va);
	}
	if (!page->needed && needed.n < DATA_PARTS)
		needed.va[needed.n++] = va;
	page->needed = true;
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

void
stack_memory_fetch(const struct stack_memory *memory,
		   const struct stack_pages *want)
{
	struct data_part parts[DATA_PARTS];
	struct page *places[DATA_PARTS];
	size_t n = 0, got;

	for (size_t i = 0; i < want->n; i++) {
		places[n] = page_place(memory, want->va[i]);
		/* It may share its place with one before. */
		if (places[n]->walk == memory->walk)
			continue;
		page_have(places[n], memory, want->va[i]);
		parts[n] = (struct data_part){ want->va[i], places[n]->bytes,
					       PAGE };
		n++;
	}
	got = n ? memory->host->native->data_gather(memory->tid, parts, n) : 0;
	for (size_t i = got; i < n; i++)
		places[i]->walk = 0;
}

struct stack_pages
stack_memory_needed(void)
{
	return needed;
}
