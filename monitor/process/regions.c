/*
 * Finds, drains and resets the regions of a thread counter page.  Knows neither
 * where pages are nor whose counters a region has.
 */
#include "monitor/process/regions.h"

#include <stdlib.h>

#include "util/fail.h"
#include "util/mem.h"

const struct region region_scratch = { REGION_SCRATCH, 0, 8 * SCRATCH_SLOTS };
const struct region region_generation = { REGION_GENERATION, 8 * SCRATCH_SLOTS,
					  8 };
const struct region region_room = { REGION_ROOM, 8 * SCRATCH_SLOTS + 8, 8 };
const struct region region_full = { REGION_FULL, 8 * SCRATCH_SLOTS + 16, 8 };
const struct region region_events = { REGION_EVENTS, 8 * SCRATCH_SLOTS + 24,
				      8 };
const struct region region_records = { REGION_RECORDS, REGIONS_BEGIN,
				       RECORDS_SIZE };

struct page_offsets
region_offsets(void)
{
	return (struct page_offsets){
		.scratch = region_scratch.offset,
		.records = region_records.offset + region_records.size,
		.room = region_room.offset,
		.full = region_full.offset,
		.events = region_events.offset,
	};
}

uint64_t *
region_words(const struct region *region, uint8_t *page)
{
	return (void *)(page + region->offset);
}

size_t
region_fits(const struct region *region, size_t n)
{
	size_t room = region->size / sizeof(uint64_t);

	return n < room ? n : room;
}

void
region_reset(const struct region *region, uint8_t *page, size_t n)
{
	uint64_t *words = region_words(region, page);

	n = region_fits(region, n);
	for (size_t i = 0; i < n; i++)
		words[i] = region->kind == REGION_GENERATION ? 1 :
			   region->kind == REGION_ROOM	     ? -RECORDS_SIZE :
							       0;
}

/* Tasks add while their counters are taken: none may come in between. */
static void
shared_drain(const struct region *region, uint8_t *page, size_t n,
	     region_drained *fn, void *ctx)
{
	uint64_t *words = region_words(region, page), *taken;

	n = region_fits(region, n);
	taken = mem_alloc(n * sizeof(*taken) + 1);
	for (size_t i = 0; i < n; i++)
		if (__atomic_load_n(&words[i], __ATOMIC_RELAXED))
			taken[i] = __atomic_exchange_n(&words[i], 0,
						       __ATOMIC_RELAXED);
	fn(ctx, taken, n);
	free(taken);
}

void
region_drain(const struct region *region, uint8_t *page, size_t n,
	     region_drained *fn, void *ctx)
{
	if (region->kind == REGION_SHARED) {
		shared_drain(region, page, n, fn, ctx);
		return;
	}
	must(region->kind == REGION_COUNTERS);
	fn(ctx, region_words(region, page), region_fits(region, n));
	region_reset(region, page, n);
}
