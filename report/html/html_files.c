/*
 * Writes, for each source file of a page, a data file with its text and the
 * counts of its lines.
 */
#include "report/html/html.h"

#include <stdlib.h>

#include "util/mem.h"

/* A file, and how far html->shares and html->branches are written. */
struct part {
	const struct html *html;
	const struct file_entry *file;
	size_t share, branch;
};

static void
text_write(struct script *script, const struct source *source)
{
	script_key(script, "text");
	script_lines_begin(script);
	for (size_t i = 1; i <= source->nlines && i < UINT32_MAX; i++) {
		size_t len;
		const char *line = source_line(source, (uint32_t)i, &len);

		script_line(script, line, len);
	}
	script_lines_end(script);
}

static void
remark_write(struct script *script, const struct file_entry *file)
{
	script_key(script, "remark");
	if (!file->source)
		script_string(script, file->source_fault);
	else if (table_source_newer(file))
		script_string(script, "The source is newer than the program: "
				      "counts may be at the wrong lines.");
	else
		script_null(script);
}

static void
branches_write(struct script *script, struct part *part, size_t line)
{
	const struct html *html = part->html;

	for (; part->branch < html->nbranches &&
	       html->branches[part->branch].line == line;
	     part->branch++) {
		const struct html_branch *branch =
			&html->branches[part->branch];

		script_begin(script, '[');
		script_number(script, branch->func);
		script_addr(script, branch->addr);
		script_figure(script, &branch->taken);
		script_figure(script, &branch->fall);
		script_end(script, ']');
	}
}

static void
shares_write(struct script *script, struct part *part, size_t line)
{
	const struct html *html = part->html;

	for (; part->share < html->nshares &&
	       html->shares[part->share].line == line;
	     part->share++)
		script_number(script, html->shares[part->share].func);
}

/*
 * Write [line, count, instructions executed, instructions, [functions],
 * [branches]]; the last is left out if it is empty, and all but the first two
 * if the line has no instructions or they were not counted.
 */
static void
line_write(struct script *script, struct part *part, size_t i)
{
	const struct html *html = part->html;
	const struct line_entry *line = &html->table->lines[i];
	bool branches = part->branch < html->nbranches &&
			html->branches[part->branch].line == i;
	bool shares = part->share < html->nshares &&
		      html->shares[part->share].line == i;
	bool coded = html->works && (html->works[i].i || shares || branches);

	script_begin(script, '[');
	script_number(script, line->line);
	script_figure(script, &line->count);
	if (coded) {
		script_figure(script, &html->works[i].ie);
		script_number(script, html->works[i].i);
		script_begin(script, '[');
		shares_write(script, part, i);
		script_end(script, ']');
	}
	if (coded && branches) {
		script_begin(script, '[');
		branches_write(script, part, i);
		script_end(script, ']');
	}
	script_end(script, ']');
}

static void
file_write(struct html *html, struct part *part)
{
	size_t index = (size_t)(part->file - html->table->files);
	struct file_entry *file = &html->table->files[index];
	char *name = mem_printf("f%zu", index);
	struct script script;

	script_open(&script, html->dir, &html->reasons, name);
	script_begin(&script, '{');
	if (table_source(html->table, file))
		text_write(&script, file->source);
	remark_write(&script, file);
	script_key_begin(&script, "lines", '[');
	for (size_t i = file->line; i < file->line + file->nlines; i++)
		line_write(&script, part, i);
	script_end(&script, ']');
	script_end(&script, '}');
	script_close(&script);
	table_source_drop(file);
	free(name);
}

void
html_files_write(struct html *html)
{
	struct part part = { .html = html };
	struct work rest;

	if (html->insns)
		html->works = work_by_line(html->table, &rest);
	for (size_t i = 0; i < html->table->nfiles; i++) {
		part.file = &html->table->files[i];
		if (part.file->nlines)
			file_write(html, &part);
	}
}
