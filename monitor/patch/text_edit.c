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
	bool read[PAGES], there[PAGES], changed[PAGES];
};

struct buffer {
	uint64_t lo, hi;	/* multiples of PAGE */
	bool fresh;		/* it has zeros, as the kernel maps it */
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
	if (block->read[page])
		return block;
	bytes = block->bytes + page * PAGE;
	block->read[page] = true;
	block->there[page] = true;
	if (buffer->fresh)
		memset(bytes, 0, PAGE);
	else
		block->there[page] = !run->host->mem_read(space->mem, tid,
							  va / PAGE * PAGE,
							  bytes, PAGE);
	return block;
}

/* The buffered block that has va, with va's page in it; or NULL. */
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
text_buffer(struct space *space, uint64_t lo, uint64_t hi, bool fresh)
{
	struct buffer buffer = {
		.lo = lo / PAGE * PAGE,
		.hi = (hi + PAGE - 1) / PAGE * PAGE,
		.fresh = fresh,
	};

	must(lo < hi);
	buffer.blocks = mem_alloc(buffer_blocks(&buffer) *
				  sizeof(*buffer.blocks));
	if (!space->text)
		space->text = mem_alloc(sizeof(*space->text));
	*vec_push(space->text->buffers, space->text->nbuffers) = buffer;
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

	for (size_t k = 0; k < n; k++) {
		if (block_write(run, space, tid,
				(buffer->lo / BLOCK + k) * BLOCK,
				&buffer->blocks[k]))
			err = HOST_GONE;
		free(buffer->blocks[k].bytes);
	}
	free(buffer->blocks);
	return err;
}

int
text_flush(struct run *run, struct space *space, pid_t tid)
{
	struct text_buffers *text = space->text;
	int err;

	if (!text)
		return HOST_OK;
	err = buffer_write(run, space, tid, &text->buffers[--text->nbuffers]);
	if (text->nbuffers)
		return err;
	space->text = NULL;
	free(text->buffers);
	free(text);
	return err;
}
