/*
 * What happens at a trap: the hit is counted and the original instruction
 * done by lifting the trap and stepping (Bishop 1987, "How an Execution
 * Monitor Works"), by running a copy out of line, or by doing in the monitor
 * what it would do.  Also keeps the promise that the program never sees any
 * of it: whenever a task stops for a signal its pc is an original one.
 *
 * A count is the number of times an instruction was begun.  Two cases need
 * care.  A signal that comes before the instruction has run takes the hit
 * back: the trap counts it again when the handler has returned.  An
 * instruction that faults was begun; if a handler returns to it (REDO_
 * states, followed by its sigreturn) it runs again but is counted once.
 */
#include <signal.h>

#include "monitor/run.h"
#include "util/fail.h"

/* ---- taking hits back, redoing */

static bool
signal_is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGTRAP;
}

/* Was the signal caused by the instruction at the pc, not sent? */
static bool
signal_caused(struct run *run, struct task *task, int signal)
{
	uint64_t va;
	int code;

	return signal_is_fault(signal) &&
	       !run->host->fault_get(task->tid, &code, &va) && code > 0;
}

static bool
signal_caught(struct run *run, struct task *task, int signal)
{
	struct signal_state state;

	return !run->host->signals(task->tid, &state) &&
	       (state.caught & ~state.blocked) >> (signal - 1) & 1;
}

/*
 * The instruction at va was counted and has not been done, because of this
 * signal.  sp is the stack pointer there.
 */
static void
hit_undone(struct run *run, struct task *task, struct site *site,
	   uint64_t va, uint64_t sp, int signal)
{
	if (!signal_caused(run, task, signal)) {
		if (task->process->counted)
			site->hits--;
		return;
	}
	if (!signal_caught(run, task, signal))
		return;
	task->redo = REDO_HANDLER;
	task->redo_va = va;
	task->redo_sp = sp;
}

void
patch_syscall(struct run *run, struct task *task, bool entry)
{
	struct regs regs;

	if (task->redo == REDO_NONE || entry)
		return;
	if (run->host->regs_get(task->tid, &regs))
		return;
	/* Only sigreturn leaves with the pc on an instruction with a trap. */
	if (regs.r[run->arch->reg_pc] == task->redo_va &&
	    regs.r[run->arch->reg_sp] == task->redo_sp)
		task->redo = REDO_RETURNED;
}

/* Is this arrival at va the second begin of an instruction counted once? */
static bool
redo_take(struct run *run, struct task *task, uint64_t va,
	  const struct regs *regs)
{
	bool again = task->redo == REDO_RETURNED && task->redo_va == va &&
		     task->redo_sp == regs->r[run->arch->reg_sp];

	/* Anything else here: the handler left by another way. */
	if (task->redo_va == va || task->redo == REDO_RETURNED)
		task->redo = REDO_NONE;
	return again;
}

/* ---- step */

static int
trap_set(struct run *run, struct task *task, uint64_t va,
	 const uint8_t *bytes)
{
	return run->host->mem_write(task->process->space->mem, task->tid, va,
				    bytes, run->arch->trap_len);
}

/* After the step: did a branch at this site go to its target? */
static void
step_branched(struct task *task, struct site *site, uint64_t bias, uint64_t pc)
{
	if (!site->branch || !task->process->counted)
		return;
	if (pc == site->insn.target + bias)
		site->taken++;
}

/*
 * One step from va.  true if the instruction was done and came to itself
 * again: then it is to be counted and stepped once more.
 */
static bool
step_once(struct run *run, struct task *task, struct site *site, uint64_t va,
	  const struct regs *before, struct event *event)
{
	const struct arch *arch = run->arch;
	struct regs regs;
	uint64_t pc;

	if (run->host->resume(task->tid, RESUME_STEP, 0))
		return false;
	run_wait_task(run, task, event);
	if (task->state == TASK_DEAD || run->host->regs_get(task->tid, &regs))
		return false;
	pc = regs.r[arch->reg_pc];
	if (event->kind == EVENT_STEPPED) {
		step_branched(task, site, va - site->addr, pc);
		/* A repeated string instruction steps by its iterations. */
		return pc == va;
	}
	if (event->kind == EVENT_SIGNAL && pc == va)
		hit_undone(run, task, site, va, before->r[arch->reg_sp],
			   event->value);
	return false;
}

/*
 * Bishop's cycle.  While the trap is lifted all other tasks of the space
 * stand still, or they would pass the site uncounted.
 */
static void
patch_step(struct run *run, struct task *task, struct site *site, uint64_t va,
	   const struct patched *patched, struct regs *regs)
{
	const struct arch *arch = run->arch;
	struct event event = { .kind = EVENT_STEPPED };

	regs->r[arch->reg_pc] = va;
	run_pause(run, task->process->space, task);
	if (run->host->reg_set(task->tid, arch->reg_pc, va) ||
	    trap_set(run, task, va, patched->saved)) {
		run_resume(run, task, 0);
		return;
	}
	while (step_once(run, task, site, va, regs, &event))
		if (task->process->counted && site->insn.kind != INSN_PLAIN)
			site->hits++;
	trap_set(run, task, va, arch->trap);
	if (event.kind == EVENT_STEPPED)
		run_resume(run, task, 0);
	else
		run_requeue(run, &event);
}

/* ---- slot, emulation */

/* Whose memory emulation sees. */
struct owner {
	const struct host *host;
	pid_t tid;
};

static int
owner_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	const struct owner *owner = ctx;

	return owner->host->data_read(owner->tid, va, buf, len);
}

static int
owner_write(void *ctx, uint64_t va, const void *buf, size_t len)
{
	const struct owner *owner = ctx;

	return owner->host->data_write(owner->tid, va, buf, len);
}

static void
patch_emulate(struct run *run, struct task *task, struct site *site,
	      uint64_t va, const struct patched *patched, struct regs *regs)
{
	struct owner owner = { run->host, task->tid };
	struct memory memory = { owner_read, owner_write, &owner };

	switch (run->arch->emul_run(&patched->emul, regs, &memory)) {
	case EMUL_TAKEN:
		if (task->process->counted)
			site->taken++;
		break;
	case EMUL_DONE:
		break;
	case EMUL_FAULT:
		/* Let the processor say what is wrong, if anything is. */
		patch_step(run, task, site, va, patched, regs);
		return;
	}
	run->host->regs_set(task->tid, regs);
	run_resume(run, task, 0);
}

/* The site whose slot the pc is in, or -1; *offset within the slot. */
static long
slot_find(const struct module *module, uint64_t pc, uint64_t *offset)
{
	uint64_t slot = (pc - module->slots) / SLOT_MAX;

	if (!module->slots || pc < module->slots || slot >= module->nslots)
		return -1;
	*offset = (pc - module->slots) % SLOT_MAX;
	return module->slot_site[slot];
}

static void
slot_leave(struct run *run, struct task *task, const struct module *module,
	   size_t i, uint64_t offset, struct regs *regs, int signal)
{
	const struct arch *arch = run->arch;
	struct site *site = &module->plan->sites[i];
	uint64_t va = site->addr + module->bias;
	uint64_t fault;
	int code;

	if (offset >= module->patched[i].after) {
		run->host->reg_set(task->tid, arch->reg_pc,
				   va + site->insn.len);
		return;
	}
	hit_undone(run, task, site, va, regs->r[arch->reg_sp], signal);
	/* For these the kernel tells the program the instruction's address. */
	if (!run->host->fault_get(task->tid, &code, &fault) && code > 0 &&
	    fault == regs->r[arch->reg_pc])
		run->host->fault_set(task->tid, va);
	run->host->reg_set(task->tid, arch->reg_pc, va);
}

void
patch_signal(struct run *run, struct task *task, int signal)
{
	const struct space *space = task->process->space;
	struct regs regs;
	uint64_t offset;
	long i;

	if (!space || run->host->regs_get(task->tid, &regs))
		return;
	for (size_t m = 0; m < space->nmodules; m++) {
		i = slot_find(space->modules[m], regs.r[run->arch->reg_pc],
			      &offset);
		if (i < 0)
			continue;
		/*
		 * In a system call the kernel itself may go back to the
		 * instruction: it does that in the slot.
		 */
		if (signal && space->modules[m]->plan->sites[i].insn.kind ==
		    INSN_SYSCALL)
			return;
		slot_leave(run, task, space->modules[m], i, offset, &regs,
			   signal);
		return;
	}
}

void
patch_leave(struct run *run, struct task *task)
{
	patch_signal(run, task, 0);
}

/* ---- the trap */

void
patch_trap(struct run *run, struct task *task)
{
	const struct arch *arch = run->arch;
	const struct patched *patched;
	struct module *module;
	struct site *site;
	struct regs regs;
	uint64_t va;
	size_t i;

	if (run->host->regs_get(task->tid, &regs))
		return;
	va = regs.r[arch->reg_pc] - arch->trap_pc;
	module = space_module(task->process->space, va);
	site = module ? plan_site(module->plan, va - module->bias) : NULL;
	i = site ? (size_t)(site - module->plan->sites) : 0;
	patched = site ? &module->patched[i] : NULL;
	if (!patched || patched->patch == PATCH_UNPLANTED) {
		/* The program's own. */
		run_resume(run, task, SIGTRAP);
		return;
	}
	run->events++;
	if (task->process->counted && !redo_take(run, task, va, &regs))
		site->hits++;
	affinity_hit(run, task);
	switch ((enum patch)patched->patch) {
	case PATCH_UNPLANTED:
		break;
	case PATCH_OWN:
		run_resume(run, task, SIGTRAP);
		break;
	case PATCH_STEPPED:
		patch_step(run, task, site, va, patched, &regs);
		break;
	case PATCH_SLOTTED:
		run->host->reg_set(task->tid, arch->reg_pc, module->slots +
				   (uint64_t)patched->slot * SLOT_MAX);
		run_resume(run, task, 0);
		break;
	case PATCH_EMULATED:
		regs.r[arch->reg_pc] = va;
		patch_emulate(run, task, site, va, patched, &regs);
		break;
	}
}
