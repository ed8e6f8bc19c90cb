/*
 * Events of a task whose id another thread's exec has taken: the tables include
 * each child once, whether or not a pause has entered its maker's event before.
 * And the queue that they wait in.
 */
#include "monitor/run.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "monitor/process/notice.h"
#include "monitor/account.h"
#include "monitor/process/events.h"
#include "monitor/process/task.h"

#include <cmocka.h>

enum { LEADER = 10, THREAD, CHILD, OTHER };

/* ---- a host that reports these events, and never resumes anything */

static const struct event *coming;

static void
host_wait(struct event *event)
{
	*event = coming->kind == EVENT_DONE ? *coming : *coming++;
}

static int
host_pause(pid_t tid)
{
	return HOST_OK;
}

static int
host_regs_get(pid_t tid, struct regs *regs)
{
	return HOST_GONE;
}

static int
host_reg_get(pid_t tid, unsigned reg, uint64_t *value)
{
	return HOST_GONE;
}

static const struct host host = {
	.name = "events",
	.wait = host_wait,
	.pause = host_pause,
	.regs_get = host_regs_get,
	.reg_get = host_reg_get,
};

/*
 * The leader forks, and its thread does exec while pmon waits for a task of
 * another process.  Between the two, pmon pauses everything if `paused` is set.
 */
static void
forks_and_execs(bool paused)
{
	static const struct event events[] = {
		{ .kind = EVENT_EXEC, .tid = LEADER, .value = THREAD },
		{ .kind = EVENT_PAUSED, .tid = OTHER },
		{ .kind = EVENT_DONE },
	};
	static const struct event pause[] = {
		{ .kind = EVENT_PAUSED, .tid = CHILD },
		{ .kind = EVENT_DONE },
	};
	const struct event fork = {
		.kind = EVENT_FORK,
		.tid = LEADER,
		.value = CHILD,
	};
	struct options opts = { .follow = FOLLOW_ALL };
	struct process *process;
	struct task *other;
	struct event event;
	struct run run;

	run_init(&run, &opts);
	run.host = &host;
	run.nclients = 0;
	process = process_new(&run, LEADER, NULL);
	task_new(&run, LEADER, process)->state = TASK_STOPPED;
	task_new(&run, THREAD, process)->state = TASK_STOPPED;
	other = task_new(&run, OTHER, process_new(&run, OTHER, NULL));
	other->state = TASK_STOPPED;
	run_requeue(&run, &fork);
	coming = pause;
	if (paused)
		run_pause_all(&run, STOP_SUSPEND);
	assert_int_equal(run.nprocesses, paused ? 3 : 2);
	coming = events;
	run_wait_task(&run, other, &event);
	assert_int_equal(event.kind, EVENT_PAUSED);
	assert_null(task_find(&run, THREAD));
	assert_non_null(task_find(&run, CHILD));
	assert_int_equal(run.nprocesses, 3);
	assert_int_equal(run.nthreads, 1);
	run_free(&run);
	assert_null(run.processes);
}

static void
entered_by_exec(void **state)
{
	forks_and_execs(false);
}

static void
entered_by_pause(void **state)
{
	forks_and_execs(true);
}

/* A queue that never is empty has its events in order, and does not grow. */
static void
queue_stays(void **state)
{
	enum { WAITING = 3, ROUNDS = 1 << 16 };
	struct run run = { .nclients = 0 };
	struct event event;
	size_t before, after;

	for (pid_t i = 1; i <= WAITING; i++)
		run_requeue(&run, &(struct event){ EVENT_PAUSED, i });
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	for (pid_t i = 1; i <= ROUNDS; i++) {
		run_requeue(&run, &(struct event){ EVENT_PAUSED, WAITING + i });
		assert_true(queue_take(&run, &event));
		assert_int_equal(event.tid, i);
	}
	after = mallinfo2().uordblks + mallinfo2().hblkhd;
	assert_true(after <= before + 4096);
	queue_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entered_by_exec),
		cmocka_unit_test(entered_by_pause),
		cmocka_unit_test(queue_stays),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("replaced", tests, NULL, NULL);
}
