/*
 * Owns the text of images, and searches it for hints when an image is opened.
 * Most images have their text in memory from the beginning.  Little of a
 * sparse image's text and constants is ever looked at: its file is kept open
 * and read a block at a time.  Never decodes instructions.
 */
#include "symtab/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

enum { SEGMENT_X = 1 };		/* PF_X */

enum {
	BLOCK = SPARSE_TEXT,
	CHUNK = 128 << 10,	/* searched while it is in the CPU's cache */
	FILES_MAX = 256,	/* descriptors; with more, read whole files */
};

/* ---- bytes that are read when they are needed */

void
text_open(struct reading *r, struct elf *elf)
{
	struct image_priv *priv = r->image->priv;

	priv->fd = fcntl(elf_fd(elf), F_DUPFD_CLOEXEC, 0);
	r->sparse = priv->fd >= 0 && priv->fd < FILES_MAX;
	if (priv->fd >= 0 && !r->sparse)
		text_close(priv);
}

void
text_close(struct image_priv *priv)
{
	if (priv->fd >= 0)
		close(priv->fd);
	priv->fd = -1;
}

/* A segment's or a section's bytes, and where they are in the file. */
struct stored {
	uint8_t *bytes;
	bool *there;
	uint64_t size, offset;
};

static ssize_t
bytes_read(const struct image_priv *priv, const struct stored *stored,
	   uint64_t at, uint64_t end)
{
	return pread(priv->fd, stored->bytes + at, end - at,
		     (off_t)(stored->offset + at));
}

/*
 * Read those of the blocks from first to last that are not read yet.  pread may
 * give less than what was asked for, and then end in the middle of any block.
 */
static bool
blocks_read(const struct image_priv *priv, const struct stored *stored,
	    uint64_t first, uint64_t last)
{
	uint64_t at = first * BLOCK, end = (last + 1) * BLOCK;

	if (end > stored->size)
		end = stored->size;
	while (at < end) {
		ssize_t got;

		if (stored->there[at / BLOCK]) {
			at = (at / BLOCK + 1) * BLOCK;
			continue;
		}
		got = bytes_read(priv, stored, at, end);
		/* Hooks that were not found would be missed silently. */
		if (got < 0)
			got = bytes_read(priv, stored, at, end);
		if (got <= 0)
			return false;
		at += (uint64_t)got;
	}
	memset(stored->there + first, true, last - first + 1);
	return true;
}

/* The bytes at `at`: all of them, of a sparse image n at most. */
static const uint8_t *
stored_get(const struct image *image, const struct stored *stored, uint64_t at,
	   uint64_t n, size_t *avail)
{
	*avail = stored->size - at;
	if (stored->there) {
		if (n < *avail)
			*avail = n;
		if (!blocks_read(image->priv, stored, at / BLOCK,
				 (at + *avail - 1) / BLOCK)) {
			((struct image_priv *)image->priv)->lost = true;
			return NULL;
		}
	}
	return stored->bytes + at;
}

bool
image_lost(const struct image *image)
{
	const struct image_priv *priv = image->priv;

	return priv->lost;
}

bool *
text_blocks(struct reading *r, uint64_t size)
{
	return pool_alloc(r->pool, size / BLOCK + 1);
}

/* The executable segment that has bytes for addr, or NULL. */
static const struct segment *
segment_of(const struct image *image, uint64_t addr)
{
	struct image_priv *priv = image->priv;

	/* Asked for each instruction, so mostly the same one again. */
	if (priv && priv->asked &&
	    addr - priv->asked->addr < priv->asked->filesz)
		return priv->asked;
	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];

		if (!(seg->flags & SEGMENT_X) || !seg->bytes ||
		    addr - seg->addr >= seg->filesz)
			continue;
		if (priv)
			priv->asked = seg;
		return seg;
	}
	return NULL;
}

const uint8_t *
image_text_range(const struct image *image, uint64_t lo, uint64_t hi,
		 size_t *avail)
{
	const struct segment *seg = segment_of(image, lo);

	if (!seg)
		return NULL;
	/* Most images' text. */
	if (!seg->there) {
		*avail = seg->filesz - (lo - seg->addr);
		return seg->bytes + (lo - seg->addr);
	}
	return stored_get(image,
			  &(struct stored){
				  .bytes = (uint8_t *)seg->bytes,
				  .there = seg->there,
				  .size = seg->filesz,
				  .offset = seg->offset,
			  },
			  lo - seg->addr, hi - lo, avail);
}

const uint8_t *
image_text(const struct image *image, uint64_t addr, size_t *avail)
{
	return image_text_range(image, addr, addr + BLOCK, avail);
}

const uint8_t *
text_data(const struct image *image, const struct data *data, uint64_t addr,
	  size_t *avail)
{
	return stored_get(image,
			  &(struct stored){
				  .bytes = data->bytes,
				  .there = data->there,
				  .size = data->size,
				  .offset = data->offset,
			  },
			  addr - data->addr, SPARSE_DATA, avail);
}

void
text_data_free(const struct data *data)
{
	if (data->there)
		mem_unmap(data->bytes, data->size);
	else
		free(data->bytes);
}

/* ---- hints */

/* Add the hints at offsets [first, last) of n bytes that begin at addr. */
static void
hints_find(struct image *image, const uint8_t *code, size_t n, uint64_t addr,
	   size_t first, size_t last)
{
	enum hint_kind kind;

	for (size_t i = first; i < last; i++) {
		i = image->arch->hint(code, n, i, &kind);
		if (i < last)
			*vec_push(image->hints, image->nhints) = (struct hint){
				.addr = addr + i,
				.kind = (uint8_t)kind,
			};
	}
}

/*
 * Add the hints of size bytes at addr, which are read for this alone.  The
 * end of each chunk is left to the next one, which has the context of
 * HINT_CONTEXT bytes that a hint is judged by.
 */
static int
hints_read_file(struct image *image, struct elf *elf, const struct segment *seg,
		uint64_t addr, uint64_t size)
{
	uint8_t *code = mem_alloc(CHUNK);
	uint64_t at = 0, done = 0;
	int err = 0;

	while (done < size && !err) {
		size_t n = size - at < CHUNK ? size - at : CHUNK;
		uint64_t last = at + n < size ? at + n - HINT_CONTEXT : size;

		err = elf_read(elf, code, seg->offset + (addr - seg->addr) + at,
			       n);
		if (!err)
			hints_find(image, code, n, addr + at, done - at,
				   last - at);
		done = last;
		at = last - HINT_CONTEXT;
	}
	free(code);
	return err;
}

static int
hints_read(struct image *image, struct elf *elf, uint64_t lo, uint64_t hi)
{
	const struct segment *seg = segment_of(image, lo);

	must(seg && hi - seg->addr <= seg->filesz);
	if (seg->there)
		return hints_read_file(image, elf, seg, lo, hi - lo);
	hints_find(image, seg->bytes + (lo - seg->addr), hi - lo, lo, 0,
		   hi - lo);
	return 0;
}

int
text_read_hints(struct reading *r, struct elf *elf)
{
	uint64_t done = 0;

	for (size_t i = 0; r->image->arch->hint && i < r->ntexts; i++) {
		const struct text *text = &r->texts[i];

		if (done < text->lo)
			done = text->lo;
		if (done < text->hi &&
		    hints_read(r->image, elf, done, text->hi) < 0)
			return -1;
		if (done < text->hi)
			done = text->hi;
	}
	return 0;
}

size_t
image_hint(const struct image *image, uint64_t addr)
{
	return search_first(image->nhints, i, image->hints[i].addr >= addr);
}

bool
reading_wants_any(const struct reading *r)
{
	return !r->sparse || r->image->nhints;
}

bool
reading_wants(const struct reading *r, uint64_t addr, uint64_t size)
{
	const struct image *image = r->image;
	size_t i;

	if (!r->sparse)
		return true;
	i = image_hint(image, addr < SPARSE_REACH ? 0 : addr - SPARSE_REACH);
	return i < image->nhints &&
	       (image->hints[i].addr < addr ||
		image->hints[i].addr - addr < size ||
		image->hints[i].addr - addr - size < SPARSE_REACH);
}
