/*
 * Mends memory of pmon's that the program has made unusable, when an instruction
 * faults there: maps what is missing, restores its protection, and writes lost
 * code again.  Where the program has mapped something of its own, it leaves that
 * alone.  Never gives a count a value, and never touches a fault of the
 * program's own.
 */
#include "monitor/patch/mend.h"

#include <string.h>
#include <sys/mman.h>

#include "monitor/patch/hit.h"
#include "monitor/patch/patch.h"
#include "monitor/patch/refuse.h"
#include "monitor/patch/relocated_pc.h"
#include "monitor/patch/relocated_text.h"
#include "monitor/patch/slots.h"
#include "monitor/patch/springs.h"
#include "monitor/patch/step.h"
#include "monitor/patch/text_edit.h"
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
	PAGE = 4096,
	FETCH = 16, /* bytes from the pc on that an instruction may
				   have */
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

/* Whether the mapping is pmon's still, as far as can be seen. */
static bool
memory_is(const struct own_memory *memory, const struct mapping *map)
{
	return memory->code ? !map->shared && !map->ino && !*map->path :
			      shared_is(&memory->shared, map);
}

/* Have the task make the call; whether it returned 0. */
static bool
task_calls(struct run *run, struct task *task, int nr, uint64_t va,
	   uint64_t size, uint64_t arg)
{
	int64_t result;

	return !inject_syscall(run, task, nr, (uint64_t[6]){ va, size, arg },
			       &result) &&
	       !result;
}

/* Let the task access a part of the memory again; whether that was done. */
static bool
part_allow(struct run *run, struct task *task, const struct own_memory *memory,
	   uint64_t lo, uint64_t hi)
{
	const struct abi *abi = run->abi;
	uint64_t prot = PROT_READ | (memory->code ? PROT_EXEC : PROT_WRITE);
	bool done = false;

	task_calls(run, task, abi->nr_madvise, lo, hi - lo, MADV_GUARD_REMOVE);
	/* With key 0, whatever key the program has given it. */
	if (abi->nr_pkey_mprotect)
		done = task_calls(run, task, abi->nr_pkey_mprotect, lo, hi - lo,
				  prot);
	return done ||
	       task_calls(run, task, abi->nr_mprotect, lo, hi - lo, prot);
}

/* Map a part that is missing; whether that was done. */
static bool
part_map(struct run *run, struct task *task, const struct own_memory *memory,
	 uint64_t lo, uint64_t hi)
{
	int prot = PROT_READ | (memory->code ? PROT_EXEC : PROT_WRITE);

	return inject_map(run, task, lo, hi - lo, prot) != 0;
}

/* What there was of memory of pmon's. */
struct survey {
	uint64_t at; /* where the fault was */
	bool taken; /* the program has something else there */
	bool writable; /* the program may write there */
	bool missing; /* a part of the memory was gone */
};

/*
 * Whether a mapping of the memory is to be left as it is: the task can access
 * it, or code there is writable, so that it may be the program's own.
 */
static bool
part_stays(const struct own_memory *memory, const struct mapping *map,
	   const struct survey *survey)
{
	if (survey->at >= map->lo && survey->at < map->hi)
		return false;
	return memory->code ? map->write || (map->read && map->exec) :
			      map->read && map->write;
}

/* Map and allow all that is missing; whether `at` can be accessed then. */
static bool
memory_mend(struct run *run, struct task *task, const struct own_memory *memory,
	    const struct mapping *maps, size_t n, struct survey *survey)
{
	uint64_t lo = memory->lo, end = memory->lo + memory->size;
	bool done = true;

	for (size_t i = 0; i <= n && lo < end; i++) {
		uint64_t from = i < n ? maps[i].lo : end;
		uint64_t to = i < n ? maps[i].hi : end;

		if (to <= lo)
			continue;
		if (from > end)
			from = end;
		if (to > end)
			to = end;
		if (from > lo) {
			done &= part_map(run, task, memory, lo, from);
			survey->missing = true;
			lo = from;
		}
		if (lo < to && memory_is(memory, &maps[i]) &&
		    !part_stays(memory, &maps[i], survey))
			done &= part_allow(run, task, memory, lo, to);
		lo = to;
	}
	return done;
}

static void
mapping_survey(const struct own_memory *memory, const struct mapping *maps,
	       size_t n, struct survey *survey)
{
	for (size_t i = 0; i < n; i++) {
		if (survey->at < maps[i].lo || survey->at >= maps[i].hi)
			continue;
		survey->taken = !memory_is(memory, &maps[i]);
		survey->writable = maps[i].write;
	}
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
 * Missing counters are replaced by memory that pmon does not share: what was
 * counted, perhaps in other memory meanwhile, is not known in any case.
 */
static enum mend
counters_mend(struct run *run, struct task *task,
	      const struct own_memory *memory, uint64_t va)
{
	struct survey survey = { .at = va };
	struct mapping *maps;
	bool done;
	size_t n;

	if (task->process->space->nmended++ >= MENDS_END ||
	    run->host->maps(task->tid, &maps, &n))
		return MEND_NOT;
	mapping_survey(memory, maps, n, &survey);
	done = !survey.taken && task->process->space->nmended <= MENDS_MAX &&
	       memory_mend(run, task, memory, maps, n, &survey);
	mappings_free(maps, n);
	if (done)
		return survey.missing ? MEND_LOST : MEND_WHOLE;
	return memory->module ? counter_skip(run, task, memory->module) :
				MEND_ELSEWHERE;
}

/* ---- code */

enum content { CONTENT_WRITTEN, CONTENT_ZEROS, CONTENT_OTHER };

/* What is at pc; zeros if that cannot be read. */
static enum content
code_content(struct run *run, struct task *task,
	     const struct own_memory *memory, uint64_t pc)
{
	static const uint8_t zeros[FETCH];
	const struct space *space = task->process->space;
	uint64_t n = memory->lo + memory->size - pc;
	const struct func_plan *fplan;
	uint8_t now[FETCH];
	uint32_t offset;

	if (n > sizeof(now))
		n = sizeof(now);
	if (text_read(run, space, task->tid, pc, now, n) ||
	    !memcmp(now, zeros, n))
		return CONTENT_ZEROS;
	fplan = relocated_find(memory->module, pc, &offset);
	return fplan && !relocated_code_written(run, space, task->tid,
						memory->module, fplan) ?
		       CONTENT_OTHER :
		       CONTENT_WRITTEN;
}

static void
code_rewrite(struct run *run, struct task *task,
	     const struct own_memory *memory)
{
	struct space *space = task->process->space;
	struct module *module = memory->module;

	if (memory->lo == module->slots)
		slots_write(run, space, task->tid, module, 0, module->nslots);
	else
		relocated_code_rewrite(run, space, task->tid, module);
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
		return (pc - module->slots) % SLOT_MAX == 0;
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
	   uint64_t pc)
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
	/* Only the jump back is left. */
	if (offset && offset >= hit.patched->after)
		return patch_signal(run, task, 0) ? MEND_WHOLE : MEND_NOT;
	if (offset || !slot_yield(run, module, slot))
		return MEND_NOT;
	stop_is(run, task, STOP_DAMAGE);
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
	   uint64_t pc)
{
	uint64_t va;

	if (memory->lo == memory->module->slots)
		return slot_leave(run, task, memory->module, pc);
	va = code_original(task->process->space, memory, pc);
	if (!va || run->host->reg_set(task->tid, run->arch->reg_pc, va))
		return MEND_NOT;
	relocated_refuse(run, memory->module->plan, unusable);
	return MEND_WHOLE;
}

static enum mend
code_mend(struct run *run, struct task *task, const struct own_memory *memory,
	  uint64_t pc, uint64_t va)
{
	struct space *space = task->process->space;
	bool fetch = va - pc < FETCH, done;
	enum content content = code_content(run, task, memory, pc);
	struct survey survey = { .at = fetch ? va : pc };
	struct mapping *maps;
	size_t n;

	if (!fetch &&
	    (content != CONTENT_ZEROS || !code_entered(space, memory, pc)))
		return MEND_NOT;
	if (space->nmended++ >= MENDS_END ||
	    run->host->maps(task->tid, &maps, &n))
		return MEND_NOT;
	mapping_survey(memory, maps, n, &survey);
	done = !survey.taken &&
	       !(survey.writable && content != CONTENT_WRITTEN) &&
	       space->nmended <= MENDS_MAX && !task_confined(run, task) &&
	       memory_mend(run, task, memory, maps, n, &survey);
	mappings_free(maps, n);
	if (!done)
		return code_leave(run, task, memory, pc);
	if (survey.missing || content != CONTENT_WRITTEN)
		code_rewrite(run, task, memory);
	return MEND_WHOLE;
}

enum mend
mend_fault(struct run *run, struct task *task)
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
		mend = code_mend(run, task, &memory, pc, va);
	if (mend == MEND_NOT && counters_find(space, va, &memory) &&
	    relocated_counting(run, task) && !task_confined(run, task))
		mend = counters_mend(run, task, &memory, va);
	if (mend != MEND_NOT && mend != MEND_RESUMED)
		stop_is(run, task, STOP_DAMAGE);
	return mend;
}
