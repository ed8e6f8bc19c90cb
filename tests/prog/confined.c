/*
 * A process that forbids itself system calls, then works: MODE CALLS.  Reads
 * lines from stdin, works CALLS times for each, and answers "done TOTAL"; at
 * the end of stdin it ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define ALLOW(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static volatile long sink;
static int caught;

NOINLINE void
work(void)
{
	sink++;
}

NOINLINE void
on_sys(int sig)
{
	caught++;
}

/* Only these calls; others do what `otherwise` says. */
static void
filter(unsigned otherwise)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_restart_syscall),
		BPF_STMT(BPF_RET | BPF_K, otherwise),
	};
	struct sock_fprog prog = {
		.len = sizeof(code) / sizeof(code[0]),
		.filter = code,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		perror("seccomp");
		_exit(77);
	}
}

/* Without stdio, which may want memory. */
static void
answer(long total)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "done %ld\n", total);

	if (write(1, text, n) != n)
		syscall(SYS_exit, 96);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "none";
	int calls = argc > 2 ? atoi(argv[2]) : 10, i;
	long total = 0;
	char c;

	signal(SIGSYS, on_sys);
	if (!strcmp(mode, "strict") &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(77);
	if (!strcmp(mode, "kill"))
		filter(SECCOMP_RET_KILL_PROCESS);
	if (!strcmp(mode, "errno"))
		filter(SECCOMP_RET_ERRNO | EPERM);
	if (!strcmp(mode, "trap"))
		filter(SECCOMP_RET_TRAP);
	answer(0);
	while (read(0, &c, 1) == 1) {
		for (i = 0; i < calls; i++)
			work();
		if (!strcmp(mode, "trap"))
			syscall(SYS_getppid);
		answer(total += calls);
	}
	/* What strict mode allows. */
	syscall(strcmp(mode, "strict") ? SYS_exit_group : SYS_exit,
		10 + caught);
	return 0;
}
