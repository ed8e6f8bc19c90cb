/*
 * Text that the program has moved away from its module: mremap(2) takes pages
 * along with what pmon has written there.  V8 does so to bring its built-in
 * functions near the code that it generates.  A trap that is met at the new
 * place tells; then the text there gets the file's bytes, and the counts of its
 * functions are not known.  Plants nothing.
 */
#include "monitor/patch/moved.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/patch/relocated.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/events.h"
#include "monitor/process/sigtrap.h"
#include "monitor/process/space.h"
#include "util/mem.h"

enum { CHUNK = 1 << 20 };

/* A mapping of text of a module's file, elsewhere than the module. */
struct moved {
	const struct module *module;
	uint64_t lo, hi;	/* va of the text */
	uint64_t bias;		/* va = addr + bias there */
};

/* Set what is moved, if the mapping is of the module's file, and of its text. */
static bool
mapping_moved(const struct mapping *map, const struct module *module,
	      struct moved *moved)
{
	const struct image *image = module->plan->image;
	uint64_t size = map->hi - map->lo;

	if (map->dev != module->dev || map->ino != module->ino)
		return false;
	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];
		uint64_t lo = seg->offset, hi = seg->offset + seg->filesz;

		if (!(seg->flags & PF_X) || map->offset >= hi ||
		    map->offset + size <= lo)
			continue;
		moved->module = module;
		moved->bias = map->lo - map->offset + seg->offset - seg->addr;
		if (map->offset > lo)
			lo = map->offset;
		if (map->offset + size < hi)
			hi = map->offset + size;
		moved->lo = map->lo + (lo - map->offset);
		moved->hi = map->lo + (hi - map->offset);
		return true;
	}
	return false;
}

/* Find what is moved to the va. */
static bool
moved_find(const struct space *space, const struct mapping *maps, size_t n,
	   uint64_t va, struct moved *moved)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; va - maps[i].lo < maps[i].hi - maps[i].lo &&
				   k < space->nmodules;
		     k++)
			if (mapping_moved(&maps[i], space->modules[k], moved) &&
			    va - moved->lo < moved->hi - moved->lo)
				return true;
	return false;
}

static bool
is_trap(const struct run *run, const struct task *task, uint64_t va)
{
	const struct arch *arch = run->arch;
	uint8_t now[sizeof(arch->trap)];

	return !run->host->mem_read(task->process->space->mem, task->tid, va,
				    now, arch->trap_len) &&
	       !memcmp(now, arch->trap, arch->trap_len);
}

/* Whether the trap at va, which the file does not have, is one of pmon's. */
static bool
trap_moved(const struct run *run, const struct task *task,
	   const struct moved *moved, uint64_t va)
{
	const struct plan *plan = moved->module->plan;
	uint64_t addr = va - moved->bias;
	size_t avail;
	const uint8_t *text = image_text(plan->image, addr, &avail);

	return plan_site(plan, addr) && text && avail >= run->arch->trap_len &&
	       memcmp(text, run->arch->trap, run->arch->trap_len) != 0 &&
	       is_trap(run, task, va);
}

/* Put back, in a part of the text, what pmon has changed in the module. */
static void
part_restore(struct run *run, const struct task *task,
	     const struct moved *moved, uint64_t lo, size_t n)
{
	const struct space *space = task->process->space;
	const struct plan *plan = moved->module->plan;
	uint64_t addr = lo - moved->bias;
	size_t avail, at = n;
	const uint8_t *text = image_text_range(plan->image, addr, addr + n,
					       &avail);
	uint8_t *now, *patched;

	if (!text || avail < n)
		return;
	now = mem_alloc(2 * n);
	patched = now + n;
	memcpy(patched, text, n);
	relocated_apply(moved->module, addr, n, patched);
	if (text_read(run, space, task->tid, lo, now, n))
		memcpy(now, text, n);
	for (size_t i = 0; i <= n; i++) {
		bool ours = i < n && now[i] != text[i] &&
			    (now[i] == patched[i] ||
			     (now[i] == run->arch->trap[0] &&
			      plan_site(plan, addr + i)));

		if (ours && at == n)
			at = i;
		if (!ours && at < n) {
			text_write(run, space, task->tid, lo + at, text + at,
				   i - at);
			at = n;
		}
	}
	free(now);
}

/*
 * All tasks of the space stand still.  What is moved is not looked at again: it
 * is code that runs uncounted, like what is left in its place.
 */
static void
moved_restore(struct run *run, const struct task *task,
	      const struct moved *moved)
{
	struct plan *plan = moved->module->plan;
	uint64_t n;

	for (uint64_t lo = moved->lo; lo < moved->hi; lo += n) {
		n = moved->hi - lo < CHUNK ? moved->hi - lo : CHUNK;
		part_restore(run, task, moved, lo, n);
	}
	plan_lose_range(plan, moved->lo - moved->bias, moved->hi - moved->bias);
	run_remark(run,
		   "%s: the program moves code of %" PRIu64 " KB, whose "
		   "functions are not counted",
		   plan->image->path, (moved->hi - moved->lo) / 1024);
}

/* Find what is moved to the va, with the trap there. */
static bool
moved_look(struct run *run, const struct task *task, uint64_t va,
	   struct moved *moved)
{
	struct mapping *maps;
	bool found;
	size_t n;

	if (run->host->maps(task->tid, &maps, &n))
		return false;
	found = moved_find(task->process->space, maps, n, va, moved) &&
		trap_moved(run, task, moved, va);
	mappings_free(maps, n);
	return found;
}

/* Programs may live on traps of their own: the memory map is not read for each. */
static bool
trap_own(const struct space *space, uint64_t va)
{
	for (unsigned i = 0; i < OWN_TRAPS; i++)
		if (space->own_traps[i] == va)
			return true;
	return false;
}

uint64_t
moved_reached(struct run *run, struct task *task)
{
	struct space *space = task->process->space;
	struct moved moved;
	uint64_t va;

	if (!run->host->native ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &va))
		return 0;
	va -= run->arch->trap_pc;
	if (space_module(space, va) || trap_own(space, va) ||
	    (run->host->trap_cause(task->tid) != TRAP_INSN &&
	     !sigtrap_waited(run, task)))
		return 0;
	/* Several tasks may have met such traps at the same time. */
	if (!is_trap(run, task, va))
		return va - space->moved.lo <
				       space->moved.hi - space->moved.lo ?
			       va :
			       0;
	if (!moved_look(run, task, va, &moved)) {
		space->own_traps[space->nown_traps++ % OWN_TRAPS] = va;
		return 0;
	}
	run_pause(run, space, task, STOP_PLANT);
	moved_restore(run, task, &moved);
	space->moved = (struct range){ moved.lo, moved.hi };
	return va;
}
