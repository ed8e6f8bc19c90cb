/*
 * Signals at system calls and at instructions: a read that begins again because
 * its handler returned, or that a handler leaves by a jump; stores that fault
 * until their handler has mended that; and ends.  The argument says which end.
 *
 * Another process sends SIGALRM whenever the program waits in its read, of the
 * file that it names first, and has written a line for each SIGALRM before.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fds[2];
static sigjmp_buf env;
static volatile int alarms, faults, leaves;
static char *page;

static void
alarmed(int signal)
{
	alarms++;
	write(STDOUT_FILENO, "alarm\n", 6);
	if (leaves)
		siglongjmp(env, 1);
	if (alarms % 3 == 0)
		write(fds[1], "x", 1);
}

static void
raised(int signal)
{
	alarms++;
}

static void
faulted(int signal)
{
	faults++;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static long
wait_byte(void)
{
	char c;

	return read(fds[0], &c, 1);
}

__attribute__((noinline)) static void
store(int i)
{
	*(volatile char *)(page + i) = (char)i;
}

int
main(int argc, char **argv)
{
	struct sigaction again = { .sa_handler = alarmed,
				   .sa_flags = SA_RESTART };
	struct sigaction mend = { .sa_handler = faulted };
	const char *how = argc > 1 ? argv[1] : "";

	if (pipe(fds))
		return 1;
	sigaction(SIGALRM, &again, NULL);
	sigaction(SIGSEGV, &mend, NULL);
	printf("file %d\n", fds[0]);
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		printf("read %ld\n", wait_byte());
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 5; i++) {
		mprotect(page, 4096, PROT_NONE);
		store(i);
	}
	printf("%d alarms, %d faults\n", alarms, faults);
	fflush(stdout);
	leaves = !strcmp(how, "leave");
	if (leaves && !sigsetjmp(env, 1))
		wait_byte();
	if (!strcmp(how, "crash")) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile char *)8 = 1;
	}
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "raise")) {
		signal(SIGUSR1, raised);
		for (int i = 0; i < 5; i++)
			raise(SIGUSR1);
	}
	return 0;
}
