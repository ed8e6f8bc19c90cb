/*
 * Leaves stack frames at random, the argument is the seed: recurses with frames
 * of many sizes on several stacks, jumps back to any frame that has set a jump
 * buffer, overwrites the stack below, and goes to other stacks.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACKS = 5, STACK_SIZE = 1 << 17, DEPTH = 30, STEPS = 400 };

static struct fiber {
	ucontext_t context;
	jmp_buf env[DEPTH];
	int set[DEPTH];		/* whether env[i] is that of a live frame */
	char stack[STACK_SIZE];
} fibers[STACKS];

static ucontext_t main_context;
static struct fiber *current;
static volatile int steps = STEPS, sum;

static void
t_overwrite(int byte)
{
	char room[3000];

	memset(room, byte, sizeof(room));
	sum += room[byte];
}

static void
t_switch(void)
{
	struct fiber *from = current;

	current = &fibers[rand() % STACKS];
	if (current != from)
		swapcontext(&from->context, &current->context);
}

static void
t_jump(int depth)
{
	int to = rand() % (depth + 1);

	if (current->set[to])
		longjmp(current->env[to], 1);
}

static void
t_wander(int depth)
{
	char room[depth * 7 % 50 + rand() % 3 * 16 + 1];
	volatile int entered = depth;

	memset(room, 0, sizeof(room));
	current->set[entered] = rand() % 2;
	if (current->set[entered])
		setjmp(current->env[entered]);
	while (steps > 0 && rand() % 8) {
		steps--;
		switch (rand() % 5) {
		case 0:
			t_overwrite(rand() % 100);
			break;
		case 1:
			t_switch();
			break;
		case 2:
			t_jump(entered);
			break;
		default:
			if (entered + 1 < DEPTH)
				t_wander(entered + 1);
		}
	}
	current->set[entered] = 0;
	sum += room[0];
}

static void
t_fiber(void)
{
	while (steps > 0)
		t_wander(0);
	setcontext(&main_context);
}

int
main(int argc, char **argv)
{
	srand(argc > 1 ? atoi(argv[1]) : 1);
	for (int i = 0; i < STACKS; i++) {
		getcontext(&fibers[i].context);
		fibers[i].context.uc_stack.ss_sp = fibers[i].stack;
		fibers[i].context.uc_stack.ss_size = STACK_SIZE;
		makecontext(&fibers[i].context, t_fiber, 0);
	}
	current = &fibers[0];
	swapcontext(&main_context, &current->context);
	return 0;
}
