/*
 * Prints what changed between two profiles, biggest changes first.  Opens no
 * programs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/pages.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { WIDTH = 16, COUNT_WIDTH = 10, BLOCKS_MAX = 5 };

/* Print the change and what was before and after. */
static void
change_print(FILE *out, uint64_t before, uint64_t after)
{
	text_change(out, before, after, WIDTH);
	putc(' ', out);
	text_count(out, before, WIDTH);
	putc(' ', out);
	text_count(out, after, WIDTH);
}

static void
func_print(const struct options *opts, const struct diff_func *func, FILE *out)
{
	char *name = name_shown(func->after->name, opts->report.demangle);
	size_t n = func->nblocks < BLOCKS_MAX ? func->nblocks : BLOCKS_MAX;

	change_print(out, func->before_n, func->after_n);
	fputs("  ", out);
	if (*name)
		text_print(out, name, strlen(name), WIDTH_ALL);
	else
		fprintf(out, "%#" PRIx64, func->after->addr);
	fputs(func->insns ? "\n" : " (calls)\n", out);
	for (size_t i = 0; i < n; i++) {
		const struct diff_block *block = &func->blocks[i];

		change_print(out, block->before, block->after);
		fprintf(out, "    block %#" PRIx64 "\n",
			func->graph->blocks[block->block].addr);
	}
	if (n < func->nblocks)
		fprintf(out, "%*s    and %zu more blocks\n", 3 * WIDTH + 2, "",
			func->nblocks - n);
	free(name);
}

static void
note_print(FILE *out, size_t n, const char *what)
{
	if (n) {
		text_count(out, n, COUNT_WIDTH);
		fprintf(out, " %s\n", what);
	}
}

void
changes_print(const struct options *opts, const struct profile *before,
	      const struct profile *after, FILE *out)
{
	struct profile_diff *diff = profile_diff(before, after);
	size_t top = opts->report.top;
	size_t n = diff->nfuncs < top ? diff->nfuncs : top;

	fputs("Instructions executed, biggest change first; and how often "
	      "blocks ran\n\n",
	      out);
	if (n)
		fprintf(out, "%*s %*s %*s  FUNCTION\n", WIDTH, "CHANGE", WIDTH,
			"BEFORE", WIDTH, "AFTER");
	for (size_t i = 0; i < n; i++)
		func_print(opts, &diff->funcs[i], out);
	if (n)
		putc('\n', out);
	note_print(out, diff->nfuncs, "functions changed");
	note_print(out, diff->same, "functions unchanged");
	note_print(out, diff->unknown,
		   "functions not known in one of the "
		   "files");
	note_print(out, diff->only_before,
		   "functions only in the first file, "
		   "or sharing a name");
	note_print(out, diff->only_after,
		   "functions only in the second file, "
		   "or sharing a name");
	note_print(out, diff->rebuilt,
		   "objects rebuilt: their functions are "
		   "compared by name");
	profile_diff_free(diff);
}
