/*
 * Threads enter functions at the same time that have a breakpoint instruction
 * of their own among their first bytes: at the beginning, of one byte (first)
 * or of two (longer), or behind one to three bytes (second, third, fourth).
 * Where functions follow each other at once there is no room for a jump (tight,
 * narrow).
 *
 * breaks_together THREADS [nodefer|jumps|blocked]: SIGTRAP is blocked in the
 * handler; it is open there; it is, and the handler leaves by siglongjmp;
 * SIGTRAP is blocked everywhere, so that the first breakpoint instruction ends
 * the program.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { EACH = 6, KINDS = 7, CALLS = 10, THREADS_MAX = 8 };

#define ALIGN ".balign 16\n"
#define F(kind, n, align, code) \
	".globl " #kind #n "\n.type " #kind #n ", @function\n" \
	align \
	#kind #n ":\n.cfi_startproc\n" code "	ret\n.cfi_endproc\n" \
	".size " #kind #n ", . - " #kind #n "\n"
#define SIX(kind, align, code) \
	F(kind, 0, align, code) F(kind, 1, align, code) F(kind, 2, align, code) \
	F(kind, 3, align, code) F(kind, 4, align, code) F(kind, 5, align, code)
#define NAMES(kind) kind##0, kind##1, kind##2, kind##3, kind##4, kind##5
#define DECLARE(kind) void kind##0(void), kind##1(void), kind##2(void), \
	kind##3(void), kind##4(void), kind##5(void);

DECLARE(tight)
DECLARE(narrow)
DECLARE(first)
DECLARE(longer)
DECLARE(second)
DECLARE(third)
DECLARE(fourth)
__asm__(".text\n"
	".balign 16\n"
	SIX(tight, "", "	int3\n")
	SIX(narrow, "", "	.byte 0xcd, 3\n")
	SIX(first, ALIGN, "	int3\n")
	SIX(longer, ALIGN, "	.byte 0xcd, 3\n")
	SIX(second, ALIGN, "	nop\n	int3\n")
	SIX(third, ALIGN, "	mov %esp, %eax\n	int3\n")
	SIX(fourth, ALIGN, "	mov %rsp, %rax\n	int3\n"));

static void (*const functions[KINDS * EACH])(void) = {
	NAMES(tight), NAMES(narrow), NAMES(first), NAMES(longer),
	NAMES(second), NAMES(third), NAMES(fourth),
};
static const int behind[KINDS] = { 1, 2, 1, 2, 2, 3, 4 };

static pthread_barrier_t barrier;
static int nthreads, jumps;
static int hits[KINDS * EACH], others;
static __thread sigjmp_buf back;

static void
on_trap(int signal, siginfo_t *info, void *context)
{
	const char *pc =
		(const char *)((ucontext_t *)context)
			->uc_mcontext.gregs[REG_RIP];
	int i = 0;

	(void)signal;
	(void)info;
	while (i < KINDS * EACH &&
	       pc != (const char *)functions[i] + behind[i / EACH])
		i++;
	__atomic_add_fetch(i < KINDS * EACH ? &hits[i] : &others, 1,
			   __ATOMIC_RELAXED);
	if (jumps)
		siglongjmp(back, 1);
}

__attribute__((noinline)) static void
call(void (*function)(void))
{
	if (!jumps || !sigsetjmp(back, 0))
		function();
}

static void *
enter(void *unused)
{
	(void)unused;
	for (int i = 0; i < KINDS * EACH; i++) {
		pthread_barrier_wait(&barrier);
		for (int k = 0; k < CALLS; k++)
			call(functions[i]);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	const char *how = argc > 2 ? argv[2] : "";
	pthread_t threads[THREADS_MAX];
	sigset_t set;
	int wrong = 0;

	nthreads = atoi(argv[1]);
	jumps = !strcmp(how, "jumps");
	if (jumps || !strcmp(how, "nodefer"))
		action.sa_flags |= SA_NODEFER;
	action.sa_sigaction = on_trap;
	sigaction(SIGTRAP, &action, NULL);
	/* All but the functions has been entered before threads come. */
	if (!jumps || !sigsetjmp(back, 0))
		raise(SIGTRAP);
	others = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (!strcmp(how, "blocked"))
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_barrier_init(&barrier, NULL, (unsigned)nthreads);
	for (int i = 0; i < nthreads; i++)
		pthread_create(&threads[i], NULL, enter, NULL);
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < KINDS * EACH; i++)
		wrong += hits[i] != CALLS * nthreads;
	printf("%d with other hits, %d elsewhere\n", wrong, others);
	return 0;
}
