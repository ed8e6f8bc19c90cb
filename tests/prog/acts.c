/*
 * Waits until the file that argv[1] names says so, then does what argv[2] names:
 * gets a signal that it handles or ignores, also in a system call, makes a
 * process, or executes itself.  Then answers each line of its input after ROUNDS
 * calls of work().
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000 };

static volatile int *go;
static volatile int caught, cut, sum;

static void
handle(int signal)
{
	caught++;
}

__attribute__((noinline)) static void
work(int i)
{
	sum += i;
}

static void
answer(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin) && *line != 'q') {
		for (int i = 0; i < ROUNDS; i++)
			work(i);
		printf("done, %d caught, %d cut\n", caught, cut);
		fflush(stdout);
	}
	exit(0);
}

/* Waits for input in a call that no ignored signal cuts. */
static void
await(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0);

	epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
	if (!fork()) {
		while (!*go)
			;
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	puts("ready");
	fflush(stdout);
	cut = epoll_wait(epoll, &event, 1, -1) != 1;
	close(epoll);
}

static void
act(const char *what, char **argv)
{
	if (!strcmp(what, "caught") || !strcmp(what, "ignored"))
		raise(SIGUSR1);
	else if (!strcmp(what, "vfork") && !vfork())
		_exit(0);
	else if (!strcmp(what, "fork") && !fork())
		_exit(0);
	else if (!strcmp(what, "exec"))
		execl("/proc/self/exe", argv[0], NULL);
	while (wait(NULL) > 0)
		;
}

int
main(int argc, char **argv)
{
	int fd;

	if (argc < 3)
		answer();
	fd = open(argv[1], O_RDWR);
	go = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (go == MAP_FAILED)
		return 1;
	signal(SIGUSR1, strcmp(argv[2], "caught") ? SIG_IGN : handle);
	if (!strcmp(argv[2], "waits")) {
		await();
		answer();
	}
	puts("ready");
	fflush(stdout);
	while (!*go)
		;
	act(argv[2], argv);
	answer();
}
