/*
 * The frame of a data file: its magic number and version, and sections that
 * are compressed and carry a checksum.  What is in them is profile_write.c's
 * and profile_read.c's.  See man/pmon.out.5.
 */
#ifndef REPORT_PROFILE_SECTIONS_H
#define REPORT_PROFILE_SECTIONS_H

#include "report/profile/stream.h"

/*
 * The sections, in the order in which they are in the file.  What is alike is
 * together, and so is compressed well.
 */
enum section {
	SECTION_RUNS,
	SECTION_PARTS,
	SECTION_OBJECTS,
	SECTION_FUNCS,
	SECTION_NAMES,		/* of functions */
	SECTION_SIZES,		/* of blocks, bytes */
	SECTION_INSNS,		/* of blocks, number */
	SECTION_GAPS,		/* between blocks */
	SECTION_EDGES,		/* their kinds */
	SECTION_TARGETS,	/* of edges */
	SECTION_STATES,		/* of counts */
	SECTION_COUNTS,
	SECTION_EXTRAS,		/* abnormal edges, calls */
	SECTION_STOPS,		/* of runs */
	SECTION_DOUBTS,		/* of functions */
	SECTIONS,
};

/* The whole file, made from sections' bytes; empty sections are left out. */
void sections_pack(const struct sink *sections, struct sink *file);

/*
 * The sections' bytes of a file, which sections_free releases, also after an
 * error.  0, or -1 with the message, which begins with path.
 */
int sections_unpack(const char *path, const uint8_t *bytes, size_t size,
		    struct sink *sections);
void sections_free(struct sink *sections);

const char *section_tag(enum section section);

/* CRC-32 (of IEEE 802.3) of what has the CRC-32 crc and n more bytes. */
uint32_t crc_more(uint32_t crc, const void *bytes, size_t n);

/* Whether a file that begins with these bytes is, or will be, a data file. */
bool frame_is(const uint8_t *bytes, size_t n);

#endif
