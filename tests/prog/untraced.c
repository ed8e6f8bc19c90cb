/*
 * Makes children by clone(2) and clone3(2) with the flags that it is told, in
 * hexadecimal, and looks whether the call leaves its arguments alone.  If there
 * is another argument it handles SIGTRAP, and has all signals blocked.
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;
static unsigned long flags;
/* Above its top are zeros, as where a stack ends. */
enum { TOP = (1 << 16) - 64 };
static char stack[1 << 16] __attribute__((aligned(16)));

__attribute__((noinline)) int
work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
	return n;
}

static void
end(const char *what, long pid)
{
	int status = -1;

	/* __WALL: whatever signal tells of its end. */
	if (pid < 0 || waitpid((pid_t)pid, &status, __WALL) != pid)
		printf("%s: no child\n", what);
	printf("%s: status %x\n", what, (unsigned)status);
}

/* The registers of the call afterwards, in both. */
__attribute__((noinline)) static long
clone_here(unsigned long wanted, unsigned long *after)
{
	long result = SYS_clone;
	register unsigned long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;

	__asm__ volatile("mov $56, %%eax\n\tsyscall"
			 : "=&a"(result), "+D"(wanted)
			 : "S"(0L), "d"(0L), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	*after = wanted;
	return result;
}

/* Numbers that the code does not tell: an argument, and in memory. */
__attribute__((noinline)) static long
clone_as(unsigned long wanted, long stack, long number)
{
	register unsigned long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(wanted), "S"(stack), "d"(0L), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return number;
}

__attribute__((noinline)) static long
clone_by(const volatile long *number, void *arg, unsigned long size)
{
	long result;

	__asm__ volatile("mov %1, %%rax\n\tsyscall"
			 : "=&a"(result)
			 : "m"(*number), "D"(arg), "S"(size)
			 : "rcx", "r11", "memory");
	return result;
}

static void
on_trap(int signal)
{
	printf("handled: %d\n", signal == SIGTRAP);
}

static void
block(int how)
{
	struct sigaction action;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(how, &set, &set);
	sigaction(SIGTRAP, NULL, &action);
	printf("was blocked: %d, handled: %d\n", sigismember(&set, SIGTRAP),
	       action.sa_handler == on_trap);
}

static int
body(void *arg)
{
	return work(3) + *(int *)arg;
}

int
main(int argc, char **argv)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	const volatile long number = SYS_clone3;
	unsigned long after;
	int more = 4;
	long pid;

	flags = argc > 1 ? strtoul(argv[1], NULL, 16) : 0;
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 2) {
		signal(SIGTRAP, on_trap);
		block(SIG_BLOCK);
	}
	pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		_exit(work(5));
	end("syscall", pid);

	pid = clone_here(flags | SIGCHLD, &after);
	if (!pid)
		_exit(work(6) + (after != (flags | SIGCHLD)));
	end("here", pid);
	printf("kept: %d\n", after == (flags | SIGCHLD));

	args.flags = flags;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid)
		_exit(work(7) + (args.flags != flags));
	end("clone3", pid);
	printf("kept: %d\n", args.flags == flags);

#ifndef NAMELESS
	pid = clone_as(flags | SIGCHLD, 0, SYS_clone);
	if (!pid)
		_exit(work(9));
	end("as", pid);
	pid = clone_by(&number, &args, sizeof(args));
	if (!pid)
		_exit(work(10) + (args.flags != flags));
	end("by", pid);
	printf("kept: %d\n", args.flags == flags);
#endif

	pid = clone(body, stack + TOP, (int)flags | CLONE_VM |
		    CLONE_VFORK | SIGCHLD, &more);
	end("vfork", pid);
	pid = clone(body, stack + TOP, (int)flags | CLONE_VM |
		    CLONE_FILES | SIGCHLD, &more);
	end("shared", pid);
	/* One that the kernel refuses. */
	printf("refused: %ld\n", clone_here(flags | CLONE_THREAD, &after));
	printf("kept: %d\n", after == (flags | CLONE_THREAD));
	if (argc > 2) {
		block(SIG_UNBLOCK);
		raise(SIGTRAP);
	}
	return work(8) != 8;
}
