/*
 * Manages a module's slots: memory near its text in which the instructions of
 * its slotted sites run out of line.  The memory is mapped before the program
 * runs on; pmon writes to it as sites come, and the program never can.
 */
#include "monitor/patch/slots.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "monitor/patch/patched.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/events.h"
#include "monitor/process/inject.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "util/mem.h"

enum {
	ROOM_MIN = 1 << 16,
	ROOM_MAX = 1 << 26,
};

static const uint64_t reach = UINT64_C(0x7ff00000);

/* Where springboards above the text would begin; 0: there can be none. */
static uint64_t
springs_above(const struct module *module)
{
	const struct arch *arch = module->plan->image->arch;

	for (int i = 0; i < SPRINGS_MAX; i++)
		if (arch->emit.springs[i] > 0)
			return (module->lo + (uint64_t)arch->emit.springs[i]) /
			       PAGE * PAGE;
	return 0;
}

/*
 * Find a free place of `size` bytes within reach of the module's text, 2 GB
 * less the text's own extent, and below `top`.  Prefers places below the text,
 * since the main program's heap grows above it.  0 if there is none.
 */
static uint64_t
slots_place(const struct module *module, const struct mapping *maps, size_t n,
	    uint64_t size, uint64_t top)
{
	const uint64_t lowest = 0x10000;
	uint64_t lo = lowest, best = 0, gap_hi;

	for (size_t i = 0; i <= n; i++) {
		gap_hi = i < n ? maps[i].lo : top;
		if (gap_hi > top)
			gap_hi = top;
		if (gap_hi >= lo + size && gap_hi <= module->lo &&
		    module->hi - (gap_hi - size) < reach)
			best = gap_hi - size;
		else if (!best && gap_hi >= lo + size && lo >= module->hi &&
			 lo + size - module->lo < reach)
			/* Clear of the heap, and of mappings above. */
			best = gap_hi == top ? gap_hi - size :
					       lo + (gap_hi - lo - size) / 2;
		if (best && lo > module->hi)
			break;
		if (i < n)
			lo = maps[i].hi;
	}
	return best / PAGE * PAGE >= lowest ? best / PAGE * PAGE : 0;
}

/*
 * How many bytes to reserve: the sites of functions that are not looked at yet
 * may need slots later.  Unused pages cost no memory.
 */
static uint64_t
slots_room(const struct module *module)
{
	uint64_t size = 2 * (module->hi - module->lo);

	if (size < module->nslots * SLOT_MAX)
		size = module->nslots * SLOT_MAX;
	if (size > ROOM_MAX)
		size = ROOM_MAX;
	return (size + ROOM_MIN - 1) / ROOM_MIN * ROOM_MIN;
}

/* Whether the task can be made to map that much now. */
static bool
task_maps(const struct run *run, const struct task *task, uint64_t size)
{
	const struct event *event = run_queued(run, task);

	/* A task that stopped for more than a pause must not be made to run. */
	if (event && event->kind != EVENT_PAUSED)
		return false;
	return run->abi && !task->group_stopped && !task_confined(run, task) &&
	       task_room(run, task, size);
}

static void
own_add(struct space *space, uint64_t lo, uint64_t hi)
{
	struct range range = { lo, hi };
	size_t i = space->nown;

	*vec_push(space->own, space->nown) = range;
	for (; i && space->own[i - 1].lo > lo; i--)
		space->own[i] = space->own[i - 1];
	space->own[i] = range;
}

static uint64_t
code_map(struct run *run, struct task *task, uint64_t place, uint64_t size)
{
	if (!inject_map(run, task, place, size, PROT_READ | PROT_EXEC))
		return 0;
	own_add(task->process->space, place,
		(place + size + PAGE - 1) / PAGE * PAGE);
	return place;
}

uint64_t
near_map(struct run *run, struct task *task, const struct module *module,
	 uint64_t size)
{
	struct mapping *maps;
	uint64_t top = springs_above(module), place = 0;
	size_t n;

	size = (size + PAGE - 1) / PAGE * PAGE;
	if (!task_maps(run, task, size) ||
	    run->host->maps(task->tid, &maps, &n))
		return 0;
	if (top)
		place = slots_place(module, maps, n, size, top);
	if (!place)
		place = slots_place(module, maps, n, size, module->lo + reach);
	mappings_free(maps, n);
	return place ? code_map(run, task, place, size) : 0;
}

uint64_t
place_map(struct run *run, struct task *task, uint64_t place, uint64_t size)
{
	return task_maps(run, task, size) ? code_map(run, task, place, size) :
					    0;
}

void
slots_map(struct run *run, struct task *task, struct module *module)
{
	uint64_t size = slots_room(module);

	module->slots = near_map(run, task, module, size);
	if (module->slots)
		module->slots_size = size;
}

enum patch
patch_unslotted(const struct run *run, const struct module *module,
		const struct site *site, struct emul *emul)
{
	size_t avail;
	const uint8_t *code = image_text(module->plan->image, site->addr,
					 &avail);

	/* On other hosts there is one task only: a step keeps none waiting. */
	if (site->insn.kind == INSN_SYSCALL && run->host->native)
		return PATCH_UNPLANTED;
	if (run->arch->emul_prepare &&
	    !run->arch->emul_prepare(code, site->insn.len,
				     site->addr + module->bias, emul))
		return emul->only_pc ? PATCH_SKIPPED : PATCH_EMULATED;
	return PATCH_STEPPED;
}

bool
slot_yield(const struct run *run, struct module *module, size_t number)
{
	size_t i = module->slot_site[number];
	struct patched *patched = &module->patched[i];
	struct emul emul;
	enum patch patch = patch_unslotted(run, module, &module->plan->sites[i],
					   &emul);

	if (patched->patch != PATCH_SLOTTED)
		return patched->patch == patch && patch != PATCH_UNPLANTED;
	if (patch == PATCH_UNPLANTED)
		return false;
	patched->patch = patch;
	patched->emul = emul;
	return true;
}

static void
slot_refuse(struct run *run, struct module *module, size_t i)
{
	struct site *site = &module->plan->sites[i];
	struct patched *patched = &module->patched[i];

	patched->patch = patch_unslotted(run, module, site, &patched->emul);
	if (patched->patch != PATCH_UNPLANTED)
		return;
	site->lost = true;
	run_remark(run,
		   "%s: a system call instruction has no slot to run in "
		   "and is not counted",
		   module->plan->image->path);
}

/* Write the bytes of one slot to `bytes`, or give its site another patch. */
static void
slot_fill(struct run *run, struct module *module, size_t number, uint8_t *bytes)
{
	size_t i = module->slot_site[number], avail;
	const struct site *site = &module->plan->sites[i];
	uint64_t va = module->slots + number * SLOT_MAX;
	const uint8_t *code = image_text(module->plan->image, site->addr,
					 &avail);
	struct slot_code slot;

	if (module->patched[i].patch != PATCH_SLOTTED)
		return;
	if (!module->slots || (number + 1) * SLOT_MAX > module->slots_size ||
	    run->arch->slot_make(code, site->insn.len,
				 site->addr + module->bias, va, &slot)) {
		slot_refuse(run, module, i);
		return;
	}
	module->patched[i].after = slot.after;
	memcpy(bytes, slot.bytes, slot.len);
}

/*
 * Not all these slots could be written, though memory is there: use none of
 * them.
 */
static void
slots_refuse(struct run *run, struct space *space, struct module *module,
	     size_t first, size_t last)
{
	for (size_t i = first; i < last; i++) {
		size_t site = module->slot_site[i];

		if (module->patched[site].patch == PATCH_SLOTTED &&
		    module->patched[site].slot == i)
			slot_refuse(run, module, site);
		if (module->patched[site].patch == PATCH_UNPLANTED)
			site_unhooked(space, module, (uint32_t)site);
	}
}

bool
slot_written(struct run *run, const struct space *space, pid_t tid,
	     struct module *module, size_t number)
{
	uint8_t bytes[SLOT_MAX] = { 0 }, now[SLOT_MAX];

	if (number >= module->nslots)
		return false;
	slot_fill(run, module, number, bytes);
	return !run->host->mem_read(space->mem, tid,
				    module->slots + number * SLOT_MAX, now,
				    sizeof(now)) &&
	       !memcmp(now, bytes, sizeof(now));
}

void
slots_write(struct run *run, struct space *space, pid_t tid,
	    struct module *module, size_t first, size_t last)
{
	size_t n = last - first;
	uint8_t *area;

	if (!n)
		return;
	area = mem_alloc(n * SLOT_MAX);
	for (size_t i = 0; i < n; i++)
		slot_fill(run, module, first + i, area + i * SLOT_MAX);
	if ((first + n) * SLOT_MAX > module->slots_size)
		n = module->slots_size / SLOT_MAX > first ?
			    module->slots_size / SLOT_MAX - first :
			    0;
	if (module->slots && n &&
	    run->host->mem_write(space->mem, tid,
				 module->slots + first * SLOT_MAX, area,
				 n * SLOT_MAX) &&
	    text_there(run, space, tid, module->slots + first * SLOT_MAX))
		slots_refuse(run, space, module, first, first + n);
	free(area);
}
