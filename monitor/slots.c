/*
 * The slot area of a module: memory near its text in which the instructions
 * of its slotted sites run out of line.  Mapped before the program runs on,
 * written once, never writable to the program.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "monitor/run.h"
#include "util/mem.h"

enum { PAGE = 4096 };

/*
 * A free place of size bytes within reach of the module's text: 2 GB less
 * the text's own extent.  Below it if possible, for above the main
 * program grows its heap.  0 if there is none.
 */
static uint64_t
slots_place(const struct module *module, const struct mapping *maps, size_t n,
	    uint64_t size)
{
	const uint64_t reach = UINT64_C(0x7ff00000), lowest = 0x10000;
	uint64_t lo = lowest, best = 0, gap_hi;

	for (size_t i = 0; i <= n; i++) {
		gap_hi = i < n ? maps[i].lo : module->hi + reach;
		if (gap_hi >= lo + size && gap_hi <= module->lo &&
		    module->hi - (gap_hi - size) < reach)
			best = gap_hi - size;
		else if (!best && gap_hi >= lo + size && lo >= module->hi &&
			 lo + size - module->lo < reach)
			/* In the middle of a gap, clear of the heap. */
			best = lo + (gap_hi - lo - size) / 2;
		if (best && lo > module->hi)
			break;
		if (i < n)
			lo = maps[i].hi;
	}
	return best / PAGE * PAGE >= lowest ? best / PAGE * PAGE : 0;
}

static void
slots_map(struct run *run, struct task *task, struct module *module)
{
	uint64_t size = (module->nslots * SLOT_MAX + PAGE - 1) / PAGE * PAGE;
	const struct event *event = run_queued(run, task);
	struct mapping *maps;
	uint64_t place;
	int64_t result;
	size_t n;

	/* One that stopped for more than a pause must not be made to run. */
	if (event && event->kind != EVENT_PAUSED)
		return;
	if (task->group_stopped || run->host->confined(task->tid))
		return;
	if (run->host->maps(task->tid, &maps, &n))
		return;
	place = slots_place(module, maps, n, size);
	mappings_free(maps, n);
	if (!place)
		return;
	if (inject_syscall(run, task, run->abi->nr_mmap, (uint64_t[6]){
			place, size, PROT_READ | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			-1, 0 }, &result) || (uint64_t)result != place)
		return;
	module->slots = place;
	module->slots_size = size;
}

/* One site without a slot: by lifting its trap, if that is possible. */
static void
slot_refuse(struct run *run, struct module *module, size_t i)
{
	struct site *site = &module->plan->sites[i];
	bool syscall = site->insn.kind == INSN_SYSCALL;
	struct patched *patched = &module->patched[i];

	patched->patch = syscall ? PATCH_UNPLANTED : PATCH_STEPPED;
	if (!syscall)
		return;
	site->lost = true;
	run_remark(run, "%s: a system call instruction has no place to run "
		   "and is not counted", module->plan->image->path);
}

/* Write all slots of the module in one go. */
static void
slots_fill(struct run *run, struct task *task, struct module *module)
{
	const struct plan *plan = module->plan;
	uint8_t *area = mem_alloc(module->slots_size + 1);
	struct slot_code slot;
	struct patched *patched;
	const uint8_t *code;
	size_t avail;
	uint64_t va;

	module->slot_site = mem_alloc(module->nslots *
				      sizeof(*module->slot_site));
	for (size_t i = 0; i < plan->nsites; i++) {
		patched = &module->patched[i];
		if (patched->patch != PATCH_SLOTTED)
			continue;
		va = module->slots + patched->slot * SLOT_MAX;
		code = image_text(plan->image, plan->sites[i].addr, &avail);
		if (!module->slots ||
		    run->arch->slot_make(code, plan->sites[i].insn.len,
					 plan->sites[i].addr + module->bias,
					 va, &slot)) {
			slot_refuse(run, module, i);
			continue;
		}
		module->slot_site[patched->slot] = i;
		patched->after = slot.after;
		memcpy(area + patched->slot * SLOT_MAX, slot.bytes, slot.len);
	}
	if (module->slots)
		run->host->mem_write(task->process->space->mem, task->tid,
				     module->slots, area,
				     module->nslots * SLOT_MAX);
	free(area);
}

void
module_slots(struct run *run, struct task *task, struct module *module)
{
	slots_map(run, task, module);
	slots_fill(run, task, module);
}
