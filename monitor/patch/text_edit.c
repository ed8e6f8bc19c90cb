/*
 * Edits a program's text in bulk: makes thousands of small changes, each near
 * others, in a buffer, and writes them in few calls while all tasks stand
 * still.  Knows no sites and no relocated functions.
 */
#include "monitor/patch/text_edit.h"

#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/halves.h"
#include "util/mem.h"

enum {
	PAGES = 16,
	BLOCK = PAGE * PAGES,
	PAGES_MANY = 64,	/* what is worth a second thread */
};

struct buffer_block {
	uint8_t *bytes;		/* NULL: not read yet */
	uint8_t *early;		/* what was read, if buffer early; or NULL */
	bool read[PAGES], there[PAGES], changed[PAGES];
	bool done;		/* by blocks_do */
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

/* ---- many blocks at once */

/* Whose memory is read or written. */
struct access {
	struct run *run;
	const struct space *space;
	pid_t tid;
	bool at_once;		/* by two threads */
};

static bool
pages_read(const struct access *access, uint64_t va, uint8_t *bytes, size_t n)
{
	const struct host *host = access->run->host;
	int mem = access->space->mem;

	return !(access->at_once ?
			 host->native->mem_get(mem, va, bytes, n * PAGE) :
			 host->mem_read(mem, access->tid, va, bytes, n * PAGE));
}

static bool
pages_write(const struct access *access, uint64_t va, const uint8_t *bytes,
	    size_t n)
{
	const struct host *host = access->run->host;
	int mem = access->space->mem;

	return !(
		access->at_once ?
			host->native->mem_put(mem, va, bytes, n * PAGE) :
			host->mem_write(mem, access->tid, va, bytes, n * PAGE));
}

typedef bool block_work(const struct access *access, uint64_t va,
			const struct buffer_block *block);

struct blocks {
	const struct access *access;
	const struct buffer *buffer;
	block_work *work;
};

static void
blocks_work(void *ctx, size_t first, size_t last)
{
	const struct blocks *blocks = ctx;
	const struct buffer *buffer = blocks->buffer;

	for (size_t k = first; k < last; k++)
		buffer->blocks[k].done = blocks->work(blocks->access,
						      (buffer->lo / BLOCK + k) *
							      BLOCK,
						      &buffer->blocks[k]);
}

/* Are so many pages in the buffer that a second thread is worth its start? */
static bool
buffer_large(const struct buffer *buffer)
{
	size_t n = buffer_blocks(buffer), pages = 0;

	for (size_t k = 0; k < n && pages < PAGES_MANY; k++)
		for (size_t i = 0; i < PAGES; i++)
			pages += buffer->blocks[k].read[i];
	return pages >= PAGES_MANY;
}

/*
 * Do work to all blocks of a buffer; whether all could be done.  Processes stand
 * still for it, so another thread does half of many, as far as a host can be
 * used by two threads; what fails there is tried again.
 */
static bool
blocks_do(struct run *run, const struct space *space, pid_t tid,
	  const struct buffer *buffer, block_work *work)
{
	struct access access = { run, space, tid, run->host->native != NULL };
	struct blocks blocks = { &access, buffer, work };
	size_t n = buffer_blocks(buffer);
	bool all = true;

	for (size_t k = 0; k < n; k++)
		buffer->blocks[k].done = false;
	if (access.at_once && n > 1 && buffer_large(buffer))
		halves_work(blocks_work, &blocks, n);
	access.at_once = false;
	for (size_t k = 0; k < n; k++) {
		if (!buffer->blocks[k].done)
			blocks_work(&blocks, k, k + 1);
		all &= buffer->blocks[k].done;
	}
	return all;
}

/* ---- */

/* Whether n pages that were read early are as they were; all were there. */
static bool
pages_unchanged(const struct access *access, uint64_t va, const uint8_t *early,
		size_t n)
{
	uint8_t now[BLOCK];

	return pages_read(access, va, now, n) && !memcmp(now, early, n * PAGE);
}

/* Runs of pages, as a request costs more than a page. */
static bool
block_unchanged(const struct access *access, uint64_t va,
		const struct buffer_block *block)
{
	size_t end;

	for (size_t i = 0; block->early && i < PAGES; i = end) {
		for (end = i; end < PAGES && block->there[end]; end++)
			;
		if (end > i &&
		    !pages_unchanged(access, va + i * PAGE,
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

		if (buffer->what != BUFFER_EARLY)
			continue;
		same = blocks_do(run, space, tid, buffer, block_unchanged);
		for (size_t k = 0; k < buffer_blocks(buffer); k++) {
			free(buffer->blocks[k].early);
			buffer->blocks[k].early = NULL;
		}
		if (same)
			buffer->what = BUFFER_TEXT;
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

/* Write changed pages together or, if that fails, each that can be written. */
static bool
block_write(const struct access *access, uint64_t va,
	    const struct buffer_block *block)
{
	bool all = true;
	size_t end;

	for (size_t i = 0; block->bytes && i < PAGES; i = end) {
		for (end = i; end < PAGES && block->changed[end]; end++)
			;
		if (end > i && !pages_write(access, va + i * PAGE,
					    block->bytes + i * PAGE, end - i)) {
			for (size_t k = i; k < end; k++)
				all &= pages_write(access, va + k * PAGE,
						   block->bytes + k * PAGE, 1);
		}
		end += end == i;
	}
	return all;
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
	const struct buffer *buffer;
	bool all;

	if (!text)
		return HOST_OK;
	buffer = &text->buffers[text->nbuffers - 1];
	must(buffer->what != BUFFER_EARLY);
	all = blocks_do(run, space, tid, buffer, block_write);
	buffer_drop(space);
	return all ? HOST_OK : HOST_GONE;
}

void
text_drop(struct space *space)
{
	while (space->text)
		buffer_drop(space);
}
