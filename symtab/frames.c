/*
 * Reads the unwinder's table, .eh_frame (Linux Standard Base Core, 10.6;
 * DWARF 5, 6.4.1): which code it covers, whether a range begins a function,
 * and where exceptions go.  Reads the bytes without libdwarf, because a
 * library has tens of thousands of entries and pmon wants little of each.
 * Never unwinds.
 */
#include <stdlib.h>

#include "symtab/debug.h"
#include "symtab/gopclntab.h"
#include "symtab/lsda.h"
#include "symtab/text.h"
#include "util/mem.h"
#include "util/search.h"
#include "util/sort.h"

enum { ENCODING_OMIT = 0xff, ID_BYTES = 4 };

/* DWARF 5, 7.24. */
enum {
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_OFFSET = 0x80,	/* | register */
};

/* What the FDEs of a CIE have in common. */
struct cie {
	uint64_t offset;
	uint8_t code;		/* how an FDE's address is encoded */
	uint8_t area;		/* ... and the address of its LSDA */
	bool sized;		/* an FDE's augmentation data has a length */
	bool known;
};

struct frame {
	uint64_t lo, hi;
	uint64_t lsda;		/* 0: none */
	uint8_t begin;		/* its first call frame instruction */
};

struct frames {
	struct lsda_section section;
	struct cie cie;		/* the last one read */
	uint64_t at;		/* offset of the next entry */
	bool damaged;
};

static struct lsda_section
section_get(struct elf *elf, const char *name)
{
	struct lsda_section section = {
		.big_endian = elf_big_endian(elf),
		.narrow = !elf_wide(elf),
	};

	section.bytes = elf_section(elf, name, &section.addr);
	return section;
}

static struct cursor
cursor_of(const struct lsda_section *section, uint64_t offset)
{
	return cursor_at(&section->bytes, offset, section->big_endian);
}

static uint64_t
cursor_offset(const struct lsda_section *section, const struct cursor *c)
{
	return (uint64_t)(c->p - section->bytes.p);
}

/*
 * Go on to the next entry: *id, which is at offset *id_at, and *c behind it,
 * up to the entry's end.  False at the end of the table.
 */
static bool
entry_next(struct frames *f, struct cursor *c, uint64_t *id_at, uint64_t *id)
{
	uint64_t n;

	if (f->damaged || f->at >= f->section.bytes.n)
		return false;
	*c = cursor_of(&f->section, f->at);
	n = cursor_take(c, 4);
	if (n == UINT32_MAX)
		n = cursor_take(c, 8);
	if (!n)
		return false;
	f->damaged = c->bad || n < ID_BYTES || n > (uint64_t)(c->end - c->p);
	if (f->damaged)
		return false;
	c->end = c->p + n;
	*id_at = cursor_offset(&f->section, c);
	*id = cursor_take(c, ID_BYTES);
	f->at = *id_at + n;
	return true;
}

/* Read the augmentation data, one item for each of the letters. */
static bool
augmentation_read(const struct lsda_section *section, const char *letters,
		  uint64_t at, struct cie *cie)
{
	for (; *letters; letters++) {
		struct cursor c = cursor_of(section, at);
		uint8_t encoding;
		uint64_t value;

		if (*letters == 'S' || *letters == 'B')
			continue;
		encoding = (uint8_t)cursor_take(&c, 1);
		if (c.bad)
			return false;
		at++;
		if (*letters == 'R')
			cie->code = encoding;
		else if (*letters == 'L')
			cie->area = encoding;
		/* 'P': skip the address of the personality routine. */
		else if (*letters != 'P' ||
			 !lsda_value(section, &at, encoding & 0x0f, &value))
			return false;
	}
	return true;
}

static bool
cie_read(struct frames *f, uint64_t offset)
{
	const struct lsda_section *section = &f->section;
	struct cie *cie = &f->cie;
	struct cursor c = cursor_of(section, offset);
	const char *letters;
	unsigned version;

	if (cie->known && cie->offset == offset)
		return true;
	*cie = (struct cie){ .offset = offset, .area = ENCODING_OMIT };
	if (cursor_take(&c, 4) == UINT32_MAX)
		cursor_skip(&c, 8);
	if (cursor_take(&c, ID_BYTES))
		return false;
	version = (unsigned)cursor_take(&c, 1);
	letters = cursor_string(&c);
	if (version >= 4)
		cursor_skip(&c, 2);	/* sizes of addresses, selectors */
	cursor_uleb(&c);
	cursor_sleb(&c);
	if (version == 1)
		cursor_skip(&c, 1);
	else
		cursor_uleb(&c);
	cie->sized = *letters == 'z';
	if (cie->sized)
		cursor_uleb(&c);
	cie->known = !c.bad &&
		     (cie->sized ? augmentation_read(section, letters + 1,
						     cursor_offset(section, &c),
						     cie) :
				   !*letters);
	return cie->known;
}

/* Read the rest of an FDE, whose CIE is known. */
static bool
fde_read(struct frames *f, struct cursor c, struct frame *frame)
{
	const struct lsda_section *section = &f->section;
	const struct cie *cie = &f->cie;
	uint64_t at = cursor_offset(section, &c), size, n, end;

	*frame = (struct frame){ 0 };
	if (!lsda_value(section, &at, cie->code, &frame->lo) ||
	    !lsda_value(section, &at, cie->code & 0x0f, &size))
		return false;
	frame->hi = frame->lo + size;
	if (cie->sized) {
		uint64_t begin = cursor_offset(section, &c);

		cursor_skip(&c, at - begin);
		n = cursor_uleb(&c);
		at = cursor_offset(section, &c);
		end = at + n;
		if (c.bad || n > (uint64_t)(c.end - c.p) ||
		    (n && cie->area != ENCODING_OMIT &&
		     !lsda_value(section, &at, cie->area, &frame->lsda)))
			return false;
		at = end;
	}
	if (at < cursor_offset(section, &c) + (uint64_t)(c.end - c.p))
		frame->begin = section->bytes.p[at];
	return true;
}

/* The next FDE; false at the end, or where the table is damaged. */
static bool
frames_next(struct frames *f, struct frame *frame)
{
	uint64_t id_at, id;
	struct cursor c;

	while (entry_next(f, &c, &id_at, &id)) {
		if (!id)
			continue;
		if (id > id_at || !cie_read(f, id_at - id) ||
		    !fde_read(f, c, frame)) {
			f->damaged = true;
			return false;
		}
		return true;
	}
	return false;
}

/*
 * Does the frame begin as every function's does, with nothing saved yet?  A
 * part split off a function has rules that begin within its function's frame:
 * System V ABI for x86-64, 3.7; DWARF 5, 6.4.
 */
static bool
frame_begins_function(const struct frame *frame)
{
	return frame->begin != CFA_DEF_CFA &&
	       frame->begin != CFA_DEF_CFA_OFFSET &&
	       frame->begin != CFA_DEF_CFA_REGISTER &&
	       (frame->begin & 0xc0) != CFA_OFFSET;
}

/*
 * Assembler code ends its entry in front of a system call behind which the
 * entry's rules do not hold in a new thread (glibc's clone3), and goes on.  So
 * the bytes from there to the next entry belong to that function; whether
 * control comes there is for flow/proof.h to say.
 */
static void
frames_continue(struct reading *r)
{
	const struct image *image = r->image;
	const struct range *parts = image->parts;

	for (size_t i = 0; i < r->nframes; i++) {
		struct range *frame = &r->frames[i];
		size_t hint = image_hint(image, frame->hi);
		size_t part = search_first(image->nparts, j,
					   parts[j].hi > frame->hi);
		uint64_t end;

		if (hint == image->nhints ||
		    image->hints[hint].addr != frame->hi ||
		    image->hints[hint].kind != HINT_SYSCALL)
			continue;
		end = reading_text(r, frame->lo)->hi;
		if (i + 1 < r->nframes && frame[1].lo < end)
			end = frame[1].lo;
		if (part < image->nparts && parts[part].lo < end)
			end = parts[part].lo;
		if (end > frame->hi)
			frame->hi = end;
	}
}

void
debug_read_frames(struct reading *r, struct elf *elf)
{
	struct image *image = r->image;
	struct frames f = { .section = section_get(elf, ".eh_frame") };
	struct frame frame;

	while (frames_next(&f, &frame)) {
		struct range range = { frame.lo, frame.hi };

		if (!reading_wants(r, range.lo, range.hi - range.lo) ||
		    !reading_is_code(r, range.lo, range.hi) ||
		    reading_text(r, range.lo)->plt)
			continue;
		if (frame_begins_function(&frame))
			*vec_push(r->frames, r->nframes) = range;
		else
			*vec_push(image->parts, image->nparts) = range;
	}
	sort_by_addr(image->parts, image->nparts, sizeof(*image->parts));
	sort_by_addr(r->frames, r->nframes, sizeof(*r->frames));
	frames_continue(r);
	if (f.damaged)
		reading_remark(r,
			       "%s: damaged .eh_frame: pmon ignored part of "
			       "it",
			       image->path);
}

struct range *
debug_read_tabled(struct elf *elf, size_t *n)
{
	struct frames f = { .section = section_get(elf, ".eh_frame") };
	struct range *ranges = NULL;
	struct frame frame;

	*n = 0;
	while (frames_next(&f, &frame))
		*vec_push(ranges, *n) = (struct range){ frame.lo, frame.hi };
	sort_by_addr(ranges, *n, sizeof(*ranges));
	return ranges;
}

/* Sort the landing pads, and keep each that is in text once. */
static void
pads_sort(struct reading *r)
{
	struct image *image = r->image;
	uint64_t *pads = image->pads;
	size_t n = 0;

	sort_by_addr(pads, image->npads, sizeof(*pads));
	for (size_t i = 0; i < image->npads; i++)
		if ((!n || pads[n - 1] != pads[i]) && reading_text(r, pads[i]))
			pads[n++] = pads[i];
	image->npads = n;
}

void
debug_read_pads(struct reading *r, struct elf *elf)
{
	struct image *image = r->image;
	struct lsda_section table = section_get(elf, ".gcc_except_table");
	struct frames f = { .section = section_get(elf, ".eh_frame") };
	const char *damage = NULL;
	struct frame frame;

	while (table.bytes.n && frames_next(&f, &frame))
		if (frame.lsda && !lsda_pads(&table, frame.lsda, frame.lo,
					     &image->pads, &image->npads))
			damage = ".gcc_except_table";
	if (f.damaged)
		damage = ".eh_frame";
	if (!gopclntab_pads(r, elf))
		damage = ".gopclntab";
	if (damage)
		reading_remark(r,
			       "%s: pmon does not know all its exception "
			       "handlers: damaged %s",
			       image->path, damage);
	pads_sort(r);
}
