/*
 * Springboards of modules: maps their memory, and finds out whether a task has
 * come to the middle of a jump that leads to one.  Writes no text: relocated.c
 * does.
 */
#include "monitor/patch/springs.h"

#include <signal.h>

#include "monitor/patch/text_edit.h"
#include "monitor/process/sigtrap.h"
#include "monitor/process/space.h"
#include "relocate/relocate.h"
#include "util/fail.h"

/* Whether a jump from any byte of one range reaches any of the other. */
static bool
ranges_reach(uint64_t a, uint64_t na, uint64_t b, uint64_t nb)
{
	const uint64_t reach = UINT64_C(0x7ff00000);

	return a < b ? b + nb - a < reach : a + na - b < reach;
}

/*
 * Map the memory at one distance: below the text, or above it, where the heap
 * of a program at a fixed address may grow so far.
 */
static uint64_t
springs_map_at(struct room *room, const struct module *module, int64_t spring,
	       uint64_t size)
{
	uint64_t by = (uint64_t)spring +
		      module->plan->image->arch->emit.jump_len;
	uint64_t lo = (module->lo + by) / PAGE * PAGE;

	if ((lo < module->lo) != (spring < 0) || lo < PAGE ||
	    !ranges_reach(lo, size, module->relocated, module->relocated_size))
		return 0;
	return place_map(room, lo, size);
}

void
springs_map(struct room *room, struct module *module)
{
	const struct arch *arch = module->plan->image->arch;
	uint64_t size = (module->hi - module->lo + 3 * PAGE) / PAGE * PAGE;

	if (!module->plan->options.springs)
		return;
	for (int i = 0; i < SPRINGS_MAX && arch->emit.springs[i]; i++) {
		module->springs = springs_map_at(room, module,
						 arch->emit.springs[i], size);
		if (!module->springs)
			continue;
		module->springs_size = size;
		module->spring = arch->emit.springs[i];
		return;
	}
	if (room->task)
		module->plan->options.springs = false;
}

/*
 * The entry patch with a springboard that has the byte at addr, now or before
 * it became a trap (*former); or NULL.
 */
static const struct entry_patch *
spring_find(const struct func_plan *fplan, uint64_t addr, bool *former)
{
	const struct relocated *relocated = fplan->relocated;
	unsigned len = relocated->arch->emit.jump_len;

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
		at = code_at(space, pc - arch->emit.jump_len -
					    (uint64_t)module->spring);
		if (!at.fplan || !at.fplan->relocated)
			return 0;
		entry_patch = spring_find(at.fplan, at.addr, &former);
		return entry_patch && entry_patch->addr == at.addr ?
			       at.addr + at.module->bias :
			       0;
	}
	return 0;
}

/* The byte at va of the jump from the entry to its springboard. */
static uint8_t
jump_byte(const struct code_at *at, const struct entry_patch *entry_patch,
	  uint64_t va)
{
	const struct arch *arch = at->module->plan->image->arch;
	uint64_t from = entry_patch->addr + at->module->bias;
	uint8_t bytes[INSN_MAX];

	must(!arch->emit.jump_write(
		from, from + arch->emit.jump_len + (uint64_t)at->module->spring,
		arch->emit.jump_len, bytes));
	return bytes[va - from];
}

static bool
byte_there(struct run *run, const struct task *task, uint64_t va, uint8_t byte)
{
	uint8_t now;

	return !text_read(run, task->process->space, task->tid, va, &now, 1) &&
	       now == byte;
}

/*
 * Whether the byte at va raises the signal because of the entry's jump: not if
 * it is so in the file, nor if the jump is gone and the byte is there again.
 */
static bool
byte_raises(struct run *run, const struct task *task, const struct code_at *at,
	    uint64_t va, int signal)
{
	const struct entry_patch *entry_patch;
	const uint8_t *text;
	uint8_t byte;
	size_t avail;
	bool former;

	if (!at->fplan || !at->fplan->relocated || !at->module->springs)
		return false;
	entry_patch = spring_find(at->fplan, at->addr, &former);
	if (!entry_patch || entry_patch->addr == at->addr)
		return false;
	byte = jump_byte(at, entry_patch, va);
	text = image_text(at->module->plan->image, at->addr, &avail);
	return (byte == run->arch->trap[0]) == (signal == SIGTRAP) && text &&
	       *text != byte && (!former || !byte_there(run, task, va, byte));
}

bool
spring_removed(struct run *run, const struct task *task,
	       const struct code_at *at, uint64_t va)
{
	bool former;
	const struct entry_patch *entry_patch = spring_find(at->fplan, at->addr,
							    &former);

	return !entry_patch ||
	       !byte_there(run, task, va, jump_byte(at, entry_patch, va));
}

uint64_t
spring_before(struct run *run, const struct task *task, int signal,
	      struct code_at *at)
{
	const struct space *space = task->process->space;
	uint64_t va;

	if (!space || run->host->reg_get(task->tid, run->arch->reg_pc, &va))
		return 0;
	if (signal == SIGTRAP)
		va -= run->arch->trap_pc;
	*at = code_at(space, va);
	return byte_raises(run, task, at, va, signal) ? va : 0;
}

uint64_t
spring_reached(struct run *run, const struct task *task, int signal,
	       struct code_at *at)
{
	uint64_t va = spring_before(run, task, signal, at), fault;
	int code;

	if (va && signal != SIGTRAP)
		return !run->host->fault_get(task->tid, &code, &fault) &&
				       code > 0 && fault == va ?
			       va :
			       0;
	if (!va)
		return 0;
	switch (run->host->trap_cause(task->tid)) {
	case TRAP_INSN:
		return va;
	case TRAP_SENT:
		return sigtrap_waited(run, task) ? va : 0;
	default:
		return 0;
	}
}
