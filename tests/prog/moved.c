/*
 * Moves a page of its own text: functions that were never called, one that was
 * called does not come along.  Calls them where they are then, and again with
 * SIGTRAP blocked or handled; or two threads call them at the same time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_SIZE = 4096 };

#define MOVES __attribute__((noinline, section("moves")))
#define STAYS __attribute__((noinline))

MOVES __attribute__((aligned(PAGE_SIZE))) int
first(int n)
{
	return n + 1;
}

MOVES int
second(int n)
{
	return n ? n * 3 : 7;
}

MOVES int
never(int n)
{
	return n ? n * 5 : 9;
}

/* What comes behind is not on that page. */
MOVES __attribute__((aligned(PAGE_SIZE), used)) int
behind(int n)
{
	return n - 1;
}

STAYS int
stays(int n)
{
	return n * 2;
}

static void
handler(int signal)
{
	(void)signal;
}

static int (*at_once)(int);
static atomic_int ready;

static void *
thread(void *arg)
{
	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < 2)
		;
	*(int *)arg = at_once(1);
	return NULL;
}

/* The sum of what two threads get that call the function at the same time. */
static int
call_at_once(int (*function)(int))
{
	pthread_t threads[2];
	int results[2];

	at_once = function;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, thread, &results[i]))
			return -1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return results[0] + results[1];
}

int
main(int argc, char **argv)
{
	char *to = mmap(NULL, PAGE_SIZE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *from = (char *)first;
	int (*f)(int), (*g)(int), sum = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (argc > 1 && !strcmp(argv[1], "blocks"))
		sigprocmask(SIG_BLOCK, &set, NULL);
	if (argc > 1)
		signal(SIGTRAP, handler);
	for (int i = 0; i < 10; i++)
		sum += stays(i) + behind(i);
	f = (int (*)(int))(void *)to;
	g = (int (*)(int))(void *)(to + ((char *)second - from));
	if (mremap(from, PAGE_SIZE, PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   to) != to)
		return 1;
	if (argc > 1 && !strcmp(argv[1], "threads"))
		sum += call_at_once(f);
	for (int i = 0; i < 10; i++)
		sum += f(i) + g(i) + stays(i);
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("%d, SIGTRAP is %s\n", sum,
	       sigismember(&set, SIGTRAP) ? "blocked" : "open");
	return signal(SIGTRAP, SIG_DFL) == (argc > 1 ? handler : SIG_DFL) ? 0 :
									   2;
}
