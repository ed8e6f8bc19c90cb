/*
 * The memory that copies count in.  Every task of a space has an area of its
 * own there, found by a segment register, so that no two add to the same
 * counter.  It is shared with pmon, which adds up what an area holds when its
 * task has ended or stands still, and outlives the program.  Areas are used
 * again.
 */
#include <stdlib.h>
#include <string.h>

#include "monitor/areas.h"
#include "monitor/copies.h"
#include "monitor/inject.h"
#include "monitor/shared.h"
#include "monitor/run.h"
#include "monitor/task.h"
#include "util/fail.h"
#include "util/mem.h"

/*
 * An area begins with a scratch slot, in a cache line of its own.  Areas are
 * far apart, but only what is counted in is memory.
 */
enum {
	AREA_HEAD = 64,
	AREA_STEP = 1 << 16,
	AREA_MORE = 1 << 28,	/* for libraries that may come */
	AREAS = 64,		/* in one chunk */
	SHARE = 8,		/* of the room there is, this part is taken */
};

/*
 * Areas mapped at one time.  A fork's child has them, too, in the same place,
 * and shares the memory: its tasks take others of them.
 */
struct chunk {
	unsigned refs;		/* by the areas of spaces */
	struct shared shared;	/* at the same place in all of them */
	const struct areas *takers[AREAS];	/* whose task has it, or NULL */
};

struct areas {
	uint64_t size;		/* of one */
	uint64_t used;		/* of each, by modules */
	bool marked;		/* see reg_area_mark in arch.h */
	struct chunk **chunks;
	size_t nchunks;
};

static uint64_t
area_va(const struct areas *areas, uint32_t area)
{
	return areas->chunks[area / AREAS]->shared.va +
	       area % AREAS * areas->size;
}

static uint8_t *
area_bytes(const struct areas *areas, uint32_t area)
{
	return areas->chunks[area / AREAS]->shared.bytes +
	       area % AREAS * areas->size;
}

static const struct areas **
area_taker(const struct areas *areas, uint32_t area)
{
	return &areas->chunks[area / AREAS]->takers[area % AREAS];
}

/* Have the task map a chunk where there is room; or -1 with the message. */
static int
chunk_map(struct run *run, struct task *task, uint64_t size,
	  struct chunk *chunk)
{
	uint64_t total = size * AREAS;

	/* A filter may kill a process for it, and a limit does. */
	if (run->host->confined(task->tid))
		return fail("a seccomp filter may forbid what it would need");
	if (total > run->host->file_max(task->tid))
		return fail("its files are limited in size (RLIMIT_FSIZE)");
	return shared_open(run, task, total, &chunk->shared);
}

/* ---- the register */

static int
register_set(struct run *run, struct task *task, uint64_t va, uint64_t mark)
{
	const struct arch *arch = run->arch;

	return run->host->reg_set(task->tid, arch->reg_area_mark, mark) ||
	       run->host->reg_set(task->tid, arch->reg_area, va);
}

/* Where the kernel cannot have both it is without the mark. */
static int
register_take(struct run *run, struct task *task, struct areas *areas,
	      uint64_t va)
{
	uint64_t got;

	if (register_set(run, task, va, run->arch->area_mark) ||
	    run->host->reg_get(task->tid, run->arch->reg_area, &got))
		return -1;
	areas->marked = got == va;
	return areas->marked ? 0 : register_set(run, task, va, 0);
}

uint64_t
areas_va(const struct task *task)
{
	return area_va(task->process->space->areas, task->area - 1);
}

bool
areas_register(struct run *run, const struct task *task)
{
	const struct space *space = task->process ? task->process->space : NULL;
	const struct arch *arch = run->arch;
	uint64_t va, mark;

	if (!task->area || !space || !space->areas ||
	    run->host->reg_get(task->tid, arch->reg_area, &va) ||
	    run->host->reg_get(task->tid, arch->reg_area_mark, &mark))
		return true;
	return va == areas_va(task) &&
	       (!space->areas->marked || mark == arch->area_mark);
}

/* ---- guards */

/* What a guard holds: nothing that is written over it by chance. */
static uint64_t
guard_value(uint32_t number)
{
	return UINT64_C(0xa7c15f3b9e8d2461) ^ number;
}

/* Those from the number `from` on. */
static void
guards_write(const struct module *module, uint8_t *bytes, size_t from)
{
	const struct plan *plan = module->plan;
	uint64_t *slots = (void *)(bytes + module->area);

	for (size_t i = from; module->copies && i < plan->nguards; i++)
		slots[plan->guards[i]] = guard_value(plan->guards[i]);
}

/* Are they as they were written?  They count nothing: they are 0 then. */
static bool
guards_take(const struct module *module, uint64_t *slots)
{
	const struct plan *plan = module->plan;
	bool good = true;

	for (size_t i = 0; i < module->nguards; i++) {
		good &= slots[plan->guards[i]] == guard_value(plan->guards[i]);
		slots[plan->guards[i]] = 0;
	}
	return good;
}

static void
area_guard(const struct space *space, uint32_t area)
{
	for (size_t i = 0; i < space->nmodules; i++)
		guards_write(space->modules[i],
			     area_bytes(space->areas, area), 0);
}

void
areas_guard(const struct space *space, const struct module *module)
{
	struct areas *areas = space->areas;

	for (uint32_t i = 0; areas && i < areas->nchunks * AREAS; i++)
		if (*area_taker(areas, i) == areas)
			guards_write(module, area_bytes(areas, i),
				     module->nguards);
}

/* ---- taking areas */

/* Give the task an area. */
static int
area_take(struct run *run, struct task *task, struct areas *areas)
{
	struct chunk chunk = { .refs = 1 };
	uint32_t area = 0, n = (uint32_t)areas->nchunks * AREAS;

	while (area < n && *area_taker(areas, area))
		area++;
	if (area == n) {
		if (chunk_map(run, task, areas->size, &chunk))
			return -1;
		*vec_push(areas->chunks, areas->nchunks) =
			mem_alloc(sizeof(chunk));
		*areas->chunks[areas->nchunks - 1] = chunk;
	}
	if (register_take(run, task, areas, area_va(areas, area)))
		return fail("the process has ended");
	*area_taker(areas, area) = areas;
	task->area = area + 1;
	if (task->process->space->areas)
		area_guard(task->process->space, area);
	return 0;
}

static void
task_give(struct run *run, struct task *task, void *space)
{
	if (task->process && task->process->space == space &&
	    task->state == TASK_STOPPED)
		areas_task(run, task);
}

int
areas_open(struct run *run, struct task *task, uint64_t need)
{
	struct space *space = task->process->space;
	struct areas *areas = mem_alloc(sizeof(*areas));
	const struct event *event = run_queued(run, task);
	uint64_t own;
	int err = 0;

	if (!run->host->reg_get(task->tid, run->arch->reg_area, &own) && own) {
		space->own_area = mem_strdup("the gs register is in use");
		free(areas);
		return fail("%s", space->own_area);
	}
	if (run->opts->selection.objects.n)
		need += AREA_MORE;
	areas->size = (AREA_HEAD + need + AREA_STEP - 1) / AREA_STEP *
		      AREA_STEP;
	areas->used = AREA_HEAD;
	if ((event && event->kind != EVENT_PAUSED) || task->group_stopped)
		err = fail("the process was stopped");
	else if (areas->size * AREAS > run->host->room(task->tid) / SHARE)
		err = fail("its address space is limited (RLIMIT_AS)");
	else
		err = area_take(run, task, areas);
	if (err) {
		free(areas);
		return err;
	}
	space->areas = areas;
	/* Before anything leads into a copy. */
	task_each(run, task_give, space);
	return space->own_area ? fail("%s", space->own_area) : 0;
}

int
areas_reserve(struct space *space, uint64_t need, uint64_t *offset)
{
	struct areas *areas = space->areas;

	if (!areas || areas->size - areas->used < need)
		return fail("there is no more room for counters");
	*offset = areas->used;
	areas->used += (need + AREA_HEAD - 1) / AREA_HEAD * AREA_HEAD;
	return 0;
}

struct areas *
areas_copy(const struct areas *areas)
{
	struct areas *copy;

	if (!areas)
		return NULL;
	copy = mem_alloc(sizeof(*copy));
	*copy = (struct areas){ .size = areas->size, .used = areas->used };
	for (size_t i = 0; i < areas->nchunks; i++) {
		areas->chunks[i]->refs++;
		*vec_push(copy->chunks, copy->nchunks) = areas->chunks[i];
	}
	return copy;
}

static bool
image_hinted(const struct image *image, enum hint_kind kind)
{
	for (size_t i = 0; i < image->nhints; i++)
		if (image->hints[i].kind == kind)
			return true;
	return false;
}

static bool
image_uses_area(const struct image *image)
{
	const char *call = image->arch->area_call;
	bool calls = false;

	if (image_hinted(image, HINT_AREA))
		return true;
	if (!image_hinted(image, HINT_AREA_CALL))
		return false;
	for (size_t i = 0; i < image->nimports && !calls; i++)
		calls = !strcmp(image->imports[i].name, call);
	for (size_t i = 0; i < image->nfuncs && !calls; i++)
		calls = !strcmp(image->funcs[i].name, call);
	return calls;
}

void
areas_yield(struct run *run, struct space *space, const struct image *image)
{
	if (run->opts->patch != PATCH_AUTO || space->own_area ||
	    !image_uses_area(image))
		return;
	space->own_area = mem_printf("%s may use the gs register",
				     image->path);
	for (size_t i = 0; i < space->nmodules; i++)
		copies_refuse(run, space->modules[i]->plan, space->own_area);
}

/* Has the task been killed since it stopped? */
static bool
task_killed(struct run *run, const struct task *task)
{
	uint64_t pc;

	return run->host->reg_get(task->tid, run->arch->reg_pc, &pc) ||
	       run->host->changed(task->tid);
}

/*
 * Without one of its own it has its maker's, and they overwrite one another.
 * One that was killed runs nothing any more.
 */
void
areas_task(struct run *run, struct task *task)
{
	struct space *space = task->process->space;

	if (!space->areas || space->own_area || task->area ||
	    (task->vforked && task->process->counted) ||
	    !area_take(run, task, space->areas) || task_killed(run, task))
		return;
	space->own_area = mem_strdup("a task got no memory for its counters");
	for (size_t i = 0; i < space->nmodules; i++)
		copies_refuse(run, space->modules[i]->plan, space->own_area);
}

/* Add what an area holds for a module to a meter, and empty it. */
static void
module_fold(const struct module *module, uint8_t *bytes, size_t meter,
	    bool counted)
{
	uint64_t *slots = (void *)(bytes + module->area);
	size_t n = module->plan->ncounters;

	if (!module->copies || !n)
		return;
	if (!guards_take(module, slots))
		module->plan->tampered = true;
	if (counted)
		meter_slots(plan_meter(module->plan, meter), 0, slots, n);
	memset(slots, 0, n * sizeof(*slots));
}

static void
area_fold(struct space *space, uint32_t area, size_t meter, bool counted)
{
	for (size_t i = 0; i < space->nmodules; i++)
		module_fold(space->modules[i], area_bytes(space->areas, area),
			    meter, counted);
}

struct forgetting {
	struct space *space;
	const struct module *module;
};

static void
task_forget(struct run *run, struct task *task, void *ctx)
{
	const struct forgetting *f = ctx;

	if (task->area && task->process && task->process->space == f->space)
		module_fold(f->module, area_bytes(f->space->areas,
						  task->area - 1),
			    run_meter(run, task), task->process->counted);
}

/* The library is gone: nothing counts there any more. */
void
areas_forget(struct run *run, struct space *space, const struct module *module)
{
	struct forgetting f = { space, module };

	if (space->areas && module->copies)
		task_each(run, task_forget, &f);
}

static void
task_fold(struct run *run, struct task *task)
{
	struct space *space = task->process ? task->process->space : NULL;

	if (task->area && space && space->areas)
		area_fold(space, task->area - 1, run_meter(run, task),
			  task->process->counted);
}

void
areas_fold(struct run *run, struct task *task)
{
	struct space *space = task->process ? task->process->space : NULL;

	task_fold(run, task);
	if (task->area && space && space->areas)
		area_guard(space, task->area - 1);
}

/* Does the task see what is seen here of its counters? */
static bool
module_seen(struct run *run, const struct task *task,
	    const struct module *module)
{
	const struct areas *areas = task->process->space->areas;
	size_t n = module->plan->ncounters * sizeof(uint64_t);
	uint64_t va = areas_va(task) + module->area;
	uint8_t *bytes;
	bool same;

	if (!module->copies || !n)
		return true;
	bytes = mem_alloc(n);
	same = !run->host->data_read(task->tid, va, bytes, n) &&
	       !memcmp(bytes, area_bytes(areas, task->area - 1) + module->area,
		       n);
	free(bytes);
	return same;
}

bool
areas_seen(struct run *run, const struct task *task)
{
	const struct space *space = task->process ? task->process->space : NULL;
	bool seen = true;

	if (!task->area || !space || !space->areas)
		return true;
	for (size_t i = 0; i < space->nmodules && seen; i++)
		seen = module_seen(run, task, space->modules[i]);
	return seen || task_killed(run, task);
}

struct peek {
	const struct plan *plan;
	struct meter *meter;
};

static void
area_peek(struct run *run, struct task *task, void *ctx)
{
	const struct space *space = task->process ? task->process->space : NULL;
	struct peek *peek = ctx;
	uint8_t *bytes;

	if (!task->area || !space || !space->areas || !task->process->counted)
		return;
	bytes = area_bytes(space->areas, task->area - 1);
	for (size_t i = 0; i < space->nmodules; i++) {
		const struct module *module = space->modules[i];

		if (module->plan == peek->plan && module->copies)
			meter_slots(peek->meter, 0,
				    (void *)(bytes + module->area),
				    peek->plan->ncounters);
	}
}

struct meter *
areas_peek(struct run *run, const struct plan *plan)
{
	struct peek peek = { plan, mem_alloc(sizeof(*peek.meter)) };

	for (size_t i = 0; i < plan->nmeters; i++)
		meter_add(peek.meter, plan->meters[i], plan->nsites);
	task_each(run, area_peek, &peek);
	return peek.meter;
}

void
areas_end(struct run *run, struct task *task)
{
	task_fold(run, task);
	if (task->area && task->process->space && task->process->space->areas)
		*area_taker(task->process->space->areas, task->area - 1) =
			NULL;
	task->area = 0;
}

void
areas_leave(struct run *run, struct task *task)
{
	const struct space *space = task->process->space;
	const struct areas *areas = space ? space->areas : NULL;
	uint64_t va;

	/* Unless the program has set it. */
	if (!areas || run->host->reg_get(task->tid, run->arch->reg_area, &va))
		return;
	for (size_t i = 0; i < areas->nchunks; i++)
		if (va - areas->chunks[i]->shared.va < areas->size * AREAS)
			register_set(run, task, 0, 0);
}

int
areas_each(const struct space *space,
	   int (*fn)(void *ctx, uint64_t va, uint64_t size), void *ctx)
{
	const struct areas *areas = space->areas;
	int err = 0;

	for (size_t i = 0; areas && i < areas->nchunks && !err; i++)
		err = fn(ctx, areas->chunks[i]->shared.va,
			 areas->size * AREAS);
	return err;
}

/* What tasks left behind that ended unseen is in meter 0. */
void
areas_close(struct space *space)
{
	struct areas *areas = space->areas;

	if (!areas)
		return;
	for (uint32_t i = 0; i < areas->nchunks * AREAS; i++)
		if (*area_taker(areas, i) == areas) {
			area_fold(space, i, 0, true);
			*area_taker(areas, i) = NULL;
		}
	for (size_t i = 0; i < areas->nchunks; i++) {
		struct chunk *chunk = areas->chunks[i];

		if (--chunk->refs)
			continue;
		shared_close(&chunk->shared);
		free(chunk);
	}
	free(areas->chunks);
	free(areas);
}
