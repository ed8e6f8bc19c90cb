/*
 * Planting: which images an address space holds and where, how each of
 * their sites is to be patched, and writing the traps.  Text is read and
 * written page by page, not site by site.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/run.h"
#include "util/fail.h"
#include "util/mem.h"

enum { PAGE = 4096 };

struct module *
space_module(const struct space *space, uint64_t va)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (va - space->modules[i]->lo <
		    space->modules[i]->hi - space->modules[i]->lo)
			return space->modules[i];
	return NULL;
}

/* ---- writing traps, a page at a time */

/* Sites first .. return value - 1 lie in one page. */
static size_t
page_sites(const struct module *module, size_t first)
{
	const struct plan *plan = module->plan;
	uint64_t page = (plan->sites[first].addr + module->bias) / PAGE;
	size_t i = first;

	while (i < plan->nsites &&
	       (plan->sites[i].addr + module->bias) / PAGE == page)
		i++;
	return i;
}

/*
 * Visit the text of a page's sites: read the bytes from the first site to
 * the last, let fn change them, write them back.
 */
static int
page_edit(struct run *run, struct space *space, pid_t tid,
	  const struct module *module, size_t first, size_t last,
	  void (*fn)(const struct arch *arch, const struct module *module,
		     size_t i, uint8_t *bytes))
{
	const struct arch *arch = module->plan->image->arch;
	const struct site *sites = module->plan->sites;
	uint64_t lo = sites[first].addr;
	size_t n = sites[last - 1].addr - lo + arch->trap_len;
	uint8_t text[PAGE + sizeof(arch->trap)], old[sizeof(text)];

	must(n <= sizeof(text));
	if (run->host->mem_read(space->mem, tid, lo + module->bias, text, n))
		return HOST_GONE;
	memcpy(old, text, n);
	for (size_t i = first; i < last; i++)
		fn(arch, module, i, text + (sites[i].addr - lo));
	if (!memcmp(old, text, n))
		return HOST_OK;
	return run->host->mem_write(space->mem, tid, lo + module->bias, text,
				    n);
}

static void
trap_write(const struct arch *arch, const struct module *module, size_t i,
	   uint8_t *bytes)
{
	struct patched *patched = &module->patched[i];

	if (patched->patch == PATCH_UNPLANTED || patched->patch == PATCH_OWN)
		return;
	memcpy(bytes, arch->trap, arch->trap_len);
}

/* A program that wrote there itself keeps what it wrote. */
static void
trap_remove(const struct arch *arch, const struct module *module, size_t i,
	    uint8_t *bytes)
{
	const struct patched *patched = &module->patched[i];

	if (patched->patch == PATCH_UNPLANTED || patched->patch == PATCH_OWN)
		return;
	if (!memcmp(bytes, arch->trap, arch->trap_len))
		memcpy(bytes, patched->saved, arch->trap_len);
}

static void
module_edit(struct run *run, struct space *space, pid_t tid,
	    const struct module *module,
	    void (*fn)(const struct arch *arch, const struct module *module,
		       size_t i, uint8_t *bytes))
{
	size_t last;

	for (size_t i = 0; i < module->plan->nsites; i = last) {
		last = page_sites(module, i);
		/* The page, or the process, may be gone: nothing to lose. */
		page_edit(run, space, tid, module, i, last, fn);
	}
}

void
module_unplant(struct run *run, struct space *space, pid_t tid,
	       const struct module *module)
{
	module_edit(run, space, tid, module, trap_remove);
}

/* ---- choosing patches */

/*
 * Out of line costs less than emulation, which has to fetch and set all
 * registers and often memory too: the program's own processor does that for
 * nothing.  Only what merely moves the pc is cheaper done here.  (Measured:
 * see HACKING.md, "What a trap costs".)
 */
static enum patch
patch_choose(const struct run *run, const struct site *site,
	     const uint8_t *code, uint64_t va, struct patched *patched)
{
	const struct arch *arch = run->arch;
	enum patch_choice choice = run->opts->patch;
	struct slot_code slot;
	bool slots, emulated;

	if (site->insn.kind == INSN_TRAP)
		return PATCH_OWN;
	slots = !arch->slot_make(code, site->insn.len, va, va, &slot);
	/* Stepping one could wait for ever while all others are stopped. */
	if (site->insn.kind == INSN_SYSCALL ||
	    arch->step_shows(code, site->insn.len))
		return PATCH_SLOTTED;
	if (choice == PATCH_STEP)
		return PATCH_STEPPED;
	emulated = !arch->emul_prepare(code, site->insn.len, va,
				       &patched->emul);
	if (choice == PATCH_AUTO && emulated && patched->emul.only_pc)
		return PATCH_SKIPPED;
	if (emulated && (choice == PATCH_EMULATE || !slots))
		return PATCH_EMULATED;
	return slots ? PATCH_SLOTTED : PATCH_STEPPED;
}

/*
 * What is in memory at a site must be what the file says: else the program
 * (or another tool) has changed its text, and the site is left alone.
 */
static bool
site_intact(const struct module *module, const struct site *site,
	    const uint8_t *bytes)
{
	size_t avail;
	const uint8_t *text = image_text(module->plan->image, site->addr,
					 &avail);

	return text && avail >= site->insn.len &&
	       !memcmp(text, bytes, site->insn.len);
}

static void
patched_choose(struct run *run, struct module *module, size_t i,
	       const uint8_t *bytes)
{
	struct site *site = &module->plan->sites[i];
	struct patched *patched = &module->patched[i];

	if (!site_intact(module, site, bytes)) {
		patched->patch = PATCH_UNPLANTED;
		site->lost = true;
		run_remark(run, "%s: some of its text differs from the file "
			   "and is not counted", module->plan->image->path);
		return;
	}
	patched->patch = patch_choose(run, site, bytes,
				      site->addr + module->bias, patched);
	memcpy(patched->saved, bytes, run->arch->trap_len);
	if (patched->patch == PATCH_SLOTTED)
		patched->slot = module->nslots++;
}

/* Read the text under all sites and choose each one's patch. */
static int
module_choose(struct run *run, struct space *space, pid_t tid,
	      struct module *module)
{
	const struct site *sites = module->plan->sites;
	uint8_t text[PAGE + INSN_MAX];
	size_t last, n;
	uint64_t lo;

	for (size_t i = 0; i < module->plan->nsites; i = last) {
		last = page_sites(module, i);
		lo = sites[i].addr;
		n = sites[last - 1].addr + sites[last - 1].insn.len - lo;
		if (run->host->mem_read(space->mem, tid, lo + module->bias,
					text, n))
			return HOST_GONE;
		for (size_t k = i; k < last; k++)
			patched_choose(run, module, k,
				       text + (sites[k].addr - lo));
	}
	return HOST_OK;
}

/* ---- modules of a process */

static void
module_extent(struct module *module)
{
	const struct image *image = module->plan->image;

	module->lo = UINT64_MAX;
	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];

		if (!(seg->flags & PF_X))
			continue;
		if (seg->addr + module->bias < module->lo)
			module->lo = seg->addr + module->bias;
		if (seg->addr + seg->memsz + module->bias > module->hi)
			module->hi = seg->addr + seg->memsz + module->bias;
	}
}

static void
module_plant(struct run *run, struct task *task, struct plan *plan,
	     uint64_t bias, const struct mapping *map)
{
	struct space *space = task->process->space;
	struct module *module = mem_alloc(sizeof(*module));

	*module = (struct module){
		.refs = 1,
		.plan = plan,
		.bias = bias,
		.map_lo = map->lo,
		.dev = map->dev,
		.ino = map->ino,
		.patched = mem_alloc(plan->nsites * sizeof(struct patched)),
	};
	module_extent(module);
	if (module_choose(run, space, task->tid, module)) {
		module_drop(module);
		return;
	}
	if (module->nslots)
		module_slots(run, task, module);
	module_edit(run, space, task->tid, module, trap_write);
	*vec_push(space->modules, space->nmodules) = module;
}

/* The bias of an image of which map shows a part. */
static bool
image_bias(const struct image *image, const struct mapping *map,
	   uint64_t *bias)
{
	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];

		if (!(seg->flags & PF_X) ||
		    seg->offset / PAGE != map->offset / PAGE)
			continue;
		*bias = map->lo - seg->addr / PAGE * PAGE;
		return image->dyn || !*bias;
	}
	return false;
}

static bool
module_known(const struct space *space, const struct mapping *map)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (space->modules[i]->map_lo == map->lo &&
		    space->modules[i]->dev == map->dev &&
		    space->modules[i]->ino == map->ino)
			return true;
	return false;
}

static void
mapping_plant(struct run *run, struct task *task, const struct mapping *map,
	      bool main_object, const char *open_path)
{
	struct plan *plan;
	uint64_t bias;

	if (module_known(task->process->space, map))
		return;
	plan = object_plan(run, map->path, open_path, main_object);
	if (plan && image_bias(plan->image, map, &bias))
		module_plant(run, task, plan, bias, map);
}

/* Modules whose text is not mapped any more are forgotten. */
static void
modules_forget(struct space *space, const struct mapping *maps, size_t n)
{
	size_t kept = 0, k;

	for (size_t i = 0; i < space->nmodules; i++) {
		struct module *module = space->modules[i];

		for (k = 0; k < n; k++)
			if (maps[k].lo == module->map_lo &&
			    maps[k].dev == module->dev &&
			    maps[k].ino == module->ino && maps[k].exec)
				break;
		if (k < n)
			space->modules[kept++] = module;
		else
			module_drop(module);
	}
	space->nmodules = kept;
}

void
process_rescan(struct run *run, struct task *task)
{
	struct mapping *maps;
	char *open_path;
	size_t n;

	if (run->host->maps(task->tid, &maps, &n))
		return;
	modules_forget(task->process->space, maps, n);
	for (size_t i = 0; i < n; i++) {
		if (!maps[i].exec || maps[i].path[0] != '/')
			continue;
		open_path = run->host->mapped(task->tid, &maps[i]);
		mapping_plant(run, task, &maps[i], false, open_path);
		free(open_path);
	}
	mappings_free(maps, n);
}

void
process_mapped(struct run *run, struct task *task)
{
	const struct abi *abi = run->abi;
	struct regs regs;
	uint64_t prot;
	int nr;

	if (run->host->regs_get(task->tid, &regs))
		return;
	nr = (int)regs.r[abi->reg_orig];
	prot = regs.r[abi->reg_arg[2]];
	if (nr == abi->nr_munmap || nr == abi->nr_mremap ||
	    ((nr == abi->nr_mmap || nr == abi->nr_mprotect) &&
	     prot & PROT_EXEC))
		process_rescan(run, task);
}

/* Say what an exec did that monitoring changes or prevents. */
static void
exe_remark(struct run *run, const char *path, const char *open_path)
{
	struct stat st;

	if (!stat(open_path, &st) && (st.st_mode & S_ISUID) && geteuid() &&
	    st.st_uid != geteuid())
		run_remark(run, "%s is set-user-ID: while it is monitored it "
			   "runs without that privilege", path);
}

/* The main program: it is known by name, and mapped at exec already. */
static void
exe_plant(struct run *run, struct task *task, const char *path,
	  const char *open_path)
{
	struct plan *plan = object_plan(run, path, open_path, true);
	struct mapping *maps;
	struct stat st;
	uint64_t bias;
	size_t n;

	if (!plan || stat(open_path, &st) ||
	    run->host->maps(task->tid, &maps, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (maps[i].exec && maps[i].ino == st.st_ino &&
		    !module_known(task->process->space, &maps[i]) &&
		    image_bias(plan->image, &maps[i], &bias)) {
			module_plant(run, task, plan, bias, &maps[i]);
			break;
		}
	mappings_free(maps, n);
}

void
process_plant(struct run *run, struct task *task)
{
	struct process *process = task->process;
	char *open_path, *path = run->host->exe(task->tid, &open_path);

	process->planted = true;
	if (!path) {
		run_remark(run, "process %d: not counted: its program may "
			   "not be read", (int)task->tid);
		return;
	}
	exe_remark(run, path, open_path);
	exe_plant(run, task, path, open_path);
	free(path);
	free(open_path);
	process->watched = run->opts->selection.objects.n > 0;
	if (process->watched)
		process_rescan(run, task);
}
