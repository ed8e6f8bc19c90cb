/*
 * The report of instructions: every instruction with its count, under its
 * source line (Weinberger's lprint at its most verbose).
 */
#include "report/view.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/kinds.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { COUNT_MIN = 9, PRINT_MAX = 256 };

struct listing {
	struct table *table;
	FILE *out;
	size_t digits;		/* of counts */
	size_t addr;		/* of addresses */
	struct file_entry *file;	/* its source is read; or NULL */
};

/* Shorten hexadecimal numbers in place: "0x000000000000113A" to "0x113a". */
static void
numbers_tidy(char *s)
{
	static const char digits[] = "0123456789ABCDEFabcdef";
	char *to = s;

	while (*s) {
		if (s[0] != '0' || s[1] != 'x') {
			*to++ = *s++;
			continue;
		}
		*to++ = *s++;
		*to++ = *s++;
		while (s[0] == '0' && strchr(digits, s[1]) && s[1])
			s++;
		while (*s && strchr(digits, *s))
			*to++ = (char)tolower((unsigned char)*s++);
	}
	*to = '\0';
}

char *
view_insn_text(const struct view *view, uint32_t i)
{
	const struct insn *insn = &view->fplan->cfg->insns[i];
	const struct image *image = view->plan->image;
	bool demangled = view->table->opts->demangle;
	char text[PRINT_MAX], *name = NULL, *whole;
	const char *import = NULL;
	const uint8_t *code;
	size_t avail;

	code = image_text(image, insn->addr, &avail);
	if (!code || !image->arch->print ||
	    image->arch->print(code, avail, insn->addr, text, sizeof(text)))
		return mem_strdup("?");
	numbers_tidy(text);
	if (insn->kind == INSN_CALL ||
	    ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH) &&
	     cfg_insn(view->fplan->cfg, insn->target) < 0))
		name = name_of_addr(view->plan, insn->target, demangled);
	else if (insn->kind == INSN_CALL_INDIRECT ||
		 insn->kind == INSN_JUMP_INDIRECT)
		import = name_imported(image, insn);
	if (import)
		name = name_shown(import, demangled);
	if (!name)
		return mem_strdup(text);
	whole = mem_printf("%s <%s>", text, name);
	free(name);
	return whole;
}

static void
insn_write(struct listing *listing, const struct view *view, uint32_t i)
{
	const struct insn *insn = &view->fplan->cfg->insns[i];
	struct figure count = view_insn(view, i);
	size_t columns = listing->table->columns;
	size_t used = listing->digits + 2 + listing->addr + 3;
	char *text = view_insn_text(view, i);

	figure_or_never(listing->out, &count, listing->digits);
	fprintf(listing->out, "  %*" PRIx64 ":  ", (int)listing->addr,
		insn->addr);
	text_print(listing->out, text, strlen(text),
		   columns > used ? columns - used : 0);
	putc('\n', listing->out);
	free(text);
}

/* Write the source line of the instructions that follow. */
static void
line_write(struct listing *listing, const struct view *view, uint32_t i)
{
	const struct row *row = view->rows[i];
	struct table *table = listing->table;
	size_t len, used, columns = table->columns;
	struct file_entry *file;
	struct source *source;
	char *place = view_place(view, i);
	const char *text = NULL;

	if (!*place) {
		fputs("  (no line)\n", listing->out);
		free(place);
		return;
	}
	file = &table->files[table_file(table, view->plan_index, row->file)];
	if (listing->file && listing->file != file)
		table_source_drop(listing->file);
	listing->file = file;
	source = table_source(table, file);
	fputs("  ", listing->out);
	used = 2 + text_print(listing->out, place, strlen(place), WIDTH_ALL);
	free(place);
	if (source)
		text = source_line(source, row->line, &len);
	for (; text && len && (*text == ' ' || *text == '\t'); len--)
		text++;
	if (text && len) {
		fputs("  ", listing->out);
		text_print(listing->out, text, len,
			   columns > used + 2 ? columns - used - 2 : 0);
	}
	putc('\n', listing->out);
}

static bool
same_line(const struct row *a, const struct row *b)
{
	if (!a || !b)
		return a == b;
	return a->file == b->file && a->line == b->line;
}

static void
fplan_write(struct listing *listing, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;
	const struct row *row = NULL;

	putc('\n', listing->out);
	view_heading_write(view, listing->out);
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (view->padding[b])
			continue;
		for (uint32_t i = block->first; i < block->first + block->count;
		     i++) {
			if (!same_line(view->rows[i], row))
				line_write(listing, view, i);
			row = view->rows[i];
			insn_write(listing, view, i);
		}
	}
}

static void
widths_find(struct listing *listing, struct totals *totals,
	    struct reasons *reasons)
{
	struct view *view = NULL;

	while ((view = view_next(listing->table, view, VIEW_INSNS))) {
		view_totals(view, UNIT_INSN, totals, reasons);
		view_widen(view, &listing->digits, &listing->addr);
	}
}

void
insns_write(struct table *table, FILE *out)
{
	struct listing listing = {
		.table = table,
		.out = out,
		.digits = COUNT_MIN,
	};
	struct totals totals = { 0 };
	struct reasons reasons = { 0 };
	struct view *view = NULL;

	title_write(table, out, "Instructions");
	if (!units_present(table, out, UNIT_INSN))
		return;
	widths_find(&listing, &totals, &reasons);
	totals_line_write(&totals, UNIT_INSN, out);
	fputs("  #####: never run; ?: count not known\n", out);
	while ((view = view_next(table, view, VIEW_INSNS)))
		fplan_write(&listing, view);
	if (listing.file)
		table_source_drop(listing.file);
	reasons_write(&reasons, out);
}
