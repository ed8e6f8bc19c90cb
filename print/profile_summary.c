/*
 * Prints the summary: which runs and objects a profile is of, and what executed
 * most.  Opens programs only to tell whether they can be used.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "print/pages.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { SECOND = 1000000000, COUNT_WIDTH = 10, SUM_WIDTH = 16 };

static char *
time_text(uint64_t ns)
{
	time_t seconds = (time_t)(ns / SECOND);
	struct tm tm;
	char text[64];

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	return mem_strdup(text);
}

static void
run_print(const struct profile_run *run, FILE *out, size_t columns)
{
	static const char title[] = "Run of ";
	size_t room = columns - (sizeof(title) - 1);

	char *start = time_text(run->start);
	char *processes = text_number(run->processes, "process");
	char *threads = text_number(run->threads, "thread");
	char *events = text_number(run->events, "trap");
	char *text = mem_printf("%s, %s; %" PRIu64 ".%02" PRIu64 " s, %s, %s, "
				"%s, pmon %s",
				start, run->outcome, run->elapsed / SECOND,
				run->elapsed % SECOND / (SECOND / 100),
				processes, threads, events, run->version);

	text_colour(out, TEXT_TITLE);
	fputs(title, out);
	text_print(out, run->command, strlen(run->command), room);
	text_colour(out, TEXT_PLAIN);
	putc('\n', out);
	text_paragraph(out, "  ", text, columns);
	for (size_t i = 0; i < run->nremarks; i++)
		text_paragraph(out, "  Note: ", run->remarks[i], columns);
	free(start);
	free(processes);
	free(threads);
	free(events);
	free(text);
}

static void
object_print(const struct options *opts, const struct profile_object *object,
	     FILE *out)
{
	size_t states[PROFILE_UNKNOWN + 1] = { 0 }, n = 0;

	for (size_t i = 0; i < object->nfuncs; i++)
		if (!name_added(object->funcs[i].name) &&
		    func_chosen(opts, object, &object->funcs[i])) {
			states[object->funcs[i].state]++;
			n++;
		}
	text_count(out, n, COUNT_WIDTH);
	putc(' ', out);
	text_count(out, states[PROFILE_COUNTED], COUNT_WIDTH);
	putc(' ', out);
	text_count(out, states[PROFILE_NEVER], COUNT_WIDTH);
	putc(' ', out);
	text_count(out, states[PROFILE_UNKNOWN], COUNT_WIDTH);
	fputs("  ", out);
	text_print(out, object->path, strlen(object->path), WIDTH_ALL);
	putc('\n', out);
}

/*
 * Note the programs that are missing or were rebuilt: their source and code
 * cannot be shown.
 */
static void
faults_print(const struct options *opts, const struct profile *profile,
	     FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct profile_object *object = &profile->objects[i];
		char *fault = object->units ? program_fault(opts, object) :
					      NULL;

		if (!fault)
			continue;
		if (!any)
			putc('\n', out);
		any = true;
		text_paragraph(out, "Note: ", fault, opts->columns);
		free(fault);
	}
}

/*
 * How many instructions a part is known to have executed; *known: all are
 * known.
 */
static uint64_t
part_executed(const struct profile *profile, uint32_t part, bool *known)
{
	uint64_t sum = 0;

	*known = true;
	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct profile_object *object = &profile->objects[i];

		for (size_t k = 0; k < object->nfuncs; k++) {
			bool all;

			if (object->funcs[k].part != part)
				continue;
			sum += profile_executed(&object->funcs[k], &all);
			*known &= all;
		}
	}
	return sum;
}

/* Print the processes and threads that were counted separately. */
static void
parts_print(const struct profile *profile, FILE *out)
{
	if (profile->nparts)
		fprintf(out, "\n%*s  %9s  PROCESS OR THREAD\n", SUM_WIDTH,
			"EXECUTED", "START");
	for (size_t i = 0; i < profile->nparts; i++) {
		const struct profile_part *part = &profile->parts[i];
		char *text = part_text(part);
		bool known;
		uint64_t n = part_executed(profile, (uint32_t)i, &known);

		if (known)
			text_count(out, n, SUM_WIDTH);
		else
			fprintf(out, "%*s", SUM_WIDTH, "?");
		fprintf(out, "  %8.3fs  ", (double)part->start / SECOND);
		text_print(out, text, strlen(text), WIDTH_ALL);
		putc('\n', out);
		free(text);
	}
}

void
runs_print(const struct options *opts, struct profile *profile, FILE *out)
{
	bool once = false;

	for (size_t i = 0; i < profile->nruns; i++)
		run_print(&profile->runs[i], out, opts->columns);
	parts_print(profile, out);
	profile_join_parts(profile);
	fprintf(out, "\n%*s %*s %*s %*s\n", COUNT_WIDTH, "functions",
		COUNT_WIDTH, "run", COUNT_WIDTH, "never run", COUNT_WIDTH,
		"not known");
	for (size_t i = 0; i < profile->nobjects; i++) {
		once |= profile->objects[i].placement == PLACE_ONCE;
		if (profile->objects[i].units)
			object_print(opts, &profile->objects[i], out);
	}
	if (once) {
		fputs("\nA count of 1 means that the code ran at least once "
		      "(--once).\n",
		      out);
	} else {
		text_section(out, "Functions that executed most instructions");
		func_rows_print(opts, profile, out, opts->report.top, false);
	}
	if (!opts->report.quiet)
		faults_print(opts, profile, out);
}
