/*
 * Translates pcs between relocated functions and their originals.  The program
 * never sees a pc in a relocated function: before a signal is delivered, and
 * before a task is let go, the task is moved to the original, and moved back
 * later.  With --no-traps, handlers return to relocated functions: see
 * relocated_signal.c.  Writes no text.
 */
#include <signal.h>

#include "monitor/patch/relocated_pc.h"
#include "monitor/patch/relocated_signal.h"
#include "monitor/patch/springs.h"
#include "monitor/process/client.h"
#include "monitor/process/detour.h"
#include "monitor/process/events.h"
#include "monitor/process/faults.h"
#include "monitor/process/records.h"
#include "monitor/process/regions.h"
#include "monitor/process/sigtrap.h"
#include "monitor/process/space.h"
#include "monitor/run.h"
#include "relocate/pc_map.h"
#include "relocate/relocate.h"
#include "util/fail.h"
#include "util/search.h"

/*
 * A dispatch has the most instructions of one fragment.  Behind a record there
 * may be a probe that adds.
 */
enum { STEPS_MAX = 64 };

const struct func_plan *
relocated_find(const struct module *module, uint64_t pc, uint32_t *offset)
{
	const struct plan *plan = module->plan;
	uint64_t at = pc - module->relocated;
	const struct func_plan *fplan;
	size_t lo;

	if (!module->relocated || at >= module->relocated_size)
		return NULL;
	lo = search_first(plan->nrelocated, i,
			  plan->fplans[plan->relocated_fplans[i]].relocated_at >
				  at);
	if (!lo)
		return NULL;
	fplan = &plan->fplans[plan->relocated_fplans[lo - 1]];
	*offset = (uint32_t)(at - fplan->relocated_at);
	return *offset < fplan->relocated->size ? fplan : NULL;
}

static const struct func_plan *
space_relocated_at(const struct space *space, uint64_t pc,
		   const struct module **module, uint32_t *offset)
{
	const struct func_plan *fplan = NULL;

	for (size_t i = 0; space && i < space->nmodules && !fplan; i++) {
		*module = space->modules[i];
		fplan = relocated_find(*module, pc, offset);
	}
	return fplan;
}

static uint64_t
landing_of(const struct relocated *relocated, uint64_t addr)
{
	for (uint32_t i = 0; i < relocated->nentry_patches; i++)
		if (relocated->entry_patches[i].via == VIA_CHAIN &&
		    relocated->entry_patches[i].landing == addr)
			return relocated->entry_patches[i].addr;
	return 0;
}

/*
 * What is at a va of the original; the function, if it has a relocated function
 * that may be used, else NULL.
 */
static struct code_at
original_at(const struct space *space, uint64_t va)
{
	struct code_at at = code_at(space, va);

	if (at.fplan &&
	    (!at.module->relocated || !at.fplan->relocated || at.fplan->lost))
		at.fplan = NULL;
	return at;
}

/* The va of an offset in the function's relocated function. */
static uint64_t
relocated_va(const struct code_at *at, uint64_t offset)
{
	return at->module->relocated + at->fplan->relocated_at + offset;
}

/*
 * If pc is at the landing slot of a short-jump chain, or at a springboard, the
 * va of the entry patch that leads there; else 0.
 */
static uint64_t
relocated_landing(const struct space *space, uint64_t pc)
{
	struct code_at at = original_at(space, pc);
	uint64_t addr = at.fplan ? landing_of(at.fplan->relocated, at.addr) : 0;

	return addr ? addr + at.module->bias : spring_from(space, pc);
}

void
relocated_land(struct run *run, struct task *task)
{
	const struct space *space = task->process->space;
	const struct entry_patch *entry_patch;
	struct code_at at;
	uint64_t pc, va;

	if (!space || !space->relocates ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return;
	va = relocated_landing(space, pc);
	if (!va)
		return;
	at = original_at(space, va);
	entry_patch = at.fplan ? relocated_entry_patch(at.fplan->relocated,
						       at.addr) :
				 NULL;
	if (entry_patch)
		run->host->reg_set(task->tid, run->arch->reg_pc,
				   relocated_va(&at, entry_patch->offset));
}

/*
 * If nothing known leads to the entry patch, control came to the instruction
 * over an abnormal edge.
 */
void
relocated_arrive(struct run *run, struct task *task,
		 const struct module *module, const struct site *site)
{
	const struct func_plan *fplan = &module->plan->fplans[site->fplan];
	const struct entry_patch *entry_patch = relocated_entry_patch(
		fplan->relocated, site->addr);
	uint64_t sp;

	if (run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		sp = 0;
	if (!entry_patch ||
	    (entry_patch->kind == ENTRY_PATCH_GUARD && !fplan->cfg->unresolved))
		client_abnormal(run, task, module->plan,
				&(struct abnormal_edge){
					.addr = site->addr,
					.came = 1,
					.sp = sp,
				});
}

uint64_t
relocated_enter(const struct module *module, const struct site *site)
{
	const struct func_plan *fplan = &module->plan->fplans[site->fplan];
	const struct entry_patch *entry_patch = relocated_entry_patch(
		fplan->relocated, site->addr);
	int64_t offset = entry_patch ?
				 entry_patch->offset :
				 relocated_offset(fplan->relocated, site->addr);

	must(offset >= 0);
	return module->relocated + fplan->relocated_at + (uint64_t)offset;
}

uint64_t
relocated_back(const struct space *space, uint64_t va)
{
	struct code_at at = original_at(space, va);
	int64_t offset = at.fplan ? relocated_offset(at.fplan->relocated,
						     at.addr) :
				    -1;

	return offset < 0 ? va : relocated_va(&at, (uint64_t)offset);
}

/* The arc of the block that begins at addr, or ARC_NONE. */
static uint32_t
block_arc(const struct func_plan *fplan, uint64_t addr)
{
	long block = cfg_block(fplan->cfg, addr);

	return block < 0 ?
		       ARC_NONE :
		       arc_of_block(fplan->flow, FLOW_BLOCK + (uint32_t)block);
}

/*
 * Whether pc is at an instruction of the original that the relocated function
 * leads to because it only runs there: a call, or a system call.
 */
static bool
call_ahead(const struct space *space, uint64_t pc)
{
	struct code_at at = original_at(space, pc);
	long insn = at.fplan ? cfg_insn(at.fplan->cfg, at.addr) : -1;

	if (insn < 0 || relocated_entry_patch(at.fplan->relocated, at.addr))
		return false;
	switch (at.fplan->cfg->insns[insn].kind) {
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
	case INSN_SYSCALL:
		return true;
	default:
		return false;
	}
}

void
relocated_ahead(struct run *run, struct task *task, uint64_t va, uint64_t sp,
		bool back)
{
	struct code_at at = original_at(task->process->space, va);
	uint32_t arc = at.fplan ? block_arc(at.fplan, at.addr) : ARC_NONE;
	const struct probe *probe;
	uint64_t by;

	if (arc == ARC_NONE)
		return;
	client_moved(run, task, at.module->plan, at.index, arc, sp, back);
	probe = relocated_probe(at.fplan->relocated, arc);
	if (!probe)
		return;
	by = (uint64_t)(back ? -(int64_t)probe->operand : probe->operand);
	client_drained(run, task, at.module->plan, probe->slot, &by, 1);
}

/* Where an edge that was counted by its index leads, with the task at addr. */
static void
index_position(const struct edge_index *index, uint64_t bias, uint64_t addr,
	       struct position *position)
{
	if (addr == index->load) {
		position->reg = index->index;
		position->table = index->table + bias;
	} else {
		position->reg = index->target;
	}
}

bool
relocated_position(const struct space *space, uint64_t pc,
		   struct position *position)
{
	const struct module *module;
	struct pc_map_entry entry;
	const struct func_plan *fplan;
	uint32_t offset;

	*position = (struct position){ .reg = REG_NONE };
	if (!space || !space->relocates)
		return false;
	position->va = relocated_landing(space, pc);
	if (position->va)
		return true;
	if (call_ahead(space, pc)) {
		position->va = pc;
		position->ahead = true;
		return true;
	}
	fplan = space_relocated_at(space, pc, &module, &offset);
	if (!fplan || pc_map_entry(fplan->relocated, offset, &entry))
		return false;
	position->ahead = entry.arrived && !entry.dispatched;
	position->dispatched = entry.dispatched;
	if (entry.index)
		index_position(entry.index, module->bias, entry.addr, position);
	if (entry.element < fplan->flow->nedges && !entry.committed &&
	    fplan->flow->edges[entry.element].from >= FLOW_BLOCK) {
		const struct block *from =
			&fplan->cfg->blocks[fplan->flow->edges[entry.element]
						    .from -
					    FLOW_BLOCK];

		/* Control takes this edge, but has not been counted. */
		entry.addr =
			fplan->cfg->insns[from->first + from->count - 1].addr;
		position->during = true;
	}
	position->va = entry.addr + module->bias;
	return true;
}

bool
relocated_full(struct run *run, const struct task *task)
{
	const struct space *space = task->process->space;
	const struct func_plan *fplan;
	const struct module *module;
	struct pc_map_entry entry;
	uint32_t offset;
	uint64_t pc;

	if (!space || !space->relocates ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return false;
	fplan = space_relocated_at(space, pc - run->arch->trap_pc, &module,
				   &offset);
	return fplan && !pc_map_entry(fplan->relocated, offset, &entry) &&
	       entry.full;
}

/* Set the position's va to the target of the indirect jump that has gone. */
static bool
target_find(struct run *run, const struct task *task, struct position *position)
{
	uint8_t reg = position->reg == REG_NONE ? run->arch->reg_thread :
						  position->reg;
	uint64_t value, at;

	if (run->host->reg_get(task->tid, reg, &value))
		return false;
	if (position->reg != REG_NONE && !position->table) {
		position->va = value;
		return true;
	}
	/* A vforked child has its parent's page. */
	at = position->table ?
		     position->table + 8 * value :
		     value + region_scratch.offset + 8 * SCRATCH_TARGET;
	return !run->host->data_read(task->tid, at, &position->va,
				     sizeof(position->va));
}

bool
relocated_task_position(struct run *run, const struct task *task, uint64_t pc,
			struct position *position)
{
	return relocated_position(task->process->space, pc, position) &&
	       (!position->dispatched || target_find(run, task, position));
}

/*
 * Whether a task at this offset can be moved to the original and back without a
 * trace: at a relocated instruction, with all done that comes before it.
 */
static bool
pc_map_clean(const struct func_plan *fplan, uint32_t offset,
	     struct pc_map_entry *entry)
{
	return !pc_map_entry(fplan->relocated, offset, entry) &&
	       !entry->between && !entry->saved && entry->arrived &&
	       entry->begins;
}

/* Step one instruction, with all signals but SIGTRAP blocked. */
static int
relocated_step(struct run *run, struct task *task, struct detour *detour)
{
	struct event event = { 0 };
	int err;

	do {
		err = detour_go(run, task, RESUME_STEP, detour, &event);
		if (err)
			return err;
	} while (detour->signal || event.kind == EVENT_STOPPED ||
		 event.kind == EVENT_PAUSED);
	if (event.kind != EVENT_TRAP) {
		run_requeue(run, &event);
		return HOST_GONE;
	}
	return HOST_OK;
}

/*
 * Step the task until pc_map_clean is true; *va is the place in the original.
 * Returns 1; 0 if the task left the relocated function; DETOUR_TAKEN, or -1 if
 * it could not be brought there.
 */
static int
relocated_bring(struct run *run, struct task *task, struct detour *detour,
		uint64_t *va)
{
	const struct space *space = task->process->space;

	for (int i = 0; i < STEPS_MAX; i++) {
		const struct module *module;
		const struct func_plan *fplan;
		struct pc_map_entry entry;
		uint32_t offset;
		uint64_t pc;
		int err;

		if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
			return -1;
		fplan = space_relocated_at(space, pc, &module, &offset);
		if (!fplan)
			return 0;
		if (pc_map_clean(fplan, offset, &entry)) {
			*va = entry.addr + module->bias;
			return 1;
		}
		err = relocated_step(run, task, detour);
		if (err)
			return err == DETOUR_TAKEN ? err : -1;
	}
	return -1;
}

/*
 * The kernel takes the trap flag of a step back only when the task goes on
 * otherwise: if pmon were killed before that, the flag would end a process that
 * was attached to.  So a task that is paused, and may stay so for long, is paused
 * once more before it runs anything.
 */
static void
step_flag_clear(struct run *run, struct task *task)
{
	struct detour detour = { 0 };
	struct event event;

	if (task_interrupt(run, task, STOP_STEP) ||
	    detour_go(run, task, RESUME_RUN, &detour, &event))
		return;
	if (detour.stopped)
		task_interrupt(run, task, STOP_GROUP);
}

/*
 * A probe that finds no room for its record would try for ever.  If the task has
 * stopped for that, its trap, still queued, is dealt with by this.
 */
static void
records_make_room(struct run *run, struct task *task)
{
	struct event *queued = run_queued(run, task);

	records_take(run, task);
	if (!queued || queued->kind != EVENT_TRAP || !relocated_full(run, task))
		return;
	sigtrap_mend(run, task);
	queued = run_queued(run, task);
	if (queued && queued->kind == EVENT_TRAP)
		queued->kind = EVENT_PAUSED;
}

/*
 * Bring a task that is in a relocated function to where it could be in the
 * original as well, at *va.  Returns 1; 0 if the task left the relocated
 * function in doing so, or was in none; -1 if that cannot be done.
 */
static int
task_bring(struct run *run, struct task *task, uint64_t *va)
{
	const struct event *queued = run_queued(run, task);
	bool paused = queued && queued->kind == EVENT_PAUSED;
	const struct module *module;
	uint8_t info[SIGINFO_MAX];
	const struct func_plan *fplan;
	struct detour detour = { 0 };
	struct pc_map_entry entry;
	uint64_t pc, mask;
	uint32_t offset;
	int r;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return -1;
	fplan = space_relocated_at(task->process->space, pc, &module, &offset);
	if (!fplan)
		return 0;
	if (pc_map_clean(fplan, offset, &entry)) {
		*va = entry.addr + module->bias;
		return 1;
	}
	records_make_room(run, task);
	sigtrap_steps(run, task);
	if (run->host->native->siginfo_get(task->tid, info) ||
	    run->host->mask_set(task->tid, ~(UINT64_C(1) << (SIGTRAP - 1)),
				&mask))
		return -1;
	r = relocated_bring(run, task, &detour, va);
	if (r == DETOUR_TAKEN || detour_end(run, task, &detour))
		return -1;
	run->host->mask_set(task->tid, mask, NULL);
	if (run->opts->npids && paused)
		step_flag_clear(run, task);
	else
		run->host->native->siginfo_set(task->tid, info);
	/* The task is stopped as before: its stop's event is still queued. */
	if (queued && task->state == TASK_RUNNING)
		task->state = TASK_STOPPED;
	return r;
}

bool
relocated_leave(struct run *run, struct task *task)
{
	const struct space *space = task->process->space;
	uint64_t pc, va;
	int r;

	if (!space || !space->relocates ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return false;
	va = relocated_landing(space, pc);
	/* From the entry patch the task comes back by itself. */
	if (va) {
		run->host->reg_set(task->tid, run->arch->reg_pc, va);
		return false;
	}
	/*
	 * The relocated function has led the task to this call: it stays there.
	 */
	if (call_ahead(space, pc))
		return true;
	r = task_bring(run, task, &va);
	/* The relocated function may have led it to a call. */
	if (r != 1)
		return !r &&
		       !run->host->reg_get(task->tid, run->arch->reg_pc, &pc) &&
		       call_ahead(space, pc);
	fault_move(run, task, pc, va);
	run->host->reg_set(task->tid, run->arch->reg_pc, va);
	return true;
}

bool
relocated_counting(struct run *run, const struct task *task)
{
	const struct module *module;
	const struct func_plan *fplan;
	struct pc_map_entry entry;
	uint32_t offset;
	uint64_t pc;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return false;
	fplan = space_relocated_at(task->process->space, pc, &module, &offset);
	return fplan && !pc_map_clean(fplan, offset, &entry);
}

bool
relocated_bring_original(struct run *run, struct task *task, uint64_t *va)
{
	const struct space *space = task->process->space;
	uint64_t pc;

	if (!space || !space->relocates ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return false;
	*va = relocated_landing(space, pc);
	if (*va)
		run->host->reg_set(task->tid, run->arch->reg_pc, *va);
	return !*va && task_bring(run, task, va) == 1;
}

void
relocated_return(struct run *run, struct task *task)
{
	uint64_t pc;

	if (!run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		run->host->reg_set(task->tid, run->arch->reg_pc,
				   relocated_back(task->process->space, pc));
}

/* Is the fragment the probe of arrivals at the block that begins at addr? */
static bool
probe_begins(const struct func_plan *fplan, const struct fragment *fragment,
	     uint64_t addr)
{
	return fragment->addr == addr && !fragment->arrived &&
	       fragment->kind == FRAGMENT_PROBE &&
	       fplan->relocated->probes[fragment->probe].element >=
		       fplan->flow->nedges;
}

uint64_t
relocated_inside(const struct space *space, uint64_t va)
{
	struct code_at at = original_at(space, va);
	int64_t offset = at.fplan ? relocated_offset(at.fplan->relocated,
						     at.addr) :
				    -1;
	const struct fragment *fragment;

	if (offset < 0)
		return va;
	fragment = at.fplan->relocated->fragments;
	while (fragment->offset < offset)
		fragment++;
	while (fragment != at.fplan->relocated->fragments &&
	       cfg_block(at.fplan->cfg, at.addr) >= 0 &&
	       probe_begins(at.fplan, fragment - 1, at.addr))
		fragment--;
	return relocated_va(&at, fragment->offset);
}

void
relocated_begin(struct run *run, struct task *task)
{
	struct regs regs;
	uint8_t pc = run->arch->reg_pc, orig = run->abi->reg_orig;

	/* A task in a system call comes back to the original. */
	if (task->ready_va || run->host->regs_get(task->tid, &regs) ||
	    (orig != REG_NONE && (int64_t)regs.r[orig] >= 0))
		return;
	run->host->reg_set(task->tid, pc,
			   relocated_inside(task->process->space, regs.r[pc]));
}
