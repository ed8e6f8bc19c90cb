/*
 * The transport of the GDB remote protocol, against the examples of the GDB
 * manual (appendix E.1) and a peer that misbehaves.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/packet.h"
#include "util/fail.h"
#include "util/mem.h"

#include <cmocka.h>

static struct link link_here;
static int peer;

static int
setup(void **state)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -1;
	link_here = (struct link){ .fd = fds[0] };
	link_here.reply = mem_alloc(PACKET_MAX + 1);
	peer = fds[1];
	return 0;
}

static int
teardown(void **state)
{
	link_close(&link_here);
	close(peer);
	return 0;
}

static void
peer_says(const char *text)
{
	assert_int_equal(write(peer, text, strlen(text)), strlen(text));
}

static void
peer_hears(const char *text)
{
	char buf[256] = "";
	ssize_t n = recv(peer, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	assert_string_equal(n < 0 ? "" : buf, text);
}

static void
test_send(void **state)
{
	assert_int_equal(packet_send(&link_here, "OK", 2), 0);
	peer_hears("$OK#9a");
	assert_int_equal(packet_send(&link_here, "", 0), 0);
	peer_hears("$#00");
	/* "The binary data ... 0x7d followed by the original XORed by 0x20" */
	assert_int_equal(packet_send(&link_here, "a#$}*", 5), 0);
	peer_hears("$a}\x03}\x04}]}\n#c3");
}

/* What is done as the link waits. */
static void (*waits)(void);

/* Takes the place of the C library's. */
int
poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (waits)
		waits();
	return (int)syscall(SYS_poll, fds, n, timeout);
}

static void
peer_acknowledges(void)
{
	waits = NULL;
	peer_hears("$c#63");
	peer_says("+");
}

/* An interrupt follows the packet's acknowledgement, if there are any. */
static void
test_interrupt(void **state)
{
	assert_int_equal(packet_send(&link_here, "c", 1), 0);
	waits = peer_acknowledges;
	assert_int_equal(link_interrupt(&link_here), 0);
	assert_null(waits);
	peer_hears("\x03");
	peer_says("$S02#b5");
	assert_int_equal(packet_receive(&link_here, 1000), 3);
	assert_int_equal(link_interrupt(&link_here), 0);
	peer_hears("\x03");
	link_here.quiet = true;
	link_here.owes = false;
	assert_int_equal(packet_send(&link_here, "c", 1), 0);
	assert_int_equal(link_interrupt(&link_here), 0);
	peer_hears("$c#63\x03");
}

static void
test_receive(void **state)
{
	peer_says("++$OK#9a");
	assert_int_equal(packet_receive(&link_here, 1000), 2);
	assert_string_equal(link_here.reply, "OK");
	/* The acknowledgement goes with what is sent next ... */
	peer_hears("");
	packet_send(&link_here, "g", 1);
	peer_hears("+$g#67");
	/* ... or when there is nothing. */
	peer_says("$W00#b7");
	assert_int_equal(packet_receive(&link_here, 1000), 3);
	link_close(&link_here);
	peer_hears("+");
}

static void
test_runs(void **state)
{
	/* "0* " means 0000; "0*'" is a run of 1 + 39 - 29. */
	peer_says("$0* #7a$0*'#81$a}\x03z#5b");
	assert_int_equal(packet_receive(&link_here, 1000), 4);
	assert_string_equal(link_here.reply, "0000");
	assert_int_equal(packet_receive(&link_here, 1000), 11);
	assert_string_equal(link_here.reply, "00000000000");
	assert_int_equal(packet_receive(&link_here, 1000), 3);
	assert_string_equal(link_here.reply, "a#z");
}

static void
test_damaged(void **state)
{
	/* A wrong sum is asked for again; so is ours. */
	packet_send(&link_here, "?", 1);
	peer_hears("$?#3f");
	peer_says("-$OK#9b$OK#9a");
	assert_int_equal(packet_receive(&link_here, 1000), 2);
	peer_hears("$?#3f-");
	link_here.owes = false;
	peer_says("$OK#9b$OK#9b$OK#9b$OK#9b$OK#9b");
	assert_int_equal(packet_receive(&link_here, 1000), LINK_BAD);
	peer_hears("-----");
	/* A run of nothing. */
	peer_says("$* #00");
	assert_int_equal(packet_receive(&link_here, 1000), LINK_BAD);
}

static void
test_silence(void **state)
{
	assert_int_equal(packet_receive(&link_here, 0), LINK_TIMEOUT);
	peer_says("+");
	assert_int_equal(packet_receive(&link_here, 0), LINK_TIMEOUT);
	shutdown(peer, SHUT_RDWR);
	assert_int_equal(packet_receive(&link_here, 1000), LINK_GONE);
	assert_int_equal(packet_send(&link_here, "g", 1), LINK_GONE);
}

static void
test_too_long(void **state)
{
	enum { RUNS = PACKET_MAX / 97 + 1 }; /* each '~' is 97 more */
	char text[2 * RUNS + 3] = "$0";

	for (int i = 0; i < RUNS; i++)
		memcpy(text + 2 + 2 * i, "*~", 3);
	peer_says(text);
	assert_int_equal(packet_receive(&link_here, 1000), LINK_BAD);
}

static void
test_open(void **state)
{
	static const struct {
		const char *where, *message;
	} bad[] = {
		{ "nowhere", "nowhere: neither HOST:PORT nor the path of a "
			     "socket" },
		{ "/nonexistent/stub", "/nonexistent/stub: cannot connect: No "
				       "such file or directory" },
		{ "localhost:", "localhost:: neither HOST:PORT nor the path "
				"of a socket" },
		{ "[::1]:1", "[::1]:1: cannot connect: " },
	};
	struct link link;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(link_open(&link, bad[i].where), -1);
		assert_int_equal(strncmp(fail_message(), bad[i].message,
					 strlen(bad[i].message)),
				 0);
		link_close(&link);
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_send),    TEST(test_receive),	  TEST(test_runs),
		TEST(test_damaged), TEST(test_silence),	  TEST(test_too_long),
		TEST(test_open),    TEST(test_interrupt),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
