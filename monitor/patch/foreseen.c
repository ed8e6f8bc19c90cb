/*
 * Modules that are rendered before pmon stops their process to attach to it, and
 * undone before pmon stops it to let it go.  Never changes what a process sees.
 */
#include "monitor/patch/foreseen.h"

#include <stdlib.h>

#include "monitor/patch/module.h"
#include "monitor/patch/text_edit.h"
#include "util/mem.h"

/* Of all that is foreseen; it takes three times as much memory. */
static const uint64_t text_max = UINT64_C(1) << 28;

static void
foreseen_free(struct foreseen *foreseen)
{
	text_drop(&foreseen->space);
	free(foreseen->batch.sites);
	free(foreseen->module.patched);
	free(foreseen->module.slot_site);
	free(foreseen);
}

/* What is foreseen of the module, or NULL if there is too much already. */
static struct foreseen *
foreseen_new(struct run *run, pid_t pid, int mem, const struct module *module)
{
	struct foreseen *foreseen;
	uint64_t size = module->hi - module->lo;

	for (size_t i = 0; i < run->nforeseen; i++)
		size += run->foreseen[i]->module.hi -
			run->foreseen[i]->module.lo;
	if (size > text_max)
		return NULL;
	foreseen = mem_alloc(sizeof(*foreseen));
	*foreseen = (struct foreseen){
		.pid = pid,
		.module = *module,
		.space = { .mem = mem },
	};
	foreseen->module.patched = NULL;
	foreseen->module.slot_site = NULL;
	return foreseen;
}

void
foreseen_make(struct room *room, pid_t pid, int mem,
	      const struct module *module)
{
	struct run *run = room->run;
	struct foreseen *foreseen = foreseen_new(run, pid, mem, module);

	if (!foreseen)
		return;
	if (module_foresee(room, pid, foreseen)) {
		foreseen_free(foreseen);
		return;
	}
	text_touch(run, &foreseen->space, pid);
	*vec_push(run->foreseen, run->nforeseen) = foreseen;
}

void
foreseen_undo(struct run *run, pid_t pid, const struct space *space)
{
	for (size_t i = 0; i < space->nmodules; i++) {
		const struct module *module = space->modules[i];
		struct foreseen *foreseen = foreseen_new(run, pid, space->mem,
							 module);

		if (!foreseen)
			return;
		module_undo_foresee(run, pid, module, foreseen);
		*vec_push(run->foreseen, run->nforeseen) = foreseen;
	}
}

struct foreseen *
foreseen_find(const struct run *run, pid_t pid, const struct module *module)
{
	for (size_t i = 0; i < run->nforeseen; i++) {
		struct foreseen *foreseen = run->foreseen[i];

		if (foreseen->pid == pid &&
		    foreseen->module.plan == module->plan &&
		    foreseen->module.bias == module->bias)
			return foreseen;
	}
	return NULL;
}

void
foreseen_end(struct run *run)
{
	for (size_t i = 0; i < run->nforeseen; i++)
		foreseen_free(run->foreseen[i]);
	free(run->foreseen);
	run->foreseen = NULL;
	run->nforeseen = 0;
}
