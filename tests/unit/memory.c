/*
 * A handle on a process's memory is on that memory only: when the process has
 * another by an exec, nothing of that is read or written through it.
 */
#include <elf.h>
#include <fcntl.h>
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
test_exec(void **state)
{
	char *argv[] = { "/bin/sh", "-c", "exec /bin/sh -c :", NULL };
	uint8_t old[4], new[4], bytes[4] = { 0xcc, 0xcc, 0xcc, 0xcc };
	struct event event;
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
	host->kill(tid, SIGKILL);
	do {
		host->wait(&event);
		if (event.kind == EVENT_EXITING)
			host->resume(event.tid, RESUME_END, 0);
	} while (event.kind != EVENT_DONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
