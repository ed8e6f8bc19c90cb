/*
 * The traps of a module's sites: writes them to text and removes them.  Reads
 * and writes text page by page, not site by site.  Never decides which sites
 * have one (patched.c).
 */
#include "monitor/patch/traps.h"

#include <string.h>

#include "monitor/patch/filters.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/space.h"
#include "util/fail.h"

/* ---- text, a page at a time */

/* The address from which on something is written for the site. */
static uint64_t
site_begin(const struct module *module, size_t i)
{
	return site_again(module, &module->plan->sites[i]) - module->bias;
}

/* The address behind the last byte that is written for the site. */
static uint64_t
site_end(const struct module *module, size_t i)
{
	const struct arch *arch = module->plan->image->arch;

	return site_begin(module, i) + (site_filtered(module, i) ?
						arch->emit.jump_len :
						arch->trap_len);
}

/*
 * Edit the text of a batch's sites, which are in one page: read the bytes from
 * the first site to the last, let fn change them, write them back.
 */
static int
page_edit(struct run *run, struct space *space, pid_t tid,
	  const struct module *module, const struct batch *batch, site_edit *fn)
{
	const struct arch *arch = module->plan->image->arch;
	uint64_t lo = site_begin(module, batch->sites[0]);
	size_t n = site_end(module, batch->sites[batch->n - 1]) - lo;
	/* A filter's jump may be in the page before. */
	uint8_t text[PAGE + INSN_MAX], old[sizeof(text)];

	must(n <= sizeof(text));
	if (text_read(run, space, tid, lo + module->bias, text, n))
		return HOST_GONE;
	memcpy(old, text, n);
	for (size_t i = 0; i < batch->n; i++)
		fn(arch, module, batch->sites[i],
		   text + (site_begin(module, batch->sites[i]) - lo));
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
		     !module->plan->sites[i].lifted;
	return n;
}

void
trap_write(const struct arch *arch, const struct module *module, size_t i,
	   uint8_t *bytes)
{
	const struct site *site = &module->plan->sites[i];
	uint64_t addr;

	if (patch_traps(module->patched[i].patch) && !site->lifted &&
	    (!site->leads || site->hook || site_leads(module->plan, site)))
		site_patch(arch, module, i, &addr, bytes);
}

/* Take the jump to the site's filter out of the bytes, if it is there. */
static void
filter_remove(const struct arch *arch, const struct module *module, size_t i,
	      uint8_t *bytes)
{
	uint8_t jump[SITE_PATCH];
	uint64_t addr;
	unsigned len = site_patch(arch, module, i, &addr, jump);
	size_t avail;

	if (!memcmp(bytes, jump, len))
		memcpy(bytes, image_text(module->plan->image, addr, &avail),
		       len);
}

void
trap_remove(const struct arch *arch, const struct module *module, size_t i,
	    uint8_t *bytes)
{
	const struct patched *patched = &module->patched[i];

	if (patched->patch == PATCH_UNPLANTED || patched->patch == PATCH_OWN)
		return;
	if (patched->filtered) {
		filter_remove(arch, module, i, bytes);
		return;
	}
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
	uint8_t now[SITE_PATCH], bytes[SITE_PATCH];
	uint64_t va;
	unsigned len = site_patch(arch, module, i, &va, bytes);

	va += module->bias;
	if (text_read(run, space, tid, va, now, len))
		return true;
	memcpy(bytes, now, len);
	trap_write(arch, module, i, bytes);
	return !memcmp(now, bytes, len) ||
	       !text_write(run, space, tid, va, bytes, len);
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
