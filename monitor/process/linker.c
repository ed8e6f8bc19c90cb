/*
 * Finds the place where the program's dynamic linker reports libraries that are
 * loaded or unloaded, and hooks it, so that new libraries get their traps.
 * Reads the program's memory; never writes there itself.
 */
#include <elf.h>
#include <string.h>

#include "monitor/patch/extend.h"
#include "monitor/process/linker.h"
#include "monitor/patch/redirect.h"
#include "monitor/patch/plant.h"
#include "monitor/run.h"

enum { PHDRS_MAX = 64, DYNAMICS_MAX = 256 };

/* The va where the dynamic linker reports changes (r_brk), or 0. */
static uint64_t
linker_brk(struct run *run, struct task *task)
{
	const struct host *host = run->host;
	uint64_t phdrs = host->auxv(task->tid, AT_PHDR), bias = 0, at = 0;
	uint64_t n = host->auxv(task->tid, AT_PHNUM), brk = 0;
	Elf64_Phdr phdr[PHDRS_MAX];
	Elf64_Dyn dyn = { .d_tag = DT_NULL + 1 };

	if (!phdrs || !n || n > PHDRS_MAX ||
	    host->data_read(task->tid, phdrs, phdr, n * sizeof(*phdr)))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (phdr[i].p_type == PT_PHDR)
			bias = phdrs - phdr[i].p_vaddr;
	for (size_t i = 0; i < n; i++)
		if (phdr[i].p_type == PT_DYNAMIC)
			at = phdr[i].p_vaddr + bias;
	for (size_t i = 0; at && i < DYNAMICS_MAX; i++) {
		if (host->data_read(task->tid, at + i * sizeof(dyn), &dyn,
				    sizeof(dyn)) || dyn.d_tag == DT_NULL)
			return 0;
		if (dyn.d_tag == DT_DEBUG)
			break;
	}
	/* struct r_debug: version, list, r_brk. */
	if (dyn.d_tag != DT_DEBUG || !dyn.d_un.d_ptr ||
	    host->data_read(task->tid, dyn.d_un.d_ptr + 16, &brk, sizeof(brk)))
		return 0;
	return brk;
}

/*
 * The same if the program is a dynamic linker itself, which has no DT_DEBUG
 * entry: like debuggers, pmon finds the function by its name.
 */
static uint64_t
linker_itself(struct run *run, struct task *task)
{
	uint64_t entry = run->host->auxv(task->tid, AT_ENTRY);
	const struct module *module =
		space_module(task->process->space, entry);
	const struct image *image = module ? module->plan->image : NULL;

	if (!image || !image->dyn || image->interp)
		return 0;
	for (size_t i = 0; i < image->nfuncs; i++)
		if (!strcmp(image->funcs[i].name, "_dl_debug_state"))
			return image->funcs[i].addr + module->bias;
	return 0;
}

void
linker_look(struct run *run, struct task *task)
{
	uint64_t brk;
	struct module *module;
	const struct site *site;

	process_rescan(run, task);
	brk = linker_brk(run, task);
	if (!brk)
		brk = linker_itself(run, task);
	module = brk ? space_module(task->process->space, brk) : NULL;
	if (!module)
		return;
	redirect_begin(task->process->space);
	site = plan_site(module->plan, brk - module->bias);
	if (site && site->hook)
		return;
	plan_hook(module->plan, &(struct hook){
		.kind = HOOK_LOADED, .addr = brk - module->bias,
	});
	plan_extended(run, module->plan);
}
