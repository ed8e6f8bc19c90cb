/*
 * Relocated functions in a process: writes them and the patches of the
 * originals that lead there (relocate/ makes the bytes), and undoes those
 * patches.  What a pc in a relocated function stands for is relocated_pc.c's.
 */
#include "monitor/patch/relocated.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/patch/deferred.h"
#include "monitor/patch/redirect.h"
#include "monitor/patch/text_edit.h"
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
		.slots = module->counters.offset,
		.scratch = region_scratch.offset,
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
	bytes = mem_alloc(n);
	err = text_read(run, space, tid, range->lo + module->bias, bytes, n);
	/* Of many that are planted at once, nearly all are as in the file. */
	intact = !err &&
		 (!memcmp(bytes, text, n) ||
		  bytes_expected(module, fplan, range->lo, n, bytes, text));
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

static int
entry_patches_write(struct run *run, const struct space *space, pid_t tid,
		    const struct module *module, const struct func_plan *fplan)
{
	struct relocated_place place = relocated_place(module, fplan);
	bool deferred = entry_deferred(module, fplan);
	struct code_patch patches[2];

	for (uint32_t i = 0; i < fplan->relocated->nentry_patches; i++) {
		int n;

		const struct entry_patch *entry_patch =
			&fplan->relocated->entry_patches[i];

		if (entry_patch->via == VIA_TRAP ||
		    (entry_patch->via == VIA_SPRING && !place.spring) ||
		    (deferred && entry_patch->kind == ENTRY_PATCH_ENTRY))
			continue;
		n = entry_patch_bytes(fplan->relocated, entry_patch, &place,
				      patches);
		if (n < 0)
			return -1;
		while (n--)
			text_write(run, space, tid, patches[n].va,
				   patches[n].bytes, patches[n].len);
	}
	return 0;
}

bool
patch_undo(struct run *run, const struct space *space, pid_t tid,
	   const struct module *module, const struct code_patch *patch)
{
	uint8_t now[INSN_MAX];
	size_t avail;

	return !text_read(run, space, tid, patch->va, now, patch->len) &&
	       !memcmp(now, patch->bytes, patch->len) &&
	       !text_write(run, space, tid, patch->va,
			   image_text(module->plan->image,
				      patch->va - module->bias, &avail),
			   patch->len);
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

void
relocated_reopen(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, uint32_t index)
{
	const struct func_plan *fplan = &module->plan->fplans[index];

	if (!module->relocated)
		return;
	if (!redirect_allowed(module->plan, fplan))
		redirect_undo(run, space, tid, module, index);
	entry_patches_undo(run, space, tid, module, fplan,
			   &(struct entry_patches){ fplan->former,
						    fplan->nformer });
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

/*
 * The relocated function is lost: remove all traps that lead there, whether or
 * not entry patches know them.
 */
static void
leads_remove(struct run *run, const struct space *space, pid_t tid,
	     const struct module *module, uint32_t index)
{
	const struct plan *plan = module->plan;

	for (size_t i = 0; i < plan->nsites; i++)
		if (plan->sites[i].leads && plan->sites[i].fplan == index)
			lead_remove(run, space, tid, module, i);
}

/* Where the relocated function's counters end in their region. */
static uint64_t
counters_end(const struct func_plan *fplan)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < fplan->relocated->nprobes; i++)
		if (fplan->relocated->probes[i].slot >= end)
			end = fplan->relocated->probes[i].slot + 1;
	return end * sizeof(uint64_t);
}

/* Check that the relocated function can be planted, and make its bytes. */
static int
relocated_ready(struct run *run, const struct space *space, pid_t tid,
		const struct module *module, struct func_plan *fplan,
		uint8_t *bytes)
{
	struct relocated_place place = relocated_place(module, fplan);
	int err;

	if (!module->relocated || fplan->relocated_at + fplan->relocated->size >
					  module->relocated_size) {
		fail("there is no memory for more relocated functions");
		return HOST_ERROR;
	}
	if (counters_end(fplan) > module->counters.size) {
		fail("there is no room for more counters");
		return HOST_ERROR;
	}
	err = text_intact(run, space, tid, module, fplan);
	if (err)
		return err;
	return relocated_write(fplan->relocated, &place, bytes) ? HOST_ERROR :
								  HOST_OK;
}

void
relocated_plant(struct run *run, struct space *space, pid_t tid,
		const struct module *module, uint32_t index)
{
	struct func_plan *fplan = &module->plan->fplans[index];
	uint8_t *bytes = mem_alloc(fplan->relocated->size);
	int err = relocated_ready(run, space, tid, module, fplan, bytes);

	if (!err &&
	    !text_write(run, space, tid,
			module->relocated + fplan->relocated_at, bytes,
			fplan->relocated->size) &&
	    entry_patches_write(run, space, tid, module, fplan))
		err = HOST_ERROR;
	free(bytes);
	/* A redirected call is written where other tasks may be. */
	if (!err && !entry_deferred(module, fplan))
		redirect_write(run, space, tid, module, index);
	/* HOST_GONE: a process that has ended loses nothing. */
	if (err != HOST_ERROR)
		return;
	if (!fplan->lost)
		run_remark(run, "%s: not all functions are counted: %s",
			   module->plan->image->path, fail_message());
	fplan->lost = true;
	relocated_revert(run, space, tid, module, index);
	leads_remove(run, space, tid, module, index);
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
	module->nrelocated = module->nsettled = 0;
}
