/*
 * Makes pmon stop it for one cause, as often as it is told.  It uses system
 * calls and the C library as little as that takes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static long rounds;
static jmp_buf out;
static volatile long sum;

static __attribute__((noinline)) void
jump(int depth)
{
	volatile char room[40];

	room[depth] = 1;
	if (!depth)
		longjmp(out, 1);
	jump(depth - 1);
	sum += room[depth];
}

static __attribute__((noinline)) void
jumps(void)
{
	for (volatile long i = 0; i < rounds; i++)
		if (!setjmp(out))
			jump(i & 3);
}

static ucontext_t back, one, other;
static char stack_one[65536], stack_other[65536];

static void
swap_one(void)
{
	for (long i = 0; i < rounds; i++)
		swapcontext(&one, &other);
}

static void
swap_other(void)
{
	for (;;)
		swapcontext(&other, &one);
}

static void
swaps(void)
{
	getcontext(&one);
	one.uc_stack.ss_sp = stack_one;
	one.uc_stack.ss_size = sizeof(stack_one);
	one.uc_link = &back;
	makecontext(&one, swap_one, 0);
	getcontext(&other);
	other.uc_stack.ss_sp = stack_other;
	other.uc_stack.ss_size = sizeof(stack_other);
	makecontext(&other, swap_other, 0);
	swapcontext(&back, &one);
}

static void
maps(void)
{
	for (long i = 0; i < rounds; i++)
		munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0), 4096);
}

static void
on_signal(int signal)
{
	sum++;
}

static void
signals(void)
{
	signal(SIGUSR1, on_signal);
	for (long i = 0; i < rounds; i++)
		raise(SIGUSR1);
}

static void *
thread(void *arg)
{
	sum++;
	return arg;
}

static void
threads(void)
{
	pthread_t id;

	for (long i = 0; i < rounds; i++)
		if (!pthread_create(&id, NULL, thread, NULL))
			pthread_join(id, NULL);
}

static void
forks(void)
{
	for (long i = 0; i < rounds; i++) {
		if (!fork())
			_exit(0);
		wait(NULL);
	}
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "jumps", jumps }, { "swaps", swaps }, { "maps", maps },
		{ "signals", signals }, { "threads", threads },
		{ "forks", forks },
	};

	rounds = argc > 2 ? atol(argv[2]) : 0;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name))
			modes[i].run();
	return 0;
}
