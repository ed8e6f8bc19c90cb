/*
 * Takes the records of tasks out of their thread counter pages, and gives the
 * pages room again.  The program may have written anything there.  Knows nothing
 * of what is recorded: clients do.
 */
#include "monitor/process/records.h"

#include "arch/fragment.h"
#include "monitor/process/client.h"
#include "monitor/process/regions.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_memory.h"
#include "monitor/run.h"

/* There are no records in the page, or none any more. */
static void
page_empty(struct task *task, uint8_t *page)
{
	region_reset(&region_room, page, 1);
	task->records_told = 0;
}

void
records_begin(struct task *task, uint8_t *page)
{
	page_empty(task, page);
	region_reset(&region_full, page, 1);
	region_reset(&region_events, page, 1);
}

/*
 * Tell clients the records in the page that they have not been told of.  When
 * the task found it full, or 0.  The page is emptied only when it is full:
 * before that, a probe that is under way may have read how full it is, and would
 * bring the old records back.  A probe that found it full looks again.
 */
static uint64_t
page_take(struct run *run, struct task *task, uint8_t *page)
{
	const struct record *records = (void *)region_words(&region_records,
							    page);
	int64_t room = (int64_t)*region_words(&region_room, page);
	int64_t size = sizeof(*records), n = RECORDS_MAX + room / size;
	uint64_t *word = region_words(&region_full, page), full = *word;
	uint32_t told = task->records_told;

	*word = 0;
	if (room < -RECORDS_SIZE || room > 0 || room % size || n < told) {
		page_empty(task, page);
		run_remark(run, "the program has written over the times that "
				"pmon took: some are missing");
		return 0;
	}
	task->records_told = (uint32_t)n;
	if (n > told)
		client_recorded(run, task, records + told, (size_t)n - told);
	if (!room)
		page_empty(task, page);
	return full;
}

/* The task that has the page of the number, from 1, in the space. */
struct page_owner {
	const struct space *space;
	uint32_t thread_page;
	struct task *task;
};

static void
page_owner_look(struct run *run, struct task *task, void *ctx)
{
	struct page_owner *owner = ctx;

	if (task->process && task->process->space == owner->space &&
	    task->thread_page == owner->thread_page)
		owner->task = task;
}

/* A vforked child records in its maker's page, which the register leads to. */
static uint64_t
borrowed_take(struct run *run, const struct task *task)
{
	const struct space *space = task->process->space;
	struct page_owner owner = { space, 0, NULL };
	uint64_t va;

	if (run->host->reg_get(task->tid, run->arch->reg_thread, &va))
		return 0;
	for (uint32_t i = 0; i < thread_pages_n(space->thread_pages); i++)
		if (thread_page_va(space->thread_pages, i) == va)
			owner.thread_page = i + 1;
	if (!owner.thread_page)
		return 0;
	task_each(run, page_owner_look, &owner);
	return owner.task ?
		       page_take(run, owner.task, thread_page_of(owner.task)) :
		       0;
}

uint64_t
records_take(struct run *run, struct task *task)
{
	uint8_t *page = thread_page_of(task);

	if (!client_records(run))
		return 0;
	if (page)
		return page_take(run, task, page);
	if (task->vforked && task->process && task->process->space &&
	    task->process->space->thread_pages)
		return borrowed_take(run, task);
	return 0;
}

bool
records_events(const struct task *task, uint64_t *n)
{
	uint8_t *page = thread_page_of(task);

	if (page)
		*n = *region_words(&region_events, page);
	return page;
}
