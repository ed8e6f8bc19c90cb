/*
 * A program that knows how often its functions are called, and how long `spin`
 * takes at least: SPIN_MS.  Leaves functions in every way.  With an argument
 * "blocked", SIGTRAP is blocked; with "attach" it says so and then goes round
 * until it is killed.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPIN_MS = 20, LEAVES = 20000, DEPTH = 10, ROUNDS = 20, LOOPS = 3 };

#define FUNC extern "C" __attribute__((noinline))

static volatile long sink;
static jmp_buf back;

FUNC void
leaf(void)
{
	sink = sink + 1;
}

/* A function of one instruction. */
extern "C" void nothing(void);
asm(".text\n"
    ".globl nothing\n"
    ".type nothing, @function\n"
    "nothing:\n"
    ".cfi_startproc\n"
    "	ret\n"
    ".cfi_endproc\n"
    ".size nothing, . - nothing\n");

FUNC void
spin(void)
{
	struct timespec from, now;

	nothing();
	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000 +
		       (now.tv_nsec - from.tv_nsec) / 1000000 <
	       SPIN_MS);
}

FUNC void
outer(void)
{
	spin();
	leaf();
}

FUNC int
deep(int n)
{
	int sum = n ? deep(n - 1) : 0;

	leaf();
	return sum + 1;
}

FUNC int
tail_end(int n)
{
	leaf();
	return n + 1;
}

FUNC int
tail(int n)
{
	leaf();
	return tail_end(2 * n);
}

FUNC void
throws(int n)
{
	if (!n)
		throw 1;
	throws(n - 1);
	leaf();
}

FUNC void
catches(void)
{
	try {
		throws(DEPTH);
	} catch (int) {
		leaf();
	}
}

FUNC void
jumps(int n)
{
	if (!n)
		longjmp(back, 1);
	jumps(n - 1);
	leaf();
}

FUNC void
lands(void)
{
	if (!setjmp(back))
		jumps(DEPTH);
	leaf();
}

FUNC void
jumps_out(void)
{
	longjmp(back, 1);
}

/* Goes n times through its first instruction, and does not return. */
extern "C" void loop(int n);
asm(".text\n"
    ".globl loop\n"
    ".type loop, @function\n"
    "loop:\n"
    ".cfi_startproc\n"
    "	decl %edi\n"
    "	jg loop\n"
    "	push %rax\n"
    ".cfi_adjust_cfa_offset 8\n"
    "	call jumps_out\n"
    "	pop %rax\n"
    ".cfi_adjust_cfa_offset -8\n"
    "	ret\n"
    ".cfi_endproc\n"
    ".size loop, . - loop\n");

/* Each call of loop has the same stack pointer. */
FUNC void
loops(void)
{
	volatile int n = 0;

	setjmp(back);
	if (n++ < LOOPS)
		loop(n);
}

FUNC void
handler(int signal)
{
	leaf();
}

FUNC void
many(void)
{
	for (int i = 0; i < LEAVES; i++)
		leaf();
}

static void *
thread(void *arg)
{
	many();
	return arg;
}

static void
child(void)
{
	pid_t pid = fork();

	if (!pid) {
		many();
		_exit(0);
	}
	waitpid(pid, nullptr, 0);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t id;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (!strcmp(mode, "blocked"))
		sigprocmask(SIG_BLOCK, &set, nullptr);
	if (!strcmp(mode, "attach")) {
		puts("ready");
		fflush(stdout);
		for (;;)
			outer();
	}
	outer();
	signal(SIGUSR1, handler);
	for (int i = 0; i < ROUNDS; i++) {
		deep(DEPTH);
		sink = sink + tail(i);
		catches();
		lands();
		loops();
		raise(SIGUSR1);
	}
	pthread_create(&id, nullptr, thread, nullptr);
	pthread_join(id, nullptr);
	child();
	many();
	sigprocmask(SIG_BLOCK, nullptr, &set);
	printf("%d\n", sigismember(&set, SIGTRAP));
	return 3;
}
