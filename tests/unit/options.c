/*
 * The command line: what options_parse makes of arguments, and what it
 * refuses with which message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/options.h"
#include "util/fail.h"

/* After the others: it makes fail a macro. */
#include <cmocka.h>

enum { ARGS_MAX = 32 };

static struct options opts;
static char *args[ARGS_MAX];

/* Parse the words of line, separated by single spaces. */
static int
parse(const char *line)
{
	static char words[256];
	int argc = 0;

	snprintf(words, sizeof(words), "pmon %s", line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		args[argc++] = word;
	args[argc] = NULL;
	return options_parse(&opts, argc, args);
}

static void
refused(const char *line, const char *message)
{
	if (parse(line) != -1)
		fail_msg("'%s' was accepted", line);
	assert_string_equal(fail_message(), message);
	options_free(&opts);
}

static void
test_defaults(void **state)
{
	assert_int_equal(parse("prog"), 0);
	assert_int_equal(opts.selection.units, UNITS_DEFAULT);
	assert_int_equal(opts.patch, PATCH_AUTO);
	assert_int_equal(opts.follow, FOLLOW_ALL);
	assert_int_equal(opts.separate, SEPARATE_NONE);
	assert_int_equal(opts.placement, PLACE_OPTIMAL);
	assert_false(opts.eager);
	assert_null(opts.output);
	assert_true(opts.duration == 0);
	assert_int_equal(opts.npids, 0);
	assert_int_equal(opts.report.nwants, 0);
	assert_int_equal(opts.report.top, 20);
	assert_int_equal(opts.report.columns, 0);
	assert_true(opts.report.demangle);
	assert_false(opts.about.help || opts.about.version);
	options_free(&opts);
}

/* Options end at the program's name, whatever follows. */
static void
test_program(void **state)
{
	assert_int_equal(parse("--top=3 prog --top=4 -h --"), 0);
	assert_int_equal(opts.report.top, 3);
	assert_false(opts.about.help);
	assert_string_equal(opts.argv[0], "prog");
	assert_string_equal(opts.argv[1], "--top=4");
	assert_string_equal(opts.argv[2], "-h");
	assert_string_equal(opts.argv[3], "--");
	assert_null(opts.argv[4]);
	options_free(&opts);

	assert_int_equal(parse("-- -h x"), 0);
	assert_false(opts.about.help);
	assert_string_equal(opts.argv[0], "-h");
	assert_string_equal(opts.argv[1], "x");
	options_free(&opts);
}

static void
test_values(void **state)
{
	assert_int_equal(parse("--patch=step --follow none -o out "
			       "--duration=1.5 --top 7 --no-demangle "
			       "--source-path=/a=/b --source-path /c=/d=e "
			       "-u line -p 12 --pid=1"),
			 0);
	assert_int_equal(opts.patch, PATCH_STEP);
	assert_int_equal(opts.follow, FOLLOW_NONE);
	assert_string_equal(opts.output, "out");
	assert_true(opts.duration == 1.5);
	assert_int_equal(opts.report.top, 7);
	assert_false(opts.report.demangle);
	assert_int_equal(opts.report.nsource_paths, 2);
	assert_string_equal(opts.report.source_paths[0], "/a=/b");
	assert_string_equal(opts.report.source_paths[1], "/c=/d=e");
	assert_int_equal(opts.selection.units, 1 << UNIT_LINE);
	assert_int_equal(opts.npids, 2);
	assert_int_equal(opts.pids[0], 12);
	assert_int_equal(opts.pids[1], 1);
	assert_null(opts.argv);
	options_free(&opts);

	assert_int_equal(parse("--patch=slot --patch=auto --follow=all prog"),
			 0);
	assert_int_equal(opts.patch, PATCH_AUTO);
	options_free(&opts);

	/* Two names of one way. */
	assert_int_equal(parse("--patch=slot --patch=jump prog"), 0);
	assert_int_equal(opts.patch, PATCH_AUTO);
	options_free(&opts);
}

/* An argument that may be left out: the next word, unless it is an option. */
static void
test_data(void **state)
{
	assert_int_equal(parse("-d x.out prog -d"), 0);
	assert_string_equal(opts.data, "x.out");
	assert_string_equal(opts.argv[0], "prog");
	assert_string_equal(opts.argv[1], "-d");
	/* But what follows from edges, and what takes traps. */
	assert_int_equal(opts.selection.units, (1 << UNIT_KINDS) - 1 -
						       (1 << UNIT_INLINE) -
						       (1 << UNIT_CALL));
	options_free(&opts);

	assert_int_equal(parse("-d -- prog"), 0);
	assert_string_equal(opts.data, "pmon.out");
	assert_string_equal(opts.argv[0], "prog");
	options_free(&opts);
	assert_int_equal(parse("--data -p 7"), 0);
	assert_string_equal(opts.data, "pmon.out");
	assert_int_equal(opts.pids[0], 7);
	options_free(&opts);
	assert_int_equal(parse("--dat y --units=func prog"), 0);
	assert_string_equal(opts.data, "y");
	assert_int_equal(opts.selection.units, 1 << UNIT_FUNC);
	options_free(&opts);
	assert_int_equal(parse("--data=z prog"), 0);
	assert_string_equal(opts.data, "z");
	options_free(&opts);
	assert_int_equal(parse("-dz --weights w prog"), 0);
	assert_string_equal(opts.data, "z");
	assert_string_equal(opts.weights, "w");
	options_free(&opts);
	assert_int_equal(parse("prog"), 0);
	assert_null(opts.data);
	options_free(&opts);

	refused("-d prog", "no program to run and no -p; \"prog\" was taken as "
			   "the file of -d (use -d -- PROGRAM)");
	refused("--data= prog", "--data: the file name is empty");
	refused("--weights= prog", "--weights: the file name is empty");
}

/* Each name of a choice means that one, and the last given holds. */
static void
test_choices(void **state)
{
	assert_int_equal(parse("--placement=every --separate=process x"), 0);
	assert_int_equal(opts.placement, PLACE_EVERY);
	assert_int_equal(opts.separate, SEPARATE_PROCESS);
	assert_false(opts.eager);
	options_free(&opts);
	assert_int_equal(parse("--eager --placement vertex --separate thread "
			       "x"),
			 0);
	assert_int_equal(opts.placement, PLACE_VERTEX);
	assert_int_equal(opts.separate, SEPARATE_THREAD);
	assert_true(opts.eager);
	options_free(&opts);
	assert_int_equal(parse("--placement=every --placement=optimal "
			       "--separate=thread --separate=none x"),
			 0);
	assert_int_equal(opts.placement, PLACE_OPTIMAL);
	assert_int_equal(opts.separate, SEPARATE_NONE);
	options_free(&opts);
	assert_int_equal(parse("-u block,edge -u insn,call x"), 0);
	assert_int_equal(opts.selection.units,
			 1 << UNIT_BLOCK | 1 << UNIT_EDGE | 1 << UNIT_INSN |
				 1 << UNIT_CALL);
	options_free(&opts);
}

static void
test_globs(void **state)
{
	assert_int_equal(parse("--func=a* --func=!ab --file=x.c --object=* "
			       "--line=y.c:3-5 prog"),
			 0);
	assert_int_equal(opts.selection.funcs.n, 2);
	assert_string_equal(opts.selection.funcs.globs[0].pattern, "a*");
	assert_false(opts.selection.funcs.globs[0].negated);
	assert_string_equal(opts.selection.funcs.globs[1].pattern, "ab");
	assert_true(opts.selection.funcs.globs[1].negated);
	assert_int_equal(opts.selection.files.n, 1);
	assert_int_equal(opts.selection.objects.n, 1);
	assert_int_equal(opts.selection.lines.n, 1);
	assert_int_equal(opts.selection.lines.globs[0].lo, 3);
	assert_int_equal(opts.selection.lines.globs[0].hi, 5);
	options_free(&opts);
}

static void
test_reports(void **state)
{
	assert_int_equal(parse("-r listing:l.txt,funcs -r hist:log prog"), 0);
	assert_int_equal(opts.report.nwants, 3);
	assert_int_equal(opts.report.wants[0].kind, REPORT_LISTING);
	assert_string_equal(opts.report.wants[0].path, "l.txt");
	assert_int_equal(opts.report.wants[1].kind, REPORT_FUNCS);
	assert_null(opts.report.wants[1].path);
	assert_int_equal(opts.report.wants[2].kind, REPORT_HIST_LOG);
	options_free(&opts);
}

/* After -h or -V nothing else counts, not even mistakes. */
static void
test_help(void **state)
{
	assert_int_equal(parse("-h --bogus"), 0);
	assert_true(opts.about.help);
	options_free(&opts);
	assert_int_equal(parse("--version -p x"), 0);
	assert_true(opts.about.version);
	options_free(&opts);
}

static void
test_numbers(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{ "1", 1 },  { "0.25", 0.25 },	    { ".5", 0.5 },
		{ "2.", 2 }, { "1000000000", 1e9 },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char line[64];

		snprintf(line, sizeof(line), "--duration=%s x", good[i].text);
		assert_int_equal(parse(line), 0);
		assert_true(opts.duration == good[i].value);
		options_free(&opts);
	}
	refused("--save-every=-1 x",
		"--save-every: \"-1\" is not a number of seconds");
	refused("--save-every=1000000001 x",
		"--save-every: 1000000001 is out "
		"of range (at least 0, at most 1000000000)");
	refused("--duration=0 x", "--duration: 0 is out of range (more than 0, "
				  "at most 1000000000)");
	refused("--duration=1000000001 x",
		"--duration: 1000000001 is out of "
		"range (more than 0, at most 1000000000)");
	refused("--duration=. x",
		"--duration: \".\" is not a number of seconds");
	refused("--duration= x", "--duration: \"\" is not a number of seconds");
	refused("--duration=1s x",
		"--duration: \"1s\" is not a number of seconds");
	refused("--duration=0x1 x",
		"--duration: \"0x1\" is not a number of seconds");
	refused("--duration=1e3 x",
		"--duration: \"1e3\" is not a number of seconds");
	refused("--duration=inf x",
		"--duration: \"inf\" is not a number of seconds");
	refused("--duration=-1 x",
		"--duration: \"-1\" is not a number of seconds");
	refused("--top=0 x", "--top: 0 is out of range (1 to 2147483647)");
	refused("--top=+1 x", "--top: \"+1\" is not a number");
	refused("--top= x", "--top: \"\" is not a number");
	refused("-p 0", "--pid: 0 is out of range (1 to 2147483647)");
	refused("-p 2147483648",
		"--pid: 2147483648 is out of range (1 to 2147483647)");
	refused("-p 99999999999999999999",
		"--pid: 99999999999999999999 is out of range "
		"(1 to 2147483647)");
	refused("-p 1x", "--pid: no process is named \"1x\"");
}

static void
test_mistakes(void **state)
{
	refused("", "no program to run and no -p; try pmon -h");
	refused("--top=3", "no program to run and no -p; try pmon -h");
	refused("-p 1 prog", "give either a program or -p, not both");
	refused("-p 7 -p 7", "--pid: process 7 is given twice");
	refused("-x prog", "unknown option -x; try pmon -h");
	refused("--bogus prog", "unknown option --bogus; try pmon -h");
	refused("--bogus=1 prog", "unknown option --bogus; try pmon -h");
	refused("--f=1 prog", "option --f is ambiguous; try pmon -h");
	refused("--help=1", "option --help takes no argument");
	refused("-p", "option --pid needs PID");
	refused("--top", "option --top needs N");
	refused("--patch=leap prog",
		"--patch: unknown word \"leap\"; choose from auto, jump, trap, "
		"step, slot, emulate");
	refused("--follow=some prog",
		"--follow: unknown word \"some\"; choose from all, none");
	refused("--placement=best prog",
		"--placement: unknown word \"best\"; choose from optimal, "
		"vertex, every");
	refused("--host=cray prog",
		"--host: unknown word \"cray\"; choose from ptrace, qemu, "
		"simh");
	refused("--color=red prog",
		"--color: unknown word \"red\"; choose from auto, always, "
		"never");
	refused("--no-traps --separate=thread -p 7",
		"--no-traps cannot be used with --separate: it counts all "
		"threads and processes in the same memory");
	refused("--no-traps --follow=none -p 7",
		"--no-traps cannot be used with --follow=none: it counts all "
		"threads and processes in the same memory");
	refused("--separate=all prog",
		"--separate: unknown word \"all\"; choose from none, "
		"process, thread");
	refused("--eager=1 prog", "option --eager takes no argument");
	refused("--placement", "option --placement needs KIND");
	refused("--output= prog", "--output: the file name is empty");
	refused("--source-path=a prog", "--source-path: \"a\" is not OLD=NEW");
	refused("--source-path==a prog",
		"--source-path: \"=a\" is not OLD=NEW");
}

/* What others parse is refused here too, with some message. */
static void
test_mistakes_of_others(void **state)
{
	static const char *const lines[] = {
		"--units=words x",  "--units= x",	"--line=f.c x",
		"--line=f.c:5-3 x", "--report=novel x",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (parse(lines[i]) != -1)
			fail_msg("'%s' was accepted", lines[i]);
		options_free(&opts);
	}
}

/* -h fits on a terminal of 80 columns. */
static void
test_help_width(void **state)
{
	size_t size, longest = 0, lines = 0;
	char *text;
	FILE *out = open_memstream(&text, &size);

	options_help(out);
	fclose(out);
	for (char *line = text; *line; lines++) {
		size_t len = strcspn(line, "\n");

		if (len > longest)
			longest = len;
		line += len + (line[len] == '\n');
	}
	assert_true(lines > 16);
	assert_in_range(longest, 40, 79);
	free(text);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_mistakes_of_others),
		cmocka_unit_test(test_help_width),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
