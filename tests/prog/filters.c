/*
 * Makes system calls whose numbers it gives to functions: filters TEST [N].
 * With -DLIBRARY: such functions, of which one can have a filter.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LIBRARY

/* What is in front of the call can be repeated, and has room for a jump. */
__asm__(".text\n.globl call_filtered\n.type call_filtered, @function\n"
	"call_filtered:\n"
	"	mov %rdi, %rax\n	mov %rsi, %rdi\n"
	"	mov $0, %r10d\n	syscall\n	ret\n"
	".size call_filtered, . - call_filtered\n");
/* It cannot be repeated: the second would find the first's result. */
__asm__(".globl call_moved\n.type call_moved, @function\n"
	"call_moved:\n"
	"	mov %rdi, %rax\n	mov %rsi, %rdi\n	syscall\n	ret\n"
	".size call_moved, . - call_moved\n");
/* A loop comes back to the middle of what a jump would replace. */
__asm__(".globl call_looped\n.type call_looped, @function\n"
	"call_looped:\n"
	"	mov %rdi, %r8\n	xor %r9d, %r9d\n"
	"	mov $0, %r10d\n"
	"1:	mov %r8, %rax\n	syscall\n"
	"	inc %r9d\n	cmp $2, %r9d\n	jb 1b\n	ret\n"
	".size call_looped, . - call_looped\n");

#else

long call_filtered(long nr, long arg);
long call_moved(long nr, long arg);
long call_looped(long nr, long arg);

static volatile sig_atomic_t handled;
static sigjmp_buf back;

__attribute__((noinline)) void
handle(int signal)
{
	handled++;
}

__attribute__((noinline)) void
leave(int signal)
{
	handled++;
	siglongjmp(back, 1);
}

__attribute__((noinline)) long
ask(void)
{
	return syscall(SYS_getppid) == getppid();
}

/* Many calls: none needs a stop, or each with call_moved. */
static long
many(long (*call)(long, long), long n)
{
	long right = 0;

	for (long i = 0; i < n; i++)
		right += call(SYS_getppid, 0) == getppid();
	return right;
}

/* Signals come at any place, one after the other, until n have come. */
static void
signals(long n, void (*handler)(int))
{
	const struct itimerval once = { { 0, 0 }, { 0, 100 } };
	volatile long wrong = 0, sent = 0;

	signal(SIGALRM, handler);
	sigsetjmp(back, 1);
	while (handled < n) {
		if (sent == handled) {
			sent++;
			setitimer(ITIMER_REAL, &once, NULL);
		}
		wrong += !ask();
	}
	printf("%ld wrong\n", wrong);
	fflush(stdout);
	fprintf(stderr, "handled %d\n", (int)handled);
}

struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

/* Calls that matter: the program keeps its handler of SIGTRAP. */
static void
action(void)
{
	struct kernel_action set = { 0 }, got = { 0 };

	syscall(SYS_rt_sigaction, SIGUSR1, NULL, &set, 8L);
	signal(SIGUSR1, handle);
	syscall(SYS_rt_sigaction, SIGUSR1, NULL, &set, 8L);
	printf("%ld\n",
	       syscall(SYS_rt_sigaction, SIGTRAP, &set, NULL, 8L));
	syscall(SYS_rt_sigaction, SIGTRAP, NULL, &got, 8L);
	printf("%d\n", got.handler == handle);
	for (int i = 0; i < 3; i++) {
		ask();
		raise(SIGTRAP);
	}
	printf("%d\n", (int)handled);
}

/* A child asks, too, and another program is executed by its number. */
static void
child(char **argv)
{
	char *const args[] = { argv[0], "many", "10", NULL };
	int status;
	pid_t pid = fork();

	if (!pid) {
		printf("%ld\n", ask());
		fflush(stdout);
		syscall(SYS_execve, argv[0], args, environ);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("%d %ld\n", status, ask());
}

int
main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (!strcmp(argv[1], "many"))
		printf("%ld\n", many((long (*)(long, long))syscall, n));
	else if (!strcmp(argv[1], "filtered"))
		printf("%ld\n", many(call_filtered, n));
	else if (!strcmp(argv[1], "moved"))
		printf("%ld\n", many(call_moved, n));
	else if (!strcmp(argv[1], "looped"))
		printf("%ld\n", many(call_looped, n));
	else if (!strcmp(argv[1], "signals"))
		signals(n, handle);
	else if (!strcmp(argv[1], "leaves"))
		signals(n, leave);
	else if (!strcmp(argv[1], "action"))
		action();
	else
		child(argv);
	return 0;
}

#endif
