/*
 * Collects the reasons why counts are not known, and writes them.
 */
#include "report/reasons.h"

#include <stdlib.h>
#include <string.h>

#include "report/printable.h"
#include "util/mem.h"

enum { COUNT_WIDTH = 10 };

static const struct {
	const char *one, *several;
} words[UNIT_KINDS] = {
	[UNIT_FUNC] = { "function", "functions" },
	[UNIT_LINE] = { "line", "lines" },
	[UNIT_INLINE] = { "inlined function", "inlined functions" },
	[UNIT_BLOCK] = { "block", "blocks" },
	[UNIT_EDGE] = { "edge", "edges" },
	[UNIT_INSN] = { "instruction", "instructions" },
	[UNIT_CALL] = { "call", "calls" },
};

const char *
unit_word(enum unit_kind kind, size_t n)
{
	return n == 1 ? words[kind].one : words[kind].several;
}

void
reasons_add(struct reasons *reasons, const char *why, const char *what,
	    const char *whats)
{
	if (!why)
		return;
	for (size_t i = 0; i < reasons->n; i++) {
		struct reason *reason = &reasons->reasons[i];

		if (strcmp(reason->why, why) == 0 &&
		    strcmp(reason->what, what) == 0) {
			reason->n++;
			return;
		}
	}
	*vec_push(reasons->reasons, reasons->n) = (struct reason){
		.why = why,
		.what = what,
		.whats = whats,
		.n = 1,
	};
}

void
reasons_add_unit(struct reasons *reasons, const char *why, enum unit_kind kind)
{
	reasons_add(reasons, why, words[kind].one, words[kind].several);
}

void
reasons_write(struct reasons *reasons, FILE *out)
{
	if (reasons->n)
		text_section(out, "Not counted");
	for (size_t i = 0; i < reasons->n; i++) {
		const struct reason *reason = &reasons->reasons[i];

		text_count(out, reason->n, COUNT_WIDTH);
		fprintf(out,
			" %s: ", reason->n == 1 ? reason->what : reason->whats);
		text_put(out, reason->why);
		putc('\n', out);
	}
	free(reasons->reasons);
	*reasons = (struct reasons){ 0 };
}
