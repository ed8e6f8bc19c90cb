/*
 * Modules, images planted in a space: writes traps, slots and relocated
 * functions to memory.  Reads and writes text page by page, not site by site.
 * Changes while the program runs are extend.c's.
 */
#include "monitor/patch/module.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/patch/host_counters.h"
#include "monitor/patch/refuse.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/slots.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/space.h"
#include "util/fail.h"
#include "util/mem.h"

/* ---- text, a page at a time */

/*
 * Edit the text of a batch's sites, which are in one page: read the bytes from
 * the first site to the last, let fn change them, write them back.
 */
static int
page_edit(struct run *run, struct space *space, pid_t tid,
	  const struct module *module, const struct batch *batch, site_edit *fn)
{
	const struct arch *arch = module->plan->image->arch;
	uint64_t lo = batch_site(module, batch, 0)->addr;
	size_t n = batch_site(module, batch, batch->n - 1)->addr - lo +
		   arch->trap_len;
	uint8_t text[PAGE + sizeof(arch->trap)], old[sizeof(text)];

	must(n <= sizeof(text));
	if (text_read(run, space, tid, lo + module->bias, text, n))
		return HOST_GONE;
	memcpy(old, text, n);
	for (size_t i = 0; i < batch->n; i++)
		fn(arch, module, batch->sites[i],
		   text + (batch_site(module, batch, i)->addr - lo));
	if (!memcmp(old, text, n))
		return HOST_OK;
	return text_write(run, space, tid, lo + module->bias, text, n);
}

static bool
patch_traps(enum patch patch)
{
	return patch != PATCH_UNPLANTED && patch != PATCH_OWN &&
	       patch != PATCH_HOST && patch != PATCH_RETIRED;
}

size_t
module_traps(const struct module *module)
{
	size_t n = 0;

	for (size_t i = 0; i < module->nsites; i++)
		n += patch_traps(module->patched[i].patch) &&
		     !module->plan->sites[i].passed;
	return n;
}

void
trap_write(const struct arch *arch, const struct module *module, size_t i,
	   uint8_t *bytes)
{
	const struct site *site = &module->plan->sites[i];

	if (patch_traps(module->patched[i].patch) && !site->passed &&
	    (!site->leads || site->hook || site_leads(module->plan, site)))
		memcpy(bytes, arch->trap, arch->trap_len);
}

void
trap_remove(const struct arch *arch, const struct module *module, size_t i,
	    uint8_t *bytes)
{
	const struct patched *patched = &module->patched[i];

	if (patched->patch == PATCH_UNPLANTED || patched->patch == PATCH_OWN)
		return;
	if (!memcmp(bytes, arch->trap, arch->trap_len))
		memcpy(bytes, patched->saved, arch->trap_len);
}

int
module_edit(struct run *run, struct space *space, pid_t tid,
	    const struct module *module, const struct batch *batch,
	    site_edit *fn)
{
	int err = HOST_OK;
	size_t last;

	for (size_t i = 0; i < batch->n; i = last) {
		struct batch page = { batch->sites + i, 0 };

		last = batch_page(module, batch, i);
		page.n = last - i;
		/* If the page or the process is gone, nothing is lost. */
		if (page_edit(run, space, tid, module, &page, fn))
			err = HOST_GONE;
	}
	return err;
}

/*
 * Write the trap at a site alone, if it is not there.  false if that is refused:
 * what can be read is not gone.
 */
static bool
site_written(struct run *run, struct space *space, pid_t tid,
	     const struct module *module, size_t i)
{
	const struct arch *arch = run->arch;
	uint64_t va = module->plan->sites[i].addr + module->bias;
	uint8_t now[sizeof(arch->trap)], bytes[sizeof(arch->trap)];

	if (text_read(run, space, tid, va, now, arch->trap_len))
		return true;
	memcpy(bytes, now, sizeof(now));
	trap_write(arch, module, i, bytes);
	return !memcmp(now, bytes, arch->trap_len) ||
	       !text_write(run, space, tid, va, bytes, arch->trap_len);
}

void
module_unwritten(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, const struct batch *batch)
{
	struct plan *plan = module->plan;

	for (size_t i = 0; i < batch->n; i++) {
		struct site *site = &plan->sites[batch->sites[i]];

		if (site_written(run, space, tid, module, batch->sites[i]))
			continue;
		site->lost = true;
		if (site->fplan != FPLAN_NONE) {
			plan->fplans[site->fplan].unwritten = true;
			plan->fplans[site->fplan].lost |= site->leads;
		}
		site_unhooked(space, module, batch->sites[i]);
		run_remark(run,
			   "%s: the kernel refuses to write some traps, and "
			   "their functions are not counted",
			   plan->image->path);
	}
}

/*
 * Buffer the text from lo to hi, so that it is read and written once.  Not
 * where memory is far away: there only what changes is read.
 */
static void
module_buffer(const struct run *run, struct space *space, uint64_t lo,
	      uint64_t hi)
{
	if (run->host->native)
		text_buffer(space, lo, hi, false);
}

/* Buffer memory that has just been mapped, if there is any. */
static void
fresh_buffer(struct space *space, uint64_t va, uint64_t size)
{
	if (va)
		text_buffer(space, va, va + size, true);
}

/* Whether some of the module's text is not as in the file. */
static bool
module_differs(struct run *run, const struct space *space, pid_t tid,
	       const struct module *module)
{
	const struct image *image = module->plan->image;
	uint8_t now[PAGE];
	size_t n;

	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];
		uint64_t end = seg->addr + seg->filesz;

		for (uint64_t addr = seg->addr; seg->flags & PF_X && addr < end;
		     addr += n) {
			const uint8_t *text = image_text(image, addr, &n);

			if (!text)
				break;
			n = n < PAGE ? n : PAGE;
			if (!text_read(run, space, tid, addr + module->bias,
				       now, n) &&
			    memcmp(now, text, n))
				return true;
		}
	}
	return false;
}

int
module_unplant(struct run *run, struct space *space, pid_t tid,
	       const struct module *module)
{
	struct batch batch = { 0 };
	bool refused;

	for (size_t i = 0; i < module->nsites; i++)
		*vec_push(batch.sites, batch.n) = i;
	batch_sort(module, &batch);
	module_buffer(run, space, module->lo, module->hi);
	module_edit(run, space, tid, module, &batch, trap_remove);
	free(batch.sites);
	relocated_unplant(run, space, tid, module);
	refused = text_flush(run, space, tid) != HOST_OK;
	return refused && module_differs(run, space, tid, module) ? HOST_ERROR :
								    HOST_OK;
}

void
relocated_each(struct run *run, struct space *space, pid_t tid,
	       const struct module *module, struct span which,
	       relocated_edit *fn)
{
	const struct plan *plan = module->plan;

	/* plan_relocation_withdraw may have removed some since. */
	if (which.last > plan->nrelocated)
		which.last = plan->nrelocated;
	for (size_t i = which.first; i < which.last; i++)
		if (!plan->fplans[plan->relocated_fplans[i]].lost)
			fn(run, space, tid, module, plan->relocated_fplans[i]);
}

/* Choose all patches of a module of which nothing is planted yet. */
static int
module_choose(struct run *run, struct task *task, struct module *module,
	      struct batch *batch)
{
	free(batch->sites);
	*batch = batch_make(module, 0);
	must(!module->plan->options.no_traps || !batch->n);
	module_grow(module);
	module->nslots = 0;
	for (size_t i = 0; i < module->nsites; i++)
		module->patched[i] = (struct patched){ 0 };
	return batch_choose(run, task->process->space, task->tid, module,
			    batch);
}

static void
module_write(struct run *run, struct task *task, struct module *module,
	     const struct batch *batch)
{
	struct space *space = task->process->space;
	const struct span all = { 0, module->plan->nrelocated };
	bool refused;

	slots_write(run, space, task->tid, module, 0, module->nslots);
	fresh_buffer(space, module->springs, module->springs_size);
	fresh_buffer(space, module->relocated, module->relocated_size);
	relocated_each(run, space, task->tid, module, all, relocated_code);
	module_edit(run, space, task->tid, module, batch, trap_write);
	relocated_each(run, space, task->tid, module, all, relocated_enable);
	/* What leads into relocated functions is written after them. */
	if (module->relocated && text_flush(run, space, task->tid))
		relocated_check(run, space, task->tid, module, false);
	refused = module->springs && text_flush(run, space, task->tid);
	if (text_flush(run, space, task->tid)) {
		module_unwritten(run, space, task->tid, module, batch);
		refused = true;
	}
	if (refused)
		relocated_check(run, space, task->tid, module, true);
	module->nrelocated = module->nundeferred = module->plan->nrelocated;
	module->plan->planted |= module->relocated != 0;
	if (run->host->counting && run->opts->patch != PATCH_STEP)
		host_counters_plant(run, module);
}

/*
 * Whether to map room for slots now; later that may be refused.  A library of
 * which nothing is counted has only hooks, and if nothing is derived, none that
 * come later need slots.
 */
static bool
slots_needed(const struct run *run, const struct module *module)
{
	const struct plan_options *options = &module->plan->options;

	return !options->no_traps &&
	       (options->sel || module->nslots ||
		run->opts->selection.units != 1U << UNIT_FUNC);
}

int
module_fill(struct run *run, struct task *task, struct module *module)
{
	struct space *space = task->process->space;
	struct batch batch = { 0 };
	const struct plan_options *options = &module->plan->options;
	bool relocated = options->relocated, shared = options->shared;
	int err;

	module_buffer(run, space, module->lo, module->hi);
	err = module_choose(run, task, module, &batch);
	if (!err)
		relocated_map(run, task, module);
	/* Without relocated functions, or with others, it has other sites. */
	if (!err &&
	    (relocated != options->relocated || shared != options->shared))
		err = module_choose(run, task, module, &batch);
	if (!err && slots_needed(run, module))
		slots_map(run, task, module);
	if (!err)
		module_write(run, task, module, &batch);
	else
		text_flush(run, space, task->tid);
	free(batch.sites);
	return err;
}
