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

static void
own_remove(struct space *space, uint64_t lo)
{
	size_t kept = 0;

	for (size_t i = 0; i < space->nown; i++)
		if (space->own[i].lo != lo)
			space->own[kept++] = space->own[i];
	space->nown = kept;
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

/* Whether places are only chosen so far. */
static bool
room_foreseen(const struct room *room)
{
	return !room->task || room->planning;
}

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
	if (room->planning)
		*vec_push(room->planned, room->nplanned) = (struct range){
			lo, lo + (size + PAGE - 1) / PAGE * PAGE
		};
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
	if (room_foreseen(room)) {
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
	if (!room_foreseen(room))
		return task_maps(room->run, room->task, size) ?
			       code_map(room->run, room->task, place, size) :
			       0;
	if (!room_free(room, place, size))
		return 0;
	room_foresee(room, place, size);
	return place;
}

void
near_unmap(struct room *room, uint64_t va, uint64_t size)
{
	if (!room->task)
		return;
	inject_unmap(room->run, room->task, va, size);
	own_remove(room->task->process->space, va);
}

/* ---- all at one stop */

void
room_begin(struct room *room, const struct mapping *maps, size_t n)
{
	room->planning = true;
	for (size_t i = 0; i < n; i++)
		*vec_push(room->maps, room->n) = maps[i];
}

/* Have the task map what was planned; whether it has mapped all of it. */
static bool
planned_map(struct room *room)
{
	struct space *space = room->task->process->space;
	size_t n = room->nplanned;
	struct syscall *calls = mem_alloc((n + 1) * sizeof(*calls));
	size_t mapped = 0;
	int err;

	for (size_t i = 0; i < n; i++)
		calls[i] = inject_mapping(room->run, room->planned[i].lo,
					  room->planned[i].hi -
						  room->planned[i].lo,
					  PROT_READ | PROT_EXEC);
	err = inject_calls(room->run, room->task, calls, n);
	for (size_t i = 0; i < n && !err; i++)
		mapped += inject_mapped(&calls[i]) == room->planned[i].lo;
	for (size_t i = 0; i < n && !err; i++) {
		const struct range *range = &room->planned[i];

		if (mapped == n)
			own_add(space, range->lo, range->hi);
		else if (inject_mapped(&calls[i]))
			inject_unmap(room->run, room->task,
				     inject_mapped(&calls[i]),
				     range->hi - range->lo);
	}
	free(calls);
	return !err && mapped == n;
}

bool
room_end(struct room *room)
{
	uint64_t size = 0;
	bool mapped;

	for (size_t i = 0; i < room->nplanned; i++)
		size += room->planned[i].hi - room->planned[i].lo;
	mapped = !size ||
		 (task_maps(room->run, room->task, size) && planned_map(room));
	free(room->maps);
	free(room->planned);
	room->maps = NULL;
	room->planned = NULL;
	room->n = room->nplanned = 0;
	room->planning = false;
	return mapped;
}
