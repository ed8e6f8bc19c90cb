/*
 * Why the program was stopped: a table by cause.  What the causes are the
 * tally says.
 */
#include "report/stops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "util/mem.h"

enum { COUNT_MIN = 9 };

static struct stop_sum
sum_all(const struct tally *tally)
{
	struct stop_sum all = { .cause = "(all)" };

	for (size_t i = 0; i < tally->nstops; i++) {
		all.n += tally->stops[i].n;
		all.ns += tally->stops[i].ns;
	}
	return all;
}

uint64_t
stops_all(const struct tally *tally)
{
	return sum_all(tally).n;
}

static int
by_time(const void *va, const void *vb)
{
	const struct stop_sum *a = va, *b = vb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->n != b->n ? a->n > b->n ? -1 : 1 :
	       strcmp(a->cause, b->cause);
}

static void
sum_write(const struct stop_sum *sum, double seconds, FILE *out, int digits)
{
	double each = sum->n ? (double)sum->ns / 1e3 / (double)sum->n : 0;

	fprintf(out, "%*" PRIu64 " %9.1f %8.1f ", digits, sum->n,
		(double)sum->ns / 1e6, each);
	if (seconds > 0)
		fprintf(out, "%5.1f  ", (double)sum->ns / 1e7 / seconds);
	else
		fputs("    -  ", out);
	text_print(out, sum->cause, strlen(sum->cause), WIDTH_ALL);
	putc('\n', out);
}

void
stops_write(const struct tally *tally, FILE *out)
{
	struct stop_sum all = sum_all(tally), *sums;
	int digits = (int)text_digits(all.n);

	if (!tally->nstops)
		return;
	if (digits < COUNT_MIN)
		digits = COUNT_MIN;
	sums = mem_grow(NULL, tally->nstops, sizeof(*sums));
	memcpy(sums, tally->stops, tally->nstops * sizeof(*sums));
	qsort(sums, tally->nstops, sizeof(*sums), by_time);
	fprintf(out, "\n%*s %9s %8s %5s  STOPPED FOR\n", digits, "STOPS",
		"TIME ms", "EACH us", "TIME%");
	for (size_t i = 0; i < tally->nstops; i++)
		sum_write(&sums[i], tally->seconds, out, digits);
	sum_write(&all, tally->seconds, out, digits);
	free(sums);
}
