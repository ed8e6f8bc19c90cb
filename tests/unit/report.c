/*
 * Reports of plans made by hand.  What is expected was written by hand from
 * the counts and sources given here.
 */
#include "report/report.h"
#include "report/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/names.h"
#include "report/printable.h"
#include "tests/lib/report_toy.h"

#include <cmocka.h>

static char dir[] = "/tmp/pmon-report-XXXXXX";

static struct report_options
options_make(const char *report)
{
	struct report_options opts = {
		.top = 20,
		.columns = 80,
		.demangle = true,
	};

	if (report)
		assert_int_equal(report_parse(&opts, report), 0);
	return opts;
}

/* The text of a report of n plans. */
static char *
report_plans(const char *report, struct toy **toys, size_t n,
	     const char *source_path)
{
	struct report_options opts = options_make(report);
	struct plan *plans[16];
	struct report_input report_input = {
		.plans = plans,
		.nplans = n,
		.command = "prog",
		.outcome = "exited with status 0",
		.nprocesses = 1,
		.nthreads = 2,
		.events = 3,
	};
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < n; i++)
		plans[i] = toy_propagate(toys[i]);
	if (source_path)
		*vec_push(opts.source_paths, opts.nsource_paths) = source_path;
	assert_int_equal(toys_report(&opts, &report_input, out), 0);
	fclose(out);
	report_options_free(&opts);
	return text;
}

static char *
report_text(const char *report, struct toy *t)
{
	return report_plans(report, &t, 1, NULL);
}

static void
assert_text(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

static void
assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fprintf(stderr, "# not there: %s\n# in: %s\n", part, text);
	assert_non_null(strstr(text, part));
}

static char *
file_write(const char *name, const char *text, size_t len)
{
	char *path = mem_printf("%s/%s", dir, name);
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
	return path;
}

static char *
file_read(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = mem_alloc(1 << 16);

	assert_non_null(in);
	(void)!fread(text, 1, (1 << 16) - 1, in);
	fclose(in);
	return text;
}

static void
test_parse(void **state)
{
	struct report_options opts = { 0 };
	static const char *const bad[] = {
		"",	    "list",	    "listing,", ",listing",
		"listing:", "hist:scaled:", "listingx", "listing,foo:bar",
		"hist:",
	};

	assert_int_equal(report_parse(&opts, "listing:lines.txt,funcs"), 0);
	assert_int_equal(report_parse(&opts, "hist:scaled:a:b,hist:x,"
					     "hist:log,hist,hist:scaledx"),
			 0);
	assert_int_equal(report_parse(&opts,
				      "summary,uncovered,inlines,files,lines,"
				      "insns,blocks,edges,calls,placement,"
				      "cfg:x.dot"),
			 0);
	static const struct {
		enum report_kind kind;
		const char *path;
	} wants[] = {
		{ REPORT_LISTING, "lines.txt" }, { REPORT_FUNCS, NULL },
		{ REPORT_HIST_SCALED, "a:b" },	 { REPORT_HIST, "x" },
		{ REPORT_HIST_LOG, NULL },	 { REPORT_HIST, NULL },
		{ REPORT_HIST, "scaledx" },	 { REPORT_SUMMARY, NULL },
		{ REPORT_UNCOVERED, NULL },	 { REPORT_INLINES, NULL },
		{ REPORT_FILES, NULL },		 { REPORT_LINES, NULL },
		{ REPORT_INSNS, NULL },		 { REPORT_BLOCKS, NULL },
		{ REPORT_EDGES, NULL },		 { REPORT_CALLS, NULL },
		{ REPORT_PLACEMENT, NULL },	 { REPORT_CFG, "x.dot" },
	};
	assert_int_equal(opts.nwants, sizeof(wants) / sizeof(wants[0]));
	for (size_t i = 0; i < opts.nwants; i++) {
		assert_int_equal(opts.wants[i].kind, wants[i].kind);
		if (wants[i].path)
			assert_string_equal(opts.wants[i].path, wants[i].path);
		else
			assert_null(opts.wants[i].path);
	}
	report_options_free(&opts);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(report_parse(&opts, bad[i]), -1);
		report_options_free(&opts);
	}
	assert_int_equal(report_parse(&opts, "lst"), -1);
	assert_non_null(strstr(fail_message(),
			       "unknown report \"lst\"; choose from summary, "
			       "listing, hist:full, hist:scaled, hist:log, "
			       "hist, uncovered, "));
}

/* The units counted for these reports, if those were asked for. */
static unsigned
chosen(const char *report, unsigned units, bool line, bool *places)
{
	struct report_options opts = options_make(report);
	struct selection sel = { .units = units };

	if (line)
		assert_int_equal(select_line(&sel, "x.c:1"), 0);
	report_choose(&opts, &sel);
	*places = sel.places;
	report_options_free(&opts);
	units = sel.units;
	select_free(&sel);
	return units;
}

/* The table in the man page. */
static void
test_choose(void **state)
{
	enum {
		FUNC = 1 << UNIT_FUNC,
		LINE = 1 << UNIT_LINE,
		INLINE = 1 << UNIT_INLINE,
		BLOCK = 1 << UNIT_BLOCK,
		EDGE = 1 << UNIT_EDGE,
		INSN = 1 << UNIT_INSN,
		CALL = 1 << UNIT_CALL,
	};
	static const struct {
		const char *report;
		unsigned units;
		bool places;
	} cases[] = {
		{ NULL, UNITS_DEFAULT, false },
		{ "summary", UNITS_DEFAULT, false },
		{ "summary,uncovered", UNITS_DEFAULT, false },
		{ "listing", LINE, false },
		{ "hist:log", LINE, false },
		{ "funcs", FUNC, false },
		{ "inlines", INLINE, false },
		{ "files", INSN, true },
		{ "lines", LINE | INSN, true },
		{ "insns", FUNC | INSN, true },
		{ "blocks", FUNC | BLOCK, true },
		{ "edges", FUNC | EDGE, true },
		{ "cfg", FUNC | BLOCK | EDGE, true },
		{ "calls", FUNC | CALL, true },
		{ "placement", BLOCK | EDGE, false },
		{ "funcs,calls", FUNC | CALL, true },
		{ "summary,calls", FUNC | LINE | CALL, true },
	};
	bool places;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(chosen(cases[i].report, UNITS_DEFAULT, false,
					&places),
				 cases[i].units);
		assert_int_equal(places, cases[i].places);
		/* What is asked for is what is counted. */
		assert_int_equal(chosen(cases[i].report, EDGE, false, &places),
				 EDGE);
		assert_int_equal(places, cases[i].places);
	}
	assert_int_equal(chosen("summary,files", UNITS_DEFAULT, true, &places),
			 LINE | INSN);
}

static void
test_listing(void **state)
{
	/* CRLF, a tab, an escape sequence, bytes that are not UTF-8. */
	static const char text[] =
		"int f(void)\r\n{\r\n\treturn 1;\n"
		"\n\x1b[31mred\x7f \xc3\xa9 \xff\xc3 \xc2\x9b.\n}";
	char *path = file_write("x.c", text, sizeof(text) - 1);
	struct toy *t = toy_make("/nowhere");

	toy_line(t, path, 2, 12);
	toy_line(t, path, 3, 0);
	toy_line(t, path, 5, 1)->lost = true;
	toy_line(t, path, 6, 12345678);
	toy_line(t, path, 99, 1);	/* the file was longer once */
	assert_text(report_text("listing", t),
		    "Lines of prog\n"
		    "  #####: has code that never ran; ?: count not known; "
		    "blank: no code counted\n\n"
		    "FILE LINE    COUNT\n"
		    "x.c     1         :  int f(void)\n"
		    "x.c     2       12:  {\n"
		    "x.c     3    #####:          return 1;\n"
		    "x.c     4         :\n"
		    "x.c     5        ?:  ^[[31mred^? \xc3\xa9 ?? ??.\n"
		    "x.c     6 12345678:  }\n"
		    "x.c    99        1:\n");
	toy_free(t);
	free(path);
}

static void
test_listing_without_source(void **state)
{
	struct toy *t = toy_make("/nowhere");
	char *text;

	toy_line(t, "/no/such/x.c", 7, 2);
	toy_line(t, "/no/such/x.c", 4294967295u, 0);
	text = report_text("listing", t);
	assert_contains(text, "# /no/such/x.c: No such file or directory\n");
	assert_contains(text, "\nx.c           7     2:\n"
			      "x.c  4294967295 #####:\n");
	free(text);
	toy_free(t);
}

/* Numbers that no floating point number is: 2^53 + 1, 2^63 - 1. */
static void
test_large(void **state)
{
	struct toy *t = toy_make("/nowhere");
	char *text;

	toy_line(t, "/s/x.c", 7, 9007199254740993u);
	toy_line(t, "/s/x.c", 8, 9223372036854775807u);
	text = report_text("json", t);
	assert_contains(text, "9007199254740993}");
	assert_contains(text, "9223372036854775807}");
	free(text);
	text = report_text("csv", t);
	assert_contains(text, "\"/s/x.c\",7,,9007199254740993,\r\n");
	assert_contains(text, "\"/s/x.c\",8,,9223372036854775807,\r\n");
	free(text);
	text = report_text("lcov", t);
	assert_contains(text, "\nDA:7,9007199254740993\n"
			      "DA:8,9223372036854775807\n");
	free(text);
	text = report_text("cobertura", t);
	assert_contains(text, "number=\"8\" hits=\"9223372036854775807\"");
	free(text);
	toy_free(t);
}

static void
test_listing_range(void **state)
{
	char *path = file_write("r.c", "a\nb\nc\nd\n", 8);
	struct toy *t = toy_make("/nowhere");
	char *text;

	assert_int_equal(select_line(&t->sel, "r.c:2-3"), 0);
	toy_line(t, path, 3, 1);
	text = report_text("listing", t);
	assert_contains(text, "COUNT\nr.c     2      :  b\n"
			      "r.c     3     1:  c\n");
	assert_null(strstr(text, ":  a"));
	assert_null(strstr(text, ":  d"));
	free(text);
	select_free(&t->sel);
	toy_free(t);
	free(path);
}

static void
test_source_path(void **state)
{
	char *path = file_write("m.c", "moved\n", 6);
	char *mapping = mem_printf("/old/=%s", dir);
	char *wrong = mem_printf("/ol=%s", dir);
	struct toy *t = toy_make("/nowhere");
	char *text;

	toy_line(t, "/old/m.c", 1, 1);
	text = report_plans("listing", &t, 1, mapping);
	assert_contains(text, ":  moved\n");
	free(text);
	/* /ol is no directory that /old/m.c is in. */
	text = report_plans("listing", &t, 1, wrong);
	assert_null(strstr(text, "moved"));
	free(text);
	free(wrong);
	free(mapping);
	free(path);
	toy_free(t);
}

static void
test_source_odd(void **state)
{
	char *fifo = mem_printf("%s/fifo.c", dir), *path, *text;
	struct toy *t = toy_make("/nowhere");
	char *line = mem_alloc(5000);

	assert_int_equal(mkfifo(fifo, 0600), 0);
	toy_line(t, fifo, 1, 1);
	toy_line(t, dir, 1, 1);
	memset(line, 'x', 4999);
	path = file_write("long.c", line, 4999);
	toy_line(t, path, 1, 1);
	text = report_text("listing", t);
	assert_contains(text, "fifo.c: not a regular file");
	assert_contains(text, "xxx...\n");
	assert_true(strlen(text) < 2000);
	free(text);
	text = report_text("summary", t);
	assert_contains(text, "xxx...\n");
	free(text);
	toy_free(t);
	free(path);
	free(fifo);
	free(line);
}

static void
test_source_newer(void **state)
{
	char *source = file_write("n.c", "x\n", 2);
	char *program = file_write("prog", "x", 1);
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct toy *t = toy_make(program);
	char *text;

	toy_line(t, source, 1, 1);
	assert_int_equal(utimensat(AT_FDCWD, source, times, 0), 0);
	text = report_text("listing", t);
	assert_null(strstr(text, "newer"));
	free(text);
	times[1].tv_sec = 999;
	assert_int_equal(utimensat(AT_FDCWD, program, times, 0), 0);
	text = report_text("listing", t);
	assert_contains(text, "source is newer than the program");
	free(text);
	toy_free(t);
	free(source);
	free(program);
}

static void
test_hist(void **state)
{
	struct toy *t = toy_make("/nowhere");
	char stars[81];

	memset(stars, '*', 80);
	toy_line(t, "h.c", 1, 0);
	toy_line(t, "h.c", 2, 1);
	toy_line(t, "h.c", 3, 66);
	toy_line(t, "h.c", 4, 1000);
	/* 80 columns less "h.c:4", a blank, 5 for the count, 2 blanks. */
	char *full = mem_printf(
		"Histogram of the lines of prog\n"
		"  Each * is one execution; a bar that does not fit ends in "
		">.\n\n"
		"LINE  COUNT\n"
		"h.c:1     0\n"
		"h.c:2     1  *\n"
		"h.c:3    66  %.66s\n"
		"h.c:4  1000  %.66s>\n",
		stars, stars);
	char *scaled = mem_printf(
		"Histogram of the lines of prog\n"
		"  The longest bar, 67 *, is 1000; each * is up to 14.9.\n\n"
		"LINE  COUNT\n"
		"h.c:1     0\n"
		"h.c:2     1  *\n"
		"h.c:3    66  *****\n"		/* 66 * 67 / 1000 = 4.4 */
		"h.c:4  1000  %.67s\n",
		stars);
	assert_text(report_text("hist", t), full);
	assert_text(report_text("hist:scaled", t), scaled);
	assert_text(report_text("hist:log", t),
		    "Histogram of the lines of prog\n"
		    "  Each further * doubles the count: * is 1, ** 2 to 3, "
		    "*** 4 to 7.\n\n"
		    "LINE  COUNT\n"
		    "h.c:1     0\n"
		    "h.c:2     1  *\n"
		    "h.c:3    66  *******\n"	/* 64 <= 66 < 128 */
		    "h.c:4  1000  **********\n");
	free(full);
	free(scaled);
	toy_free(t);
}

/* No line of the text is wider than 80 columns. */
static void
assert_fits(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len > 80)
			fprintf(stderr, "# %.*s\n", (int)len, text);
		assert_true(len <= 80);
		text += len + (text[len] == '\n');
	}
}

/* Reports of the largest counts and of long names, with these units. */
static void
big_reports(const char *const *reports, size_t n, unsigned units)
{
	struct toy *t = toy_make("/nowhere");
	char *text;

	t->sel.units = units;
	t->sel.places = true;
	toy_line(t, "/a/very/long/directory/name/with-a-long-file-name.c",
		 4294967295u, INT64_MAX);
	toy_line(t, "/a/very/long/directory/name/with-a-long-file-name.c", 1,
		 0);
	toy_func(t, "a_function_with_quite_a_long_name", "/a/x.c", 1,
		 INT64_MAX);
	for (size_t i = 0; i < n; i++) {
		text = report_text(reports[i], t);
		assert_fits(text);
		if (strcmp(reports[i], "uncovered") != 0 &&
		    strcmp(reports[i], "inlines") != 0)
			assert_contains(text, "9223372036854775807");
		free(text);
	}
	toy_free(t);
}

static void
test_big(void **state)
{
	static const char *const plain[] = {
		"summary",   "hist",	"hist:scaled", "hist:log",
		"uncovered", "listing", "funcs",       "inlines",
	};
	static const char *const code[] = {
		"summary",
		"insns",
		"blocks",
	};

	big_reports(plain, sizeof(plain) / sizeof(plain[0]),
		    1U << UNIT_FUNC | 1U << UNIT_LINE);
	big_reports(code, sizeof(code) / sizeof(code[0]),
		    (1U << UNIT_KINDS) - 1);
}

static void
test_funcs(void **state)
{
	static const char *aliases[] = { "g", "h" };
	struct toy *t = toy_make("/nowhere");
	struct func *func;
	char *text;

	toy_func(t, "never", "/s/a.c", 3, 0);
	toy_func(t, "_ZN1a3putEi", "/s/a.c", 5, 7);
	func = toy_func(t, "f", NULL, 0, 9);
	func->aliases = aliases;
	func->naliases = 2;
	toy_func(t, "also", "/s/b.c", 123456, 7);
	toy_func(t, "unknown", "/s/b.c", 1, 1);
	t->said[4].lost = true;
	text = report_text("funcs", t);
	assert_string_equal(
		text,
		"Functions of prog\n"
		"  3 of 5 called, 1 never, 1 not known (?)\n\n"
		"    CALLS  DECLARED AT  FUNCTION\n"
		"        9               f (= g) (= h)\n"
		"        7  a.c:5        a::put(int)\n"
		"        7  b.c:123456   also\n"
		"        0  a.c:3        never\n"
		"        ?  b.c:1        unknown [a breakpoint could not be "
		"planted]\n");
	free(text);
	toy_free(t);
}

static void
test_no_demangle(void **state)
{
	struct toy *t = toy_make("/nowhere");
	struct report_options opts = options_make("funcs");
	struct plan *plan;
	struct report_input report_input = { .plans = &plan,
					     .nplans = 1,
					     .command = "c" };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	opts.demangle = false;
	toy_func(t, "_ZN1a3putEi", NULL, 0, 7);
	plan = toy_propagate(t);
	assert_int_equal(toys_report(&opts, &report_input, out), 0);
	fclose(out);
	assert_contains(text, "  _ZN1a3putEi\n");
	free(text);
	report_options_free(&opts);
	toy_free(t);
}

static void
test_uncovered(void **state)
{
	struct toy *t = toy_make("/nowhere");

	toy_func(t, "idle", "/s/a.c", 1, 0);
	toy_func_line(t, "/s/a.c", 2, 0);
	toy_func_line(t, "/s/a.c", 3, 0);
	toy_func_line(t, "/s/a.c", 9, 0);	/* no code between */
	toy_func(t, "busy", "/s/a.c", 20, 5);
	toy_func_line(t, "/s/a.c", 21, 5);
	toy_func_line(t, "/s/a.c", 22, 0);
	toy_func_line(t, "/s/a.c", 23, 0)->lost = true;
	toy_line(t, "/s/a.c", 24, 0);
	toy_line(t, "/s/b.c", 1, 0);	/* another file: another range */
	assert_text(report_text("uncovered", t),
		    "Lines never run of prog\n"
		    "  6 of 8 lines with code\n\n"
		    "a.c:2-9                       idle (never called)\n"
		    "a.c:22                        busy\n"
		    "a.c:24\n"
		    "b.c:1\n");
	toy_free(t);
}

static void
test_several_objects(void **state)
{
	struct toy *t[2] = { toy_make("/bin/prog"), toy_make("/lib/libx.so") };
	char *text;

	toy_line(t[0], "/s/x.h", 5, 3);
	toy_line(t[0], "/s/a.c", 1, 1);
	toy_line(t[1], "/s/x.h", 5, 4);
	toy_line(t[1], "/s/x.h", 6, 8);
	toy_line(t[0], "/s/x.h", 6, 8)->lost = true;
	toy_func(t[0], "f", "/s/x.h", 4, 3);
	toy_func(t[1], "f", "/s/x.h", 4, 4);
	text = report_plans("listing,funcs,summary", t, 2, NULL);
	assert_contains(text, "x.h     5     7:\n");
	assert_contains(text, "x.h     6     ?:\n");
	assert_contains(text, "    CALLS  OBJECT   DECLARED AT  FUNCTION\n"
			      "        4  libx.so  x.h:4        f\n"
			      "        3  prog     x.h:4        f\n");
	assert_contains(text, "  lines of prog\n");
	assert_contains(text, "  lines of libx.so\n");
	free(text);
	toy_free(t[0]);
	toy_free(t[1]);
}

static void
test_paths(void **state)
{
	struct toy *t = toy_make("/nowhere");
	char cwd[4096], *here;

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	here = mem_printf("%s/sub/u.c", cwd);
	toy_line(t, "/p/one/u.c", 1, 0);
	toy_line(t, "/q/one/u.c", 1, 0);
	toy_line(t, "/q/two/v.c", 1, 0);
	toy_line(t, "/xv.c", 1, 0);
	toy_line(t, "w.c", 1, 0);
	toy_line(t, "/r/w.c", 1, 0);
	toy_line(t, here, 1, 0);
	char *text = report_text("uncovered", t);
	assert_contains(text, "\np/one/u.c:1\n");
	assert_contains(text, "\nq/one/u.c:1\n");
	assert_contains(text, "\nv.c:1\n");
	assert_contains(text, "\nxv.c:1\n");
	assert_contains(text, "\nw.c:1\n");
	assert_contains(text, "\nr/w.c:1\n");
	assert_contains(text, "\nsub/u.c:1\n");
	free(text);
	free(here);
	toy_free(t);
}

static void
test_summary(void **state)
{
	char *path = file_write("s.c", "a\n\t  hot spot\nc\n", 16);
	char *remarks[] = { (char *)"It was so." };
	struct toy *t = toy_make("/nowhere");
	char *text;

	toy_func(t, "b", path, 1, 5);
	toy_func(t, "a", path, 1, 5);
	toy_func(t, "idle", path, 1, 0);
	toy_bad_row(t, path, 3);
	toy_bad_row(t, path, 3);
	toy_line(t, path, 1, 1);
	toy_line(t, path, 2, 1000);
	t->image.remarks = remarks;
	t->image.nremarks = 1;
	text = report_text(NULL, t);
	assert_string_equal(
		text,
		"Counts of prog\n"
		"  exited with status 0; 0.00 s, 1 process, 2 threads, "
		"3 traps\n\n"
		"   counted        run            never run  not known\n"
		"         3          2    66.6 %          1          0  functions\n"
		"         3          2    66.6 %          0          1  lines\n\n"
		"Functions called most:\n"
		"    CALLS  DECLARED AT  FUNCTION\n"
		"        5  s.c:1        a\n"
		"        5  s.c:1        b\n\n"
		"Lines run most:\n"
		"    COUNT  LINE\n"
		"     1000  s.c:2     hot spot\n"
		"        1  s.c:1     a\n\n"
		"Not counted:\n"
		"         1 line: not at the start of an instruction\n"
		"         2 rows or symbols left out: not at the start of an "
		"instruction\n\n"
		"Note: It was so.\n");
	free(text);
	free(path);
	toy_free(t);
}

/* What is true of many objects is said once, whatever else is said between. */
static void
test_notes(void **state)
{
	enum { OBJECTS = 11 };
	struct toy *toys[OBJECTS];
	char *remarks[OBJECTS][2];
	char *paths[OBJECTS], *text, *was[OBJECTS];

	for (int i = 0; i < OBJECTS; i++) {
		char *path = paths[i] = mem_printf("/lib/l%d", i);

		toys[i] = toy_make("/nowhere");
		was[i] = toys[i]->image.path;
		toys[i]->image.path = path;
		remarks[i][0] = mem_printf("%s is bare", path);
		remarks[i][1] = mem_printf("%s is %s", path,
					   i < 2 ? "small" : "big");
		toys[i]->image.remarks = remarks[i];
		toys[i]->image.nremarks = i == 1 ? 2 : 1;
	}
	text = report_plans(NULL, toys, OBJECTS, NULL);
	assert_contains(text, "Note: /lib/l0 is bare\n"
			      "Note: The same is true of 10 other objects: l1, "
			      "l2, l3, l4, l5, l6, l7, l8, ...\n"
			      "Note: /lib/l1 is small\n");
	free(text);
	text = report_plans(NULL, toys, 2, NULL);
	assert_contains(text, "Note: /lib/l0 is bare\n"
			      "Note: The same is true of l1\n"
			      "Note: /lib/l1 is small\n");
	free(text);
	for (int i = 0; i < OBJECTS; i++) {
		toys[i]->image.path = was[i];
		free(paths[i]);
		toys[i]->image.remarks = NULL;
		toys[i]->image.nremarks = 0;
		free(remarks[i][0]);
		free(remarks[i][1]);
		toy_free(toys[i]);
	}
}

static void
test_summary_of_nothing(void **state)
{
	struct toy *t = toy_make("/nowhere");
	char *text = report_text("summary,listing,hist,funcs,inlines,uncovered",
				 t);

	assert_contains(text, "Nothing was selected.\n");
	assert_contains(text, "No functions were counted.\n");
	free(text);
	text = report_plans(NULL, NULL, 0, NULL);
	assert_contains(text, "Nothing was selected.\n");
	free(text);
	toy_free(t);
}

static void
test_top(void **state)
{
	struct toy *t = toy_make("/nowhere");
	struct report_options opts = options_make(NULL);
	struct plan *plan;
	struct report_input report_input = { .plans = &plan,
					     .nplans = 1,
					     .command = "c" };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	opts.top = 2;
	for (uint32_t i = 1; i < 5; i++) {
		toy_line(t, "/s/t.c", i, 10 * i);
		toy_func(t, i % 2 ? "odd" : "even", "/s/t.c", 100 + i, i);
	}
	plan = toy_propagate(t);
	assert_int_equal(toys_report(&opts, &report_input, out), 0);
	fclose(out);
	assert_contains(text, "40  t.c:4\n       30  t.c:3\n");
	assert_null(strstr(text, "t.c:2\n"));
	assert_contains(text, "4  t.c:104");
	assert_contains(text, "3  t.c:103");
	assert_null(strstr(text, "t.c:102"));
	free(text);
	toy_free(t);
}

static int
report_to(const char *report, struct toy *t)
{
	struct report_options opts = options_make(report);
	struct plan *plan;
	struct report_input report_input = { .plans = &plan,
					     .nplans = 1,
					     .command = "c" };
	FILE *out = fopen("/dev/null", "w");
	int result;

	plan = toy_propagate(t);
	result = toys_report(&opts, &report_input, out);
	fclose(out);
	report_options_free(&opts);
	return result;
}

static int
check(const char *report)
{
	struct report_options opts = options_make(report);
	int result = report_targets_check(&opts);

	report_options_free(&opts);
	return result;
}

static void
test_target(void **state)
{
	char *path = file_write("t.txt", "before", 6), *text;
	char *link = mem_printf("%s/link", dir);
	char *arg = mem_printf("funcs:%s,listing,funcs:%s", link, link);
	struct toy *t = toy_make("/nowhere");
	struct stat st;

	toy_func(t, "f", NULL, 0, 7);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(symlink(path, link), 0);
	/* The check leaves it alone. */
	assert_int_equal(check(arg), 0);
	text = file_read(path);
	assert_string_equal(text, "before");
	free(text);
	/* It is replaced, not the link to it, and has both reports. */
	assert_int_equal(report_to(arg, t), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	text = file_read(path);
	assert_memory_equal(text, "Functions of c\n", 15);
	assert_non_null(strstr(text, "f\n\nFunctions of c\n"));
	free(text);
	toy_free(t);
	free(arg);
	free(link);
	free(path);
}

static void
test_target_new(void **state)
{
	char *path = mem_printf("%s/new.txt", dir);
	char *arg = mem_printf("funcs:%s", path);
	struct toy *t = toy_make("/nowhere");
	mode_t mask = umask(027);
	struct stat st;

	assert_int_equal(check(arg), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(report_to(arg, t), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	umask(mask);
	toy_free(t);
	free(arg);
	free(path);
}

static void
test_target_bad(void **state)
{
	char *missing = mem_printf("funcs:%s/no/such", dir);
	char *directory = mem_printf("funcs:%s", dir);
	struct toy *t = toy_make("/nowhere");

	assert_int_equal(check(missing), -1);
	assert_non_null(strstr(fail_message(), "/no/such: No such file"));
	assert_int_equal(check(directory), -1);
	assert_non_null(strstr(fail_message(), "Is a directory"));
	assert_int_equal(check("funcs:/dev/null"), 0);
	assert_int_equal(report_to("funcs:/dev/null", t), 0);
	assert_int_equal(report_to("funcs:/dev/full", t), -1);
	assert_string_equal(fail_message(),
			    "/dev/full: No space left on device");
	/* More than one buffer's worth. */
	for (size_t i = 0; i < 64; i++)
		toy_line(t, "/a/file/with/a/name/of/some/length.c", i + 1, i);
	assert_int_equal(report_to("listing:/dev/full,hist:/dev/full", t), -1);
	assert_string_equal(fail_message(),
			    "/dev/full: No space left on device");
	assert_int_equal(report_to(missing, t), -1);
	assert_non_null(strstr(fail_message(), "No such file"));
	toy_free(t);
	free(missing);
	free(directory);
}

static void
test_out_full(void **state)
{
	struct report_options opts = options_make(NULL);
	struct report_input report_input = { .command = "c" };
	FILE *out = fopen("/dev/full", "w");

	assert_int_equal(toys_report(&opts, &report_input, out), 0);
	assert_int_equal(stream_flush(out, "the page"), -1);
	assert_string_equal(fail_message(),
			    "the page: No space left on device");
	fclose(out);
}

static void
assert_short(const char *name, const char *expected)
{
	char *text = name_shorten(name, 10);

	assert_string_equal(text, expected);
	free(text);
}

static void
test_shorten(void **state)
{
	assert_short("f(int)", "f(int)");
	assert_short("std::map<int, long>::find(int const&)",
		     "std::map<...>::find(...)");
	assert_short("bool std::operator< <char, int>(char, int)",
		     "bool std::operator< <...>(...)");
	assert_short("std::function<void (int)>::operator()(int, int) const",
		     "std::function<...>::operator()(...) const");
	assert_short("x<(a)1, b<c> >::operator->(long) const",
		     "x<...>::operator->(...) const");
	assert_short("(anonymous namespace)::f<int, 3>(char*)",
		     "(anonymous namespace)::f<...>(...)");
	assert_short("unbalanced<<<((((", "unbalanced<<<((((");
	assert_short("(= (= (= (= )", "(= (= (= (= )");
}

static void
test_text(void **state)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(text_print(out, "abcdef", 6, 6), 6);
	putc('|', out);
	assert_int_equal(text_print(out, "abcdef", 6, 5), 5);
	putc('|', out);
	assert_int_equal(text_print(out, "abcdef", 6, 2), 2);
	putc('|', out);
	assert_int_equal(text_print(out, "a\tb", 3, WIDTH_ALL), 9);
	putc('|', out);
	text_column(out, "a/long/path.c", 9);
	putc('|', out);
	text_column(out, "x.c", 5);
	putc('|', out);
	text_paragraph(out, "# ", "one two three", 9);
	fclose(out);
	assert_text(text, "abcdef|ab...|..|a       b|...path.c|x.c  |"
			  "# one two\n  three\n");
}

static void
test_text_line(void **state)
{
	char *line = text_line("a\n\t\x1b\x7f|\xc3\xa9|\xff|\xc2\x9b|"
			       "\xe2\x80\xae");
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	/* Each byte by itself, of what is replaced. */
	assert_text(line, "a^J^I^[^?|\xc3\xa9|\xef\xbf\xbd|"
			  "\xef\xbf\xbd\xef\xbf\xbd|"
			  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	text_line_put(out, "a,b\r,", ",", ';');
	text_note(out, NULL);
	text_note(out, "\x1b");
	fclose(out);
	assert_text(text, "a;b^M; [^[]");
}

static int
setup(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int
teardown(void **state)
{
	char *command = mem_printf("rm -r %s", dir);
	int result = system(command);

	free(command);
	return result;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_listing_without_source),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_listing_range),
		cmocka_unit_test(test_source_path),
		cmocka_unit_test(test_source_odd),
		cmocka_unit_test(test_source_newer),
		cmocka_unit_test(test_hist),
		cmocka_unit_test(test_big),
		cmocka_unit_test(test_funcs),
		cmocka_unit_test(test_no_demangle),
		cmocka_unit_test(test_uncovered),
		cmocka_unit_test(test_several_objects),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_summary_of_nothing),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_target_new),
		cmocka_unit_test(test_target_bad),
		cmocka_unit_test(test_out_full),
		cmocka_unit_test(test_shorten),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_line),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
