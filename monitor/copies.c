/*
 * Copies of functions in a process (copy/): the memory they are in, and how
 * the originals are made to lead there, and are put back.  What a pc in one
 * stands for is copies_pc.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "copy/copy.h"
#include "monitor/areas.h"
#include "monitor/copies.h"
#include "monitor/extend.h"
#include "monitor/links.h"
#include "monitor/run.h"
#include "monitor/slots.h"
#include "monitor/task.h"
#include "monitor/text.h"
#include "util/fail.h"
#include "util/mem.h"

enum { TEXT_MAX = 1 << 20 };

/* ---- memory */

/* How much of an area and of code the module may come to need. */
static uint64_t
counters_need(const struct image *image)
{
	uint64_t size = 0;

	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].bytes)
			size += image->segments[i].filesz;
	return 2 * size;
}

void
copies_map(struct run *run, struct task *task, struct module *module)
{
	struct space *space = task->process->space;
	const struct image *image = module->plan->image;
	uint64_t need = counters_need(image);

	if (!module->plan->wish.copies)
		return;
	if (space->own_area) {
		copies_refuse(run, module->plan, space->own_area);
		return;
	}
	if (!space->areas && areas_open(run, task, need))
		goto refused;
	if (areas_reserve(space, need, &module->area))
		goto refused;
	module->copies_size = 3 * need + 65536;
	module->copies = near_map(run, task, module, module->copies_size);
	if (module->copies) {
		areas_guard(space, module);
		module->nguards = module->plan->nguards;
		return;
	}
	fail("it was refused memory for copies");
refused:
	copies_refuse(run, module->plan, fail_message());
}

/* ---- planting */

struct copy_place
copy_place(const struct module *module, const struct body *body)
{
	return (struct copy_place){
		.va = module->copies + body->copy_at, .bias = module->bias,
		.counters = module->area, .scratch = 0,
	};
}

/* Put a body's patches into the bytes of [lo, lo + n) that they are in. */
static void
patches_apply(const struct module *module, const struct body *body,
	      uint64_t lo, size_t n, uint8_t *bytes)
{
	struct copy_place place = copy_place(module, body);
	struct copy_patch patches[2];

	for (uint32_t i = 0; i < body->copy->npoints; i++) {
		int r = copy_patches(body->copy, &body->copy->points[i],
				     &place, patches);

		while (r-- > 0)
			for (size_t k = 0; k < patches[r].len; k++)
				if (patches[r].va + k - module->bias - lo < n)
					bytes[patches[r].va + k -
					      module->bias - lo] =
						patches[r].bytes[k];
	}
}

/* Is each byte the file's, or a patch's, or a trap of pmon's? */
static bool
bytes_expected(const struct module *module, const struct body *body,
	       uint64_t lo, size_t n, const uint8_t *bytes,
	       const uint8_t *text)
{
	const struct arch *arch = module->plan->image->arch;
	uint8_t *patched = mem_alloc(n);
	bool expected = true;

	memcpy(patched, text, n);
	patches_apply(module, body, lo, n, patched);
	links_apply(module, body, lo, n, patched);
	for (size_t k = 0; k < n && expected; k++)
		expected = bytes[k] == text[k] || bytes[k] == patched[k] ||
			   (bytes[k] == arch->trap[0] &&
			    plan_site(module->plan, lo + k));
	free(patched);
	return expected;
}

/*
 * Is the original what the file says, but for traps and what may have been
 * patched already?  HOST_OK; HOST_ERROR if it is not, HOST_GONE if the process
 * has ended.
 */
static int
range_intact(struct run *run, const struct space *space, pid_t tid,
	     const struct module *module, const struct body *body,
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
	/* Where many are planted at once nearly all are as in the file. */
	intact = !err && (!memcmp(bytes, text, n) ||
			  bytes_expected(module, body, range->lo, n, bytes,
					 text));
	free(bytes);
	return err ? HOST_GONE : intact ? HOST_OK : HOST_ERROR;
}

static int
text_intact(struct run *run, const struct space *space, pid_t tid,
	    const struct module *module, struct body *body)
{
	int err = HOST_OK;

	for (size_t i = 0; i < body->nranges && !err; i++)
		err = range_intact(run, space, tid, module, body,
				   &body->ranges[i]);
	if (err == HOST_ERROR) {
		body->differs = true;
		fail("some of its text differs from the file");
	}
	return err;
}

static int
points_write(struct run *run, const struct space *space, pid_t tid,
	     const struct module *module, const struct body *body)
{
	struct copy_place place = copy_place(module, body);
	struct copy_patch patches[2];

	for (uint32_t i = 0; i < body->copy->npoints; i++) {
		int n;

		if (body->copy->points[i].via == VIA_TRAP)
			continue;
		n = copy_patches(body->copy, &body->copy->points[i], &place,
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
	   const struct module *module, const struct copy_patch *patch)
{
	uint8_t now[INSN_MAX];
	size_t avail;

	return !text_read(run, space, tid, patch->va, now, patch->len) &&
	       !memcmp(now, patch->bytes, patch->len) &&
	       !text_write(run, space, tid, patch->va, image_text(
						module->plan->image,
						patch->va - module->bias,
						&avail), patch->len);
}

/* A place that goes, and where tasks at it came from. */
struct hole {
	const struct space *space;
	uint64_t va, from;
};

static void
hole_leave(struct run *run, struct task *task, void *ctx)
{
	const struct hole *hole = ctx;
	uint64_t pc;

	if (task->process && task->process->space == hole->space &&
	    task->state == TASK_STOPPED &&
	    !run->host->reg_get(task->tid, run->arch->reg_pc, &pc) &&
	    pc == hole->va)
		run->host->reg_set(task->tid, run->arch->reg_pc, hole->from);
}

/* The original's bytes at points of a copy are as they were. */
static void
points_undo(struct run *run, struct space *space, pid_t tid,
	    const struct module *module, const struct body *body,
	    const struct point *points, uint32_t npoints)
{
	struct copy_place place = copy_place(module, body);
	struct copy_patch patches[2];

	for (uint32_t i = 0; i < npoints; i++) {
		int n = copy_patches(body->copy, &points[i], &place, patches);

		while (n-- > 0) {
			struct hole hole = {
				space, patches[n].va,
				points[i].addr + module->bias,
			};

			if (patch_undo(run, space, tid, module, &patches[n]) &&
			    hole.va != hole.from)
				task_each(run, hole_leave, &hole);
		}
	}
}

void
copy_reopen(struct run *run, struct space *space, pid_t tid,
	    const struct module *module, uint32_t index)
{
	const struct body *body = &module->plan->bodies[index];

	if (!module->copies)
		return;
	if (!links_lead(module->plan, body))
		links_undo(run, space, tid, module, index);
	points_undo(run, space, tid, module, body, body->former,
		    body->nformer);
}

void
copy_revert(struct run *run, struct space *space, pid_t tid,
	    const struct module *module, uint32_t index)
{
	const struct body *body = &module->plan->bodies[index];

	links_undo(run, space, tid, module, index);
	points_undo(run, space, tid, module, body, body->copy->points,
		    body->copy->npoints);
}

static void
lead_remove(struct run *run, const struct space *space, pid_t tid,
	    const struct module *module, size_t site)
{
	const struct plan *plan = module->plan;
	const struct arch *arch = plan->image->arch;
	struct copy_patch patch = {
		.va = plan->sites[site].addr + module->bias,
		.len = arch->trap_len,
	};

	memcpy(patch.bytes, arch->trap, arch->trap_len);
	patch_undo(run, space, tid, module, &patch);
}

/* There is no copy: no trap may lead there, known points' or others'. */
static void
leads_remove(struct run *run, const struct space *space, pid_t tid,
	     const struct module *module, uint32_t index)
{
	const struct plan *plan = module->plan;

	for (size_t i = 0; i < plan->nsites; i++)
		if (plan->sites[i].leads && plan->sites[i].body == index)
			lead_remove(run, space, tid, module, i);
}

/* Can it be: its bytes, if so. */
static int
copy_ready(struct run *run, const struct space *space, pid_t tid,
	   const struct module *module, struct body *body,
	   uint8_t *bytes)
{
	struct copy_place place = copy_place(module, body);
	int err;

	if (!module->copies ||
	    body->copy_at + body->copy->size > module->copies_size) {
		fail("there is no memory for more copies");
		return HOST_ERROR;
	}
	err = text_intact(run, space, tid, module, body);
	if (err)
		return err;
	return copy_write(body->copy, &place, bytes) ? HOST_ERROR : HOST_OK;
}

void
copy_plant(struct run *run, struct space *space, pid_t tid,
	   const struct module *module, uint32_t index)
{
	struct body *body = &module->plan->bodies[index];
	uint8_t *bytes = mem_alloc(body->copy->size);
	int err = copy_ready(run, space, tid, module, body, bytes);

	if (!err && !text_write(run, space, tid, module->copies + body->copy_at,
				bytes, body->copy->size) &&
	    points_write(run, space, tid, module, body))
		err = HOST_ERROR;
	free(bytes);
	if (!err)
		links_write(run, space, tid, module, index);
	/* A process that has ended loses nothing. */
	if (err != HOST_ERROR)
		return;
	if (!body->lost)
		run_remark(run, "%s: not all is counted: %s",
			   module->plan->image->path, fail_message());
	body->lost = true;
	copy_revert(run, space, tid, module, index);
	leads_remove(run, space, tid, module, index);
}

void
copies_unplant(struct run *run, struct space *space, pid_t tid,
	       const struct module *module)
{
	const struct plan *plan = module->plan;

	for (size_t i = 0; module->copies && i < plan->ncopied; i++)
		copy_revert(run, space, tid, module, plan->copied[i]);
}

/* ---- doing without */

/* Nothing leads to copies, nor from one to another: neither jump nor trap. */
static void
copies_remove(struct run *run, struct space *space, pid_t tid,
	      struct module *module)
{
	const struct plan *plan = module->plan;

	copies_unplant(run, space, tid, module);
	for (size_t i = 0; i < module->nsites; i++) {
		if (!plan->sites[i].leads ||
		    plan->bodies[plan->sites[i].body].lost)
			continue;
		lead_remove(run, space, tid, module, i);
		module->patched[i].patch = PATCH_UNPLANTED;
	}
	module->ncopied = 0;
}

/* While nobody can have been in one all of that can be undone. */
static bool
copies_withdraw(struct run *run, struct plan *plan)
{
	if ((run->started && plan->planted) || plan->wish.no_traps)
		return false;
	for (struct process *p = run->processes; p; p = p->next)
		for (size_t i = 0; p->space && i < p->space->nmodules; i++)
			if (p->space->modules[i]->plan == plan)
				copies_remove(run, p->space, p->pid,
					      p->space->modules[i]);
	plan_copies_withdraw(plan);
	plan_extended(run, plan);
	return true;
}

void
copies_refuse(struct run *run, struct plan *plan, const char *why)
{
	if (!plan->wish.copies)
		return;
	plan_copies_refuse(plan, why);
	run_remark(run, "%s: %s: %s", plan->image->path, run->opts->no_traps ?
		   "not counted" : "counted by traps", why);
	if (copies_withdraw(run, plan))
		return;
	for (size_t i = 0; i < plan->ncopied; i++) {
		struct body *body = &plan->bodies[plan->copied[i]];

		if (body->lost)
			continue;
		body->lost = true;
		*vec_push(plan->reverted, plan->nreverted) = plan->copied[i];
	}
	if (plan->nreverted)
		plan_extended(run, plan);
}
