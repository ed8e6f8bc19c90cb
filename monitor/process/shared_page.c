/*
 * Shared counter pages: each is one module's, and all threads of all spaces that
 * have the module count in it, by locked instructions that find it relative to
 * their own address.  So it needs no register, and a fork's child goes on
 * counting in it.  Its regions are those of a thread counter page
 * (thread_counters.c guards and drains them).  Never decides whether a module
 * has one.
 */
#include "monitor/process/shared_page.h"

#include "monitor/process/inject.h"
#include "monitor/process/regions.h"
#include "monitor/process/shared.h"

bool
shared_pages_allowed(const struct run *run)
{
	return run->opts->separate == SEPARATE_NONE &&
	       run->opts->follow == FOLLOW_ALL;
}

uint64_t
shared_page_size(uint64_t need)
{
	return (REGIONS_BEGIN + need + PAGE - 1) / PAGE * PAGE;
}

struct region
shared_page_region(uint64_t need)
{
	return (struct region){ REGION_SHARED, REGIONS_BEGIN, need / 8 * 8 };
}

int
shared_page_open(struct run *run, struct task *task, struct module *module,
		 uint64_t place, uint64_t need)
{
	uint64_t size = shared_page_size(need);
	struct shared shared = { .va = place, .size = size, .open = size };

	if (shared_open(run, task, &shared)) {
		inject_unmap(run, task, place, size);
		return -1;
	}
	module->shared = shared;
	module->counters = shared_page_region(need);
	region_reset(&region_generation, module->shared.bytes, 1);
	module->generation = *region_words(&region_generation,
					   module->shared.bytes);
	return 0;
}

void
shared_page_close(struct module *module)
{
	shared_close(&module->shared);
}

bool
shared_page_renew(struct module *module)
{
	uint64_t *generation;
	bool same;

	if (!module->shared.bytes)
		return true;
	generation = region_words(&region_generation, module->shared.bytes);
	same = *generation == module->generation;
	*generation = ++module->generation;
	return same;
}
