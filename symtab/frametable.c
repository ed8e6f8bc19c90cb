/*
 * Reads the frame tables of OCaml programs: the return address of each call in
 * OCaml's code, with what the garbage collector needs to know of the caller's
 * frame (OCaml's runtime/caml/stack.h, asmcomp/emitaux.ml).  The symbol
 * caml_frametable has the tables' addresses.  Finds only where the return
 * addresses are; believes nothing of what they are.
 */
#include "symtab/frametable.h"

#include <elf.h>
#include <stdlib.h>

#include "util/mem.h"
#include "util/sort.h"

enum {
	WORD = 8,
	FRAME_DEBUG = 1,	/* flags in a frame's size */
	FRAME_ALLOCS = 2,
	FRAME_C = 0xffff,	/* a size: OCaml was called by C */
	FRAME_SIZE = 12,	/* bytes of a frame without live values */
};

struct tables {
	uint64_t addr;		/* of the segment's first byte */
	struct bytes bytes;
	uint64_t *words;
	size_t n;
};

static void
cursor_align(const struct tables *t, struct cursor *c, size_t align)
{
	cursor_skip(c, -(uint64_t)(c->p - t->bytes.p) & (align - 1));
}

static struct cursor
cursor_of(const struct tables *t, uint64_t addr)
{
	/* Alignment is counted from the segment's first byte. */
	if (addr < t->addr || addr % WORD || t->addr % WORD)
		return (struct cursor){ .bad = true };
	return cursor_at(&t->bytes, addr - t->addr, false);
}

/* Skip what is behind a frame's return address. */
static void
frame_skip(const struct tables *t, struct cursor *c)
{
	uint64_t size = cursor_take(c, 2), places;

	cursor_skip(c, 2 * cursor_take(c, 2));
	if (size != FRAME_C) {
		places = size & FRAME_ALLOCS ? cursor_take(c, 1) : 1;
		if (size & FRAME_ALLOCS)
			cursor_skip(c, places);
		if (size & FRAME_DEBUG) {
			cursor_align(t, c, 4);
			cursor_skip(c, 4 * places);
		}
	}
	cursor_align(t, c, WORD);
}

/* Append the words of one table; false if it is damaged. */
static bool
table_read(struct tables *t, uint64_t addr)
{
	struct cursor c = cursor_of(t, addr);
	uint64_t n = cursor_take(&c, WORD);

	/* Tables that overlap would take long. */
	if (c.bad || n > t->bytes.n / FRAME_SIZE - t->n)
		return false;
	for (; n && !c.bad; n--) {
		*vec_push(t->words, t->n) = t->addr +
					    (uint64_t)(c.p - t->bytes.p);
		cursor_skip(&c, WORD);
		frame_skip(t, &c);
	}
	return !c.bad;
}

static void
tables_read(struct tables *t, uint64_t list)
{
	struct cursor c = cursor_of(t, list);
	uint64_t addr;

	while ((addr = cursor_take(&c, WORD)))
		if (!table_read(t, addr))
			return;
}

/* The bytes of the data segment with addr, owned by the caller, or NULL. */
static uint8_t *
segment_read(struct elf *elf, const struct image *image, uint64_t addr,
	     struct tables *t)
{
	uint8_t *bytes = NULL;

	for (size_t i = 0; i < image->nsegments && !bytes; i++) {
		const struct segment *seg = &image->segments[i];

		if (seg->flags & PF_X || addr < seg->addr ||
		    addr - seg->addr >= seg->filesz)
			continue;
		bytes = mem_alloc(seg->filesz);
		t->addr = seg->addr;
		t->bytes = (struct bytes){ bytes, seg->filesz };
		if (elf_read(elf, bytes, seg->offset, seg->filesz) == 0)
			continue;
		free(bytes);
		return NULL;
	}
	return bytes;
}

uint64_t *
frametable_words(struct elf *elf, struct reading *r, size_t *n)
{
	struct tables t = { 0 };
	uint64_t list = 0;
	uint8_t *bytes;

	*n = 0;
	if (!elf_wide(elf) || elf_big_endian(elf) ||
	    !elf_symbol(elf, "caml_frametable", &list))
		return NULL;
	bytes = segment_read(elf, r->image, list, &t);
	if (!bytes)
		return NULL;
	r->image->ocaml = true;
	tables_read(&t, list);
	free(bytes);
	sort_by_addr(t.words, t.n, sizeof(*t.words));
	*n = t.n;
	return t.words;
}
