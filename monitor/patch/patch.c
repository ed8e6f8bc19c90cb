/*
 * Takes tasks out of slots, and back from traps, so that whenever a task stops
 * for a signal or is let go its pc is an original one.  Never lets a task run.
 */
#include "monitor/patch/patch.h"

#include <signal.h>

#include "monitor/patch/filters.h"
#include "monitor/patch/hit.h"
#include "monitor/patch/relocated_pc.h"
#include "monitor/patch/relocated_signal.h"
#include "monitor/patch/springs.h"
#include "monitor/process/faults.h"
#include "monitor/process/sigtrap.h"

/* A pc in a slot: in which, and where. */
struct slot_pc {
	struct module *module;
	size_t site;		/* whose slot it is */
	uint64_t offset;	/* within the slot */
};

static bool
slot_find(struct module *module, uint64_t pc, struct slot_pc *at)
{
	uint64_t slot = (pc - module->slots) / SLOT_MAX;

	if (!module->slots || pc < module->slots || slot >= module->nslots)
		return false;
	*at = (struct slot_pc){
		module,
		module->slot_site[slot],
		(pc - module->slots) % SLOT_MAX,
	};
	return true;
}

static void
slot_leave(struct run *run, struct task *task, const struct slot_pc *at,
	   const struct regs *regs, const struct event *event)
{
	struct module *module = at->module;
	const struct arch *arch = run->arch;
	const struct hit hit = {
		.module = module,
		.site = &module->plan->sites[at->site],
		.patched = &module->patched[at->site],
		.va = module->plan->sites[at->site].addr + module->bias,
	};
	bool done = at->offset >= hit.patched->after;

	if (hit.patched->filtered) {
		filter_leave(run, task, module, at->site,
			     regs->r[arch->reg_pc]);
		return;
	}
	/* A task killed meanwhile is taken out of the slot at its last stop. */
	if (run->host->reg_set(task->tid, arch->reg_pc,
			       hit.va + (done ? hit.site->insn.len : 0)) ||
	    done)
		return;
	hit_undone(run, task, &hit, regs->r[arch->reg_sp], event);
	fault_tell(run, task, regs->r[arch->reg_pc], hit.va);
}

/*
 * Whether the kernel may make the system call of the slot again when it has
 * delivered a signal: it goes back to the instruction in the slot.  Not if the
 * call has a result.
 */
static bool
call_restarts(const struct run *run, const struct slot_pc *at,
	      const struct regs *regs)
{
	if (site_filtered(at->module, at->site))
		return false;
	return !run->abi || at->offset < at->module->patched[at->site].after ||
	       result_restarts((int64_t)regs->r[run->abi->reg_result]);
}

bool
patch_signal(struct run *run, struct task *task, int signal)
{
	struct event event = { signal ? EVENT_SIGNAL : EVENT_PAUSED, task->tid,
			       signal };
	const struct space *space = task->process->space;
	struct regs regs;
	struct slot_pc at;

	if (!space || run->host->regs_get(task->tid, &regs))
		return false;
	for (size_t m = 0; m < space->nmodules; m++) {
		if (!slot_find(space->modules[m], regs.r[run->arch->reg_pc],
			       &at))
			continue;
		if (signal &&
		    at.module->plan->sites[at.site].insn.kind == INSN_SYSCALL &&
		    call_restarts(run, &at, &regs))
			return false;
		slot_leave(run, task, &at, &regs, &event);
		break;
	}
	return true;
}

void
patch_leave(struct run *run, struct task *task)
{
	patch_signal(run, task, 0);
	relocated_unreturn(run, task);
	relocated_leave(run, task);
	relocated_contexts(run, task);
}

bool
patch_rewind(struct run *run, struct task *task, const struct event *event)
{
	int signal = event->kind == EVENT_SIGNAL ? event->value : SIGTRAP;
	struct code_at at;
	struct hit hit;
	uint64_t va;

	if (event->kind != EVENT_TRAP && signal != SIGILL)
		return false;
	if (signal == SIGILL || hit_find(run, task, &hit)) {
		va = spring_reached(run, task, signal, &at);
		if (!va)
			return relocated_full(run, task) &&
			       !sigtrap_mend(run, task);
	} else if (hit.patched->patch == PATCH_OWN) {
		return false;
	} else {
		va = site_again(hit.module, hit.site);
	}
	sigtrap_mend(run, task);
	run->host->reg_set(task->tid, run->arch->reg_pc, va);
	return true;
}
