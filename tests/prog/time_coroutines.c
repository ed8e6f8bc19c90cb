/* argv[1] coroutines with stacks far apart take turns, and never end. */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { MAX = 100, SIZE = 1 << 20, TURNS = 10 };

static ucontext_t caller, coroutines[MAX];

__attribute__((noinline)) static void
pass(int i)
{
	swapcontext(&coroutines[i], &caller);
}

__attribute__((noinline)) static void
generate(int i)
{
	for (;;)
		pass(i);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	char *stacks = mmap(NULL, (size_t)n * SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < n; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = stacks + (size_t)i * SIZE;
		coroutines[i].uc_stack.ss_size = SIZE;
		makecontext(&coroutines[i], (void (*)(void))generate, 1, i);
	}
	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < n; i++)
			swapcontext(&caller, &coroutines[i]);
	return 0;
}
