/*
 * Manages a module's slots: memory near its text in which the instructions of
 * its slotted sites run out of line.  The memory is mapped before the program
 * runs on (room.c); pmon writes to it as sites come, and the program never can.
 */
#include "monitor/patch/slots.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/patch/filters.h"
#include "monitor/patch/patched.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/space.h"
#include "monitor/run.h"
#include "util/mem.h"

enum { ROOM_MIN = 1 << 16, ROOM_MAX = 1 << 26 };

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

void
slots_map(struct room *room, struct module *module)
{
	uint64_t size = slots_room(module);

	if (module->slots && module->slots_size >= size)
		return;
	if (module->slots)
		near_unmap(room, module->slots, module->slots_size);
	module->slots = near_map(room, module, size);
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

	patched->filtered = false;
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
	bool room = module->slots &&
		    (number + 1) * SLOT_MAX <= module->slots_size;
	struct slot_code slot;

	if (module->patched[i].filtered) {
		if (!room || filter_fill(module, number, bytes))
			slot_refuse(run, module, i);
		return;
	}
	if (module->patched[i].patch != PATCH_SLOTTED)
		return;
	if (!room ||
	    run->arch->slot_make(code, site->insn.len,
				 site->addr + module->bias, va, &slot)) {
		slot_refuse(run, module, i);
		return;
	}
	module->patched[i].after = slot.after;
	memcpy(bytes, slot.bytes, slot.len);
}

static bool
module_planted(const struct space *space, const struct module *module)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (space->modules[i] == module)
			return true;
	return false;
}

/*
 * Not all these slots could be written, though memory is there: use none of
 * them.  Filters that are planted are written again to know more, and do without.
 */
static void
slots_refuse(struct run *run, struct space *space, struct module *module,
	     size_t first, size_t last)
{
	for (size_t i = first; i < last; i++) {
		size_t site = module->slot_site[i];

		if ((site_filtered(module, site) &&
		     !module_planted(space, module)) ||
		    (module->patched[site].patch == PATCH_SLOTTED &&
		     module->patched[site].slot == i))
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

/* The bytes of slots, owned by the caller. */
static uint8_t *
slots_make(struct run *run, struct module *module, size_t first, size_t last)
{
	uint8_t *area = mem_alloc((last - first) * SLOT_MAX);

	for (size_t i = first; i < last; i++)
		slot_fill(run, module, i, area + (i - first) * SLOT_MAX);
	return area;
}

void
slots_foresee(struct run *run, struct module *module)
{
	if (module->nslots)
		free(slots_make(run, module, 0, module->nslots));
}

bool
slots_write(struct run *run, struct space *space, pid_t tid,
	    struct module *module, size_t first, size_t last)
{
	size_t n = last - first;
	bool refused;
	uint8_t *area;

	if (!n)
		return true;
	area = slots_make(run, module, first, last);
	if ((first + n) * SLOT_MAX > module->slots_size)
		n = module->slots_size / SLOT_MAX > first ?
			    module->slots_size / SLOT_MAX - first :
			    0;
	refused = module->slots && n &&
		  run->host->mem_write(space->mem, tid,
				       module->slots + first * SLOT_MAX, area,
				       n * SLOT_MAX) &&
		  text_there(run, space, tid, module->slots + first * SLOT_MAX);
	if (refused)
		slots_refuse(run, space, module, first, first + n);
	free(area);
	return !refused;
}
