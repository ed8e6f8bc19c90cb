/*
 * Starting a program to monitor, while another tracer has pmon itself and lets
 * pmon's children go late, as a pmon with --follow=none does.
 */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/ptrace.h"

#include <cmocka.h>

/* Of a process: its state in /proc, 'S' if it waits for something. */
static char
state_of(pid_t pid)
{
	char path[64], line[256] = "", *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	end = strrchr(line, ')');
	assert_non_null(end);
	return end[2];
}

static _Noreturn void
launcher(void)
{
	char *argv[] = { "true", NULL };
	pid_t tid;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	_exit(ptrace_launch("/bin/true", argv, &tid) == HOST_OK ? 0 : 1);
}

/* The child is not let go before the launcher waits for something. */
static void
test_traced(void **state)
{
	unsigned long child;
	int status;
	pid_t pid = fork();

	if (!pid)
		launcher();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL,
				(void *)(PTRACE_O_TRACEFORK |
					 PTRACE_O_EXITKILL)),
			 0);
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status >> 8, SIGTRAP | PTRACE_EVENT_FORK << 8);
	assert_int_equal(ptrace(PTRACE_GETEVENTMSG, pid, NULL, &child), 0);
	assert_int_equal(waitpid((pid_t)child, &status, __WALL), (pid_t)child);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	while (state_of(pid) != 'S')
		sched_yield();
	assert_int_equal(ptrace(PTRACE_DETACH, (pid_t)child, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traced),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
