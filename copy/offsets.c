/*
 * Where the pieces of a copy are in it: how long each is, and where loops
 * begin.
 */
#include "copy/offsets.h"

#include "util/fail.h"

/*
 * Say of each loop that has no other in it where it ends: at the last way
 * back to its head, of the first n pieces, which are no stubs.
 */
static void
loops_close(struct copy *copy, uint32_t n)
{
	uint32_t align = PIECE_OUT;

	for (uint32_t i = 0; i < n; i++) {
		const struct piece *piece = &copy->pieces[i];

		if (piece->kind == PIECE_ALIGN)
			align = i;
		else if (align != PIECE_OUT && piece->to == align + 1)
			copy->pieces[align].to = i;
	}
}

static uint32_t
offset_aligned(uint32_t offset, uint32_t align)
{
	return (offset + align - 1) & ~(align - 1);
}

static uint32_t
lines_touched(uint32_t offset, uint32_t len)
{
	return (offset % ALIGN_LINE + len + ALIGN_LINE - 1) / ALIGN_LINE;
}

/* Where the loop behind a PIECE_ALIGN is to begin, that could at offset. */
static uint32_t
loop_offset(const struct arch *arch, const struct copy *copy, uint32_t align,
	    uint32_t offset)
{
	uint32_t at = offset_aligned(offset, ALIGN_LOOP), len = 0;

	if (copy->pieces[align].to == PIECE_OUT)
		return at;
	for (uint32_t i = align + 1; i <= copy->pieces[align].to; i++)
		len += arch->piece_size(&copy->pieces[i]);
	return lines_touched(at, len) == lines_touched(0, len) ? at :
	       offset_aligned(offset, ALIGN_LINE);
}

static void
offsets_set(const struct arch *arch, struct copy *copy)
{
	uint32_t offset = 0;

	for (uint32_t i = 0; i < copy->npieces; i++) {
		struct piece *piece = &copy->pieces[i];
		uint32_t size = piece->kind == PIECE_ALIGN ?
			loop_offset(arch, copy, i, offset) - offset :
			arch->piece_size(piece);

		must(size <= PIECE_MAX && offset < UINT32_MAX / 2);
		piece->offset = offset;
		piece->size = (uint8_t)size;
		offset += size;
	}
	copy->size = offset;
}

/*
 * Short forms first, longer ones where those do not reach, until all do.  A
 * piece that has grown stays so, though alignment may bring it back.
 */
static void
pieces_relax(const struct arch *arch, struct copy *copy)
{
	bool changed = true;

	for (uint32_t i = 0; i < copy->npieces; i++)
		copy->pieces[i].wide = copy->pieces[i].to == PIECE_OUT ||
				       copy->pieces[i].kind == PIECE_ALIGN;
	while (changed) {
		changed = false;
		offsets_set(arch, copy);
		for (uint32_t i = 0; i < copy->npieces; i++) {
			struct piece *piece = &copy->pieces[i];

			if (piece->wide ||
			    arch->piece_reaches(piece,
						(int64_t)copy->pieces[piece->to]
						.offset - piece->offset))
				continue;
			piece->wide = true;
			changed = true;
		}
	}
}

static bool
copy_loops(const struct copy *copy)
{
	for (uint32_t i = 0; i < copy->npieces; i++)
		if (copy->pieces[i].kind == PIECE_ALIGN)
			return true;
	return false;
}

void
offsets_make(struct copy *copy, uint32_t n)
{
	loops_close(copy, n);
	copy->align = copy_loops(copy) ? ALIGN_LINE : ALIGN_COPY;
	pieces_relax(copy->arch, copy);
}
