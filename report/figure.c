/*
 * Figures: adds them up, compares and writes them.
 */
#include "report/figure.h"

#include "probe/counts.h"
#include "report/printable.h"

struct figure
figure_of(const struct count *count)
{
	const char *why = count_why(count);

	return (struct figure){ why ? 0 : count->n, why };
}

void
figure_add(struct figure *to, const struct figure *count)
{
	if (!to->why)
		to->why = count->why;
	if (!__builtin_add_overflow(to->n, count->n, &to->n))
		return;
	to->n = UINT64_MAX;
	if (!to->why)
		to->why = "the sum is too large";
}

void
figure_write(FILE *out, const struct figure *count, size_t width)
{
	if (count->why) {
		text_colour(out, TEXT_FAIR);
		fprintf(out, "%*s", (int)width, "?");
		text_colour(out, TEXT_PLAIN);
	} else {
		text_count(out, count->n, width);
	}
}

void
figure_or_never(FILE *out, const struct figure *count, size_t width)
{
	if (count->why || count->n) {
		figure_write(out, count, width);
		return;
	}
	text_colour(out, TEXT_BAD);
	fprintf(out, "%*s", (int)width, "#####");
	text_colour(out, TEXT_PLAIN);
}

void
figure_say(FILE *out, const struct figure *count)
{
	if (count->why)
		fputs("at least ", out);
	text_count(out, count->n, 0);
}

int
figure_compare(const struct figure *a, const struct figure *b)
{
	if (!a->why != !b->why)
		return a->why ? 1 : -1;
	return a->why || a->n == b->n ? 0 : a->n > b->n ? -1 : 1;
}

void
figure_widen(size_t *width, const struct figure *count)
{
	size_t digits = count->why ? 1 : text_digits(count->n);

	if (digits > *width)
		*width = digits;
}

void
totals_add(struct totals *totals, const struct figure *count)
{
	totals->all++;
	if (count->why)
		totals->unknown++;
	else if (count->n)
		totals->run++;
	else
		totals->never++;
}

void
figure_share(FILE *out, const struct figure *part, const struct figure *whole)
{
	double share;

	if (part->why || whole->why || !whole->n) {
		fprintf(out, "  %*s", SHARE_WIDTH,
			part->why || whole->why ? "?" : "-");
		return;
	}
	share = 100.0 * (double)part->n / (double)whole->n;
	if (part->n && share < 0.05)
		fprintf(out, "  %*s", SHARE_WIDTH, "<0.1");
	else if (part->n < whole->n && share >= 99.95)
		fprintf(out, "  %*s", SHARE_WIDTH, ">99.9");
	else
		fprintf(out, "  %*.1f", SHARE_WIDTH, share);
}
