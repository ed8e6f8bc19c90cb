/*
 * Runs of pmon on the fake host, under forced schedules: races of stops,
 * requests, kills and pmon's own stop, in all orders that differ from the usual
 * one in few choices.  Whatever the order, the run ends, each task begins and
 * ends once for each client, pmon leaves nothing in a program that it lets go,
 * and each count is what the program's kernel counted, or unknown.
 *
 * A schedule that fails is printed; PMON_SCHEDULE makes it again, alone, and
 * with FAKE_LOG all requests and events are printed:
 *
 *	FAKE_LOG=1 PMON_SCHEDULE='threads --patch=step deed=0@0 deed=4 7=2' \
 *		build/unit/schedule
 */
#include "probe/counts.h"
#include "tests/lib/fake_host.h"
#include "tests/lib/told.h"

#include "monitor/account.h"
#include "monitor/process/object.h"
#include "monitor/process/task.h"
#include "probe/func_plan.h"
#include "util/mem.h"

#include "tests/lib/build.h"

/* ---- programs */

/*
 * ASK makes a system call, and MARK one that counts; the others are named after
 * theirs.  A child goes on at the label, a thread there with its stack; a twin
 * is a process that shares the memory.  All programs begin with the same
 * instructions.
 */
static const char macros[] =
	".macro ASK nr, a=0, b=0\n"
	"	mov $\\a, %edi\n	mov $\\b, %esi\n"
	"	mov $\\nr, %eax\n	syscall\n.endm\n"
	".macro MARK n\n	mov $0x400+\\n, %eax\n	syscall\n.endm\n"
	".macro REST\n	ASK 34\n.endm\n"
	".macro EXEC\n	ASK 59\n.endm\n"
	".macro WAIT\n	ASK 61\n.endm\n"
	".macro EXIT\n	ASK 60\n.endm\n"
	".macro END\n	ASK 231, 7\n.endm\n"
	".macro FORK child\n	ASK 57\n	test %eax, %eax\n"
	"	je \\child\n.endm\n"
	".macro VFORK child\n	ASK 58\n	test %eax, %eax\n"
	"	je \\child\n.endm\n"
	".macro THREAD at, stack\n	ASK 56, 0x50f00, \\stack\n"
	"	test %eax, %eax\n	je \\at\n.endm\n"
	".macro TWIN at, stack\n	ASK 56, 0x40f00, \\stack\n"
	"	test %eax, %eax\n	je \\at\n.endm\n"
	".macro FUNC name\n	.type \\name, @function\n"
	"\\name:\n	.cfi_startproc\n.endm\n"
	".macro FUNCEND name\n	.cfi_endproc\n"
	"	.size \\name, . - \\name\n.endm\n"
	"	.globl _start\n"
	"	.bss\n	.balign 16\n	.skip 4096\nstack1:\n"
	"	.skip 4096\nstack2:\n	.skip 4096\nstack3:\n	.text\n"
	"FUNC work\n	MARK 0\n	mov $3, %ecx\n"
	"1:	dec %ecx\n	jne 1b\n"
	"	MARK 1\n	ret\nFUNCEND work\n"
	"FUNC first\n	MARK 5\n	ret\nFUNCEND first\n"
	"FUNC _start\n	.cfi_undefined rip\n"
	"	cmpl $1, (%rsp)\n	jne second\n"
	"	MARK 2\n	call work\n";

/* What a program that was executed by another does. */
static const char second[] =
	"	END\n"
	"second:	MARK 3\n	call work\n	MARK 4\n	END\n"
	"FUNCEND _start\n";

static const char threads[] =
	"	THREAD one, stack1\n	THREAD two, stack2\n"
	"	call work\n	MARK 5\n	EXIT\n"
	"one:	call work\n	MARK 6\n	EXIT\n"
	"two:	call work\n	MARK 7\n	call work\n	EXIT\n";

/* A thread executes the program while others run. */
static const char execs[] =
	"	THREAD one, stack1\n	THREAD two, stack2\n"
	"	call work\n	MARK 5\n	call work\n	REST\n"
	"one:	call work\n	MARK 6\n	EXEC\n"
	"two:	call work\n	MARK 7\n	call work\n	EXIT\n";

/*
 * The same, while the leader enters a function by a trap: at the 32nd such trap
 * pmon pauses the other threads, one of which may be at its exec by then
 * (monitor/patch/deferred.c).
 */
static const char takes[] =
	"	THREAD two, stack2\n	mov $31, %ebx\n"
	"1:	call first\n	dec %ebx\n	jne 1b\n"
	"	THREAD one, stack1\n"
	"	call first\n	call first\n	call first\n	call first\n"
	"	call first\n	call first\n	call first\n	call first\n"
	"	REST\n"
	"one:	MARK 6\n	EXEC\n"
	"two:	REST\n";

static const char forks[] = "	FORK one\n	call work\n	FORK two\n"
			    "	WAIT\n	WAIT\n	MARK 5\n"
			    "	END\n"
			    "one:	call work\n	MARK 6\n	EXIT\n"
			    "two:	MARK 7\n	END\n";

static const char vforks[] =
	"	VFORK one\n	call work\n	WAIT\n	MARK 5\n	END\n"
	"one:	MARK 6\n	EXEC\n";

/* Threads make processes while others are paused. */
static const char births[] =
	"	THREAD one, stack1\n	call work\n	FORK two\n"
	"	MARK 5\n	WAIT\n	END\n"
	"one:	call work\n	FORK two\n	MARK 6\n	EXIT\n"
	"two:	call work\n	MARK 7\n	END\n";

/* One task: two choices are all orders of a stop and where that finds it. */
static const char detached[] =
	"	MARK 5\n	call work\n	MARK 6\n	call work\n"
	"	END\n";

/*
 * More tasks than the first chunk of thread pages has room for
 * (monitor/process/thread_pages.c): a thread gets a page of a second chunk,
 * perhaps after the leader's fork was made and before pmon hears of it.
 */
static const char crowd[] =
	"	mov $62, %ebx\n"
	"1:	THREAD rest, stack1\n	dec %ebx\n	jne 1b\n"
	"	THREAD one, stack2\n"
	"	FORK two\n	WAIT\n	MARK 5\n	END\n"
	"one:	TWIN gone, stack1\n"
	"	MARK 6\n	REST\n"
	"two:	call work\n	MARK 7\n	END\n"
	"gone:	EXIT\n"
	"rest:	REST\n";

enum { ANY = -1 };

/* works: how often `work` is called, if nobody disturbs. */
static const struct program {
	const char *name, *text;
	int works;
} programs[] = {
	{ "threads", threads, 1 + 1 + 1 + 2 },
	{ "execs", execs, ANY },	/* some are killed by the exec */
	{ "forks", forks, 1 + 1 + 1 },
	{ "vforks", vforks, 1 + 1 + 1 },
	{ "takes", takes, ANY },
	{ "births", births, 1 + 1 + 1 + 2 },
	{ "detached", detached, 1 + 1 + 1 },
	{ "crowd", crowd, 1 + 1 },	/* the last: see test_crowd */
};

static const char *const patches[] = {
	"--patch=auto",
	"--patch=trap",
	"--patch=step",
	"--patch=slot",
};

enum {
	PROGRAMS = sizeof(programs) / sizeof(*programs) - 1,
	PATCHES = sizeof(patches) / sizeof(*patches),
};

static int
programs_make(void **state)
{
	int err = work_make(state);

	for (size_t i = 0; i <= PROGRAMS; i++) {
		char *name = mem_printf("%s.s", programs[i].name);
		char *text = mem_printf("%s%s%s", macros, programs[i].text,
					second);

		source(name, text);
		err |= try("gcc -nostdlib -static -o %s %s", programs[i].name,
			   name);
		free(text);
		free(name);
	}
	return err;
}

/* ---- runs */

/* What pmon counted at the marks in the last run. */
static struct {
	uint64_t n[FAKE_MARKS];
	bool known[FAKE_MARKS];
	unsigned unknown;	/* how many are not */
} counted;

static int
fake_launch(struct run *r)
{
	pid_t tid;

	r->host = &fake_host;
	if (r->host->launch(r->opts->argv[0], r->opts->argv, &tid))
		return -1;
	r->root.tid = tid;
	run_announce(r, tid, process_new(r, tid, NULL));
	return 0;
}

/* The number of the mark that is made by instruction i, or -1. */
static int
mark_of(const struct image *image, const struct cfg *cfg, size_t i)
{
	const struct insn *insn = &cfg->insns[i];
	const uint8_t *code;
	uint32_t number;
	size_t avail;

	if (insn->kind != INSN_SYSCALL || !i)
		return -1;
	code = image_text(image, cfg->insns[i - 1].addr, &avail);
	if (!code || code[0] != 0xb8)
		return -1;
	memcpy(&number, code + 1, sizeof(number));
	return number - FAKE_MARK < FAKE_MARKS ? (int)(number - FAKE_MARK) : -1;
}

static void
func_look(struct plan *plan, const struct func_plan *fplan)
{
	for (size_t i = 0; fplan->cfg && i < fplan->cfg->ninsns; i++) {
		int mark = mark_of(plan->image, fplan->cfg, i);
		struct count count;

		if (mark < 0)
			continue;
		count = fplan_insn(fplan, (uint32_t)i);
		counted.known[mark] = !count_why(&count);
		counted.n[mark] = count.n;
		counted.unknown += !counted.known[mark];
	}
}

static void
counts_look(struct run *r)
{
	memset(&counted, 0, sizeof(counted));
	/* A function that was never looked at was never entered. */
	for (size_t i = 0; i < FAKE_MARKS; i++)
		counted.known[i] = true;
	for (size_t i = 0; i < r->nobjects; i++) {
		struct plan *plan = r->objects[i].plan;

		if (!plan)
			continue;
		plan_propagate(plan, NULL);
		for (size_t k = 0; k < plan->nfplans; k++)
			func_look(plan, &plan->fplans[k]);
	}
}

/* What is wrong with the last run, or NULL. */
static const char *
run_wrong(const struct fake_result *result)
{
	if (result->wrong)
		return result->wrong;
	if (told.late)
		return "a client was told of a task that was not there";
	for (size_t i = 0; i < told.ntasks; i++)
		if (!told.tasks[i].ended)
			return "a client was not told of a task's end";
	for (size_t i = 0; i < FAKE_MARKS; i++)
		if (counted.known[i] && counted.n[i] != result->marks[i])
			return "a count is wrong";
	return NULL;
}

static void
run_print(const char *name, const char *patch,
	  const struct fake_schedule *schedule,
	  const struct fake_result *result)
{
	for (size_t i = 0; i < FAKE_MARKS; i++)
		if (result->marks[i] || counted.n[i])
			printf("# mark %zu: %lu, counted %lu%s\n", i,
			       (unsigned long)result->marks[i],
			       (unsigned long)counted.n[i],
			       counted.known[i] ? "" : " (unknown)");
	printf("# PMON_SCHEDULE: %s %s ", name, patch);
	fake_print(schedule);
}

/* Runs so far, and how many of them had all counts known. */
static unsigned long runs, runs_known;

static void
schedule_run(const char *name, const char *patch,
	     const struct fake_schedule *schedule, struct fake_result *result)
{
	char *argv[] = { "pmon",	"--no-config", "--units=insn",
			 (char *)patch, "--",	       (char *)in_work(name),
			 NULL };
	const char *wrong;

	fake_begin(schedule);
	told_run(argv, fake_launch, counts_look);
	fake_end(result);
	wrong = run_wrong(result);
	runs++;
	runs_known += !counted.unknown;
	if (!wrong)
		return;
	run_print(name, patch, schedule, result);
	fail_msg("%s (task %d)", wrong, (int)result->wrong_tid);
}

/*
 * Whether to try this one of all combinations.  Each program, and each deed,
 * has all patches in PMON_SLOW, and otherwise one, by turns.
 */
static bool
wanted(size_t program, size_t patch, size_t deed)
{
	return getenv("PMON_SLOW") || (program + deed) % PATCHES == patch;
}

/* ---- tests */

/* Undisturbed, everything is known. */
static void
test_undisturbed(void **state)
{
	const struct fake_schedule schedule = { .nchoices = 0 };
	struct fake_result result;

	for (size_t i = 0; i < PROGRAMS; i++)
		for (size_t k = 0; k < PATCHES; k++) {
			schedule_run(programs[i].name, patches[k], &schedule,
				     &result);
			assert_int_equal(counted.unknown, 0);
			if (programs[i].works != ANY)
				assert_int_equal(result.marks[0],
						 programs[i].works);
		}
}

/*
 * Do the deed just before each request of a run.  Few of them make a count
 * unknown: those after which nobody can know where a task was.
 */
static void
requests_run(const char *name, const char *patch, enum fake_deed deed)
{
	struct fake_schedule schedule = { .deed = deed };
	struct fake_result result = { .deed_done = true };

	runs = runs_known = 0;
	while (result.deed_done) {
		schedule.at_request++;
		schedule_run(name, patch, &schedule, &result);
	}
	assert_true(runs > 100);
	assert_true(runs_known > runs / 2);
	/* Resumed from a last stop that pmon has not seen. */
	if (deed == FAKE_KILL_PAST)
		assert_true(runs_known < runs);
}

static void
test_requests(void **state)
{
	static const enum fake_deed deeds[] = {
		FAKE_KILL, FAKE_KILL_AT_ONCE, FAKE_KILL_PAST, FAKE_KILL_CHILD,
		FAKE_STOP, FAKE_PMON_STOPS,   FAKE_ADVANCE,
	};

	for (size_t i = 0; i < PROGRAMS; i++)
		for (size_t k = 0; k < PATCHES; k++)
			for (size_t d = 0; d < sizeof(deeds) / sizeof(*deeds);
			     d++)
				if (wanted(i, k, d))
					requests_run(programs[i].name,
						     patches[k], deeds[d]);
}

/* All schedules with so many choices that are not the usual ones. */
static void
orders_run(const char *name, const char *patch, const enum fake_deed deeds[2],
	   unsigned deviations)
{
	struct fake_schedule schedule = { .deeds = { deeds[0], deeds[1] } };
	struct fake_result result;

	while (schedule.ndeeds < 2 && deeds[schedule.ndeeds])
		schedule.ndeeds++;
	runs = runs_known = 0;
	do
		schedule_run(name, patch, &schedule, &result);
	while (fake_next(&schedule, deviations));
	assert_true(runs_known > runs / 2);
}

static void
test_orders(void **state)
{
	static const enum fake_deed deeds[][2] = {
		{ FAKE_NOTHING },
		{ FAKE_KILL },
		{ FAKE_KILL_CHILD },
		{ FAKE_STOP, FAKE_CONTINUE },
		{ FAKE_PMON_STOPS },
		{ FAKE_STOP, FAKE_PMON_STOPS },
		{ FAKE_KILL, FAKE_PMON_STOPS },
	};

	for (size_t i = 0; i < PROGRAMS; i++)
		for (size_t k = 0; k < PATCHES; k++)
			for (size_t d = 0; d < sizeof(deeds) / sizeof(*deeds);
			     d++)
				if (wanted(i, k, d))
					orders_run(programs[i].name, patches[k],
						   deeds[d],
						   d || !getenv("PMON_SLOW") ?
							   1 :
							   2);
}

/*
 * pmon stops, and finds a task at any of the instructions that it does next: in
 * a relocated function, in a slot, at a trap or in a system call.
 */
static void
test_detached(void **state)
{
	static const enum fake_deed stops[2] = { FAKE_PMON_STOPS };

	for (size_t k = 0; k < PATCHES; k++)
		if (wanted(0, k, 0))
			orders_run("detached", patches[k], stops, 2);
}

/*
 * A stop is seen late: a few choices later others go on, and this task is
 * passed over for long.  The leader's fork is one of these choices.
 */
static void
test_crowd(void **state)
{
	enum { FROM = 500, TO = 700, AFTER = 4, LONG = 100 };

	struct fake_schedule schedule = { .nchoices = FAKE_CHOICES };
	struct fake_result result = { .deed_done = true };

	for (size_t i = FROM; i < TO; i++)
		for (size_t k = 1; k < AFTER; k++) {
			memset(schedule.choices, 0, sizeof(schedule.choices));
			schedule.choices[i] = 1;
			memset(schedule.choices + i + k, 1, LONG);
			schedule_run(programs[PROGRAMS].name, patches[0],
				     &schedule, &result);
		}
}

/* One schedule, by hand. */
static int
schedule_again(const char *text)
{
	struct fake_schedule schedule;
	struct fake_result result;
	char name[32], patch[32];

	if (sscanf(text, "%31s %31s", name, patch) != 2 || programs_make(NULL))
		return 2;
	fake_parse(&schedule, text);
	schedule_run(name, patch, &schedule, &result);
	run_print(name, patch, &schedule, &result);
	return work_remove(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_undisturbed),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_detached),
		cmocka_unit_test(test_crowd),
	};

	if (getenv("PMON_SCHEDULE"))
		return schedule_again(getenv("PMON_SCHEDULE"));
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("schedule", tests, programs_make,
					   work_remove);
}
