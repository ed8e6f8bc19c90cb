/*
 * Reports of blocks, edges, instructions and calls, of a program that is run
 * here.  What is expected was worked out by hand from what it does.
 */
#include "probe/counts.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include "tests/lib/report_toy.h"

#include <cmocka.h>

enum {
	F = CPU_BASE,
	G = CPU_BASE + 0x10,
	H = CPU_BASE + 0x20,
	K = CPU_BASE + 0x30,
	Z = CPU_BASE + 0x40,
	ALL = 1 << UNIT_FUNC | 1 << UNIT_LINE | 1 << UNIT_BLOCK |
	      1 << UNIT_EDGE | 1 << UNIT_INSN | 1 << UNIT_CALL,
};

static char dir[] = "/tmp/pmon-report-XXXXXX";
static char *source;

/*
 * f	1000 p			line 4	2 times
 *	1001 call g		line 5	4: round twice in a row, and again
 *	1003 branch to 1001	line 6	4, 2 of them taken
 *	1005 call by pointer	line 7	2: h, k
 *	1006 branch to 1009	line 8	2, one of them taken
 *	1008 p			line 9	1
 *	1009 return		line 10	2
 *	100a n, n: padding
 * g	1010 p			y.h:7	4
 *	1011 jump to h		y.h:7	4
 * h	1020 return			6: from g, the pointer, k
 * k	1030 branch to h		1, taken
 *	1032 return			0
 * z	1040 p, return			0
 */
static struct toy *
program_make(unsigned units)
{
	struct toy *t = toy_make("/nowhere/prog");

	t->sel.units = units;
	t->sel.places = true;
	toy_code(t, "pc\1b\xfcib\1prnn", 12);
	for (uint32_t i = 0; i < 7; i++)
		toy_row(t, F + (uint64_t[]){ 0, 1, 3, 5, 6, 8, 9 }[i], t->at,
			source, 4 + i);
	toy_func_at(t, "f", source, 3, F);
	toy_skip(t, G);
	toy_code(t, "pj\x0d", 3);
	toy_row(t, G, t->at, "/zz/y.h", 7);
	toy_func_at(t, "_ZN1g3getEv", "/zz/y.h", 6, G);
	toy_skip(t, H);
	toy_code(t, "r", 1);
	toy_func_at(t, "h", NULL, 0, H);
	toy_skip(t, K);
	toy_code(t, "b\xeer", 3);
	toy_func_at(t, "k", NULL, 0, K);
	toy_skip(t, Z);
	toy_code(t, "pr", 2);
	toy_func_at(t, "z", NULL, 0, Z);
	return t;
}

/* Twice through f: round three times, then once. */
static void
program_run(struct toy *t)
{
	const char *steps = "ttn2t"
			    "n3tn";

	toy_run(t, F, &steps);
	toy_run(t, F, &steps);
	assert_string_equal(steps, "");
	plan_propagate(t->plan, NULL);
}

static char *
report_text(struct toy *t, const char *report)
{
	struct report_options opts = {
		.top = 20,
		.columns = 80,
		.demangle = true,
	};
	struct report_input report_input = {
		.plans = &t->plan,
		.nplans = 1,
		.command = "prog \"\\",
	};
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_parse(&opts, report), 0);
	assert_int_equal(toys_report(&opts, &report_input, out), 0);
	fclose(out);
	report_options_free(&opts);
	return text;
}

static void
assert_report(const char *report, const char *expected)
{
	struct toy *t = program_make(ALL);
	char *text;

	program_run(t);
	text = report_text(t, report);
	assert_string_equal(text, expected);
	free(text);
	toy_free(t);
}

static void
assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fprintf(stderr, "# not there: %s\n# in: %s\n", part, text);
	assert_non_null(strstr(text, part));
}

/* Of f 2 + 4 + 4 + 2 + 2 + 1 + 2 instructions are executed. */
static void
test_funcs(void **state)
{
	assert_report(
		"funcs",
		"Functions of prog \"\\\n"
		"  32 instructions executed; of 14 in the code (INSNS), 3 "
		"never\n\n"
		"   EXECUTED     CALLS   INSNS   NEVER  DECLARED AT  FUNCTION\n"
		"         17         2       7       0  m.c:3        f\n"
		"          8         4       2       0  y.h:6        g::get()\n"
		"          6         6       1       0               h\n"
		"          1         1       2       1               k\n"
		"          0         0       2       2               z\n");
}

static void
test_files(void **state)
{
	assert_report(
		"files",
		"Files of prog \"\\\n"
		"  32 instructions executed; of 14 in the code (INSNS), 3 "
		"never\n"
		"  ENTERED: blocks entered; BLOCKS: in the code\n\n"
		"   EXECUTED   INSNS   NEVER     ENTERED  BLOCKS   NEVER  "
		"FILE\n"
		"         17       7       0          11       5       0  m.c\n"
		"          8       2       0           4       1       0  y.h\n"
		"          7       5       3           7       4       2  "
		"(of no file)\n"
		"         32      14       3          22      10       2  "
		"(all)\n");
}

/* Line 5 is entered twice; from line 6 it is entered again, twice. */
static void
test_lines(void **state)
{
	assert_report(
		"lines",
		"Lines of prog \"\\\n"
		"  EXECUTED: instructions executed; INSNS: instructions\n"
		"  #####: has code that never ran; ?: count not known; "
		"blank: no code counted\n\n"
		"FILE LINE COUNT  EXECUTED INSNS\n"
		"m.c     1                      :  1\n"
		"m.c     2                      :  2\n"
		"m.c     3                      :  3\n"
		"m.c     4     2         2     1:  4\n"
		"m.c     5     4         4     1:  5\n"
		"m.c     6     4         4     1:  6\n"
		"m.c     7     2         2     1:  7\n"
		"m.c     8     2         2     1:  8\n"
		"m.c     9     1         1     1:  9\n"
		"m.c    10     2         2     1:          ten\n"
		"# /zz/y.h: No such file or directory\n"
		"# Without the text only lines with code are listed (see "
		"--source-path).\n"
		"y.h     7     4         8     2:\n\n"
		"Outside the lines above: 7 executed, of 5 instructions.\n");
}

static void
test_insns(void **state)
{
	assert_report("insns", "Instructions of prog \"\\\n"
			       "  14 instructions, 11 run, 3 never run\n"
			       "  #####: never run; ?: count not known\n\n"
			       "f  m.c:3  2 calls\n"
			       "  m.c:4  4\n"
			       "        2  1000:  p\n"
			       "  m.c:5  5\n"
			       "        4  1001:  c 0x1010 <g::get()>\n"
			       "  m.c:6  6\n"
			       "        4  1003:  b 0x1001\n"
			       "  m.c:7  7\n"
			       "        2  1005:  i\n"
			       "  m.c:8  8\n"
			       "        2  1006:  b 0x1009\n"
			       "  m.c:9  9\n"
			       "        1  1008:  p\n"
			       "  m.c:10  ten\n"
			       "        2  1009:  r\n\n"
			       "g::get()  y.h:6  4 calls\n"
			       "  y.h:7\n"
			       "        4  1010:  p\n"
			       "        4  1011:  j 0x1020 <h>\n\n"
			       "h  6 calls\n"
			       "        6  1020:  r\n\n"
			       "k  1 call\n"
			       "        1  1030:  b 0x1020 <h>\n"
			       "    #####  1032:  r\n\n"
			       "z  0 calls\n"
			       "    #####  1040:  p\n"
			       "    #####  1041:  r\n");
}

static void
test_blocks(void **state)
{
	assert_report("blocks", "Blocks of prog \"\\\n"
				"  10 blocks, 8 run, 2 never run\n\n"
				"f  m.c:3  2 calls\n"
				"    COUNT  ADDRESS INSNS  LINES\n"
				"        2     1000     1  m.c:4\n"
				"        4     1001     2  m.c:5-6\n"
				"        2     1005     2  m.c:7-8\n"
				"        1     1008     1  m.c:9\n"
				"        2     1009     1  m.c:10\n\n"
				"g::get()  y.h:6  4 calls\n"
				"    COUNT  ADDRESS INSNS  LINES\n"
				"        4     1010     2  y.h:7\n\n"
				"h  6 calls\n"
				"    COUNT  ADDRESS INSNS  LINES\n"
				"        6     1020     1\n\n"
				"k  1 call\n"
				"    COUNT  ADDRESS INSNS  LINES\n"
				"        1     1030     1\n"
				"        0     1032     1\n\n"
				"z  0 calls\n"
				"  never run: 1 block\n");
}

/* The loop is entered twice and goes round 3 and 1 times. */
static void
test_edges(void **state)
{
	assert_report("edges",
		      "Edges of prog \"\\\n"
		      "  7 edges, 6 run, 1 never run\n\n"
		      "f  m.c:3  2 calls\n"
		      "BRANCH      TO      TAKEN  NOT TAKEN  TAKEN%  LINE\n"
		      "  1003    1001          2          2    50.0  m.c:6\n"
		      "  1006    1009          1          1    50.0  m.c:8\n"
		      "  LOOP    ENTERED     ROUNDS     AVERAGE  LINE\n"
		      "  1001          2          4         2.0  m.c:5\n\n"
		      "g::get()  y.h:6  4 calls\n"
		      "  no branches\n\n"
		      "h  6 calls\n"
		      "  no branches\n\n"
		      "k  1 call\n"
		      "BRANCH      TO      TAKEN  NOT TAKEN  TAKEN%  LINE\n"
		      "  1030    1020          1          0   100.0  to h\n\n"
		      "z  0 calls\n"
		      "  never run: 0 edges\n");
}

static void
test_calls(void **state)
{
	assert_report("calls",
		      "Calls of prog \"\\\n"
		      "  11 calls from 4 places; 0 places never called\n\n"
		      "f  m.c:3  2 calls\n"
		      "    TIMES    AT  LINE   CALLS\n"
		      "        4  1001  m.c:5  g::get()\n"
		      "        1  1005  m.c:7  h (indirect)\n"
		      "        1  1005  m.c:7  k (indirect)\n\n"
		      "g::get()  y.h:6  4 calls\n"
		      "    TIMES    AT  LINE   CALLS\n"
		      "        4  1011  y.h:7  h (tail call)\n\n"
		      "k  1 call\n"
		      "    TIMES    AT  CALLS\n"
		      "        1  1030  h (tail call)\n");
}

/* Only what calls is counted, and the rest is not known. */
static void
test_calls_alone(void **state)
{
	struct toy *t = program_make(1 << UNIT_CALL);
	char *text;

	program_run(t);
	text = report_text(t, "calls");
	assert_contains(text, "  11 calls from 4 places; 0 places");
	assert_contains(text, "        4  1001  m.c:5  g::get()\n"
			      "        1  1005  m.c:7  h (indirect)\n"
			      "        1  1005  m.c:7  k (indirect)\n");
	assert_contains(text, "        1  1030  h (tail call)\n");
	free(text);
	toy_free(t);
}

/* Without that unit, it is not known where indirect calls went. */
static void
test_calls_not_recorded(void **state)
{
	struct toy *t = program_make(1 << UNIT_INSN);
	char *text;

	program_run(t);
	text = report_text(t, "calls");
	assert_string_equal(text, "Calls of prog \"\\\n\n"
				  "No calls were counted (see --units).\n");
	free(text);
	toy_free(t);
}

static void
test_dot(void **state)
{
	struct toy *t = program_make(1 << UNIT_EDGE | 1 << UNIT_FUNC);
	char *text;

	select_glob(&t->sel.funcs, "k");
	program_run(t);
	text = report_text(t, "cfg");
	assert_string_equal(
		text, "digraph \"prog \\\"\\\\\" {\n"
		      "\tnode [shape=box, fontname=monospace];\n"
		      "\tedge [fontname=monospace];\n"
		      "\tsubgraph \"cluster.0.3\" {\n"
		      "\t\tlabel=\"k\";\n"
		      "\t\t\"0.3.0\" [label=\"entry\", shape=ellipse];\n"
		      "\t\t\"0.3.1\" [label=\"exit\", shape=ellipse];\n"
		      "\t\t\"0.3.2\" [label=\"1030-1031\\l1\\r\"];\n"
		      "\t\t\"0.3.3\" [label=\"1032-1032\\l0\\r\", color=gray, "
		      "fontcolor=gray];\n"
		      "\t\t\"0.3.0\" -> \"0.3.2\" [label=\"1\"];\n"
		      "\t\t\"0.3.2\" -> \"0.3.3\" [label=\"0\", color=gray, "
		      "fontcolor=gray, style=dashed];\n"
		      "\t\t\"0.3.2\" -> \"0.3.1\" [label=\"1\"];\n"
		      "\t\t\"0.3.3\" -> \"0.3.1\" [label=\"0\", color=gray, "
		      "fontcolor=gray];\n"
		      "\t}\n"
		      "}\n");
	free(text);
	select_free(&t->sel);
	toy_free(t);
}

/* The row of a function in the report: its numbers. */
static void
placement_row(const char *text, const char *name, unsigned long *row)
{
	char *end = mem_printf("  %s\n", name);
	const char *at = strstr(text, end);

	assert_non_null(at);
	while (at[-1] != '\n')
		at--;
	assert_int_equal(sscanf(at, "%lu %lu %lu %lu %lu %lu", &row[0], &row[1],
				&row[2], &row[3], &row[4], &row[5]),
			 6);
	free(end);
}

/*
 * 22 blocks were run.  Of every block each has a counter of its own, which
 * stands for an edge beside it; that it counts more than those is what the
 * difference is.
 */
static void
test_placement(void **state)
{
	unsigned long f[6], all[6];
	char *text;

	for (int method = PLACE_OPTIMAL; method <= PLACE_EVERY; method++) {
		struct toy *t = program_make(1 << UNIT_BLOCK);

		t->method = method;
		program_run(t);
		text = report_text(t, "placement");
		placement_row(text, "f", f);
		placement_row(text, "(all)", all);
		assert_int_equal(f[0], 5);
		assert_int_equal(f[1], 6);
		assert_int_equal(f[5], 11);
		assert_int_equal(all[0], 9);
		assert_int_equal(all[1], 7);
		assert_int_equal(all[4], t->hits);
		assert_int_equal(all[5], 22);
		if (method == PLACE_EVERY)
			assert_true(f[2] >= 5 && f[4] >= 11);
		else
			assert_true(all[4] < 22);
		assert_contains(text, "\n1 function was never entered,");
		free(text);
		toy_free(t);
	}
}

/* A counter of f is lost: what it determines is not known, and said so. */
static void
test_unknown(void **state)
{
	static const char *const reports[] = {
		"funcs",  "files", "lines", "insns",
		"blocks", "edges", "calls", "placement",
	};
	struct toy *t = program_make(ALL);
	char *text;

	program_run(t);
	for (size_t i = 0; i < t->plan->nsites; i++)
		if (t->plan->sites[i].fplan == 0)
			t->plan->sites[i].lost = true;
	plan_propagate(t->plan, NULL);
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		text = report_text(t, reports[i]);
		assert_contains(text, "breakpoint could not be planted");
		assert_contains(text, "?");
		free(text);
	}
	/* g, h and k executed 8, 6 and 1. */
	text = report_text(t, "funcs,insns,blocks,edges");
	assert_contains(text, "\n  at least 15 instructions executed;");
	assert_contains(text, "\n        ?  1000:  p\n");
	assert_contains(text, "\n         7 instructions: a breakpoint");
	assert_contains(text, "\n         5 blocks: a breakpoint");
	assert_contains(text, "\n         6 edges: a breakpoint");
	assert_contains(text, "\n  1003    1001          ?          ?       ?");
	assert_contains(text, "\n        4  1010:  p\n");
	free(text);
	toy_free(t);
}

/*
 * Code at which no statement begins is named after its line, but counted for
 * the line before it: that is entered twice.
 */
static void
test_no_statement(void **state)
{
	struct toy *t = program_make(ALL);
	char *text;

	t->rows[6].is_stmt = false;
	program_run(t);
	text = report_text(t, "insns,lines");
	assert_contains(text, "        1  1008:  p\n"
			      "  m.c:10  ten\n"
			      "        2  1009:  r\n");
	assert_contains(text,
			"m.c     9     2         3     2:  9\n"
			"m.c    10                      :          ten\n");
	free(text);
	toy_free(t);
}

/* Padding is none of the blocks and instructions of the summary. */
static void
test_summary(void **state)
{
	struct toy *t = program_make(ALL);
	char *text;

	program_run(t);
	text = report_text(t, "summary");
	assert_contains(
		text,
		"         5          4    80.0 %          1          0  "
		"functions\n"
		"         8          8   100.0 %          0          0  lines\n"
		"        10          8    80.0 %          2          0  blocks\n"
		"         7          6    85.7 %          1          0  edges\n"
		"        14         11    78.5 %          3          0  "
		"instructions\n");
	free(text);
	toy_free(t);
}

/* What is not asked for is said to be so. */
static void
test_nothing(void **state)
{
	struct toy *t = program_make(1 << UNIT_FUNC);
	char *text;

	program_run(t);
	text = report_text(t, "files,lines,insns,blocks,edges,calls,"
			      "placement,cfg");
	assert_contains(text, "No instructions were counted (see --units).");
	assert_contains(text, "No blocks were counted (see --units).");
	assert_contains(text, "No edges were counted (see --units).");
	assert_contains(text, "No calls were counted (see --units).");
	assert_contains(text, "No counters were placed (see --units).");
	free(text);
	toy_free(t);
}

static int
setup(void **state)
{
	FILE *out;

	if (!mkdtemp(dir))
		return -1;
	source = mem_printf("%s/m.c", dir);
	out = fopen(source, "w");
	fputs("1\n2\n3\n4\n5\n6\n7\n8\n9\n\tten\n", out);
	return fclose(out);
}

static int
teardown(void **state)
{
	unlink(source);
	free(source);
	return rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_funcs),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_insns),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_alone),
		cmocka_unit_test(test_calls_not_recorded),
		cmocka_unit_test(test_dot),
		cmocka_unit_test(test_placement),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_no_statement),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
