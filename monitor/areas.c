/*
 * The memory that copies count in.  Every task of a space has an area of its
 * own there, found by a segment register, so that no two add to the same
 * counter.  It is shared with pmon, which adds up what an area holds when its
 * task has ended or stands still, and outlives the program.  Areas are used
 * again.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "monitor/areas.h"
#include "monitor/copies.h"
#include "monitor/inject.h"
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
	uint64_t va;		/* in the programs */
	uint8_t *bytes;		/* the same memory, here */
	const struct areas *takers[AREAS];	/* whose task has it, or NULL */
};

struct areas {
	uint64_t size;		/* of one */
	uint64_t used;		/* of each, by modules */
	struct chunk **chunks;
	size_t nchunks;
};

static uint64_t
area_va(const struct areas *areas, uint32_t area)
{
	return areas->chunks[area / AREAS]->va + area % AREAS * areas->size;
}

static uint8_t *
area_bytes(const struct areas *areas, uint32_t area)
{
	return areas->chunks[area / AREAS]->bytes + area % AREAS * areas->size;
}

static const struct areas **
area_taker(const struct areas *areas, uint32_t area)
{
	return &areas->chunks[area / AREAS]->takers[area % AREAS];
}

/* Any byte of the program's that is 0: an empty name. */
static uint64_t
empty_name(struct run *run, struct task *task)
{
	uint64_t sp, va;
	uint8_t bytes[64];

	if (run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		return 0;
	for (va = sp; va < sp + 65536; va += sizeof(bytes)) {
		if (run->host->data_read(task->tid, va, bytes, sizeof(bytes)))
			return 0;
		for (size_t i = 0; i < sizeof(bytes); i++)
			if (!bytes[i])
				return va + i;
	}
	return 0;
}

/* pmon's view of memory that the task has open as fd. */
static uint8_t *
memory_view(struct task *task, int64_t fd, uint64_t size)
{
	char path[64];
	void *bytes;
	int own;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)task->tid,
		 (int)fd);
	own = open(path, O_RDWR | O_CLOEXEC);
	if (own < 0)
		return NULL;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
	close(own);
	return bytes == MAP_FAILED ? NULL : bytes;
}

/*
 * Have the task map a chunk where there is room.  The memory has no name and
 * no open file when that is done.
 */
static int
chunk_map(struct run *run, struct task *task, uint64_t size,
	  struct chunk *chunk)
{
	const struct abi *abi = run->abi;
	uint64_t total = size * AREAS, name = empty_name(run, task);
	int64_t fd, result;
	int err;

	/* A filter may kill a process for it, and a limit does. */
	if (run->host->confined(task->tid) ||
	    total > run->host->file_max(task->tid))
		return -1;
	if (!name || inject_syscall(run, task, abi->nr_memfd_create,
				    (uint64_t[6]){ name, MFD_CLOEXEC }, &fd) ||
	    fd < 0)
		return -1;
	err = inject_syscall(run, task, abi->nr_ftruncate,
			     (uint64_t[6]){ (uint64_t)fd, total }, &result) ||
	      result;
	if (!err)
		chunk->bytes = memory_view(task, fd, total);
	if (chunk->bytes)
		err = inject_syscall(run, task, abi->nr_mmap, (uint64_t[6]){
			0, total, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_NORESERVE, (uint64_t)fd, 0 },
			&result) ||
		      (result < 0 && result > -4096);
	chunk->va = (uint64_t)result;
	inject_syscall(run, task, abi->nr_close,
		       (uint64_t[6]){ (uint64_t)fd }, &result);
	if (chunk->bytes && err)
		munmap(chunk->bytes, total);
	return chunk->bytes && !err ? 0 : -1;
}

static int
gs_set(struct run *run, struct task *task, uint64_t va)
{
	return run->host->reg_set(task->tid, run->arch->reg_area, va);
}

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
	if (gs_set(run, task, area_va(areas, area)))
		return -1;
	*area_taker(areas, area) = areas;
	task->area = area + 1;
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
	else if (run->host->confined(task->tid))
		err = fail("a seccomp filter may forbid what it would need");
	else if (areas->size * AREAS > run->host->room(task->tid) / SHARE)
		err = fail("its address space is limited (RLIMIT_AS)");
	else if (areas->size * AREAS > run->host->file_max(task->tid))
		err = fail("its files are limited in size (RLIMIT_FSIZE)");
	else if (area_take(run, task, areas))
		err = fail("it was refused memory for counters");
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
task_killed(struct run *run, struct task *task)
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

void
areas_fold(struct run *run, struct task *task)
{
	struct space *space = task->process ? task->process->space : NULL;

	if (task->area && space && space->areas)
		area_fold(space, task->area - 1, run_meter(run, task),
			  task->process->counted);
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
	areas_fold(run, task);
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
		if (va - areas->chunks[i]->va < areas->size * AREAS)
			gs_set(run, task, 0);
}

int
areas_each(const struct space *space,
	   int (*fn)(void *ctx, uint64_t va, uint64_t size), void *ctx)
{
	const struct areas *areas = space->areas;
	int err = 0;

	for (size_t i = 0; areas && i < areas->nchunks && !err; i++)
		err = fn(ctx, areas->chunks[i]->va, areas->size * AREAS);
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
		munmap(chunk->bytes, areas->size * AREAS);
		free(chunk);
	}
	free(areas->chunks);
	free(areas);
}
