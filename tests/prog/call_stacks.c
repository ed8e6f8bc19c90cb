/*
 * Leaves calls for frames that are far away: by a jump over a large frame; with
 * "alt", from a handler with a stack of its own; with "swap", for another stack.
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

static volatile int sink;
static sigjmp_buf target;
static ucontext_t main_context, other;
static char stack[1 << 16];

__attribute__((noinline)) void
leap(int n)
{
	for (int i = 0; i < n; i++)
		sink++;
	if (n == 3)
		siglongjmp(target, 1);
	sink--;
}

__attribute__((noinline)) void
large(int n)
{
	volatile char room[100000];

	room[n] = 1;
	leap(n);
	sink += room[n];
}

static void
handler(int sig)
{
	sink += sig;
	siglongjmp(target, 1);
}

static void
coroutine(void)
{
	for (;;) {
		swapcontext(&other, &main_context);
		for (int i = 0; i < 10; i++)
			sink++;
		swapcontext(&other, &main_context);
	}
}

__attribute__((noinline)) int
step(void)
{
	swapcontext(&main_context, &other);
	return sink;
}

int
main(int argc, char **argv)
{
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = handler,
				    .sa_flags = SA_ONSTACK };

	if (argc > 1 && !strcmp(argv[1], "swap")) {
		getcontext(&other);
		other.uc_stack = alt;
		makecontext(&other, coroutine, 0);
		for (int i = 0; i < 7; i++)
			sink += step();
		return 0;
	}
	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (argc > 1 && !sigsetjmp(target, 1))
		raise(SIGUSR1);
	for (int i = 0; i < 5; i++)
		if (!sigsetjmp(target, 1))
			large(i);
	return 0;
}
