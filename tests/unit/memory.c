/*
 * Requests never reach a program that was executed meanwhile by mistake.  A
 * handle on a process's memory is on that memory only: when the process has
 * another by an exec, nothing of that is read or written through it.  A leader
 * that was let go to its end is gone, though another thread's exec has taken
 * its id, until that is taken up.
 */
#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct host *const host = &host_ptrace;

/* Let the program run up to its next exec. */
static void
exec_await(pid_t tid)
{
	struct event event;

	for (;;) {
		host->wait(&event);
		assert_int_not_equal(event.kind, EVENT_DONE);
		if (event.kind == EVENT_EXEC && event.tid == tid)
			return;
		if (event.kind != EVENT_WAKE)
			host->resume(event.tid, RESUME_RUN, 0);
	}
}

static void
all_end(pid_t tid)
{
	struct event event;

	host->kill(tid, SIGKILL);
	do {
		host->wait(&event);
		if (event.kind == EVENT_EXITING)
			host->resume(event.tid, RESUME_END, 0);
	} while (event.kind != EVENT_DONE);
}

static void
test_exec(void **state)
{
	char *argv[] = { "/bin/sh", "-c", "exec /bin/sh -c :", NULL };
	uint8_t old[4], new[4], bytes[4] = { 0xcc, 0xcc, 0xcc, 0xcc };
	uint64_t entry;
	pid_t tid;
	int mem;

	assert_int_equal(host->launch(argv[0], argv, &tid), 0);
	exec_await(tid);
	entry = host->auxv(tid, AT_ENTRY);
	mem = host->mem_open(tid);
	assert_true(mem >= 0);
	assert_int_equal(host->mem_read(mem, tid, entry, old, sizeof(old)),
			 HOST_OK);
	assert_int_equal(host->mem_write(mem, tid, entry, old, sizeof(old)),
			 HOST_OK);

	host->resume(tid, RESUME_RUN, 0);
	exec_await(tid);
	entry = host->auxv(tid, AT_ENTRY);
	assert_int_equal(host->data_read(tid, entry, new, sizeof(new)),
			 HOST_OK);
	assert_int_equal(host->mem_read(mem, tid, entry, bytes, sizeof(bytes)),
			 HOST_GONE);
	memset(bytes, 0xcc, sizeof(bytes));
	assert_int_equal(host->mem_write(mem, tid, entry, bytes, sizeof(bytes)),
			 HOST_GONE);
	assert_int_equal(host->data_read(tid, entry, bytes, sizeof(bytes)),
			 HOST_OK);
	assert_memory_equal(bytes, new, sizeof(new));

	host->mem_close(mem);
	all_end(tid);
}

/* ---- a leader whose id is taken */

static int
execute(void *path)
{
	char *argv[] = { path, NULL };

	execv(path, argv);
	_exit(97);
}

/* A thread executes another program while the leader stands at a trap. */
static int
thread_executes(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	if (clone(execute, stack + sizeof(stack),
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			  CLONE_THREAD | CLONE_SYSVSEM,
		  "/bin/true") < 0)
		return 98;
	__asm__ volatile("int3");
	for (;;)
		pause();
}

/* Wait for that event of any task; what others come are let go on. */
static pid_t
event_await(enum event_kind kind)
{
	struct event event;

	for (;;) {
		host->wait(&event);
		assert_int_not_equal(event.kind, EVENT_DONE);
		if (event.kind == kind)
			return event.tid;
		if (event.kind != EVENT_WAKE)
			host->resume(event.tid, RESUME_RUN, 0);
	}
}

static void
all_refused(pid_t tid)
{
	struct regs regs = { 0 };
	uint64_t value, mask;
	uint8_t set[128];

	assert_int_equal(host->regs_get(tid, &regs), HOST_GONE);
	assert_int_equal(host->regs_set(tid, &regs), HOST_GONE);
	assert_int_equal(host->reg_get(tid, 0, &value), HOST_GONE);
	assert_int_equal(host->reg_set(tid, 0, 0), HOST_GONE);
	assert_int_equal(host->mask_set(tid, 0, &mask), HOST_GONE);
	assert_int_equal(host->native->mask_get(tid, &mask), HOST_GONE);
	assert_int_equal(host->native->send(tid, SIGTRAP), HOST_GONE);
	assert_int_equal(host->mem_open(tid), HOST_GONE);
	assert_int_equal(host->data_read(tid, 0, &value, 1), HOST_GONE);
	assert_int_equal(host->affinity_get(tid, set, sizeof(set)), HOST_GONE);
	assert_int_equal(host->affinity_set(tid, set, sizeof(set)), HOST_GONE);
	assert_int_equal(host->resume(tid, RESUME_RUN, 0), HOST_GONE);
}

static void
test_taken(void **state)
{
	char *argv[] = { "/proc/self/exe", "executes", NULL };
	struct regs before = { 0 }, after = { 0 };
	struct event event;
	pid_t leader, thread = 0;
	bool trapped = false;

	assert_int_equal(host->launch(argv[0], argv, &leader), 0);
	assert_int_equal(event_await(EVENT_EXEC), leader);
	host->resume(leader, RESUME_RUN, 0);
	while (!thread || !trapped) {
		host->wait(&event);
		assert_int_not_equal(event.kind, EVENT_DONE);
		if (event.kind == EVENT_PAUSED)
			thread = event.tid;
		else if (event.kind == EVENT_TRAP)
			trapped = true;
		else
			host->resume(leader, RESUME_RUN, 0);
	}
	host->resume(thread, RESUME_RUN, 0);
	assert_int_equal(event_await(EVENT_EXITING), leader);
	host->resume(leader, RESUME_END, 0);
	all_refused(leader);
	assert_int_equal(event_await(EVENT_EXEC), leader);
	all_refused(leader);
	host->native->renewed(leader);
	assert_int_equal(host->regs_get(leader, &before), HOST_OK);
	assert_int_equal(host->regs_set(leader, &before), HOST_OK);
	assert_int_equal(host->regs_get(leader, &after), HOST_OK);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(host->resume(leader, RESUME_RUN, 0), HOST_OK);
	all_end(leader);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_taken),
	};

	if (argc > 1)
		return thread_executes();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
