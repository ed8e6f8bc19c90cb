/*
 * Makes the page: static files that show the counts in a browser, without a
 * server or a network.  html_*.c write its data files; the scripts in web/ show
 * them.
 */
#include "report/html/html.h"

#include <stdlib.h>

#include "report/kinds.h"
#include "util/mem.h"

static void
assets_write(struct html_dir *dir)
{
	for (size_t i = 0; html_assets[i].name; i++) {
		const struct html_asset *asset = &html_assets[i];
		FILE *out = html_dir_file(dir, asset->name);

		fwrite(asset->bytes, 1, (size_t)(asset->end - asset->bytes),
		       out);
		html_dir_file_close(dir, out);
	}
}

static void
html_free(struct html *html)
{
	for (size_t i = 0; i < html->table->report_input->nplans; i++)
		free(html->ids[i]);
	for (size_t i = 0; i < html->nfuncs; i++)
		free(html->funcs[i].name);
	free(html->ids);
	free(html->funcs);
	free(html->totals);
	free(html->shares);
	free(html->branches);
	free(html->works);
	html_calls_free(&html->calls);
	inline_work_close(&html->inlines);
	free(html->reasons.whys);
}

int
html_make(struct html *html, const char *path)
{
	const struct report_input *report_input = html->table->report_input;

	html->dir = html_dir_open(path);
	if (!html->dir)
		return -1;
	html->ids = mem_alloc(report_input->nplans * sizeof(*html->ids));
	html->totals = mem_alloc(report_input->nplans * sizeof(*html->totals));
	for (size_t i = 0; i < report_input->nplans; i++)
		html->insns |= (report_input->plans[i]->units &
				1U << UNIT_INSN) != 0;
	inline_work_open(&html->inlines, html->table);
	html_funcs_write(html);
	html_calls_write(html);
	html_files_write(html);
	html_changes_write(html);
	html_index_write(html);
	assets_write(html->dir);
	html_free(html);
	return html_dir_close(html->dir);
}

int
html_write(struct table *table, const char *path)
{
	struct html html = { .table = table };

	return html_make(&html, path);
}
