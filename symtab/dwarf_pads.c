/*
 * Landing pads: finds each frame's language specific data through libdwarf
 * and hands it to lsda.c.
 */
#include "symtab/dwarf.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/debug.h"
#include "symtab/lsda.h"
#include "symtab/sort.h"
#include "util/mem.h"

struct pads {
	struct debug d;
	struct lsda_section table;	/* .gcc_except_table */
	struct lsda_section frames;	/* .eh_frame */
	Dwarf_Cie cie;		/* the last one looked at */
	uint8_t encoding;	/* what it says of pointers to areas */
};

enum { ENCODING_OMIT = 0xff };

/*
 * How frames of this CIE point to their areas: Linux Standard Base Core,
 * 10.6.1.1.1.
 */
static uint8_t
cie_encoding(struct pads *p, Dwarf_Cie cie)
{
	struct debug *d = &p->d;
	Dwarf_Unsigned size, code, ninit, n;
	Dwarf_Half reg, offset_size;
	Dwarf_Small version, *data;
	Dwarf_Signed align;
	uint64_t at = 0, value;
	lib_bytes init;
	char *names;

	if (!debug_ok(d, dwarf_get_cie_info_b(cie, &size, &version, &names,
			&code, &align, &reg, &init, &ninit, &offset_size,
			&d->err)) || !names || *names != 'z' ||
	    !debug_ok(d, dwarf_get_cie_augmentation_data(cie, &data, &n,
							 &d->err)))
		return ENCODING_OMIT;
	for (names++; *names && at < n; names++) {
		struct lsda_section s = { .bytes = { data, n } };
		uint8_t encoding = data[at];

		if (*names == 'L')
			return encoding;
		if (*names != 'P' && *names != 'R')
			continue;
		at++;
		/* The routine's address, whatever it is. */
		if (*names == 'P' &&
		    !lsda_value(&s, &at, encoding & 0x0f, &value))
			break;
	}
	return ENCODING_OMIT;
}

static void
frame_pads(struct pads *p, Dwarf_Fde fde)
{
	struct image *image = p->d.r->image;
	struct debug *d = &p->d;
	Dwarf_Unsigned size, nbytes, n;
	Dwarf_Off cie_offset, offset;
	Dwarf_Small *data;
	Dwarf_Signed index;
	Dwarf_Addr lo;
	Dwarf_Cie cie;
	lib_bytes bytes;
	uint64_t at, lsda;

	if (!debug_ok(d, dwarf_get_cie_of_fde(fde, &cie, &d->err)))
		return;
	if (cie != p->cie) {
		p->cie = cie;
		p->encoding = cie_encoding(p, cie);
	}
	if (p->encoding == ENCODING_OMIT ||
	    !debug_ok(d, dwarf_get_fde_augmentation_data(fde, &data, &n,
							 &d->err)) || !n ||
	    !debug_ok(d, dwarf_get_fde_range(fde, &lo, &size, &bytes, &nbytes,
					     &cie_offset, &index, &offset,
					     &d->err)))
		return;
	at = offset + (uint64_t)(data - (const uint8_t *)bytes);
	if (!lsda_value(&p->frames, &at, p->encoding, &lsda) || !lsda)
		return;
	if (!lsda_pads(&p->table, lsda, lo, &image->pads, &image->npads))
		debug_damage(d, ".gcc_except_table");
}

static struct lsda_section
section_get(struct elf *elf, const char *name)
{
	struct lsda_section section = { .addr = 0 };

	section.bytes = elf_section(elf, name, &section.addr);
	return section;
}

/* In order, each once, and of those in text. */
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
	static const char *const names[] = { ".eh_frame", NULL };
	struct pads p = {
		.d = { .r = r },
		.table = section_get(elf, ".gcc_except_table"),
		.frames = section_get(elf, ".eh_frame"),
	};
	struct debug *d = &p.d;
	Dwarf_Cie *cies;
	Dwarf_Fde *fdes;
	Dwarf_Signed ncies, nfdes;

	if (!p.table.bytes.n || !p.frames.bytes.n)
		return;
	if (debug_open(d, elf, names) &&
	    debug_ok(d, dwarf_get_fde_list_eh(d->dbg, &cies, &ncies, &fdes,
					      &nfdes, &d->err))) {
		for (Dwarf_Signed i = 0; i < nfdes; i++)
			frame_pads(&p, fdes[i]);
		lib_frames_free(d->dbg, cies, ncies, fdes, nfdes);
	}
	if (d->damages)
		reading_remark(r, "%s: where its exceptions go is not all "
			       "known: damaged: %s", r->image->path,
			       d->damage);
	debug_close(d);
	pads_sort(r);
}
