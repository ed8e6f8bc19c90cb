/*
 * Two threads get SIGTRAP at the same time: the first calls `work` in its
 * handler when it is told to (PMON_GIVEN), the second gets its signal meanwhile.
 * `ignores`: the first is in a handler of SIGUSR1, and SIGTRAP is ignored.
 * `looks`: the first blocks SIGTRAP, and the second asks for its action.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "given.h"

static struct given *given;
static volatile sig_atomic_t got;
static _Thread_local int first;

__attribute__((noinline)) void
work(void)
{
	__asm__ volatile("" : : : "memory");
}

static void
on_signal(int signal)
{
	__atomic_add_fetch(&got, 1, __ATOMIC_SEQ_CST);
	if (!first)
		return;
	given->thread = (int)syscall(SYS_gettid);
	while (!given->go)
		;
	work();
}

static void *
thread(void *arg)
{
	int signal = *(int *)arg;
	sigset_t mask;

	first = 1;
	sigemptyset(&mask);
	if (signal)
		pthread_kill(pthread_self(), signal);
	else
		sigaddset(&mask, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &mask, &mask);
	if (!signal)
		on_signal(0);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	if (sigismember(&mask, SIGTRAP))
		puts("SIGTRAP is blocked");
	return NULL;
}

static const char *
action_says(const struct sigaction *now)
{
	return now->sa_handler == on_signal ? "is kept" :
	       now->sa_handler == SIG_IGN   ? "is ignored" :
					      "is lost";
}

int
main(int argc, char **argv)
{
	int ignores = argc > 1 && !strcmp(argv[1], "ignores");
	int looks = argc > 1 && !strcmp(argv[1], "looks");
	int signal = ignores ? SIGUSR1 : looks ? 0 : SIGTRAP;
	struct sigaction action = { .sa_handler = on_signal }, now;
	int fd = open(getenv("PMON_GIVEN"), O_RDWR);
	pthread_t id;

	given = mmap(NULL, sizeof(*given), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (given == MAP_FAILED)
		return 1;
	if (ignores)
		sigaction(SIGTRAP, &(struct sigaction){
			.sa_handler = SIG_IGN }, NULL);
	sigaction(looks ? SIGTRAP : signal, &action, NULL);
	pthread_create(&id, NULL, thread, &signal);
	while (!given->thread)
		;
	if (looks) {
		given->looks = 1;
		sigaction(SIGTRAP, NULL, &now);
		given->looked = 1;
	} else {
		pthread_kill(pthread_self(), SIGTRAP);
	}
	/* Nobody is given one that is ignored. */
	if (ignores)
		given->go = 1;
	pthread_join(id, NULL);
	if (looks)
		printf("it finds that the action %s\n", action_says(&now));
	sigaction(SIGTRAP, NULL, &now);
	printf("%d came, action %s\n", (int)got, action_says(&now));
	return 0;
}
