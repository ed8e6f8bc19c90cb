/*
 * Mends memory of pmon's that the program has made unusable, when an
 * instruction faults there: restores its protection, maps missing code, and
 * writes code that was overwritten again.  Leads the task out where counters
 * are gone, or memory may be the program's own: never writes there.  Never
 * gives a count a value, and never touches a fault of the program's own.
 */
#include "monitor/patch/mend.h"

#include <string.h>
#include <sys/mman.h>

#include "monitor/patch/filters.h"
#include "monitor/patch/hit.h"
#include "monitor/patch/lift.h"
#include "monitor/patch/patch.h"
#include "monitor/patch/refuse.h"
#include "monitor/patch/relocated_pc.h"
#include "monitor/patch/relocated_text.h"
#include "monitor/patch/slots.h"
#include "monitor/patch/springs.h"
#include "monitor/patch/step.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/fault_signal.h"
#include "monitor/process/inject.h"
#include "monitor/process/shared_page.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_memory.h"
#include "relocate/pc_map.h"
#include "relocate/relocate.h"

/* From Linux 6.13 on: pages that fault whatever their protection is. */
#ifndef MADV_GUARD_REMOVE
#define MADV_GUARD_REMOVE 103
#endif

enum {
	FETCH = 16, /* most bytes of an instruction */
	/*
	 * A program that damages the memory again and again is counted without
	 * it in the end; one that does so even then gets its signals.
	 */
	MENDS_MAX = 1000,
	MENDS_END = 2 * MENDS_MAX,
};

static const char unusable[] = "the program has made memory of pmon's unusable";

/* Memory of pmon's in a space. */
struct own_memory {
	uint64_t lo, size;
	struct module *module; /* NULL: it is a thread page's */
	bool code;
	struct shared shared; /* if it is no code */
};

static bool
code_at_va(struct module *module, uint64_t va, struct own_memory *memory)
{
	const struct range code[] = {
		{ module->slots, module->slots + module->slots_size },
		{ module->relocated,
		  module->relocated + module->relocated_size },
		{ module->springs, module->springs + module->springs_size },
	};

	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
		if (va < code[i].lo || va >= code[i].hi)
			continue;
		*memory = (struct own_memory){
			.lo = code[i].lo,
			.size = (code[i].hi - code[i].lo + PAGE - 1) / PAGE *
				PAGE,
			.module = module,
			.code = true,
		};
		return true;
	}
	return false;
}

/* The code of pmon's that has the va; whether there is any. */
static bool
code_find(const struct space *space, uint64_t va, struct own_memory *memory)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (code_at_va(space->modules[i], va, memory))
			return true;
	return false;
}

/* The counters, or what else is in their pages, that have the va. */
static bool
counters_find(const struct space *space, uint64_t va, struct own_memory *memory)
{
	const struct shared *shared = NULL;

	*memory = (struct own_memory){ 0 };
	if (space->thread_pages)
		shared = thread_page_at(space->thread_pages, va, &memory->lo,
					&memory->size);
	if (shared) {
		memory->shared = *shared;
		return true;
	}
	for (size_t i = 0; i < space->nmodules; i++) {
		struct module *module = space->modules[i];

		if (va - module->shared.va >= module->shared.size)
			continue;
		memory->module = module;
		memory->shared = module->shared;
		memory->lo = memory->shared.va;
		memory->size = memory->shared.size;
		return true;
	}
	return false;
}

/* ---- mappings */

/* The part of the memory that a fault was in: of one mapping, or of a gap. */
struct part {
	struct range range;
	bool missing;	/* nothing is mapped there */
	bool own;	/* pmon's still, as far as can be seen */
	bool intact;	/* code, with the protection that pmon gave it */
};

/* Whether the mapping is pmon's still, as far as can be seen. */
static bool
memory_is(const struct own_memory *memory, const struct mapping *map)
{
	return memory->code ? !map->shared && !map->ino && !*map->path :
			      shared_is(&memory->shared, map);
}

/* Find the part of the memory that has the va; whether that could be done. */
static bool
part_find(struct run *run, const struct task *task,
	  const struct own_memory *memory, uint64_t va, struct part *part)
{
	struct range range = { memory->lo, memory->lo + memory->size };
	struct mapping *maps;
	size_t n;

	if (va - range.lo >= memory->size ||
	    run->host->maps(task->tid, &maps, &n))
		return false;
	*part = (struct part){ .missing = true };
	for (size_t i = 0; i < n; i++) {
		const struct mapping *map = &maps[i];

		if (map->hi <= va && map->hi > range.lo)
			range.lo = map->hi;
		if (map->hi > va && map->hi < range.hi && map->lo <= va)
			range.hi = map->hi;
		if (map->lo > va && map->lo < range.hi)
			range.hi = map->lo;
		if (map->lo > va || map->hi <= va)
			continue;
		if (map->lo > range.lo)
			range.lo = map->lo;
		part->missing = false;
		part->own = memory_is(memory, map);
		part->intact = map->read && map->exec && !map->write;
	}
	part->range = range;
	mappings_free(maps, n);
	return true;
}

/* Have the task make the call; whether it returned 0. */
static bool
task_calls(struct run *run, struct task *task, int nr,
	   const struct range *range, uint64_t arg)
{
	struct syscall call = {
		.nr = nr,
		.nargs = 4,
		.args = { range->lo, range->hi - range->lo, arg },
	};

	return !inject_calls(run, task, &call, 1) && !call.result;
}

/* Let the task access the range again; whether that was done. */
static bool
range_allow(struct run *run, struct task *task, const struct range *range,
	    uint64_t prot)
{
	const struct abi *abi = run->abi;
	bool done = false;

	task_calls(run, task, abi->nr_madvise, range, MADV_GUARD_REMOVE);
	/* With key 0, whatever key the program has given it. */
	if (abi->nr_pkey_mprotect)
		done = task_calls(run, task, abi->nr_pkey_mprotect, range,
				  prot);
	return done || task_calls(run, task, abi->nr_mprotect, range, prot);
}

/*
 * Map memory for code at the range, where nothing is; whether that was done.
 * Other tasks run meanwhile, and must not execute what is not written yet:
 * zeros are instructions that write.
 */
static bool
range_map(struct run *run, struct task *task, const struct range *range)
{
	return inject_map(run, task, range->lo, range->hi - range->lo,
			  PROT_READ) != 0;
}

/* ---- counters */

/*
 * A shared page is gone for good.  There is no page for the task elsewhere, but
 * its counter is one instruction, which does nothing but count: skip that, and
 * move the task to the original, now or behind the next counter.
 */
static enum mend
counter_skip(struct run *run, struct task *task, const struct module *module)
{
	const struct space *space = task->process->space;
	const struct func_plan *fplan;
	struct pc_map_entry entry;
	uint8_t code[FETCH];
	struct insn insn;
	uint32_t offset;
	uint64_t pc;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return MEND_NOT;
	fplan = relocated_find(module, pc, &offset);
	if (!fplan || text_read(run, space, task->tid, pc, code, FETCH) ||
	    run->arch->decode(code, FETCH, pc, &insn) ||
	    pc_map_entry(fplan->relocated, offset, &entry) || entry.saved ||
	    pc_map_entry(fplan->relocated, offset + insn.len, &entry) ||
	    entry.saved ||
	    run->host->reg_set(task->tid, run->arch->reg_pc, pc + insn.len))
		return MEND_NOT;
	if (!relocated_counting(run, task))
		relocated_leave(run, task);
	relocated_refuse(run, module->plan, unusable);
	return MEND_LOST;
}

/*
 * Counters that are gone are not mapped again: a probe may have saved a register
 * there, and what other memory has counted meanwhile is not known.
 */
static enum mend
counters_mend(struct run *run, struct task *task,
	      const struct own_memory *memory, uint64_t va)
{
	struct space *space = task->process->space;
	struct part part;

	if (space->nmended++ >= MENDS_END ||
	    !part_find(run, task, memory, va, &part))
		return MEND_NOT;
	if (part.own && space->nmended <= MENDS_MAX &&
	    !task_confined(run, task) &&
	    range_allow(run, task, &part.range, PROT_READ | PROT_WRITE))
		return MEND_WHOLE;
	if (memory->module)
		return counter_skip(run, task, memory->module);
	return task_confined(run, task) ? MEND_NOT : MEND_ELSEWHERE;
}

/* ---- code */

enum content { CONTENT_WRITTEN, CONTENT_ZEROS, CONTENT_OTHER };

/* Is the slot, relocated function or springboard at pc as pmon wrote it? */
static bool
code_written(struct run *run, struct task *task,
	     const struct own_memory *memory, uint64_t pc)
{
	const struct space *space = task->process->space;
	struct module *module = memory->module;
	const struct func_plan *fplan;
	uint32_t offset;

	if (memory->lo == module->slots)
		return slot_written(run, space, task->tid, module,
				    (pc - module->slots) / SLOT_MAX);
	fplan = relocated_find(module, pc, &offset);
	if (fplan)
		return relocated_code_written(run, space, task->tid, module,
					      fplan);
	fplan = code_at(space, spring_from(space, pc)).fplan;
	return fplan &&
	       entry_patches_written(run, space, task->tid, module, fplan);
}

/* What is at pc; zeros if that cannot be read. */
static enum content
code_content(struct run *run, struct task *task,
	     const struct own_memory *memory, uint64_t pc)
{
	static const uint8_t zeros[FETCH];
	uint64_t n = memory->lo + memory->size - pc;
	uint8_t now[FETCH];

	if (n > sizeof(now))
		n = sizeof(now);
	if (text_read(run, task->process->space, task->tid, pc, now, n) ||
	    !memcmp(now, zeros, n))
		return CONTENT_ZEROS;
	return code_written(run, task, memory, pc) ? CONTENT_WRITTEN :
						     CONTENT_OTHER;
}

/* Write the code that belongs into the range. */
static void
code_rewrite(struct run *run, struct task *task,
	     const struct own_memory *memory, const struct range *range)
{
	struct space *space = task->process->space;
	struct module *module = memory->module;
	size_t first, last;

	if (memory->lo != module->slots) {
		relocated_code_rewrite(run, space, task->tid, module, range);
		return;
	}
	first = (range->lo - module->slots) / SLOT_MAX;
	last = (range->hi - module->slots) / SLOT_MAX;
	if (last > module->nslots)
		last = module->nslots;
	if (first < last)
		slots_write(run, space, task->tid, module, first, last);
}

/* Whether a slot begins at pc. */
static bool
slot_begins(const struct module *module, uint64_t pc)
{
	uint64_t slot = (pc - module->slots) / SLOT_MAX;

	return (pc - module->slots) % SLOT_MAX == 0 && slot < module->nslots &&
	       module->patched[module->slot_site[slot]].slot == slot;
}

/*
 * Whether control may have come to pc from outside the code, so that the task
 * has executed nothing of what is there now.
 */
static bool
code_entered(const struct space *space, const struct own_memory *memory,
	     uint64_t pc)
{
	const struct module *module = memory->module;
	const struct func_plan *fplan;
	uint32_t offset;

	if (memory->lo == module->slots)
		return slot_begins(module, pc);
	fplan = relocated_find(module, pc, &offset);
	for (uint32_t i = 0; fplan && i < fplan->relocated->nentry_patches; i++)
		if (fplan->relocated->entry_patches[i].offset == offset)
			return true;
	return spring_from(space, pc) != 0;
}

/*
 * The va in the original for a task that cannot go on at pc in a relocated
 * function or a springboard; 0: none.
 */
static uint64_t
code_original(const struct space *space, const struct own_memory *memory,
	      uint64_t pc)
{
	const struct module *module = memory->module;
	const struct func_plan *fplan;
	struct pc_map_entry entry;
	uint32_t offset;

	fplan = relocated_find(module, pc, &offset);
	if (!fplan)
		return spring_from(space, pc);
	if (pc_map_entry(fplan->relocated, offset, &entry) || entry.saved ||
	    entry.between || entry.dispatched)
		return 0;
	return entry.addr + module->bias;
}

/*
 * The slot can be used no more: do its site without it.  The site was hit, and
 * must not be hit again, as its hook would be handled twice.
 */
static enum mend
slot_leave(struct run *run, struct task *task, struct module *module,
	   uint64_t pc, int signal)
{
	size_t slot = (pc - module->slots) / SLOT_MAX, i;
	uint64_t offset = (pc - module->slots) % SLOT_MAX;
	struct hit hit = { .module = module };
	int err = HOST_OK;

	if (slot >= module->nslots)
		return MEND_NOT;
	i = module->slot_site[slot];
	hit.site = &module->plan->sites[i];
	hit.patched = &module->patched[i];
	hit.va = hit.site->addr + module->bias;
	if (hit.patched->filtered) {
		site_retire(run, task->process->space, module, i);
		return patch_signal(run, task, 0) ? MEND_WHOLE : MEND_NOT;
	}
	/* Only the jump back is left. */
	if (offset && offset >= hit.patched->after)
		return patch_signal(run, task, 0) ? MEND_WHOLE : MEND_NOT;
	if (offset || (!slot_yield(run, module, slot) &&
		       hit.site->insn.kind != INSN_SYSCALL))
		return MEND_NOT;
	if (hit.site->insn.kind == INSN_SYSCALL) {
		site_retire(run, task->process->space, module, i);
		return run->host->reg_set(task->tid, run->arch->reg_pc,
					  hit.va) ?
			       MEND_NOT :
			       MEND_WHOLE;
	}
	stop_is(run, task, STOP_DAMAGE);
	if (fault_signal_mend(run, task, signal))
		return MEND_RESUMED;
	if (hit.patched->patch == PATCH_STEPPED)
		err = patch_step(run, task, &hit);
	else if (hit.patched->patch == PATCH_EMULATED)
		err = patch_emulate(run, task, &hit);
	else if (!run->host->reg_set(task->tid, run->arch->reg_pc,
				     hit.patched->emul.imm))
		return MEND_WHOLE;
	return err ? MEND_NOT : MEND_RESUMED;
}

/*
 * The code can be used no more: move the task to the original, and do without
 * the slot, or without the module's relocated functions.  Others are moved when
 * they come to run there.
 */
static enum mend
code_leave(struct run *run, struct task *task, const struct own_memory *memory,
	   uint64_t pc, int signal)
{
	uint64_t va;

	if (memory->lo == memory->module->slots)
		return slot_leave(run, task, memory->module, pc, signal);
	va = code_original(task->process->space, memory, pc);
	if (!va || run->host->reg_set(task->tid, run->arch->reg_pc, va))
		return MEND_NOT;
	relocated_refuse(run, memory->module->plan, unusable);
	return MEND_WHOLE;
}

/*
 * Make the part of the code usable again; whether that was done.  Anonymous
 * memory may be the program's own: it is taken for pmon's if it has pmon's code,
 * or if only the contents were cleared.
 */
static bool
part_mend(struct run *run, struct task *task, const struct own_memory *memory,
	  const struct part *part, enum content content)
{
	const struct range *range = &part->range;

	if (task_confined(run, task))
		return false;
	if (part->missing && !range_map(run, task, range))
		return false;
	if (!part->missing &&
	    (!part->own || (content != CONTENT_WRITTEN &&
			    (content != CONTENT_ZEROS || !part->intact))))
		return false;
	if (part->missing || content != CONTENT_WRITTEN)
		code_rewrite(run, task, memory, range);
	return range_allow(run, task, range, PROT_READ | PROT_EXEC);
}

static enum mend
code_mend(struct run *run, struct task *task, const struct own_memory *memory,
	  uint64_t pc, uint64_t va, int signal)
{
	struct space *space = task->process->space;
	bool fetch = va - pc < FETCH;
	enum content content = code_content(run, task, memory, pc);
	struct part part;

	if (!fetch &&
	    (content != CONTENT_ZEROS || !code_entered(space, memory, pc)))
		return MEND_NOT;
	if (space->nmended++ >= MENDS_END ||
	    !part_find(run, task, memory, fetch ? va : pc, &part))
		return MEND_NOT;
	if (space->nmended > MENDS_MAX ||
	    !part_mend(run, task, memory, &part, content))
		return code_leave(run, task, memory, pc, signal);
	return MEND_WHOLE;
}

enum mend
mend_fault(struct run *run, struct task *task, int signal)
{
	const struct space *space = task->process ? task->process->space : NULL;
	enum mend mend = MEND_NOT;
	struct own_memory memory;
	uint64_t pc, va;
	int code;

	if (!space || space->unmapped ||
	    run->host->fault_get(task->tid, &code, &va) ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return MEND_NOT;
	if (code_find(space, pc, &memory))
		mend = code_mend(run, task, &memory, pc, va, signal);
	if (mend == MEND_NOT && counters_find(space, va, &memory) &&
	    relocated_counting(run, task))
		mend = counters_mend(run, task, &memory, va);
	if (mend == MEND_NOT || mend == MEND_RESUMED)
		return mend;
	stop_is(run, task, STOP_DAMAGE);
	return fault_signal_mend(run, task, signal) ? MEND_RESUMED : mend;
}
