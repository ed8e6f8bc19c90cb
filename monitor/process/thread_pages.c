/*
 * Thread counter pages: the memory that relocated functions count in.  Every
 * task of a space has a page of its own, to which a segment register leads, so
 * that no two tasks add to the same counter.  pmon shares this memory
 * (thread_memory.c), so it outlives the program.  Clients are told the counters
 * of a page when the task stands still or has ended (thread_counters.c).  Pages
 * are used again.  Knows nothing of what is counted.
 */
#include "monitor/process/thread_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/fragment.h"
#include "monitor/process/events.h"
#include "monitor/process/inject.h"
#include "monitor/process/records.h"
#include "monitor/process/regions.h"
#include "monitor/process/shared_page.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_counters.h"
#include "monitor/process/thread_memory.h"
#include "util/fail.h"
#include "util/mem.h"

static uint64_t *
thread_page_generation(const struct thread_pages *thread_pages,
		       uint32_t thread_page)
{
	return region_words(&region_generation,
			    thread_page_bytes(thread_pages, thread_page));
}

/* ---- the register */

static int
register_set(struct run *run, struct task *task, uint64_t va, uint64_t mark)
{
	const struct arch *arch = run->arch;

	return run->host->reg_set(task->tid, arch->reg_thread_mark, mark) ||
	       run->host->reg_set(task->tid, arch->reg_thread, va);
}

/* Set the register, with its mark if the kernel can keep both. */
static int
register_take(struct run *run, struct task *task,
	      struct thread_pages *thread_pages, uint64_t va)
{
	uint64_t got;

	if (register_set(run, task, va, run->arch->thread_reg_mark) ||
	    run->host->reg_get(task->tid, run->arch->reg_thread, &got))
		return -1;
	thread_pages->marked = got == va;
	return thread_pages->marked ? 0 : register_set(run, task, va, 0);
}

uint64_t
thread_pages_va(const struct task *task)
{
	return thread_page_va(task->process->space->thread_pages,
			      task->thread_page - 1);
}

bool
thread_pages_register(struct run *run, const struct task *task)
{
	const struct space *space = task->process ? task->process->space : NULL;
	const struct arch *arch = run->arch;
	uint64_t va, mark;

	if (!task->thread_page || !space || !space->thread_pages ||
	    run->host->reg_get(task->tid, arch->reg_thread, &va) ||
	    run->host->reg_get(task->tid, arch->reg_thread_mark, &mark))
		return true;
	return va == thread_pages_va(task) &&
	       (!space->thread_pages->marked || mark == arch->thread_reg_mark);
}

/* ---- guards */

static void
thread_page_guard(const struct space *space, uint32_t thread_page)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (!space->modules[i]->shared.bytes)
			counters_guard(space->modules[i],
				       thread_page_bytes(space->thread_pages,
							 thread_page),
				       0, space->modules[i]->nguards);
}

void
thread_pages_guard(const struct space *space, const struct module *module)
{
	struct thread_pages *thread_pages = space->thread_pages;
	size_t all = module->plan->nguards;

	if (module->shared.bytes) {
		counters_guard(module, NULL, module->nguards, all);
		return;
	}
	for (uint32_t i = 0; thread_pages && i < thread_pages_n(thread_pages);
	     i++)
		if (*thread_page_taker(thread_pages, i) == thread_pages)
			counters_guard(module,
				       thread_page_bytes(thread_pages, i),
				       module->nguards, all);
}

void
thread_pages_guard_late(const struct run *run)
{
	for (const struct process *p = run->processes; p; p = p->next)
		for (size_t i = 0; p->space && i < p->space->nmodules; i++)
			thread_pages_guard(p->space, p->space->modules[i]);
	/* Processes share modules. */
	for (const struct process *p = run->processes; p; p = p->next)
		for (size_t i = 0; p->space && i < p->space->nmodules; i++) {
			struct module *module = p->space->modules[i];

			module->nguards = module->plan->nguards;
		}
}

/* ---- taking thread pages */

/*
 * Give the task a free page.  If there is none, `mapper`, a task of the same
 * space that can be made to run, maps more.  0, or -1 with the message.
 */
static int
thread_page_take(struct run *run, struct task *task, struct task *mapper,
		 struct thread_pages *thread_pages)
{
	uint32_t thread_page = 0, n = thread_pages_n(thread_pages);

	while (thread_page < n && *thread_page_taker(thread_pages, thread_page))
		thread_page++;
	if (thread_page_allow(run, mapper, thread_pages, thread_page))
		return -1;
	if (register_take(run, task, thread_pages,
			  thread_page_va(thread_pages, thread_page)))
		return fail("the process has ended");
	*thread_page_taker(thread_pages, thread_page) = thread_pages;
	task->thread_page = thread_page + 1;
	region_reset(&region_scratch,
		     thread_page_bytes(thread_pages, thread_page),
		     SCRATCH_SLOTS);
	region_reset(&region_generation,
		     thread_page_bytes(thread_pages, thread_page), 1);
	records_begin(task, thread_page_bytes(thread_pages, thread_page));
	task->generation = *thread_page_generation(thread_pages, thread_page);
	if (task->process->space->thread_pages)
		thread_page_guard(task->process->space, thread_page);
	return 0;
}

/* Has the task been killed, or has another taken its id, since it stopped? */
static bool
task_gone(const struct run *run, const struct task *task)
{
	return host_killed(run->host, task->tid) || task_changed(run, task);
}

/*
 * A task without a page of its own would count in its maker's, and each would
 * lose counts of the other.  A task that was killed runs nothing any more.
 */
static bool
thread_page_give(struct run *run, struct task *task, struct task *mapper)
{
	struct space *space = task->process->space;

	if (!space->thread_pages || space->own_thread_reg ||
	    task->thread_page || (task->vforked && task->process->counted) ||
	    !thread_page_take(run, task, mapper, space->thread_pages) ||
	    task_gone(run, task))
		return false;
	space->own_thread_reg = mem_printf(
		"a thread got no memory for its counters: %s", fail_message());
	return true;
}

bool
thread_pages_task(struct run *run, struct task *task)
{
	return thread_page_give(run, task, task);
}

/* A task that stopped for more than a pause must not be made to run. */
static void
task_give(struct run *run, struct task *task, void *mapper)
{
	const struct task *other = mapper;

	if (task->process && task->process->space == other->process->space &&
	    task->state == TASK_STOPPED)
		thread_page_give(run, task, mapper);
}

int
thread_pages_open(struct run *run, struct task *task, uint64_t need)
{
	struct space *space = task->process->space;
	struct thread_pages *thread_pages;
	uint64_t own;
	int err = 0;

	if (!run->host->reg_get(task->tid, run->arch->reg_thread, &own) &&
	    own) {
		space->own_thread_reg = mem_printf("the %s register is in use",
						   run->arch->thread_reg_name);
		return fail("%s", space->own_thread_reg);
	}
	thread_pages = thread_pages_new(run, need);
	if (!inject_may(run, task))
		err = fail("the process was stopped");
	else
		err = thread_page_take(run, task, task, thread_pages);
	if (err) {
		thread_pages_free(thread_pages);
		return err;
	}
	space->thread_pages = thread_pages;
	/* Before any entry patch leads into a relocated function. */
	task_each(run, task_give, task);
	return space->own_thread_reg ? fail("%s", space->own_thread_reg) : 0;
}

static bool
image_hinted(const struct image *image, enum hint_kind kind)
{
	for (size_t i = 0; i < image->nhints; i++)
		if (image->hints[i].kind == kind)
			return true;
	return false;
}

bool
thread_pages_doubtful(const struct image *image)
{
	const char *call = image->arch->thread_reg_call;
	bool calls = false;

	if (image_hinted(image, HINT_THREAD_REG))
		return true;
	if (!image_hinted(image, HINT_THREAD_REG_CALL))
		return false;
	for (size_t i = 0; i < image->nimports && !calls; i++)
		calls = !strcmp(image->imports[i].name, call);
	for (size_t i = 0; i < image->nfuncs && !calls; i++)
		calls = !strcmp(image->funcs[i].name, call);
	return calls;
}

bool
thread_pages_yield(struct run *run, struct space *space,
		   const struct image *image)
{
	if (run->opts->patch != PATCH_AUTO || space->own_thread_reg ||
	    !thread_pages_doubtful(image))
		return false;
	space->own_thread_reg = mem_printf("%s may use the %s register",
					   image->path,
					   image->arch->thread_reg_name);
	return true;
}

/* ---- counters */

/* Drain the counters that are in the page, and those in shared pages. */
static void
page_drain(struct run *run, const struct task *task, const struct space *space,
	   uint8_t *page)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (page || space->modules[i]->shared.bytes)
			counters_drain(run, task, space->modules[i], page);
}

struct unmapped {
	struct space *space;
	const struct module *module;
};

static void
task_unmapped(struct run *run, struct task *task, void *ctx)
{
	const struct unmapped *u = ctx;
	uint8_t *page = thread_page_of(task);

	if (page && task->process->space == u->space)
		counters_drain(run, task, u->module, page);
}

void
thread_pages_unmapped(struct run *run, struct space *space,
		      const struct module *module)
{
	struct unmapped u = { space, module };

	if (module->shared.bytes)
		counters_drain(run, NULL, module, NULL);
	else if (space->thread_pages && module->relocated)
		task_each(run, task_unmapped, &u);
}

static void
task_drain(struct run *run, struct task *task)
{
	if (task->process && task->process->space)
		page_drain(run, task, task->process->space,
			   thread_page_of(task));
}

void
thread_pages_drain(struct run *run, struct task *task)
{
	struct space *space = task->process ? task->process->space : NULL;

	task_drain(run, task);
	if (task->thread_page && space && space->thread_pages)
		thread_page_guard(space, task->thread_page - 1);
}

bool
thread_pages_seen(struct run *run, const struct task *task)
{
	const struct space *space = task->process ? task->process->space : NULL;
	uint8_t *page = thread_page_of(task);
	uint64_t va = page ? thread_pages_va(task) : 0;
	bool seen = true;

	for (size_t i = 0; space && i < space->nmodules && seen; i++)
		if (page || space->modules[i]->shared.bytes)
			seen = counters_seen(run, task, space->modules[i], page,
					     va);
	return seen || task_gone(run, task);
}

bool
thread_pages_renew(struct task *task)
{
	const struct space *space = task->process ? task->process->space : NULL;
	uint8_t *page = thread_page_of(task);
	uint64_t *generation;
	bool same = true;

	for (size_t i = 0; space && space->relocates && i < space->nmodules;
	     i++)
		same &= shared_page_renew(space->modules[i]);
	if (!page)
		return same;
	generation = region_words(&region_generation, page);
	same &= *generation == task->generation;
	*generation = ++task->generation;
	return same;
}

uint64_t
thread_pages_spare(struct run *run, struct task *task, uint64_t *size)
{
	const struct space *space = task->process->space;
	const struct region *saved = &region_scratch;
	const int64_t room = -RECORDS_SIZE;
	const struct shared *shared;
	uint64_t va, page, spare;

	if (!space->thread_pages ||
	    run->host->reg_get(task->tid, run->arch->reg_thread, &va))
		return 0;
	shared = thread_page_at(space->thread_pages, va, &page, size);
	if (!shared || page != va)
		return 0;
	spare = inject_map(run, task, 0, *size, PROT_READ | PROT_WRITE);
	if (!spare ||
	    (!run->host->mem_write(
		     space->mem, task->tid, spare + saved->offset,
		     region_words(saved, shared->bytes + (va - shared->va)),
		     saved->size) &&
	     !run->host->mem_write(space->mem, task->tid,
				   spare + region_room.offset, &room,
				   sizeof(room))))
		return spare;
	inject_unmap(run, task, spare, *size);
	return 0;
}

struct peek {
	const struct plan *plan;
	thread_pages_peeked *peeked;
	void *ctx;
};

static void
module_peek(const struct peek *peek, const struct module *module, uint8_t *page)
{
	peek->peeked(peek->ctx, region_words(&module->counters, page),
		     region_fits(&module->counters, peek->plan->nslots));
}

static void
thread_page_peek(struct run *run, struct task *task, void *ctx)
{
	const struct peek *peek = ctx;
	uint8_t *page = thread_page_of(task);
	const struct space *space;

	if (!page || !task->process->counted)
		return;
	space = task->process->space;
	for (size_t i = 0; i < space->nmodules; i++)
		if (space->modules[i]->plan == peek->plan &&
		    space->modules[i]->relocated &&
		    !space->modules[i]->shared.bytes)
			module_peek(peek, space->modules[i], page);
}

/* Is it the first of the run's processes that has the module? */
static bool
process_first(const struct run *run, const struct process *process,
	      const struct module *module)
{
	for (const struct process *p = run->processes; p != process;
	     p = p->next)
		for (size_t i = 0; p->space && i < p->space->nmodules; i++)
			if (p->space->modules[i] == module)
				return false;
	return true;
}

void
thread_pages_peek(struct run *run, const struct plan *plan,
		  thread_pages_peeked *peeked, void *ctx)
{
	struct peek peek = { plan, peeked, ctx };

	task_each(run, thread_page_peek, &peek);
	for (struct process *p = run->processes; p; p = p->next)
		for (size_t i = 0; p->space && i < p->space->nmodules; i++) {
			const struct module *module = p->space->modules[i];

			if (module->plan == plan && module->shared.bytes &&
			    process_first(run, p, module))
				module_peek(&peek, module,
					    module->shared.bytes);
		}
}

void
thread_pages_end(struct run *run, struct task *task)
{
	records_take(run, task);
	task_drain(run, task);
	if (task->thread_page && task->process->space &&
	    task->process->space->thread_pages)
		*thread_page_taker(task->process->space->thread_pages,
				   task->thread_page - 1) = NULL;
	task->thread_page = 0;
}

void
thread_pages_leave(struct run *run, struct task *task)
{
	const struct space *space = task->process->space;
	const struct thread_pages *thread_pages = space ? space->thread_pages :
							  NULL;
	uint64_t va;

	/* If the program has set the register, it keeps its value. */
	if (!thread_pages ||
	    run->host->reg_get(task->tid, run->arch->reg_thread, &va))
		return;
	for (size_t i = 0; i < thread_pages->nchunks; i++)
		if (va - thread_pages->chunks[i]->shared.va <
		    thread_pages->size * THREAD_PAGES)
			register_set(run, task, 0, 0);
}

/* Pages that are still taken belong to tasks that ended unseen. */
void
thread_pages_close(struct run *run, struct space *space)
{
	struct thread_pages *thread_pages = space->thread_pages;

	page_drain(run, NULL, space, NULL);
	if (!thread_pages)
		return;
	for (uint32_t i = 0; i < thread_pages_n(thread_pages); i++)
		if (*thread_page_taker(thread_pages, i) == thread_pages) {
			page_drain(run, NULL, space,
				   thread_page_bytes(thread_pages, i));
			*thread_page_taker(thread_pages, i) = NULL;
		}
	thread_pages_free(thread_pages);
}
