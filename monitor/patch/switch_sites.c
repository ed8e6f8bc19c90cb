/*
 * Gives hooks at stack switches their guards, and takes tasks out of these.
 * Never follows a stack switch: unwind/ does, at the guards' traps.
 *
 * A guard does all of the switch but its last instruction for a trial, with all
 * registers saved.  So wherever a task stops in one it can be taken back to the
 * hook, until the switch is counted, and on to its end from then on.
 */
#include "monitor/patch/switch_sites.h"

#include <stdlib.h>

#include "monitor/process/owner.h"
#include "monitor/process/space.h"
#include "monitor/process/thread_memory.h"
#include "util/mem.h"

/* ---- guards */

struct switch_site *
switch_of(const struct module *module, size_t i)
{
	for (size_t k = 0; k < module->nswitches; k++)
		if (module->switches[k]->site == i)
			return module->switches[k];
	return NULL;
}

static const struct hook *
switch_hook(const struct module *module, const struct switch_site *sw)
{
	const struct plan *plan = module->plan;

	return &plan->hooks[plan->sites[sw->site].hook - 1];
}

/* Bytes of the instructions in place of which a jump is written. */
static size_t
moved_length(const struct arch *arch, const uint8_t *code, size_t len)
{
	struct insn insn;
	size_t at = 0;

	while (at < arch->emit.jump_len &&
	       !arch->decode(code + at, len - at, at, &insn))
		at += insn.len;
	return at;
}

int
switch_make(const struct module *module, struct switch_site *sw, uint64_t va)
{
	const struct image *image = module->plan->image;
	const struct hook *hook = switch_hook(module, sw);
	const struct arch *arch = image->arch;
	size_t avail;
	struct switch_input in = {
		.code = image_text(image, hook->addr, &avail),
		.last = hook->end - hook->addr,
		.va = hook->addr + module->bias,
		.scratch = (uint32_t)module->switch_scratch.offset,
		.off = module->switches_off,
		.patterns = sw->patterns,
		.n = sw->n,
	};
	struct insn insn;

	if (!in.code || avail <= in.last ||
	    arch->decode(in.code + in.last, avail - in.last, hook->end, &insn))
		return -1;
	in.len = in.last + insn.len;
	in.moved = moved_length(arch, in.code, in.last);
	return in.moved < arch->emit.jump_len ?
		       -1 :
		       arch->switch_make(&in, va, &sw->guard);
}

struct switch_site *
switch_choose(struct run *run, struct task *task, struct module *module,
	      uint32_t i)
{
	struct space *space = task->process->space;
	struct region *scratch = &module->switch_scratch;
	struct switch_site *sw;

	if (!space->thread_pages || space->own_thread_reg)
		return NULL;
	if (!scratch->size &&
	    thread_pages_reserve(run, task, SWITCH_SCRATCH * sizeof(uint64_t),
				 scratch))
		return NULL;
	sw = mem_alloc(sizeof(*sw));
	sw->site = i;
	if (switch_make(module, sw,
			module->plan->sites[i].addr + module->bias)) {
		free(sw);
		return NULL;
	}
	*vec_push(module->switches, module->nswitches) = sw;
	return sw;
}

/* ---- out of a guard */

/* The words that a guard saves for the task. */
static int
scratch_read(struct run *run, const struct task *task,
	     const struct module *module, uint64_t *words)
{
	uint64_t page;

	/* A vforked child has its parent's page. */
	return run->host->reg_get(task->tid, run->arch->reg_thread, &page) ||
	       run->host->data_read(task->tid,
				    page + module->switch_scratch.offset, words,
				    SWITCH_SCRATCH * sizeof(*words));
}

/* Do the jump at the end, at va, for the task with these registers. */
static int
end_emulate(struct run *run, const struct task *task,
	    const struct module *module, const struct hook *hook,
	    struct regs *regs)
{
	struct owner owner = { run->host, task->tid };
	struct memory memory = owner_memory(&owner);
	struct emul emul;
	const uint8_t *code;
	size_t avail;

	code = image_text(module->plan->image, hook->end, &avail);
	regs->r[run->arch->reg_pc] = hook->end + module->bias;
	return run->arch->emul_prepare(code, avail, hook->end + module->bias,
				       &emul) ||
	       run->arch->emul_run(&emul, regs, &memory) == EMUL_FAULT;
}

static void
word_write(struct run *run, const struct task *task, uint64_t va, uint64_t word)
{
	run->host->data_write(task->tid, va, &word, sizeof(word));
}

/*
 * Whether the guard may have overwritten a word of the stack by that offset.
 * Where it has put the word back, nothing is changed by doing so again.
 */
static bool
switch_pushes(const struct switch_guard *guard, uint32_t offset)
{
	return guard->pushed && offset >= guard->pushed &&
	       (offset < guard->restored || offset > guard->traps[1] + 1);
}

void
switch_leave(struct run *run, struct task *task, const struct module *module,
	     const struct switch_site *sw, uint32_t offset)
{
	const struct hook *hook = switch_hook(module, sw);
	uint64_t scratch[SWITCH_SCRATCH], va = hook->addr + module->bias;
	struct regs regs;

	if (run->host->regs_get(task->tid, &regs) ||
	    scratch_read(run, task, module, scratch))
		return;
	switch (run->arch->switch_leave(&sw->guard, offset, scratch, &regs)) {
	case SWITCH_BEFORE:
		regs.r[run->arch->reg_pc] = va;
		if (switch_pushes(&sw->guard, offset))
			word_write(run, task, scratch[SWITCH_PUSHED_AT] - 8,
				   scratch[SWITCH_PUSHED_OVER]);
		break;
	case SWITCH_MOVED:
		regs.r[run->arch->reg_pc] = va + sw->guard.moved_end -
					    sw->guard.moved;
		break;
	case SWITCH_COUNTED:
		if (sw->guard.pushed)
			word_write(run, task, regs.r[run->arch->reg_sp],
				   scratch[SWITCH_PUSHED]);
		/* Where it faults, the program does in its place. */
		if (end_emulate(run, task, module, hook, &regs))
			regs.r[run->arch->reg_pc] = hook->end + module->bias;
		break;
	}
	run->host->regs_set(task->tid, &regs);
}
