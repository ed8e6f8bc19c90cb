/*
 * Modules, images planted in a space: writes traps, slots and relocated
 * functions to memory, and undoes that.  Changes while the program runs are
 * extend.c's.
 */
#include "monitor/patch/module.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/patch/filters.h"
#include "monitor/patch/host_counters.h"
#include "monitor/patch/refuse.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/slots.h"
#include "monitor/patch/text_edit.h"
#include "monitor/patch/traps.h"
#include "monitor/process/space.h"
#include "util/fail.h"
#include "util/mem.h"

/*
 * Hold the text from lo to hi, so that it is read and written once.  Not where
 * memory is far away: there only what changes is read.
 */
static void
module_buffer(const struct run *run, struct space *space, uint64_t lo,
	      uint64_t hi)
{
	if (run->host->native)
		text_buffer(space, lo, hi, BUFFER_TEXT);
}

/* Hold memory of the module's that has just been mapped, if there is any. */
static void
fresh_buffer(struct space *space, const struct module *module, uint64_t va,
	     uint64_t size)
{
	if (va)
		text_buffer(space, va, va + size,
			    module->resettled ? BUFFER_TEXT : BUFFER_FRESH);
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

void
relocated_each(struct run *run, struct space *space, pid_t tid,
	       const struct module *module, struct span which,
	       relocated_edit *fn)
{
	const struct plan *plan = module->plan;
	struct lost lost = { 0 };

	/* plan_relocation_withdraw may have removed some since. */
	if (which.last > plan->nrelocated)
		which.last = plan->nrelocated;
	for (size_t i = which.first; i < which.last; i++) {
		uint32_t index = plan->relocated_fplans[i];

		if (plan->fplans[index].lost)
			continue;
		fn(run, space, tid, module, index);
		lost_note(plan, &lost, index);
	}
	lost_end(run, space, tid, module, &lost);
}

/* Choose all patches of a module of which nothing is planted yet. */
static int
module_choose(struct run *run, struct space *space, pid_t tid,
	      struct module *module, struct batch *batch)
{
	free(batch->sites);
	*batch = batch_make(module, 0);
	must(!module->plan->options.no_traps || !batch->n);
	module_grow(module);
	module->nslots = 0;
	for (size_t i = 0; i < module->nsites; i++)
		module->patched[i] = (struct patched){ 0 };
	return batch_choose(run, space, tid, module, batch);
}

/* Hold the module's text and choose all its patches. */
static int
module_begin(struct run *run, struct space *space, pid_t tid,
	     struct module *module, struct batch *batch)
{
	text_drop(space);
	module_buffer(run, space, module->lo, module->hi);
	return module_choose(run, space, tid, module, batch);
}

/* Edit the buffered text, and buffer what leads from there, for module_flush. */
static void
module_render(struct run *run, struct space *space, pid_t tid,
	      const struct module *module, const struct batch *batch)
{
	const struct span all = { 0, module->plan->nrelocated };

	fresh_buffer(space, module, module->springs, module->springs_size);
	fresh_buffer(space, module, module->relocated, module->relocated_size);
	relocated_each(run, space, tid, module, all, relocated_code);
	module_edit(run, space, tid, module, batch, trap_write);
	relocated_each(run, space, tid, module, all, relocated_enable);
}

static void
module_flush(struct run *run, struct space *space, pid_t tid,
	     const struct module *module, const struct batch *batch)
{
	bool refused;

	/* What leads into relocated functions is written after them. */
	if (module->relocated && text_flush(run, space, tid))
		relocated_check(run, space, tid, module, false);
	refused = module->springs && text_flush(run, space, tid);
	if (text_flush(run, space, tid)) {
		module_unwritten(run, space, tid, module, batch);
		refused = true;
	}
	if (refused)
		relocated_check(run, space, tid, module, true);
}

/*
 * Whether to map room for slots now; later that may be refused.  A library of
 * which nothing is counted has only hooks, and if nothing is derived, none that
 * come later need slots.  None do where the host counts.
 */
static bool
slots_needed(const struct run *run, const struct module *module)
{
	const struct plan_options *options = &module->plan->options;

	if (host_counters_wanted(run))
		return module->nslots;
	return !options->no_traps &&
	       (options->sel || module->nslots ||
		run->opts->selection.units != 1U << UNIT_FUNC);
}

/* Whether a system call or a stack switch of the module may have a filter. */
static bool
filters_likely(const struct run *run, const struct module *module)
{
	const struct plan *plan = module->plan;
	bool likely = false;

	if (run->opts->patch != PATCH_AUTO || run->opts->npids)
		return false;
	for (size_t i = 0; i < plan->nhooks && !likely; i++)
		likely = plan->hooks[i].filter != 0;
	return likely;
}

/* Choose places for what the module is likely to need. */
static void
module_place(struct room *room, struct module *module)
{
	const struct plan_options *options = &module->plan->options;

	if (options->relocated && module->counters.size &&
	    relocated_room(room, module))
		module->relocated = 0;
	if (slots_needed(room->run, module) ||
	    (!options->no_traps && filters_likely(room->run, module)))
		slots_map(room, module);
}

void
modules_room(struct run *run, struct task *task, struct module **modules,
	     size_t n, const struct mapping *maps, size_t nmaps)
{
	struct room room = { .run = run, .task = task };

	/* module_fill makes of a failure what is to be made of it. */
	for (size_t i = 0; i < n; i++)
		if (!modules[i]->resettled &&
		    modules[i]->plan->options.relocated &&
		    relocated_counters(&room, modules[i]))
			modules[i]->counters = (struct region){ 0 };
	room_begin(&room, maps, nmaps);
	for (size_t i = 0; i < n; i++)
		if (!modules[i]->resettled)
			module_place(&room, modules[i]);
	if (room_end(&room))
		return;
	for (size_t i = 0; i < n; i++) {
		if (modules[i]->resettled)
			continue;
		modules[i]->slots = modules[i]->slots_size = 0;
		modules[i]->relocated = modules[i]->relocated_size = 0;
		modules[i]->springs = modules[i]->springs_size = 0;
		modules[i]->spring = 0;
	}
}

/* ---- modules that are foreseen */

/* What of a plan may change between module_foresee and module_fill. */
static struct foreseen_plan
plan_now(const struct plan *plan)
{
	struct foreseen_plan now = {
		.nsites = plan->nsites,
		.nrelocated = plan->nrelocated,
		.nguards = plan->nguards,
		.relocated = plan->options.relocated,
		.shared = plan->options.shared,
		.springs = plan->options.springs,
	};

	for (size_t i = 0; i < plan->nrelocated; i++)
		now.nlost += plan->fplans[plan->relocated_fplans[i]].lost;
	return now;
}

static bool
plan_same(const struct foreseen *foreseen)
{
	struct foreseen_plan now = plan_now(foreseen->module.plan);
	const struct foreseen_plan *then = &foreseen->plan;

	return now.nsites == then->nsites &&
	       now.nrelocated == then->nrelocated &&
	       now.nguards == then->nguards && now.nlost == then->nlost &&
	       now.relocated == then->relocated && now.shared == then->shared &&
	       now.springs == then->springs;
}

/* Whether each site has a patch: all of its text is as in the file. */
static bool
batch_patched(const struct module *module, const struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++)
		if (module->patched[batch->sites[i]].patch == PATCH_UNPLANTED)
			return false;
	return true;
}

int
module_foresee(struct room *room, pid_t pid, struct foreseen *foreseen)
{
	struct run *run = room->run;
	struct space *space = &foreseen->space;
	struct module *module = &foreseen->module;
	struct batch *batch = &foreseen->batch;

	text_buffer(space, module->lo, module->hi, BUFFER_EARLY);
	if (module_choose(run, space, pid, module, batch))
		return -1;
	if (module->plan->options.relocated && relocated_room(room, module))
		return -1;
	if (slots_needed(run, module))
		slots_map(room, module);
	slots_foresee(run, module);
	if (!batch_patched(module, batch))
		return -1;
	module_render(run, space, pid, module, batch);
	foreseen->plan = plan_now(module->plan);
	/* As springs_map will find. */
	if (module->relocated && !module->springs)
		foreseen->plan.springs = false;
	return 0;
}

/* Whether all is where it was foreseen, except slots. */
static bool
places_same(const struct module *module, const struct foreseen *foreseen)
{
	const struct module *then = &foreseen->module;

	return plan_same(foreseen) && module->relocated == then->relocated &&
	       module->relocated_size == then->relocated_size &&
	       module->springs == then->springs &&
	       module->springs_size == then->springs_size &&
	       module->spring == then->spring &&
	       module->counters.kind == then->counters.kind &&
	       module->counters.offset == then->counters.offset &&
	       module->counters.size == then->counters.size &&
	       module->shared.va == then->shared.va;
}

/*
 * Take over what was buffered early, once; whether the text is still the same.
 */
static bool
text_take(struct run *run, struct space *space, pid_t tid,
	  struct foreseen *foreseen)
{
	must(!space->text);
	if (!foreseen->space.text)
		return false;
	space->text = foreseen->space.text;
	foreseen->space.text = NULL;
	return text_unchanged(run, space, tid);
}

/*
 * Take what was rendered early, if the text is still what it was then.  Whether
 * that was done.
 */
static bool
foreseen_take(struct run *run, struct space *space, pid_t tid,
	      struct module *module, struct foreseen *foreseen)
{
	const struct module *then = &foreseen->module;

	if (module->slots != then->slots ||
	    module->slots_size != then->slots_size)
		return false;
	if (!text_take(run, space, tid, foreseen))
		return false;
	module->patched = then->patched;
	module->nsites = then->nsites;
	module->room = then->room;
	module->slot_site = then->slot_site;
	foreseen->module.patched = NULL;
	foreseen->module.slot_site = NULL;
	return true;
}

/* ---- */

/*
 * Have all patches chosen and, with what leads from them, rendered: early, if
 * that fits.  The memory for relocated functions is mapped.
 */
static int
module_prepare(struct room *room, struct module *module, struct batch *batch,
	       struct foreseen *foreseen)
{
	struct run *run = room->run;
	struct space *space = room->task->process->space;
	bool early = foreseen && places_same(module, foreseen);
	pid_t tid = room->task->tid;

	if (early)
		module->nslots = foreseen->module.nslots;
	else if (module_begin(run, space, tid, module, batch))
		return HOST_GONE;
	else
		filters_choose(run, room->task, module, batch);
	if (slots_needed(run, module))
		slots_map(room, module);
	if (early && foreseen_take(run, space, tid, module, foreseen) &&
	    slots_write(run, space, tid, module, 0, module->nslots)) {
		*batch = foreseen->batch;
		foreseen->batch.sites = NULL;
		return HOST_OK;
	}
	if (early && module_begin(run, space, tid, module, batch))
		return HOST_GONE;
	slots_write(run, space, tid, module, 0, module->nslots);
	module_render(run, space, tid, module, batch);
	return HOST_OK;
}

int
module_fill(struct run *run, struct task *task, struct module *module,
	    struct foreseen *foreseen)
{
	struct space *space = task->process->space;
	struct room room = { .run = run, .task = task };
	struct batch batch = { 0 };
	int err;

	relocated_map(&room, module);
	err = module_prepare(&room, module, &batch, foreseen);
	if (!err) {
		module_flush(run, space, task->tid, module, &batch);
		module->nrelocated = module->nundeferred =
			module->plan->nrelocated;
		module->plan->planted |= module->relocated != 0;
	}
	text_drop(space);
	free(batch.sites);
	if (!err && host_counters_wanted(run))
		host_counters_plant(run, module);
	return err;
}

/* ---- undoing */

/* Take all traps and patches out of the text that is buffered. */
static void
module_undo(struct run *run, struct space *space, pid_t tid,
	    const struct module *module)
{
	struct batch batch = { 0 };

	for (size_t i = 0; i < module->nsites; i++)
		*vec_push(batch.sites, batch.n) = i;
	batch_sort(module, &batch);
	module_edit(run, space, tid, module, &batch, trap_remove);
	free(batch.sites);
	relocated_unplant(run, space, tid, module);
}

void
module_undo_foresee(struct run *run, pid_t pid, const struct module *module,
		    struct foreseen *foreseen)
{
	foreseen->plan = plan_now(module->plan);
	text_buffer(&foreseen->space, module->lo, module->hi, BUFFER_EARLY);
	module_undo(run, &foreseen->space, pid, module);
}

/*
 * Take what was undone early.  While nothing is added to the module all that is
 * to be undone lies in the text that was buffered.
 */
static bool
undo_take(struct run *run, struct space *space, pid_t tid,
	  const struct module *module, struct foreseen *foreseen)
{
	const struct module *then = &foreseen->module;

	if (module->nsites != then->nsites ||
	    module->nrelocated != then->nrelocated ||
	    module->nundeferred != then->nundeferred ||
	    module->nreopened != then->nreopened || !plan_same(foreseen))
		return false;
	return text_take(run, space, tid, foreseen);
}

int
module_unplant(struct run *run, struct space *space, pid_t tid,
	       const struct module *module, struct foreseen *foreseen)
{
	bool refused;

	if (!foreseen || !undo_take(run, space, tid, module, foreseen)) {
		text_drop(space);
		module_buffer(run, space, module->lo, module->hi);
		module_undo(run, space, tid, module);
	}
	refused = text_flush(run, space, tid) != HOST_OK;
	return refused && module_differs(run, space, tid, module) ? HOST_ERROR :
								    HOST_OK;
}
