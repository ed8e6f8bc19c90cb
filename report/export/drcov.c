/*
 * Writes which blocks ran in the format of DynamoRIO's drcov, for Lighthouse
 * and others: version 3, whose addresses are relative to segments, with the
 * module table of version 5.  The format has no counts.  Modules are listed at
 * the addresses to which they were linked.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/kinds.h"
#include "report/printable.h"
#include "report/view.h"
#include "util/mem.h"

enum { SIZE_LIMIT = UINT16_MAX, MODULE_LIMIT = UINT16_MAX };

struct entry {
	uint32_t start;		/* relative to the module's start */
	uint16_t size, module;
};

struct module {
	const struct plan *plan;
	const struct segment *segment;
	size_t containing;	/* index of the first module of the file */
};

struct page {
	struct module *modules;
	size_t nmodules;
	struct entry *entries;
	size_t nentries;
};

static void
modules_add(struct page *page, const struct plan *plan)
{
	size_t first = page->nmodules;

	for (size_t i = 0; i < plan->image->nsegments; i++)
		*vec_push(page->modules, page->nmodules) = (struct module){
			plan,
			&plan->image->segments[i],
			first,
		};
}

/* The index of the module that has the address, or nmodules. */
static size_t
module_find(const struct page *page, const struct plan *plan, uint64_t addr)
{
	size_t i;

	for (i = 0; i < page->nmodules; i++) {
		const struct module *module = &page->modules[i];

		if (module->plan == plan && addr >= module->segment->addr &&
		    addr - module->segment->addr < module->segment->memsz)
			break;
	}
	return i;
}

static void
block_add(struct page *page, const struct view *view, uint32_t block)
{
	const struct cfg *cfg = view->fplan->cfg;
	const struct insn *last = &cfg->insns[view_last(view, block)];
	uint64_t addr = cfg->insns[cfg->blocks[block].first].addr;
	uint64_t end = last->addr + last->len, start;
	size_t module = module_find(page, view->plan, addr);

	if (module >= page->nmodules || module > MODULE_LIMIT)
		return;
	for (; addr < end; addr += SIZE_LIMIT) {
		start = addr - page->modules[module].segment->addr;
		if (start > UINT32_MAX)
			return;
		*vec_push(page->entries, page->nentries) = (struct entry){
			(uint32_t)start,
			(uint16_t)(end - addr < SIZE_LIMIT ? end - addr :
							     SIZE_LIMIT),
			(uint16_t)module,
		};
	}
}

static void
modules_put(const struct page *page, FILE *out)
{
	fprintf(out,
		"Module Table: version 5, count %zu\n"
		"Columns: id, containing_id, start, end, entry, offset, "
		"preferred_base, path\n",
		page->nmodules);
	for (size_t i = 0; i < page->nmodules; i++) {
		const struct module *module = &page->modules[i];
		const struct segment *segment = module->segment;
		const struct image *image = module->plan->image;
		const struct segment *first =
			page->modules[module->containing].segment;

		fprintf(out,
			"%3zu, %3zu, 0x%016" PRIx64 ", 0x%016" PRIx64
			", 0x%016" PRIx64 ", %016" PRIx64 ", 0x%016" PRIx64
			",  ",
			i, module->containing, segment->addr,
			segment->addr + segment->memsz, image->entry,
			segment->offset, first->addr);
		text_line_put(out, image->path, "", 0);
		putc('\n', out);
	}
}

static void
little_put(FILE *out, uint32_t n, int bytes)
{
	for (int i = 0; i < bytes; i++)
		putc((int)(n >> 8 * i & 0xff), out);
}

void
drcov_write(struct table *table, FILE *out)
{
	struct page page = { 0 };
	struct view *view = NULL;

	for (size_t i = 0; i < table->report_input->nplans; i++)
		modules_add(&page, table->report_input->plans[i]);
	while ((view = view_next(table, view, VIEW_BLOCKS)))
		for (uint32_t b = 0; b < view->fplan->cfg->nblocks; b++) {
			struct figure count = view_block(view, b);

			if (!view->padding[b] && figure_ran(&count))
				block_add(&page, view, b);
		}
	fputs("DRCOV VERSION: 3\nDRCOV FLAVOR: drcov-64\n", out);
	modules_put(&page, out);
	fprintf(out, "BB Table: %zu bbs\n", page.nentries);
	for (size_t i = 0; i < page.nentries; i++) {
		little_put(out, page.entries[i].start, 4);
		little_put(out, page.entries[i].size, 2);
		little_put(out, page.entries[i].module, 2);
	}
	free(page.modules);
	free(page.entries);
}
