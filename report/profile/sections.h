/*
 * The frame of a data file: its magic number and version, and sections that
 * are compressed and have checksums.  Knows nothing of the sections' content,
 * which profile_write.c and profile_read.c own.  See man/pmon.out.5.
 */
#ifndef REPORT_PROFILE_SECTIONS_H
#define REPORT_PROFILE_SECTIONS_H

#include "report/profile/stream.h"
#include "util/fail.h"

/*
 * The sections, in the order of the file.  Each has data of one kind, so that
 * it is compressed well.
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
	SECTION_TIMES,		/* of functions */
	SECTION_DEATHS,		/* of runs */
	SECTIONS,
};

enum {
	FRAME_HEADER = 12,	/* bytes of the magic number and version */
	FRAME_MAX = 1 << 30,	/* bytes of a file, at most */
};

/*
 * Check the header of a file, of which there are `size` bytes.  0, or -1 with
 * the message set, which begins with path.
 */
MUST_CHECK int frame_check(const char *path, const uint8_t *bytes, size_t size);

/* Make the whole file from the sections; empty sections are left out. */
void sections_pack(const struct sink *sections, struct sink *file);

/*
 * Unpack the sections of a file.  sections_free frees them, also after an
 * error.  0, or -1 with the message set, which begins with path.
 */
MUST_CHECK int sections_unpack(const char *path, const uint8_t *bytes,
			       size_t size, struct sink *sections);
void sections_free(struct sink *sections);

const char *section_tag(enum section section);

/*
 * The CRC-32 (IEEE 802.3) of a text whose beginning has the CRC-32 `crc`, 0 if
 * it is empty, and which ends in these n bytes.
 */
uint32_t crc_more(uint32_t crc, const void *bytes, size_t n);

/*
 * Whether these n bytes begin with the magic number of data files.  The file
 * need not be complete.
 */
bool frame_is(const uint8_t *bytes, size_t n);

#endif
