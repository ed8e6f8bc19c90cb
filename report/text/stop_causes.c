/*
 * Writes the table of the program's stops by cause.  The report input names
 * the causes.
 */
#include "report/text/stop_causes.h"

#include <stdlib.h>
#include <string.h>

#include "report/printable.h"
#include "util/mem.h"

enum { COUNT_MIN = 9 };

const char stop_attaching[] = "pause, attaching";

static struct stop_sum
sum_all(const struct report_input *report_input)
{
	struct stop_sum all = { .cause = "(all)" };

	for (size_t i = 0; i < report_input->nstops; i++) {
		all.n += report_input->stops[i].n;
		all.ns += report_input->stops[i].ns;
	}
	return all;
}

uint64_t
stops_all(const struct report_input *report_input)
{
	return sum_all(report_input).n;
}

static int
by_time(const void *va, const void *vb)
{
	const struct stop_sum *a = va, *b = vb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->n != b->n ? a->n > b->n ? -1 : 1 : strcmp(a->cause, b->cause);
}

static void
sum_write(const struct stop_sum *sum, double seconds, FILE *out, int digits)
{
	double each = sum->n ? (double)sum->ns / 1e3 / (double)sum->n : 0;

	text_count(out, sum->n, (size_t)digits);
	fprintf(out, " %9.1f %8.1f ", (double)sum->ns / 1e6, each);
	if (seconds > 0)
		fprintf(out, "%5.1f  ", (double)sum->ns / 1e7 / seconds);
	else
		fputs("    -  ", out);
	text_print(out, sum->cause, strlen(sum->cause), WIDTH_ALL);
	putc('\n', out);
}

void
stops_write(const struct report_input *report_input, FILE *out)
{
	struct stop_sum all = sum_all(report_input), *sums;
	int digits = (int)text_digits(all.n);

	if (!report_input->nstops)
		return;
	if (digits < COUNT_MIN)
		digits = COUNT_MIN;
	sums = mem_grow(NULL, report_input->nstops, sizeof(*sums));
	memcpy(sums, report_input->stops, report_input->nstops * sizeof(*sums));
	qsort(sums, report_input->nstops, sizeof(*sums), by_time);
	fprintf(out, "\n%*s %9s %8s %5s  STOPPED FOR\n", digits, "STOPS",
		"TIME ms", "EACH us", "TIME%");
	for (size_t i = 0; i < report_input->nstops; i++)
		sum_write(&sums[i], report_input->seconds, out, digits);
	sum_write(&all, report_input->seconds, out, digits);
	free(sums);
}
