/*
 * The regions that thread counter pages are divided into, each of one kind, at
 * the same offset in all pages of a space.  A region's words have 8 bytes.
 */
#ifndef MONITOR_PROCESS_REGIONS_H
#define MONITOR_PROCESS_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "arch/fragment.h"

enum region_kind {
	REGION_COUNTERS,	/* the slots of a module's relocated functions,
				   and guards */
	REGION_SHARED,		/* the same, in a page that several tasks count
				   in */
	REGION_SCRATCH,		/* where a probe keeps registers while it
				   works */
	REGION_GENERATION,	/* see thread_pages_renew */
	REGION_ROOM,		/* how much of REGION_RECORDS is free: see
				   PROBE_RECORD */
	REGION_FULL,		/* when the task found that nothing is; or 0 */
	REGION_EVENTS,		/* how many events: see PROBE_EVENTS */
	REGION_RECORDS,		/* what these probes have appended */
};

/* `offset` and `size` are bytes, and multiples of 8; size 0: there is none. */
struct region {
	enum region_kind kind;
	uint64_t offset, size;
};

/*
 * Every page begins with these but the last, in a cache line of their own, and
 * in runs that record (client_records) with the last behind them.
 */
enum { REGIONS_BEGIN = 64 };
extern const struct region region_scratch, region_generation, region_room,
	region_full, region_events, region_records;

/* Where probes find them. */
struct page_offsets region_offsets(void);

/* The region's words in the page that pmon has mapped at `page`. */
uint64_t *region_words(const struct region *region, uint8_t *page);
/* How many of n words are in the region. */
size_t region_fits(const struct region *region, size_t n);

/* Set the first n words, or all if there are fewer, as in a new page. */
void region_reset(const struct region *region, uint8_t *page, size_t n);
/*
 * Hand the first n counters, or all if there are fewer, to fn, and reset them.
 * The task that counts there must stand still, but for REGION_SHARED.
 */
typedef void region_drained(void *ctx, const uint64_t *counters, size_t n);
void region_drain(const struct region *region, uint8_t *page, size_t n,
		  region_drained *fn, void *ctx);

#endif
