/*
 * Edits a program's text in bulk: makes thousands of small changes, each near
 * others, in a buffer while all tasks stand still, and writes them in few
 * calls.  Knows no sites and no relocated functions.
 */
#include "monitor/patch/text_edit.h"

#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/mem.h"

enum { PAGES = 16, BLOCK = PAGE * PAGES };

struct buffer_block {
	uint8_t *bytes;		/* NULL: not read yet */
	uint8_t *early;		/* what was read, if buffer early; or NULL */
	bool read[PAGES], there[PAGES], changed[PAGES];
};

struct buffer {
	uint64_t lo, hi;	/* multiples of PAGE */
	enum buffer_what what;
	struct buffer_block *blocks;	/* from lo / BLOCK on */
};

struct text_buffers {
	struct buffer *buffers;
	size_t nbuffers;
};

static size_t
buffer_blocks(const struct buffer *buffer)
{
	return (buffer->hi - 1) / BLOCK - buffer->lo / BLOCK + 1;
}

/* Have va's page in its block, if that has not been done. */
static struct buffer_block *
page_load(struct run *run, const struct space *space, pid_t tid,
	  const struct buffer *buffer, uint64_t va)
{
	struct buffer_block *block =
		&buffer->blocks[va / BLOCK - buffer->lo / BLOCK];
	size_t page = va % BLOCK / PAGE;
	uint8_t *bytes;

	if (!block->bytes)
		block->bytes = mem_grow(NULL, PAGES, PAGE);
	if (!block->early && buffer->what == BUFFER_EARLY)
		block->early = mem_grow(NULL, PAGES, PAGE);
	if (block->read[page])
		return block;
	bytes = block->bytes + page * PAGE;
	block->read[page] = true;
	block->there[page] = true;
	if (buffer->what == BUFFER_FRESH)
		memset(bytes, 0, PAGE);
	else
		block->there[page] = !run->host->mem_read(space->mem, tid,
							  va / PAGE * PAGE,
							  bytes, PAGE);
	if (block->early)
		memcpy(block->early + page * PAGE, bytes, PAGE);
	return block;
}

/* The buffer block that has va, with va's page in it; NULL if va is not buffer. */
static struct buffer_block *
text_block(struct run *run, const struct space *space, pid_t tid, uint64_t va)
{
	const struct text_buffers *text = space->text;

	for (size_t i = 0; text && i < text->nbuffers; i++) {
		const struct buffer *buffer = &text->buffers[i];

		if (va - buffer->lo < buffer->hi - buffer->lo)
			return page_load(run, space, tid, buffer, va);
	}
	return NULL;
}

/* How many of the n bytes from va on are in va's page. */
static size_t
page_part(uint64_t va, size_t n)
{
	size_t rest = PAGE - va % PAGE;

	return n < rest ? n : rest;
}

int
text_read(struct run *run, const struct space *space, pid_t tid, uint64_t va,
	  void *buf, size_t n)
{
	uint8_t *to = buf;
	size_t part;

	for (; n; n -= part, va += part, to += part) {
		const struct buffer_block *block = text_block(run, space, tid,
							      va);

		if (!block)
			return run->host->mem_read(space->mem, tid, va, to, n);
		part = page_part(va, n);
		if (!block->there[va % BLOCK / PAGE])
			return HOST_GONE;
		memcpy(to, block->bytes + va % BLOCK, part);
	}
	return HOST_OK;
}

int
text_same(struct run *run, const struct space *space, pid_t tid, uint64_t va,
	  const void *bytes, size_t n)
{
	const uint8_t *with = bytes;
	uint8_t now[PAGE];
	size_t part;

	for (; n; n -= part, va += part, with += part) {
		const struct buffer_block *block = text_block(run, space, tid,
							      va);

		part = page_part(va, n);
		if (block ? !block->there[va % BLOCK / PAGE] :
			    run->host->mem_read(space->mem, tid, va, now, part))
			return HOST_GONE;
		if (memcmp(block ? block->bytes + va % BLOCK : now, with, part))
			return HOST_ERROR;
	}
	return HOST_OK;
}

int
text_write(struct run *run, const struct space *space, pid_t tid, uint64_t va,
	   const void *buf, size_t n)
{
	const uint8_t *from = buf;
	size_t part;

	for (; n; n -= part, va += part, from += part) {
		struct buffer_block *block = text_block(run, space, tid, va);

		if (!block)
			return run->host->mem_write(space->mem, tid, va, from,
						    n);
		part = page_part(va, n);
		if (!block->there[va % BLOCK / PAGE])
			return HOST_GONE;
		if (!memcmp(block->bytes + va % BLOCK, from, part))
			continue;
		memcpy(block->bytes + va % BLOCK, from, part);
		block->changed[va % BLOCK / PAGE] = true;
	}
	return HOST_OK;
}

bool
text_there(struct run *run, const struct space *space, pid_t tid, uint64_t va)
{
	uint8_t byte;

	return !run->host->mem_read(space->mem, tid, va, &byte, 1);
}

void
text_buffer(struct space *space, uint64_t lo, uint64_t hi,
	    enum buffer_what what)
{
	struct buffer buffer = {
		.lo = lo / PAGE * PAGE,
		.hi = (hi + PAGE - 1) / PAGE * PAGE,
		.what = what,
	};

	must(lo < hi);
	buffer.blocks = mem_alloc(buffer_blocks(&buffer) *
				  sizeof(*buffer.blocks));
	if (!space->text)
		space->text = mem_alloc(sizeof(*space->text));
	*vec_push(space->text->buffers, space->text->nbuffers) = buffer;
}

/* Whether n pages that were read early are as they were; all were there. */
static bool
pages_unchanged(struct run *run, const struct space *space, pid_t tid,
		uint64_t va, const uint8_t *early, size_t n)
{
	uint8_t now[BLOCK];

	return !run->host->mem_read(space->mem, tid, va, now, n * PAGE) &&
	       !memcmp(now, early, n * PAGE);
}

/* Runs of pages, as a request costs more than a page. */
static bool
block_unchanged(struct run *run, const struct space *space, pid_t tid,
		uint64_t va, const struct buffer_block *block)
{
	size_t end;

	for (size_t i = 0; block->early && i < PAGES; i = end) {
		for (end = i; end < PAGES && block->there[end]; end++)
			;
		if (end > i &&
		    !pages_unchanged(run, space, tid, va + i * PAGE,
				     block->early + i * PAGE, end - i))
			return false;
		/* What was not there may be there now. */
		if (end < PAGES && block->read[end])
			return false;
		end += end == i;
	}
	return true;
}

bool
text_unchanged(struct run *run, const struct space *space, pid_t tid)
{
	const struct text_buffers *text = space->text;
	bool same = true;

	for (size_t i = 0; text && i < text->nbuffers && same; i++) {
		struct buffer *buffer = &text->buffers[i];
		size_t n = buffer->what == BUFFER_EARLY ?
				   buffer_blocks(buffer) :
				   0;

		for (size_t k = 0; k < n && same; k++) {
			struct buffer_block *block = &buffer->blocks[k];

			same = block_unchanged(run, space, tid,
					       (buffer->lo / BLOCK + k) * BLOCK,
					       block);
			free(block->early);
			block->early = NULL;
		}
		buffer->what = n && same ? BUFFER_TEXT : buffer->what;
	}
	return same;
}

void
text_touch(struct run *run, const struct space *space, pid_t tid)
{
	const struct text_buffers *text = space->text;

	for (size_t i = 0; text && i < text->nbuffers; i++) {
		const struct buffer *buffer = &text->buffers[i];
		uint64_t va = buffer->lo;
		uint8_t byte;

		for (; buffer->what == BUFFER_EARLY && va < buffer->hi;
		     va += PAGE)
			if (buffer->blocks[va / BLOCK - buffer->lo / BLOCK]
				    .changed[va % BLOCK / PAGE] &&
			    !run->host->mem_read(space->mem, tid, va, &byte, 1))
				run->host->mem_write(space->mem, tid, va, &byte,
						     1);
	}
}

/* Write n pages together or, if that fails, each that can be written. */
static int
pages_write(struct run *run, const struct space *space, pid_t tid, uint64_t va,
	    const uint8_t *bytes, size_t n)
{
	int err = HOST_OK;

	if (!run->host->mem_write(space->mem, tid, va, bytes, n * PAGE))
		return HOST_OK;
	for (size_t i = 0; i < n; i++)
		if (run->host->mem_write(space->mem, tid, va + i * PAGE,
					 bytes + i * PAGE, PAGE))
			err = HOST_GONE;
	return err;
}

static int
block_write(struct run *run, const struct space *space, pid_t tid, uint64_t va,
	    const struct buffer_block *block)
{
	int err = HOST_OK;
	size_t end;

	for (size_t i = 0; block->bytes && i < PAGES; i = end) {
		for (end = i; end < PAGES && block->changed[end]; end++)
			;
		if (end > i && pages_write(run, space, tid, va + i * PAGE,
					   block->bytes + i * PAGE, end - i))
			err = HOST_GONE;
		end += end == i;
	}
	return err;
}

static int
buffer_write(struct run *run, const struct space *space, pid_t tid,
	     const struct buffer *buffer)
{
	size_t n = buffer_blocks(buffer);
	int err = HOST_OK;

	must(buffer->what != BUFFER_EARLY);
	for (size_t k = 0; k < n; k++)
		if (block_write(run, space, tid,
				(buffer->lo / BLOCK + k) * BLOCK,
				&buffer->blocks[k]))
			err = HOST_GONE;
	return err;
}

/* Drop the range that was buffer last. */
static void
buffer_drop(struct space *space)
{
	struct text_buffers *text = space->text;
	const struct buffer *buffer = &text->buffers[--text->nbuffers];
	size_t n = buffer_blocks(buffer);

	for (size_t k = 0; k < n; k++) {
		free(buffer->blocks[k].bytes);
		free(buffer->blocks[k].early);
	}
	free(buffer->blocks);
	if (text->nbuffers)
		return;
	space->text = NULL;
	free(text->buffers);
	free(text);
}

int
text_flush(struct run *run, struct space *space, pid_t tid)
{
	const struct text_buffers *text = space->text;
	int err;

	if (!text)
		return HOST_OK;
	err = buffer_write(run, space, tid, &text->buffers[text->nbuffers - 1]);
	buffer_drop(space);
	return err;
}

void
text_drop(struct space *space)
{
	while (space->text)
		buffer_drop(space);
}
