/*
 * Finds room for code near a module's text, and has the program map it.  For a
 * process that still runs it only foresees where the room will be.  Never writes
 * there.
 */
#include "monitor/patch/room.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "monitor/process/events.h"
#include "monitor/process/inject.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "util/mem.h"

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

/* Whether the task can be made to map that much now. */
static bool
task_maps(const struct run *run, const struct task *task, uint64_t size)
{
	return run->abi && inject_may(run, task) && !task_confined(run, task) &&
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

/* ---- room that is only foreseen */

/* Note that something will be mapped there. */
static void
room_foresee(struct room *room, uint64_t lo, uint64_t size)
{
	struct mapping map = { .lo = lo, .hi = lo + size };
	size_t i = room->n;

	*vec_push(room->maps, room->n) = map;
	for (; i && room->maps[i - 1].lo > lo; i--)
		room->maps[i] = room->maps[i - 1];
	room->maps[i] = map;
}

static bool
room_free(const struct room *room, uint64_t lo, uint64_t size)
{
	for (size_t i = 0; i < room->n; i++)
		if (lo < room->maps[i].hi && room->maps[i].lo < lo + size)
			return false;
	return true;
}

/* ---- */

static uint64_t
near_place(const struct module *module, const struct mapping *maps, size_t n,
	   uint64_t size)
{
	uint64_t top = springs_above(module), place = 0;

	if (top)
		place = slots_place(module, maps, n, size, top);
	return place ? place :
		       slots_place(module, maps, n, size, module->lo + reach);
}

uint64_t
near_map(struct room *room, const struct module *module, uint64_t size)
{
	struct mapping *maps;
	uint64_t place;
	size_t n;

	size = (size + PAGE - 1) / PAGE * PAGE;
	if (!room->task) {
		place = near_place(module, room->maps, room->n, size);
		if (place)
			room_foresee(room, place, size);
		return place;
	}
	if (!task_maps(room->run, room->task, size) ||
	    room->run->host->maps(room->task->tid, &maps, &n))
		return 0;
	place = near_place(module, maps, n, size);
	mappings_free(maps, n);
	return place ? code_map(room->run, room->task, place, size) : 0;
}

uint64_t
place_map(struct room *room, uint64_t place, uint64_t size)
{
	if (room->task)
		return task_maps(room->run, room->task, size) ?
			       code_map(room->run, room->task, place, size) :
			       0;
	if (!room_free(room, place, size))
		return 0;
	room_foresee(room, place, size);
	return place;
}
