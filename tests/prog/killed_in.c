/*
 * Ends in the middle of a basic block, `killed_in END`, after as many calls as
 * main makes.  Comments say how often control then enters a line, by the group
 * of ENDs that leave the line's function.  A system call in which the program
 * ends does not come back; one that makes a process comes back in both.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int x, y, z;
char *const none[] = { NULL };

/*
 * A system call that may not come back.  ENDs: exit, a signal's number, or
 * clone.
 */
__attribute__((noinline)) static void
called(long nr, long a, long b, long c)
{
	x++;					/* sent: 3 */ /* born: 3 */
	__asm__ volatile("syscall"
		: "+a"(nr) : "D"(a), "S"(b), "d"(c)
		: "rcx", "r11", "memory");
	y++;					/* sent: 2 */ /* born: 4 */
	z++;					/* sent: 2 */ /* born: 4 */
}

/* pmon looks for execs by their constant number. */
__attribute__((noinline)) static void
replaced(const char *path)
{
	long result;

	x++;					/* exec: 3 */
	__asm__ volatile("mov $59, %%eax\n\tsyscall"
		: "=a"(result) : "D"(path), "S"(none), "d"(none)
		: "rcx", "r11", "memory");
	y++;					/* exec: 2 */
	z++;					/* exec: 2 */
}

/*
 * Loads that may fault: the first instruction of a block, one behind another,
 * the last but a jump, one in a loop.  Each is an END.
 */
#define LOADS(name, before, behind) \
	__asm__(".type " #name ", @function\n" \
		#name ": .cfi_startproc\n" before "mov (%rdi), %eax\n" \
		behind "ret\n.cfi_endproc\n.size " #name ", . - " #name "\n"); \
	long name(const volatile int *at)
LOADS(first, "", "nop\nnop\n");
LOADS(middle, "nop\n", "nop\n");
LOADS(last, "nop\n", "jmp 1f\n1: ");
LOADS(loop, "mov $3, %ecx\n1: nop\n", "nop\nsub $1, %ecx\njnz 1b\n");

/* A block begins behind the call. */
__attribute__((noinline)) static void
joined(long nr, long a, long b)
{
	if (nr > 0)				/* joined: 4 */
		__asm__ volatile("syscall"
			: "+a"(nr) : "D"(a), "S"(b)
			: "rcx", "r11", "memory");
	y++;					/* joined: 3 */
	z++;					/* joined: 3 */
}

__attribute__((noinline)) static void
faulted(long (*load)(const volatile int *), const volatile int *at)
{
	x++;					/* fault: 3 */
	load(at);
	y++;					/* fault: 2 */
	z++;					/* fault: 2 */
}

int
main(int argc, char **argv)
{
	long (*loads[])(const volatile int *) = {
		first, middle, last, loop,
	};
	const char *names[] = { "first", "middle", "last", "loop" };
	const char *end = argv[1];

	for (int i = 0; i < 4; i++) {
		if (strcmp(end, names[i]))
			continue;
		faulted(loads[i], &x);
		faulted(loads[i], &x);
		faulted(loads[i], NULL);
	}
	if (!strcmp(end, "exec")) {
		replaced("/");
		replaced("/");
		replaced("/bin/true");
	}
	if (!strcmp(end, "joined")) {
		joined(0, 0, 0);
		joined(SYS_getpid, 0, 0);
		joined(SYS_getpid, 0, 0);
		joined(SYS_kill, getpid(), SIGKILL);
	}
	called(SYS_getpid, 0, 0, 0);
	called(SYS_getpid, 0, 0, 0);
	if (!strcmp(end, "exit"))
		called(SYS_exit_group, 3, 0, 0);
	else if (!strcmp(end, "clone"))
		called(SYS_clone, SIGCHLD, 0, 0);
	else
		called(SYS_kill, getpid(), atoi(end), 0);
	wait(NULL);
	return argc;
}
