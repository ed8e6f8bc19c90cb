/*
 * Relocated functions in a process: plants them and the patches of the
 * originals that lead there (relocated_text.c writes the bytes), and undoes
 * those patches.  Never translates a pc in a relocated function: relocated_pc.c
 * does.
 */
#include "monitor/patch/relocated.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/patch/deferred.h"
#include "monitor/patch/patched.h"
#include "monitor/patch/redirect.h"
#include "monitor/patch/relocated_text.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "relocate/relocate.h"
#include "util/fail.h"
#include "util/mem.h"

enum { TEXT_MAX = 1 << 20 };

/* ---- planting */

struct relocated_place
relocated_place(const struct module *module, const struct func_plan *fplan)
{
	return (struct relocated_place){
		.va = module->relocated + fplan->relocated_at,
		.bias = module->bias,
		.slots = module->shared.va + module->counters.offset,
		.page = region_offsets(),
		.spring = module->spring,
	};
}

/* Write the function's entry patches into `bytes`, the text [lo, lo + n). */
static void
patches_apply(const struct module *module, const struct func_plan *fplan,
	      uint64_t lo, size_t n, uint8_t *bytes)
{
	struct relocated_place place = relocated_place(module, fplan);
	struct code_patch patches[2];

	for (uint32_t i = 0; i < fplan->relocated->nentry_patches; i++) {
		int r = entry_patch_bytes(fplan->relocated,
					  &fplan->relocated->entry_patches[i],
					  &place, patches);

		while (r-- > 0)
			for (size_t k = 0; k < patches[r].len; k++)
				if (patches[r].va + k - module->bias - lo < n)
					bytes[patches[r].va + k - module->bias -
					      lo] = patches[r].bytes[k];
	}
}

void
relocated_apply(const struct module *module, uint64_t lo, size_t n,
		uint8_t *bytes)
{
	const struct plan *plan = module->plan;

	for (size_t i = 0; module->relocated && i < module->nrelocated; i++) {
		const struct func_plan *fplan =
			&plan->fplans[plan->relocated_fplans[i]];

		patches_apply(module, fplan, lo, n, bytes);
		redirect_apply(module, fplan, lo, n, bytes);
	}
}

/* Whether each byte is the file's, a patch's, or that of a trap of pmon's. */
static bool
bytes_expected(const struct module *module, const struct func_plan *fplan,
	       uint64_t lo, size_t n, const uint8_t *bytes, const uint8_t *text)
{
	const struct arch *arch = module->plan->image->arch;
	uint8_t *patched = mem_alloc(n);
	bool expected = true;

	memcpy(patched, text, n);
	patches_apply(module, fplan, lo, n, patched);
	redirect_apply(module, fplan, lo, n, patched);
	for (size_t k = 0; k < n && expected; k++)
		expected = bytes[k] == text[k] || bytes[k] == patched[k] ||
			   (bytes[k] == arch->trap[0] &&
			    plan_site(module->plan, lo + k));
	free(patched);
	return expected;
}

/*
 * Whether the range of the original is as in the file, but for traps and
 * patches that may be there already.  HOST_OK; HOST_ERROR if it is not,
 * HOST_GONE if the process has ended.
 */
static int
range_intact(struct run *run, const struct space *space, pid_t tid,
	     const struct module *module, const struct func_plan *fplan,
	     const struct range *range)
{
	size_t n = range->hi - range->lo, avail;
	const uint8_t *text = image_text(module->plan->image, range->lo,
					 &avail);
	uint8_t *bytes;
	bool intact;
	int err;

	if (!text || avail < n || n > TEXT_MAX)
		return HOST_ERROR;
	/* Of many that are planted at once, nearly all are as in the file. */
	err = text_same(run, space, tid, range->lo + module->bias, text, n);
	if (err != HOST_ERROR)
		return err;
	bytes = mem_alloc(n);
	err = text_read(run, space, tid, range->lo + module->bias, bytes, n);
	intact = !err &&
		 bytes_expected(module, fplan, range->lo, n, bytes, text);
	free(bytes);
	return err ? HOST_GONE : intact ? HOST_OK : HOST_ERROR;
}

static int
text_intact(struct run *run, const struct space *space, pid_t tid,
	    const struct module *module, struct func_plan *fplan)
{
	int err = HOST_OK;

	for (size_t i = 0; i < fplan->nranges && !err; i++)
		err = range_intact(run, space, tid, module, fplan,
				   &fplan->ranges[i]);
	if (err == HOST_ERROR) {
		fplan->differs = true;
		fail("some of its code in memory differs from the file");
	}
	return err;
}

/* Whether the bytes are the patch's, or some of them, which was cut short. */
static bool
patch_stands(const struct code_patch *patch, const uint8_t *now,
	     const uint8_t *text)
{
	for (size_t i = 0; i < patch->len; i++)
		if (now[i] != patch->bytes[i] && now[i] != text[i])
			return false;
	return memcmp(now, text, patch->len) != 0;
}

bool
patch_undo(struct run *run, const struct space *space, pid_t tid,
	   const struct module *module, const struct code_patch *patch)
{
	uint8_t now[INSN_MAX];
	size_t avail;
	const uint8_t *text = image_text(module->plan->image,
					 patch->va - module->bias, &avail);

	return !text_read(run, space, tid, patch->va, now, patch->len) &&
	       patch_stands(patch, now, text) &&
	       !text_write(run, space, tid, patch->va, text, patch->len);
}

/*
 * A landing slot or springboard whose jump goes away, and the entry patch that
 * leads to it.
 */
struct landing {
	const struct space *space;
	uint64_t va, from;
};

static void
landing_leave(struct run *run, struct task *task, void *ctx)
{
	const struct landing *landing = ctx;
	uint64_t pc;

	if (task->process && task->process->space == landing->space &&
	    task->state == TASK_STOPPED &&
	    !run->host->reg_get(task->tid, run->arch->reg_pc, &pc) &&
	    pc == landing->va)
		run->host->reg_set(task->tid, run->arch->reg_pc, landing->from);
}

/* Those of a function that are, or that were before, in use. */
struct entry_patches {
	const struct entry_patch *patches;
	uint32_t n;
};

/* Undo one patch of an entry patch; move tasks back that stand in it. */
static void
entry_patch_undo(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, const struct code_patch *patch,
		 uint64_t from)
{
	struct landing landing = { space, patch->va, from };
	bool spring = patch->va - module->springs < module->springs_size;

	/* Springboards stay: nothing leads there any more. */
	if ((spring || patch_undo(run, space, tid, module, patch)) &&
	    landing.va != landing.from)
		task_each(run, landing_leave, &landing);
}

/*
 * Put the original bytes back at these entry patches, and tasks that stand in
 * one of their landing slots back to the entry patch.
 */
static void
entry_patches_undo(struct run *run, struct space *space, pid_t tid,
		   const struct module *module, const struct func_plan *fplan,
		   const struct entry_patches *these)
{
	struct relocated_place place = relocated_place(module, fplan);
	struct code_patch patches[2];

	for (uint32_t i = 0; i < these->n; i++) {
		int n = entry_patch_bytes(fplan->relocated, &these->patches[i],
					  &place, patches);

		while (n-- > 0)
			entry_patch_undo(run, space, tid, module, &patches[n],
					 these->patches[i].addr + module->bias);
	}
}

/* The jump to a springboard is gone: plant the trap that was there before. */
static void
spring_trap(struct run *run, const struct space *space, pid_t tid,
	    const struct module *module, uint64_t addr)
{
	const struct arch *arch = module->plan->image->arch;
	const struct site *site = plan_site(module->plan, addr);
	uint8_t now[sizeof(arch->trap)];
	size_t i = site ? (size_t)(site - module->plan->sites) : SIZE_MAX;

	if (i < module->nsites && module->patched[i].patch == PATCH_LEADS &&
	    !text_read(run, space, tid, addr + module->bias, now,
		       arch->trap_len) &&
	    !memcmp(now, module->patched[i].saved, arch->trap_len))
		text_write(run, space, tid, addr + module->bias, arch->trap,
			   arch->trap_len);
}

/*
 * The kernel has refused to undo a patch, so that what was to be planted there
 * cannot be.
 */
static void
patch_stuck(struct space *space, const struct module *module,
	    struct func_plan *fplan, const struct code_patch *patch)
{
	fplan->unwritten = true;
	for (uint64_t i = 0; i < patch->len; i++) {
		const struct site *site = plan_site(
			module->plan, patch->va + i - module->bias);

		if (site)
			site_unhooked(space, module,
				      (uint32_t)(site - module->plan->sites));
	}
}

/* Look for what could not be undone of a former entry patch. */
static void
former_check(struct run *run, struct space *space, pid_t tid,
	     const struct module *module, struct func_plan *fplan,
	     const struct entry_patch *former)
{
	struct relocated_place place = relocated_place(module, fplan);
	struct code_patch patches[2];
	int n = entry_patch_bytes(fplan->relocated, former, &place, patches);
	uint8_t now[INSN_MAX];
	size_t avail;

	while (n-- > 0)
		if (patches[n].va - module->springs >= module->springs_size &&
		    !text_read(run, space, tid, patches[n].va, now,
			       patches[n].len) &&
		    patch_stands(&patches[n], now,
				 image_text(module->plan->image,
					    patches[n].va - module->bias,
					    &avail)))
			patch_stuck(space, module, fplan, &patches[n]);
}

void
relocated_reopen(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, uint32_t index)
{
	struct func_plan *fplan = &module->plan->fplans[index];

	if (!module->relocated)
		return;
	redirect_review(run, space, tid, module, index);
	entry_patches_undo(run, space, tid, module, fplan,
			   &(struct entry_patches){ fplan->former,
						    fplan->nformer });
	for (uint32_t i = 0; i < fplan->nformer; i++)
		former_check(run, space, tid, module, fplan, &fplan->former[i]);
	for (uint32_t i = 0; i < fplan->nformer && !fplan->lost; i++)
		if (fplan->former[i].via == VIA_SPRING)
			spring_trap(run, space, tid, module,
				    fplan->former[i].addr);
}

void
relocated_revert(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, uint32_t index)
{
	const struct func_plan *fplan = &module->plan->fplans[index];

	redirect_undo(run, space, tid, module, index);
	entry_patches_undo(run, space, tid, module, fplan,
			   &(struct entry_patches){
				   fplan->relocated->entry_patches,
				   fplan->relocated->nentry_patches,
			   });
}

static void
lead_remove(struct run *run, const struct space *space, pid_t tid,
	    const struct module *module, size_t site)
{
	const struct plan *plan = module->plan;
	const struct arch *arch = plan->image->arch;
	struct code_patch patch = {
		.va = plan->sites[site].addr + module->bias,
		.len = arch->trap_len,
	};

	memcpy(patch.bytes, arch->trap, arch->trap_len);
	patch_undo(run, space, tid, module, &patch);
}

void
lost_note(const struct plan *plan, struct lost *lost, uint32_t index)
{
	if (!plan->fplans[index].lost)
		return;
	if (!lost->is)
		lost->is = mem_alloc(plan->nfplans * sizeof(*lost->is));
	lost->is[index] = true;
}

void
lost_end(struct run *run, const struct space *space, pid_t tid,
	 const struct module *module, struct lost *lost)
{
	const struct plan *plan = module->plan;

	for (size_t i = 0; lost->is && i < plan->nsites; i++)
		if (plan->sites[i].leads && lost->is[plan->sites[i].fplan] &&
		    !plan->sites[i].hook)
			lead_remove(run, space, tid, module, i);
	free(lost->is);
	lost->is = NULL;
}

/* The relocated function could not be planted: lead nothing there. */
static void
relocated_lose(struct run *run, struct space *space, pid_t tid,
	       const struct module *module, uint32_t index)
{
	struct func_plan *fplan = &module->plan->fplans[index];

	if (!fplan->lost)
		run_remark(run, "%s: not all functions are counted: %s",
			   module->plan->image->path, fail_message());
	fplan->lost = true;
	relocated_revert(run, space, tid, module, index);
}

void
relocated_code(struct run *run, struct space *space, pid_t tid,
	       const struct module *module, uint32_t index)
{
	if (relocated_code_write(run, space, tid, module,
				 &module->plan->fplans[index]) == HOST_ERROR)
		relocated_lose(run, space, tid, module, index);
}

void
relocated_enable(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, uint32_t index)
{
	struct func_plan *fplan = &module->plan->fplans[index];
	int err = text_intact(run, space, tid, module, fplan);

	if (!err && entry_patches_write(run, space, tid, module, fplan))
		err = HOST_ERROR;
	/* A redirected call is written where other tasks may be. */
	if (!err && !entry_deferred(module, fplan))
		redirect_write(run, space, tid, module, index);
	/* HOST_GONE: a process that has ended loses nothing. */
	if (err == HOST_ERROR)
		relocated_lose(run, space, tid, module, index);
}

void
relocated_check(struct run *run, struct space *space, pid_t tid,
		const struct module *module, bool entries)
{
	const struct plan *plan = module->plan;
	struct lost lost = { 0 };

	for (size_t i = 0; i < plan->nrelocated; i++) {
		uint32_t index = plan->relocated_fplans[i];
		const struct func_plan *fplan = &plan->fplans[index];

		if (fplan->lost)
			continue;
		/* A call may have been written by half. */
		if (entries)
			redirect_undo(run, space, tid, module, index);
		if (entries ? entry_patches_written(run, space, tid, module,
						    fplan) :
			      relocated_code_written(run, space, tid, module,
						     fplan))
			continue;
		text_refused(run, space, tid, module->lo);
		relocated_lose(run, space, tid, module, index);
		lost_note(plan, &lost, index);
	}
	lost_end(run, space, tid, module, &lost);
}

void
relocated_unplant(struct run *run, struct space *space, pid_t tid,
		  const struct module *module)
{
	const struct plan *plan = module->plan;

	for (size_t i = 0; module->relocated && i < plan->nrelocated; i++)
		relocated_revert(run, space, tid, module,
				 plan->relocated_fplans[i]);
}

void
relocated_remove(struct run *run, struct space *space, pid_t tid,
		 struct module *module)
{
	const struct plan *plan = module->plan;

	relocated_unplant(run, space, tid, module);
	for (size_t i = 0; i < module->nsites; i++) {
		if (module->patched[i].patch != PATCH_LEADS ||
		    plan->fplans[plan->sites[i].fplan].lost)
			continue;
		lead_remove(run, space, tid, module, i);
		module->patched[i].patch = PATCH_UNPLANTED;
	}
	module->nrelocated = module->nundeferred = 0;
}
