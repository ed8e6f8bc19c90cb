/*
 * Threads that wait in system calls: read, nanosleep, poll, epoll_wait,
 * futex, sigtimedwait, accept.  Prints "waiting" when all wait, and at a
 * line on stdin ends their waiting and prints how each fared; an EINTR or a
 * time that is not what it should be shows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int fds[2], server;
static atomic_int word;
static const char *outcome[8];

static const char *
result(long got, long expected)
{
	if (got == expected)
		return "well";
	return got < 0 ? strerror(errno) : "badly";
}

static void *
wait_read(void *arg)
{
	int *own = arg;
	char c;

	outcome[0] = result(read(own[0], &c, 1), 1);
	return arg;
}

static void *
wait_sleep(void *arg)
{
	struct timespec hour = { 3600, 0 }, left = { 0 };
	int got = nanosleep(&hour, &left);

	/* Ended by a signal, once. */
	outcome[1] = got < 0 && errno == EINTR && left.tv_sec >= 3500 ?
		"well" : "badly";
	return arg;
}

static void *
wait_poll(void *arg)
{
	struct pollfd pfd = { fds[0], POLLIN, 0 };

	outcome[2] = result(poll(&pfd, 1, -1), 1);
	return arg;
}

static void *
wait_epoll(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	epoll_ctl(ep, EPOLL_CTL_ADD, fds[0], &event);
	outcome[3] = result(epoll_wait(ep, &event, 1, -1), 1);
	return arg;
}

static void *
wait_futex(void *arg)
{
	/* Begun again after the word was changed: the same to a program. */
	long got = syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL);

	outcome[4] = got < 0 && errno == EAGAIN && word == 1 ? "well" :
		result(got, 0);
	return arg;
}

static void *
wait_signal(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	outcome[5] = result(sigwaitinfo(&set, NULL), SIGUSR2);
	return arg;
}

static void *
wait_accept(void *arg)
{
	int got = accept(server, NULL, NULL);

	outcome[6] = result(got >= 0, 1);
	return arg;
}

static void *
wait_ppoll(void *arg)
{
	struct timespec hour = { 3600, 0 };
	struct pollfd pfd = { fds[0], POLLIN, 0 };

	outcome[7] = result(ppoll(&pfd, 1, &hour, NULL), 1);
	return arg;
}

static void
on_signal(int sig)
{
}

static void
listening(struct sockaddr_un *addr)
{
	/* An abstract name of its own. */
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	snprintf(addr->sun_path + 1, 40, "pmon-test-%d", (int)getpid());
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(server, (void *)addr, sizeof(*addr)) || listen(server, 1))
		perror("listen");
}

int
main(void)
{
	static void *(*const waits[])(void *) = {
		wait_read, wait_sleep, wait_poll, wait_epoll, wait_futex,
		wait_signal, wait_accept, wait_ppoll,
	};
	struct sigaction action = { .sa_handler = on_signal };
	enum { N = sizeof(waits) / sizeof(waits[0]) };
	struct sockaddr_un addr;
	pthread_t ids[N];
	int own[2], i;
	sigset_t set;
	char c;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (pipe(fds) || pipe(own))
		return 99;
	listening(&addr);
	for (i = 0; i < N; i++)
		pthread_create(&ids[i], NULL, waits[i], own);
	printf("started\n");
	fflush(stdout);
	if (read(0, &c, 1) != 1)
		printf("no command\n");
	if (write(own[1], "x", 1) != 1 || write(fds[1], "x", 1) != 1)
		return 98;
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE, 1);
	kill(getpid(), SIGUSR2);
	pthread_kill(ids[1], SIGUSR1);
	if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&addr,
		    sizeof(addr)))
		return 97;
	for (i = 0; i < N; i++) {
		pthread_join(ids[i], NULL);
		printf("%d %s\n", i, outcome[i]);
	}
	return 0;
}
