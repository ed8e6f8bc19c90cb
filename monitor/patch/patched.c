/*
 * How each site of a module is patched: chooses by the options and by the text
 * that is found there.  Reads text page by page.  Writes nothing to a space.
 */
#include "monitor/patch/patched.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/patch/host_counters.h"
#include "monitor/patch/slots.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/space.h"
#include "util/mem.h"
#include "util/sort.h"

/* ---- batches */

struct site *
batch_site(const struct module *module, const struct batch *batch, size_t i)
{
	return &module->plan->sites[batch->sites[i]];
}

static const struct site *sort_sites;

static int
by_addr(const void *va, const void *vb)
{
	uint64_t a = sort_sites[*(const uint32_t *)va].addr;
	uint64_t b = sort_sites[*(const uint32_t *)vb].addr;

	return a < b ? -1 : a > b;
}

void
batch_sort(const struct module *module, struct batch *batch)
{
	sort_sites = module->plan->sites;
	if (batch->n)
		sort(batch->sites, batch->n, sizeof(*batch->sites), by_addr);
}

struct batch
batch_make(const struct module *module, size_t first)
{
	const struct plan *plan = module->plan;
	struct batch batch = { 0 };

	for (size_t i = first; i < plan->nsites; i++)
		if (!plan->sites[i].idle && !plan->sites[i].lifted)
			*vec_push(batch.sites, batch.n) = i;
	batch_sort(module, &batch);
	return batch;
}

size_t
batch_page(const struct module *module, const struct batch *batch, size_t first)
{
	uint64_t page = (batch_site(module, batch, first)->addr +
			 module->bias) /
			PAGE;
	size_t i = first;

	while (i < batch->n &&
	       (batch_site(module, batch, i)->addr + module->bias) / PAGE ==
		       page)
		i++;
	return i;
}

/* ---- choosing patches */

bool
site_leads(const struct plan *plan, const struct site *site)
{
	return site->leads && !plan->fplans[site->fplan].lost;
}

/*
 * Choose a site's patch.  Running the instruction out of line costs less than
 * emulating it: emulation has to fetch and set all registers, and often memory
 * too.  Only instructions that merely move the pc are cheaper to emulate: see
 * doc/performance.md, "What a trap costs".  pmon sees where an instruction goes
 * only if it does not run out of line.
 */
static enum patch
patch_choose(const struct run *run, const struct module *module,
	     const struct site *site, const uint8_t *code, uint64_t va,
	     struct patched *patched)
{
	const struct arch *arch = run->arch;
	enum patch_choice choice = run->opts->patch;
	struct slot_code slot;
	bool slots, emulated, leads;

	leads = site_leads(module->plan, site);
	if (site->insn.kind == INSN_TRAP && !leads)
		return PATCH_OWN;
	if (site->waiting)
		return PATCH_WAITING;
	if (leads)
		return PATCH_LEADS;
	if (site->leads && !site->hook)
		return PATCH_RETIRED;
	if (host_counters_wanted(run) &&
	    (!site->targets || run->host->counting->arrived))
		return PATCH_HOST;
	if (site->skips &&
	    !arch->emul_prepare(code, site->insn.len, va, &patched->emul)) {
		patched->emul.imm--;
		return patched->emul.only_pc ? PATCH_SKIPPED : PATCH_EMULATED;
	}
	slots = !site->targets && arch->slot_make &&
		!arch->slot_make(code, site->insn.len, va, va, &slot);
	/*
	 * Stepping a system call could wait for ever while all other tasks are
	 * stopped.
	 */
	if (arch->slot_make && (site->insn.kind == INSN_SYSCALL ||
				arch->step_shows(code, site->insn.len)))
		return PATCH_SLOTTED;
	if (choice == PATCH_STEP)
		return PATCH_STEPPED;
	emulated = arch->emul_prepare &&
		   !arch->emul_prepare(code, site->insn.len, va,
				       &patched->emul);
	if ((choice == PATCH_AUTO || choice == PATCH_TRAP) && emulated &&
	    patched->emul.only_pc)
		return PATCH_SKIPPED;
	if (emulated && (choice == PATCH_EMULATE || !slots))
		return PATCH_EMULATED;
	return slots ? PATCH_SLOTTED : PATCH_STEPPED;
}

static void
slot_take(struct module *module, uint32_t i)
{
	module->patched[i].slot = module->nslots;
	*vec_push(module->slot_site, module->nslots) = i;
}

void
patched_choose(struct run *run, struct module *module, uint32_t i)
{
	struct site *site = &module->plan->sites[i];
	struct patched *patched = &module->patched[i];
	size_t avail;
	const uint8_t *code = image_text(module->plan->image, site->addr,
					 &avail);

	patched->patch = patch_choose(run, module, site, code,
				      site->addr + module->bias, patched);
	if (patched->patch == PATCH_SLOTTED)
		slot_take(module, i);
}

void
patched_force(struct run *run, struct module *module, uint32_t i)
{
	const struct site *site = &module->plan->sites[i];
	struct patched *patched = &module->patched[i];

	patched->patch = patch_unslotted(run, module, site, &patched->emul);
	if (patched->patch == PATCH_SKIPPED || patched->patch == PATCH_EMULATED)
		return;
	/* If it cannot run in a slot, slots_write has it stepped. */
	patched->patch = PATCH_SLOTTED;
	slot_take(module, i);
}

/*
 * The bytes of an instruction to compare: if a jump table is part of it, only
 * the beginning.
 */
static size_t
insn_bytes(const struct insn *insn)
{
	return insn->len < INSN_MAX ? insn->len : INSN_MAX;
}

static void
plan_differs(struct plan *plan)
{
	for (size_t i = 0; i < plan->nfplans; i++) {
		plan->fplans[i].differs = true;
		plan->fplans[i].unwritten = true;
	}
}

/*
 * Whether counts depend on the hook: where frames are left unseen, or control
 * goes elsewhere, any may; on what the program does to signals or maps, or on
 * its children, none does.
 */
static bool
hook_counts(const struct plan *plan, uint32_t site)
{
	if (!plan->sites[site].hook)
		return false;
	switch (plan->hooks[plan->sites[site].hook - 1].kind) {
	case HOOK_CLONE:
	case HOOK_SIGACTION:
	case HOOK_SIGPROCMASK:
	case HOOK_CALL:
	case HOOK_MAP:
		return false;
	default:
		return true;
	}
}

/* Whether the site is the entry at which hooks of its function are found. */
static bool
entry_hooks(const struct plan *plan, uint32_t site)
{
	uint32_t fplan = plan->sites[site].fplan;

	return fplan != FPLAN_NONE && plan->fplans[fplan].site == site &&
	       plan_hooks_wait(plan, fplan);
}

void
site_unhooked(struct space *space, const struct module *module, uint32_t site)
{
	if (hook_counts(module->plan, site) || entry_hooks(module->plan, site))
		space_unhooked(space);
}

/*
 * The site's code is not the file's.  The module may not be among the space's
 * yet.
 */
static void
hook_differs(struct space *space, const struct module *module, uint32_t site)
{
	if (!hook_counts(module->plan, site) &&
	    !entry_hooks(module->plan, site))
		return;
	space_unhooked(space);
	plan_differs(module->plan);
	for (size_t i = 0; i < space->nmodules; i++)
		plan_differs(space->modules[i]->plan);
}

/*
 * Choose a site's patch, given the bytes there.  If they are not the file's,
 * the program (or another tool) has changed its text, or a killed pmon has left
 * a trap: leave the site alone.
 */
static void
patched_make(struct run *run, struct space *space, struct module *module,
	     uint32_t i, const uint8_t *bytes)
{
	struct site *site = &module->plan->sites[i];
	struct patched *patched = &module->patched[i];
	size_t avail;
	const uint8_t *text = image_text(module->plan->image, site->addr,
					 &avail);

	if (memcmp(text, bytes, insn_bytes(&site->insn))) {
		patched->patch = PATCH_UNPLANTED;
		site->lost = true;
		if (site->fplan != FPLAN_NONE)
			module->plan->fplans[site->fplan].differs = true;
		hook_differs(space, module, i);
		run_remark(run,
			   "%s: some of its code in memory differs from "
			   "the file and is not counted",
			   module->plan->image->path);
		return;
	}
	memcpy(patched->saved, bytes, run->arch->trap_len);
	patched_choose(run, module, i);
}

void
batch_choose_unread(struct run *run, struct module *module,
		    const struct batch *batch)
{
	size_t avail;

	for (size_t i = 0; i < batch->n; i++)
		/* No text differs, so the space is of no interest. */
		patched_make(run, NULL, module, batch->sites[i],
			     image_text(module->plan->image,
					batch_site(module, batch, i)->addr,
					&avail));
}

int
batch_choose(struct run *run, struct space *space, pid_t tid,
	     struct module *module, const struct batch *batch)
{
	uint8_t text[PAGE + INSN_MAX];
	const struct site *end;
	size_t last, n;
	uint64_t lo;

	for (size_t i = 0; i < batch->n; i = last) {
		last = batch_page(module, batch, i);
		lo = batch_site(module, batch, i)->addr;
		end = batch_site(module, batch, last - 1);
		n = end->addr + insn_bytes(&end->insn) - lo;
		if (text_read(run, space, tid, lo + module->bias, text, n))
			return HOST_GONE;
		for (size_t k = i; k < last; k++)
			patched_make(
				run, space, module, batch->sites[k],
				text + (batch_site(module, batch, k)->addr -
					lo));
	}
	return HOST_OK;
}

void
module_grow(struct module *module)
{
	size_t old = module->nsites, n = module->plan->nsites;

	if (n <= module->room) {
		module->nsites = n;
		return;
	}
	module->room = n + n / 2;
	module->patched = mem_grow(module->patched, module->room,
				   sizeof(*module->patched));
	memset(module->patched + old, 0,
	       (module->room - old) * sizeof(*module->patched));
	module->nsites = n;
}
