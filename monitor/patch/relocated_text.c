/*
 * Writes the bytes of relocated functions and of the patches that lead there,
 * and finds out afterwards whether they are there.  Undoes nothing, and does not
 * decide what becomes of a function whose bytes are refused: relocated.c does.
 */
#include "monitor/patch/relocated_text.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/patch/deferred.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/text_edit.h"
#include "relocate/pc_map.h"
#include "relocate/relocate.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/sort.h"

enum { NEAR = 4096 };	/* between patches that are written at once */

bool
text_refused(struct run *run, const struct space *space, pid_t tid, uint64_t va)
{
	if (!text_there(run, space, tid, va))
		return false;
	fail("the kernel refuses to write some of their code");
	return true;
}

/* ---- code */

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

int
relocated_code_write(struct run *run, const struct space *space, pid_t tid,
		     const struct module *module, const struct func_plan *fplan)
{
	struct relocated_place place = relocated_place(module, fplan);
	size_t n = fplan->relocated->size;
	uint8_t *bytes;
	int err;

	if (!module->relocated ||
	    fplan->relocated_at + n > module->relocated_size) {
		fail("there is no memory for more relocated functions");
		return HOST_ERROR;
	}
	if (counters_end(fplan) > module->counters.size) {
		fail("there is no room for more counters");
		return HOST_ERROR;
	}
	bytes = mem_alloc(n);
	err = relocated_write(fplan->relocated, &place, bytes) ? HOST_ERROR :
								 HOST_OK;
	if (!err && text_write(run, space, tid, place.va, bytes, n))
		err = text_refused(run, space, tid, place.va) ? HOST_ERROR :
								HOST_GONE;
	free(bytes);
	return err;
}

bool
relocated_code_written(struct run *run, const struct space *space, pid_t tid,
		       const struct module *module,
		       const struct func_plan *fplan)
{
	struct relocated_place place = relocated_place(module, fplan);
	size_t n = fplan->relocated->size;
	uint8_t *bytes = mem_alloc(n), *now = mem_alloc(n);
	bool written = relocated_write(fplan->relocated, &place, bytes) ||
		       text_read(run, space, tid, place.va, now, n) ||
		       !memcmp(now, bytes, n);

	free(bytes);
	free(now);
	return written;
}

bool
relocated_stands(struct run *run, const struct task *task,
		 const struct module *module, const struct site *site)
{
	const struct func_plan *fplan;

	if (site->fplan == FPLAN_NONE || !module->relocated)
		return false;
	fplan = &module->plan->fplans[site->fplan];
	return fplan->relocated &&
	       relocated_offset(fplan->relocated, site->addr) >= 0 &&
	       relocated_code_written(run, task->process->space, task->tid,
				      module, fplan);
}

/* ---- entry patches */

/* Whether nothing is written at the entry patch, or not yet. */
static bool
entry_patch_omitted(const struct entry_patch *entry_patch,
		    const struct relocated_place *place, bool deferred)
{
	return entry_patch->via == VIA_TRAP ||
	       (entry_patch->via == VIA_SPRING && !place->spring) ||
	       (deferred && entry_patch->kind == ENTRY_PATCH_ENTRY);
}

/* The patches of a function, ascending by va. */
struct patch_list {
	struct code_patch *patches;
	size_t n;
};

static int
by_va(const void *va, const void *vb)
{
	const struct code_patch *a = va, *b = vb;

	return a->va < b->va ? -1 : a->va > b->va;
}

static int
patches_list(const struct module *module, const struct func_plan *fplan,
	     struct patch_list *list)
{
	struct relocated_place place = relocated_place(module, fplan);
	bool deferred = entry_deferred(module, fplan);
	struct code_patch patches[2];

	for (uint32_t i = 0; i < fplan->relocated->nentry_patches; i++) {
		const struct entry_patch *entry_patch =
			&fplan->relocated->entry_patches[i];
		int n;

		if (entry_patch_omitted(entry_patch, &place, deferred))
			continue;
		n = entry_patch_bytes(fplan->relocated, entry_patch, &place,
				      patches);
		if (n < 0)
			return -1;
		while (n-- > 0)
			*vec_push(list->patches, list->n) = patches[n];
	}
	if (list->n)
		sort(list->patches, list->n, sizeof(*list->patches), by_va);
	return 0;
}

/* How many of the n patches lie so close that one write is for all. */
static size_t
patches_near(const struct code_patch *patches, size_t n)
{
	size_t i = 1;

	while (i < n && patches[i].va - patches[i - 1].va < NEAR)
		i++;
	return i;
}

/* Write patches with the text between them at once. */
static int
patches_write(struct run *run, const struct space *space, pid_t tid,
	      const struct code_patch *patches, size_t n)
{
	uint64_t lo = patches[0].va;
	size_t size = patches[n - 1].va + patches[n - 1].len - lo;
	uint8_t *text = mem_alloc(size);
	int err = text_read(run, space, tid, lo, text, size);

	for (size_t i = 0; i < n && !err; i++)
		memcpy(text + (patches[i].va - lo), patches[i].bytes,
		       patches[i].len);
	if (!err)
		err = text_write(run, space, tid, lo, text, size);
	free(text);
	return err;
}

/*
 * Write as many entry patches as possible at once: where only some of them were
 * written control could come to the middle of one.  `springs`: only the
 * springboards, which jumps of the others lead to; else only the others.
 */
static int
patches_apart(struct run *run, const struct space *space, pid_t tid,
	      const struct module *module, const struct patch_list *list,
	      bool springs)
{
	size_t near;

	for (size_t i = 0; i < list->n; i += near) {
		const struct code_patch *first = &list->patches[i];
		bool spring = first->va - module->springs <
			      module->springs_size;

		near = patches_near(first, list->n - i);
		if (spring == springs &&
		    patches_write(run, space, tid, first, near) &&
		    text_refused(run, space, tid, first->va))
			return -1;
	}
	return 0;
}

int
entry_patches_write(struct run *run, const struct space *space, pid_t tid,
		    const struct module *module, const struct func_plan *fplan)
{
	struct patch_list list = { 0 };
	int err = patches_list(module, fplan, &list);

	if (!err)
		err = patches_apart(run, space, tid, module, &list, true);
	if (!err)
		err = patches_apart(run, space, tid, module, &list, false);
	free(list.patches);
	return err;
}

/* Write what the range has of the n bytes at va. */
static void
range_write(struct run *run, const struct space *space, pid_t tid,
	    const struct range *range, uint64_t va, const uint8_t *bytes,
	    size_t n)
{
	uint64_t lo = va > range->lo ? va : range->lo;
	uint64_t hi = va + n < range->hi ? va + n : range->hi;

	if (lo < hi)
		text_write(run, space, tid, lo, bytes + (lo - va), hi - lo);
}

void
relocated_code_rewrite(struct run *run, const struct space *space, pid_t tid,
		       const struct module *module, const struct range *range)
{
	const struct plan *plan = module->plan;

	for (size_t i = 0; i < module->nrelocated; i++) {
		const struct func_plan *fplan =
			&plan->fplans[plan->relocated_fplans[i]];
		struct relocated_place place = relocated_place(module, fplan);
		uint8_t *bytes = mem_alloc(fplan->relocated->size);
		struct patch_list list = { 0 };

		if (!relocated_write(fplan->relocated, &place, bytes))
			range_write(run, space, tid, range, place.va, bytes,
				    fplan->relocated->size);
		free(bytes);
		patches_list(module, fplan, &list);
		for (size_t k = 0; k < list.n; k++)
			if (list.patches[k].va - module->springs <
			    module->springs_size)
				range_write(run, space, tid, range,
					    list.patches[k].va,
					    list.patches[k].bytes,
					    list.patches[k].len);
		free(list.patches);
	}
}

bool
entry_patches_written(struct run *run, const struct space *space, pid_t tid,
		      const struct module *module,
		      const struct func_plan *fplan)
{
	struct patch_list list = { 0 };
	bool written = !patches_list(module, fplan, &list);
	uint8_t now[INSN_MAX];

	for (size_t i = 0; i < list.n && written; i++)
		written = text_read(run, space, tid, list.patches[i].va, now,
				    list.patches[i].len) ||
			  !memcmp(now, list.patches[i].bytes,
				  list.patches[i].len);
	free(list.patches);
	return written;
}
