/*
 * Decides which sites have filters, and knows where these are and what a pc in
 * one stands for.  Writes nothing to a space: slots.c writes filters, traps.c
 * the jumps that lead there.
 *
 * What a call's filter has copied can be repeated (call_filter), and its checks
 * change only what the system call changes.  So a task anywhere in it goes to
 * the jump, whatever it is stopped for, and nothing is undone.  From the trap
 * the task goes on at the system call in its place, which has no trap of its
 * own.
 */
#include "monitor/patch/filters.h"

#include <string.h>

#include "arch/abi.h"
#include "monitor/patch/switch_sites.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/actions.h"
#include "monitor/process/space.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	CALL_SLOTS = FILTER_MAX / SLOT_MAX,
	SWITCH_SLOTS = SWITCH_FILTER_MAX / SLOT_MAX,
	ENTRY_SLOTS = ENTRY_FILTER_MAX / SLOT_MAX,
};

/* How many slots the site's filter takes. */
static size_t
filter_slots(const struct module *module, size_t i)
{
	if (entry_of(module, i))
		return ENTRY_SLOTS;
	return switch_of(module, i) ? SWITCH_SLOTS : CALL_SLOTS;
}

static const struct hook *
site_hook(const struct plan *plan, const struct site *site)
{
	return site->hook ? &plan->hooks[site->hook - 1] : NULL;
}

static bool
hook_calls(const struct hook *hook)
{
	return hook->kind == HOOK_CALL || hook->kind == HOOK_SIGACTION;
}

/*
 * Make the filter of a system call as it is at va: it looks for the numbers of
 * calls that matter, or for the signals whose actions are tracked.  0 or -1.
 */
static int
filter_make(const struct module *module, const struct site *site, uint64_t va,
	    struct call_filter *filter)
{
	const struct image *image = module->plan->image;
	const struct hook *hook = site_hook(module->plan, site);
	const struct abi *abi = abi_find(image->arch);
	bool signals = hook->kind == HOOK_SIGACTION;
	int numbers[ABI_MATTER];
	size_t avail;
	const struct filter_input in = {
		.code = image_text(image, hook->filter, &avail),
		.len = hook->addr - hook->filter,
		.call = hook->addr + module->bias,
		.reg = signals ? abi->reg_arg[0] : abi->reg_nr,
		.numbers = signals ? tracked_signals : numbers,
		.n = signals ? TRACKED_SIGNALS : abi_matter(abi, numbers),
	};

	return in.code && avail >= in.len ?
		       image->arch->filter_make(&in, va, filter) :
		       -1;
}

/* Whether the text that the jump replaces is as in the file. */
static bool
filter_same(struct run *run, const struct task *task,
	    const struct module *module, const struct hook *hook)
{
	size_t avail, len = hook->end - hook->filter + INSN_MAX;
	const uint8_t *text = image_text(module->plan->image, hook->filter,
					 &avail);

	if (len > avail)
		len = avail;
	return text &&
	       text_same(run, task->process->space, task->tid,
			 hook->filter + module->bias, text, len) == HOST_OK;
}

/* Whether the site, which has a trap so far, can have a filter. */
static bool
site_filters(struct run *run, struct task *task, struct module *module,
	     uint32_t i)
{
	const struct plan *plan = module->plan;
	const struct site *site = &plan->sites[i];
	const struct hook *hook = site_hook(plan, site);
	struct call_filter filter;

	/* Where something is counted, a trap may be needed for that, too. */
	if (!hook || !hook->filter || plan->options.sel ||
	    module->patched[i].patch == PATCH_UNPLANTED ||
	    !filter_same(run, task, module, hook))
		return false;
	return hook_calls(hook) ?
		       !filter_make(module, site, hook->addr + module->bias,
				    &filter) :
		       switch_filters(run, task, module, i);
}

void
filters_choose(struct run *run, struct task *task, struct module *module,
	       const struct batch *batch)
{
	if (run->opts->patch != PATCH_AUTO || run->opts->npids ||
	    task->process->ntasks > 1)
		return;
	for (size_t k = 0; k < batch->n; k++) {
		uint32_t i = batch->sites[k];

		if (!site_filters(run, task, module, i))
			continue;
		module->patched[i].patch = PATCH_FILTERED;
		module->patched[i].filtered = true;
		module->patched[i].slot = module->nslots;
		for (size_t n = filter_slots(module, i); n; n--)
			*vec_push(module->slot_site, module->nslots) = i;
	}
}

/* The va of the site's slot. */
static uint64_t
slot_va(const struct module *module, uint32_t site)
{
	return module->slots + (uint64_t)module->patched[site].slot * SLOT_MAX;
}

int
filter_fill(struct module *module, size_t number, uint8_t *bytes)
{
	uint32_t i = module->slot_site[number];
	size_t part = number - module->patched[i].slot;
	struct switch_site *sw = switch_of(module, i);
	struct switch_entry *entry = entry_of(module, i);
	struct call_filter filter;

	/* The slot that it took before it was given a filter. */
	if (part >= filter_slots(module, i))
		return 0;
	if (sw && !part && switch_make(module, sw, slot_va(module, i)))
		return -1;
	if (entry && !part && entry_make(module, entry, slot_va(module, i)))
		return -1;
	if (sw || entry) {
		memcpy(bytes,
		       (sw ? sw->filter.bytes : entry->filter.bytes) +
			       part * SLOT_MAX,
		       SLOT_MAX);
		return 0;
	}
	if (filter_make(module, &module->plan->sites[i], slot_va(module, i),
			&filter))
		return -1;
	module->patched[i].after = filter.trap;
	memcpy(bytes, filter.bytes + part * SLOT_MAX, SLOT_MAX);
	return 0;
}

/* ---- where a task is */

/* The site whose filter has the va, or NULL. */
static const struct site *
filter_site(const struct module *module, uint64_t va)
{
	uint64_t number = (va - module->slots) / SLOT_MAX;
	uint32_t i;

	if (!module->slots || va < module->slots || number >= module->nslots)
		return NULL;
	i = module->slot_site[number];
	return module->patched[i].filtered ? &module->plan->sites[i] : NULL;
}

/* Whether the filter of a site has a trap at the offset. */
static bool
filter_traps(const struct module *module, size_t i, uint64_t offset)
{
	const struct switch_site *sw = switch_of(module, i);

	if (entry_of(module, i))
		return !offset && module->switches_off;
	if (!sw)
		return offset == module->patched[i].after;
	return offset == sw->filter.traps[0] || offset == sw->filter.traps[1];
}

uint64_t
filter_call(const struct space *space, uint64_t va)
{
	for (size_t m = 0; m < space->nmodules; m++) {
		const struct module *module = space->modules[m];
		const struct site *site = filter_site(module, va);
		size_t i;

		if (!site)
			continue;
		i = (size_t)(site - module->plan->sites);
		return filter_traps(module, i, va - slot_va(module, i)) ?
			       site->addr + module->bias :
			       va;
	}
	return va;
}

bool
site_filtered(const struct module *module, size_t i)
{
	return i < module->nsites && module->patched[i].filtered;
}

uint64_t
site_again(const struct module *module, const struct site *site)
{
	const struct plan *plan = module->plan;
	bool filtered = site_filtered(module, (size_t)(site - plan->sites));

	return (filtered ? site_hook(plan, site)->filter : site->addr) +
	       module->bias;
}

uint64_t
filter_onward(const struct module *module, const struct site *site)
{
	size_t i = (size_t)(site - module->plan->sites);
	const struct switch_site *sw = switch_of(module, i);
	const struct switch_entry *entry = entry_of(module, i);

	if (entry)
		return slot_va(module, i) + entry->filter.moved;
	return sw ? slot_va(module, i) + sw->filter.moved :
		    site->addr + module->bias;
}

void
filter_leave(struct run *run, struct task *task, const struct module *module,
	     size_t i, uint64_t pc)
{
	const struct switch_site *sw = switch_of(module, i);
	const struct switch_entry *entry = entry_of(module, i);
	uint32_t offset = (uint32_t)(pc - slot_va(module, i));

	if (sw)
		switch_leave(run, task, module, sw, offset);
	else if (entry)
		entry_leave(run, task, module, entry, offset);
	else
		run->host->reg_set(task->tid, run->arch->reg_pc,
				   site_again(module, &module->plan->sites[i]));
}

/* ---- the jump */

unsigned
site_patch(const struct arch *arch, const struct module *module, size_t i,
	   uint64_t *addr, uint8_t *bytes)
{
	const struct site *site = &module->plan->sites[i];
	unsigned len = arch->emit.jump_len;

	if (!site_filtered(module, i)) {
		*addr = site->addr;
		memcpy(bytes, arch->trap, arch->trap_len);
		return arch->trap_len;
	}
	*addr = site_again(module, site) - module->bias;
	must(!arch->emit.jump_write(*addr + module->bias, slot_va(module, i),
				    len, bytes));
	return len;
}
