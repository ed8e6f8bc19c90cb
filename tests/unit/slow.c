/*
 * Whether pmon takes a program to be slowed down, from made-up times and from
 * some that were measured, and what it says helps.
 */
#include "monitor/client/slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* ---- the factor */

/* 4 us, 2 us, 15 us. */
static const struct stop_costs costs = { 4e-6, 2e-6, 15e-6 };

static int
factor_of(double own, double program, enum stop_cause cause, uint64_t n)
{
	struct slow_use use = { .own = own, .program = program };

	use.stops.n[cause] = n;
	return (int)(slow_factor(&use, &costs) * 10 + 0.5);
}

static void
test_factor(void **state)
{
	/* A second alone; what its stops cost is not the program's. */
	assert_int_equal(factor_of(0.5, 1.5, STOP_SLOTTED, 125000), 20);
	assert_int_equal(factor_of(1, 2, STOP_SWITCH, 250000), 30);
	assert_int_equal(factor_of(1, 2, STOP_CALL_WATCHED, 500000), 30);
	assert_int_equal(factor_of(1, 4, STOP_STEP, 200000), 50);
	/* A program's own system calls are no stops. */
	assert_int_equal(factor_of(0.5, 1.5, STOP_BIRTH, 0), 13);
	/* Stops may turn out cheaper than they were measured. */
	assert_int_equal(factor_of(1, 1, STOP_EMULATED, 250000),
			 SLOW_MOST * 10);
	assert_int_equal(factor_of(1, 1, STOP_EMULATED, 500000),
			 SLOW_MOST * 10);
}

/* ---- looking */

static double used;
static unsigned measured, tells;
static bool can_tell;

static double
cpu_time(pid_t pid)
{
	return used;
}

static int
stop_costs(struct stop_costs *measure)
{
	measured++;
	*measure = costs;
	return HOST_OK;
}

static bool
tell(const char *note)
{
	tells++;
	return can_tell;
}

static const struct host_native native = {
	.cpu_time = cpu_time,
	.stop_costs = stop_costs,
};
static const struct host host = { .native = &native };
static struct options opts;
static struct process process = { .pid = 1 };

static struct run *
run_made(void)
{
	struct run *run = calloc(1, sizeof(*run));

	*run = (struct run){
		.opts = &opts,
		.host = &host,
		.tell = tell,
		.program = (char *)"prog",
		.processes = &process,
	};
	process.used = 0;
	measured = tells = 0;
	can_tell = true;
	slow_open(run);
	return run;
}

static void
run_freed(struct run *run)
{
	slow_close(run);
	remarks_free(run);
	free(run);
}

/* Look as often as it takes to be seen: a tenth of a second of this test's. */
static void
looked(struct run *run)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 8;

	while (clock() < end)
		for (int i = 0; i < 64; i++)
			slow_look(run);
}

/* The program took so many seconds more, of them alone as given. */
static void
took(struct run *run, double all, double alone)
{
	used += all;
	run->stops.n[STOP_SWITCH] += (uint64_t)((all - alone) / costs.trap +
						0.5);
	looked(run);
}

static void
test_look(void **state)
{
	struct run *run = run_made();
	char **texts;
	size_t n;

	/* It had taken this long when pmon attached to it. */
	used = 100;
	looked(run);
	took(run, 10, 9.9);
	assert_int_equal(measured, 0);
	took(run, 10, 5);
	assert_int_equal(measured, 1);
	assert_int_equal(tells, 0);
	run_remarks(run, &n);
	assert_int_equal(n, 0);
	/* Standard error is full: the note waits, and is told once. */
	can_tell = false;
	took(run, 10, 2);
	texts = run_remarks(run, &n);
	assert_int_equal(n, 1);
	assert_non_null(strstr(texts[0], "prog runs at least 5 times "));
	assert_true(tells >= 1);
	can_tell = true;
	looked(run);
	tells = 0;
	took(run, 10, 1);
	assert_int_equal(tells, 0);
	run_remarks(run, &n);
	assert_int_equal(n, 1);
	run_freed(run);
}

/* Of a process that has ended its time counts, too, and stops anew do not. */
static void
test_ends(void **state)
{
	struct run *run = run_made();
	struct task task = { .tid = 1, .process = &process };

	used = 0;
	looked(run);
	used = 10;
	slow_ending(run, &task);
	run->processes = NULL;
	run->stops.n[STOP_SWITCH] = 1250000;
	looked(run);
	assert_int_equal(tells, 0);
	run->stops = (struct stops){ 0 };
	slow_reset(run);
	looked(run);
	assert_int_equal(tells, 0);
	assert_int_equal(measured, 1);
	run_freed(run);
}

/* ---- what helps */

static void
text_is(enum stop_cause cause, unsigned units, enum follow follow,
	const char *expected)
{
	struct run run = { .opts = &opts, .program = (char *)"prog" };
	struct stops stops = { 0 };
	char *text;

	opts.selection.units = units;
	opts.follow = follow;
	stops.n[cause] = 700;
	stops.n[STOP_SIGNAL] = 699;
	text = slow_text(&run, 12.3, &stops);
	assert_string_equal(text, expected);
	free(text);
}

#define SLOW "prog runs at least 12 times slower than alone: 700 stops "

static void
test_text(void **state)
{
	unsigned funcs = 1u << UNIT_FUNC, lines = funcs | 1u << UNIT_LINE;

	text_is(STOP_SWITCH, lines, FOLLOW_ALL,
		SLOW "(trap, stack switched (longjmp, swapcontext)); "
		     "--units=func does without");
	text_is(STOP_SWITCH, funcs, FOLLOW_ALL,
		SLOW "(trap, stack switched (longjmp, swapcontext))");
	text_is(STOP_ENTERED, funcs, FOLLOW_ALL,
		SLOW "(trap, first entry of a function); each function costs "
		     "that once; --func chooses fewer");
	text_is(STOP_CALL_WATCHED, funcs, FOLLOW_ALL,
		SLOW "(system call, may map or unmap code); only --object "
		     "needs them");
	text_is(STOP_FORK, funcs, FOLLOW_ALL,
		SLOW "(process created); --follow=none leaves child processes "
		     "out");
	text_is(STOP_FORK, funcs, FOLLOW_NONE, SLOW "(process created)");
	text_is(STOP_CLONE, funcs, FOLLOW_ALL,
		"prog runs at least 12 times "
		"slower than alone: 1399 stops (thread created)");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_factor),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
