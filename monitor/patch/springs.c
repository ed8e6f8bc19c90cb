/*
 * Springboards of modules: maps their memory, and finds out whether a task has
 * come to the middle of a jump that leads to one.  Writes no text: relocated.c
 * does.
 */
#include "monitor/patch/springs.h"

#include "monitor/patch/slots.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/sigtrap.h"
#include "monitor/process/space.h"
#include "relocate/relocate.h"

enum { PAGE = 4096 };

/* Whether a jump from any byte of one range reaches any of the other. */
static bool
ranges_reach(uint64_t a, uint64_t na, uint64_t b, uint64_t nb)
{
	const uint64_t reach = UINT64_C(0x7ff00000);

	return a < b ? b + nb - a < reach : a + na - b < reach;
}

void
springs_map(struct run *run, struct task *task, struct module *module)
{
	const struct arch *arch = module->plan->image->arch;
	uint64_t by = (uint64_t)arch->spring + arch->jump_len;
	uint64_t lo = (module->lo + by) / PAGE * PAGE;
	uint64_t size = (module->hi - module->lo + 3 * PAGE) / PAGE * PAGE;

	if (!module->plan->wish.springs)
		return;
	if (arch->spring < 0 && lo < module->lo && lo >= PAGE &&
	    ranges_reach(lo, size, module->relocated, module->relocated_size))
		module->springs = place_map(run, task, lo, size);
	if (module->springs)
		module->springs_size = size;
	else
		module->plan->wish.springs = false;
}

/*
 * The entry patch with a springboard that has the byte at addr, now or before
 * it became a trap (*former); or NULL.
 */
static const struct entry_patch *
spring_find(const struct func_plan *fplan, uint64_t addr, bool *former)
{
	const struct relocated *relocated = fplan->relocated;
	unsigned len = relocated->arch->jump_len;

	for (uint32_t i = 0; i < relocated->nentry_patches; i++)
		if (relocated->entry_patches[i].via == VIA_SPRING &&
		    addr - relocated->entry_patches[i].addr < len) {
			*former = false;
			return &relocated->entry_patches[i];
		}
	*former = true;
	for (uint32_t i = 0; i < fplan->nformer; i++)
		if (fplan->former[i].via == VIA_SPRING &&
		    addr - fplan->former[i].addr < len)
			return &fplan->former[i];
	return NULL;
}

uint64_t
spring_from(const struct space *space, uint64_t pc)
{
	for (size_t i = 0; i < space->nmodules; i++) {
		const struct module *module = space->modules[i];
		const struct arch *arch = module->plan->image->arch;
		const struct entry_patch *entry_patch;
		struct code_at at;
		bool former;

		if (pc - module->springs >= module->springs_size)
			continue;
		at = code_at(space,
			     pc - arch->jump_len - (uint64_t)arch->spring);
		if (!at.fplan || !at.fplan->relocated)
			return 0;
		entry_patch = spring_find(at.fplan, at.addr, &former);
		return entry_patch && entry_patch->addr == at.addr ?
			       at.addr + at.module->bias :
			       0;
	}
	return 0;
}

/*
 * Whether the byte at va traps because of the entry's jump: not if the file has
 * a trap there, nor if the jump is gone and there is another trap.
 */
static bool
spring_traps(struct run *run, const struct task *task, const struct code_at *at,
	     uint64_t va)
{
	uint8_t trap = run->arch->trap[0], now;
	bool former;
	const struct entry_patch *entry_patch = spring_find(at->fplan, at->addr,
							    &former);
	const uint8_t *text;
	size_t avail;

	if (!entry_patch || entry_patch->addr == at->addr)
		return false;
	text = image_text(at->module->plan->image, at->addr, &avail);
	return text && *text != trap &&
	       (!former ||
		text_read(run, task->process->space, task->tid, va, &now, 1) ||
		now != trap);
}

uint64_t
spring_trapped(struct run *run, const struct task *task, struct code_at *at)
{
	const struct space *space = task->process->space;
	uint64_t va;

	if (!space || run->host->reg_get(task->tid, run->arch->reg_pc, &va))
		return 0;
	va -= run->arch->trap_pc;
	*at = code_at(space, va);
	if (!at->fplan || !at->fplan->relocated || !at->module->springs ||
	    !spring_traps(run, task, at, va))
		return 0;
	switch (run->host->trap_cause(task->tid)) {
	case TRAP_INSN:
		return va;
	case TRAP_SENT:
		return sigtrap_lost(run, task) ? va : 0;
	default:
		return 0;
	}
}
