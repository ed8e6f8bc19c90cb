/*
 * coroutines [ROUND]: two coroutines that are switched to from all depths, by
 * code of change.h.  With CONTEXTS the C library makes them and switches to
 * them, so that their stacks can be walked, and the program looks like one of
 * OCaml.  Before the round it waits for a byte: lines say how often they run from
 * the fourth of six rounds on.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#ifdef CONTEXTS
enum { STACK_SIZE = 1 << 16 };

/* By their name pmon knows OCaml's tables of frames; this is of none. */
static const int64_t no_frames = 0;
const int64_t *const caml_frametable[] = { &no_frames, NULL };

static void
change(void **keep, void *to)
{
	ucontext_t context;

	*keep = &context;
	swapcontext(&context, to);
}
#else
#include "change.h"
#endif

static void *outside, *inside[2];
static volatile int sum;

static __attribute__((noinline)) void
body(int which)
{
	for (int i = 0;; i++) {
		sum += i;			/* x 3 */
		if (i & 1)			/* x 3 */
			sum++;			/* x 1 */
		change(&inside[which], outside);	/* x 3 */
	}
}

static void
first(void)
{
	body(0);
}

static void
second(void)
{
	body(1);
}

static void
make(int which, void (*run)(void))
{
#ifdef CONTEXTS
	ucontext_t *context = malloc(sizeof(*context));

	getcontext(context);
	context->uc_stack.ss_sp = malloc(STACK_SIZE);
	context->uc_stack.ss_size = STACK_SIZE;
	context->uc_link = NULL;
	makecontext(context, run, 0);
	inside[which] = context;
#else
	inside[which] = stack_make(run);
#endif
}

static __attribute__((noinline)) void
go(int depth, int which)
{
	if (!depth) {				/* x 4 + 5 + 6 */
		change(&outside, inside[which]);	/* x 3 */
		return;
	}
	go(depth - 1, which);			/* x 3 + 4 + 5 */
	sum++;					/* x 3 + 4 + 5 */
}

int
main(int argc, char **argv)
{
	make(0, first);
	make(1, second);
	for (int i = 0; i < 6; i++) {
		if (argc > 1 && i == atoi(argv[1])) {
			puts("ready");
			fflush(stdout);
			getchar();
		}
		go(i, i & 1);			/* x 3 */
	}
	return sum == 23 ? 0 : 1;		/* x 1 */
}
