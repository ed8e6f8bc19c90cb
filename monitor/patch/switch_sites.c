/*
 * Gives hooks at stack switches their filters, and takes tasks out of these.
 * Never follows a stack switch: unwind/ does, at the filters' traps.
 *
 * A filter does all of the switch but its last instruction for a trial, with all
 * registers saved.  So wherever a task stops in one it can be taken back to the
 * hook, until the switch is counted, and on to its end from then on.
 */
#include "monitor/patch/switch_sites.h"

#include <stdlib.h>

#include "monitor/process/owner.h"
#include "monitor/process/space.h"
#include "monitor/process/thread_memory.h"
#include "util/mem.h"

/* ---- filters */

struct switch_site *
switch_of(const struct module *module, size_t i)
{
	for (size_t k = 0; k < module->nswitches; k++)
		if (module->switches[k]->site == i)
			return module->switches[k];
	return NULL;
}

struct switch_entry *
entry_of(const struct module *module, size_t i)
{
	for (size_t k = 0; k < module->nentries; k++)
		if (module->entries[k]->site == i)
			return module->entries[k];
	return NULL;
}

static const struct hook *
site_hook(const struct module *module, uint32_t site)
{
	const struct plan *plan = module->plan;

	return &plan->hooks[plan->sites[site].hook - 1];
}

/*
 * Bytes of the instructions in place of which a jump is written, or 0 if a task
 * could not be taken out from between them: all but the first must be emulated.
 */
static size_t
moved_length(const struct arch *arch, const uint8_t *code, size_t len)
{
	struct emul emul;
	struct insn insn;
	size_t at = 0;

	for (; at < arch->emit.jump_len; at += insn.len)
		if (arch->decode(code + at, len - at, at, &insn) ||
		    (at && arch->emul_prepare(code + at, len - at, at, &emul)))
			return 0;
	return at;
}

int
switch_make(const struct module *module, struct switch_site *sw, uint64_t va)
{
	const struct image *image = module->plan->image;
	const struct hook *hook = site_hook(module, sw->site);
	const struct arch *arch = image->arch;
	size_t avail;
	struct switch_input in = {
		.code = image_text(image, hook->addr, &avail),
		.last = hook->end - hook->addr,
		.va = hook->addr + module->bias,
		.scratch = (uint32_t)module->switch_scratch.offset,
		.depth = hook->depth,
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
	return in.moved ? arch->switch_make(&in, va, &sw->filter) : -1;
}

int
entry_make(const struct module *module, struct switch_entry *entry, uint64_t va)
{
	const struct image *image = module->plan->image;
	const struct hook *hook = site_hook(module, entry->site);
	size_t avail;
	struct entry_input in = {
		.code = image_text(image, hook->addr, &avail),
		.va = hook->addr + module->bias,
		.scratch = (uint32_t)module->switch_scratch.offset,
		.off = module->switches_off,
	};

	if (!in.code)
		return -1;
	in.moved = moved_length(image->arch, in.code, avail);
	return in.moved ? image->arch->entry_make(&in, va, &entry->filter) : -1;
}

/*
 * Whether there is scratch memory for the module's filters, in each thread's
 * page: all modules of a space share it, so that a program may load and unload
 * libraries for ever.
 */
static bool
scratch_reserve(struct run *run, struct task *task, struct module *module)
{
	struct space *space = task->process->space;
	struct region *scratch = &space->switch_scratch;

	if (!space->thread_pages || space->own_thread_reg)
		return false;
	if (!scratch->size &&
	    thread_pages_reserve(run, task, SWITCH_SCRATCH * sizeof(uint64_t),
				 scratch))
		return false;
	module->switch_scratch = *scratch;
	return true;
}

static bool
switch_choose(struct module *module, uint32_t i, uint64_t va)
{
	struct switch_site *sw = mem_alloc(sizeof(*sw));

	sw->site = i;
	if (switch_make(module, sw, va)) {
		free(sw);
		return false;
	}
	*vec_push(module->switches, module->nswitches) = sw;
	return true;
}

static bool
entry_choose(struct module *module, uint32_t i, uint64_t va)
{
	struct switch_entry *entry = mem_alloc(sizeof(*entry));

	entry->site = i;
	if (entry_make(module, entry, va)) {
		free(entry);
		return false;
	}
	*vec_push(module->entries, module->nentries) = entry;
	return true;
}

bool
switch_filters(struct run *run, struct task *task, struct module *module,
	       uint32_t i)
{
	const struct hook *hook = site_hook(module, i);
	uint64_t va = hook->addr + module->bias;

	if (!scratch_reserve(run, task, module))
		return false;
	return hook->kind == HOOK_ENTRY ? entry_choose(module, i, va) :
					  switch_choose(module, i, va);
}

/* ---- out of a filter */

/* The words that a filter saves for the task. */
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
 * Whether the filter may have overwritten a word of the stack by that offset.
 * Where it has put the word back, nothing is changed by doing so again.
 */
static bool
switch_stores(const struct switch_filter *filter, uint32_t offset)
{
	return filter->stored && offset >= filter->stored &&
	       (offset < filter->restored || offset > filter->traps[1] + 1);
}

/*
 * Do the rest of the moved instructions at va, of which some bytes are done, for
 * the task with these registers.
 */
static int
moved_emulate(struct run *run, const struct task *task,
	      const struct module *module, uint64_t va, struct range rest,
	      struct regs *regs)
{
	struct owner owner = { run->host, task->tid };
	struct memory memory = owner_memory(&owner);
	uint64_t *pc = &regs->r[run->arch->reg_pc];

	*pc = va + rest.lo;
	while (*pc < va + rest.hi) {
		struct emul emul;
		size_t avail;
		const uint8_t *code = image_text(module->plan->image,
						 *pc - module->bias, &avail);

		if (run->arch->emul_prepare(code, avail, *pc, &emul) ||
		    run->arch->emul_run(&emul, regs, &memory) == EMUL_FAULT)
			return -1;
	}
	return 0;
}

void
switch_leave(struct run *run, struct task *task, const struct module *module,
	     const struct switch_site *sw, uint32_t offset)
{
	const struct switch_filter *filter = &sw->filter;
	const struct hook *hook = site_hook(module, sw->site);
	uint64_t scratch[SWITCH_SCRATCH], va = hook->addr + module->bias;
	struct regs regs;

	if (run->host->regs_get(task->tid, &regs) ||
	    scratch_read(run, task, module, scratch))
		return;
	switch (run->arch->switch_leave(filter, offset, scratch, &regs)) {
	case SWITCH_BEFORE:
		regs.r[run->arch->reg_pc] = va;
		if (switch_stores(filter, offset))
			word_write(run, task, scratch[SWITCH_STORED_AT],
				   scratch[SWITCH_STORED_OVER]);
		break;
	case SWITCH_MOVED:
		if (moved_emulate(run, task, module, va,
				  (struct range){
					  offset - filter->moved,
					  filter->moved_end - filter->moved,
				  },
				  &regs))
			return;
		break;
	case SWITCH_COUNTED:
		if (filter->stored)
			word_write(run, task, scratch[SWITCH_STORED_AT],
				   scratch[SWITCH_STORED]);
		/* Where it faults, the program does in its place. */
		if (end_emulate(run, task, module, hook, &regs))
			regs.r[run->arch->reg_pc] = hook->end + module->bias;
		break;
	}
	run->host->regs_set(task->tid, &regs);
}

void
entry_leave(struct run *run, struct task *task, const struct module *module,
	    const struct switch_entry *entry, uint32_t offset)
{
	const struct entry_filter *filter = &entry->filter;
	uint64_t scratch[SWITCH_SCRATCH];
	uint64_t va = site_hook(module, entry->site)->addr + module->bias;
	struct regs regs;

	if (run->host->regs_get(task->tid, &regs) ||
	    scratch_read(run, task, module, scratch))
		return;
	if (run->arch->entry_leave(filter, offset, scratch, &regs) ==
	    SWITCH_BEFORE)
		regs.r[run->arch->reg_pc] = va;
	else if (moved_emulate(run, task, module, va,
			       (struct range){
				       offset - filter->moved,
				       filter->moved_end - filter->moved,
			       },
			       &regs))
		return;
	run->host->regs_set(task->tid, &regs);
}

/* ---- what filters record of entries */

bool
entry_recorded(struct run *run, const struct task *task,
	       const struct module *module, uint64_t sp, struct regs *regs,
	       uint32_t *known)
{
	uint64_t scratch[SWITCH_SCRATCH], at;
	const uint64_t *record;

	if (!module->nentries || scratch_read(run, task, module, scratch))
		return false;
	at = scratch[SWITCH_ENTRY] / 32;
	for (unsigned i = 0; i < SWITCH_KEPT; i++) {
		record = scratch + SWITCH_ENTRIES +
			 (at - i) % SWITCH_KEPT * SWITCH_RECORD;
		if (record[ENTRY_SP] != sp)
			continue;
		run->arch->entry_regs(record, regs, known);
		regs->r[run->arch->reg_pc] = record[ENTRY_RETURN];
		*known |= UINT32_C(1) << run->arch->reg_pc;
		return true;
	}
	return false;
}
