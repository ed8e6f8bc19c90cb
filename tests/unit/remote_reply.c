/*
 * Replies of a stub that are not what the GDB manual (appendix E) allows: pmon
 * reads no byte that a reply does not have.  And how many interrupts a stub
 * gets.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/remote.h"
#include "host/remote_state.h"
#include "util/mem.h"

#include <cmocka.h>

static void
test_bytes(void **state)
{
	static const char *const bad[] = { "",	 "4",  "4g", " 4",
					   "4 ", "-1", "+1", "0x41" };

	assert_int_equal(remote_byte("00"), 0);
	assert_int_equal(remote_byte("7fff"), 0x7f);
	assert_int_equal(remote_byte("Ff"), 0xff);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(remote_byte(bad[i]), -1);
}

/* The path is what the pairs of digits stand for; a last half is no byte. */
static void
test_exec(void **state)
{
	static const struct {
		const char *reply, *path;
	} cases[] = {
		{ "T05exec:2f61;", "/a" },
		{ "T05exec:2f61", "/a" },
		{ "T05exec:2f616", "/a" },
		{ "T05exec:2f616;thread:62;", "/a" },
		{ "T05exec:6", "" },
		{ "T05exec:", "" },
		{ "T05exec: 6 6 6 6", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct event event;

		remote_stop_event(&event, cases[i].reply);
		assert_int_equal(event.kind, EVENT_EXEC);
		assert_string_equal(remote.path, cases[i].path);
	}
	free(remote.path);
	remote.path = NULL;
}

/* What the stub has got since the last call. */
static void
stub_got(int stub, const char *expected)
{
	char got[64] = "";
	ssize_t n = recv(stub, got, sizeof(got) - 1, MSG_DONTWAIT);

	assert_string_equal(n > 0 ? got : "", expected);
}

/*
 * The kernel merges two SIGINTs that the program has not taken, so a second
 * interrupt would be awaited for ever: one stop answers both pauses.
 */
static void
test_pauses(void **state)
{
	static const char stopped[] = "$T02thread:1;#d4";
	const struct host *far = &host_remote;
	struct event event;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	remote_use(&arch_x86_64, "stub");
	remote.link = (struct link){ .fd = ends[0],
				     .quiet = true,
				     .reply = mem_alloc(PACKET_MAX + 1) };
	remote.begun = remote.running = remote.vcont = true;
	remote.tid = 1;
	for (int round = 0; round < 2; round++) {
		far->pause(1);
		far->pause(1);
		stub_got(ends[1], "\x03");
		assert_int_equal(write(ends[1], stopped, strlen(stopped)),
				 strlen(stopped));
		far->wait(&event);
		assert_int_equal(event.kind, EVENT_PAUSED);
		far->pause(1);
		stub_got(ends[1], "");
		assert_int_equal(far->resume(1, RESUME_RUN, 0), HOST_OK);
		stub_got(ends[1], "$vCont;c#a8");
	}
	/* A signal for the program needs no stop of its own. */
	far->pause(1);
	far->kill(1, SIGTERM);
	stub_got(ends[1], "\x03");
	assert_int_equal(write(ends[1], stopped, strlen(stopped)),
			 strlen(stopped));
	far->wait(&event);
	assert_int_equal(event.kind, EVENT_SIGNAL);
	assert_int_equal(event.value, SIGTERM);
	/* And nothing is left for the detach to wait for. */
	close(ends[1]);
	assert_false(remote.pausing);
	link_close(&remote.link);
	remote = (struct remote){ .link = { .fd = -1 }, .mem = -1 };
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_pauses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
