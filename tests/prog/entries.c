/*
 * Calls functions (entries_asm.S), and jumps to the bytes behind their entries.
 * argv[1]: how often to call each; argv[2]: what to do then, one letter each: c
 * calls each again; 1 to 4 jump that many bytes behind the entry of a function
 * of its own; m jumps behind the mark at an entry; h jumps into an instruction;
 * i has a function jump back to its own beginning; a calls one that jumps to
 * its own middle, and from there to its beginning; f has a child process do the
 * like, then the program itself; s calls from a signal's handler; u sends the
 * signal SIGURG and then calls a function; b calls it with each instruction
 * stepped by a handler of the program's own; t calls each from two threads at
 * once; l calls a function of the library argv[3] that often, which it loads
 * and unloads three times; x executes the program again, to do `c`; w says so
 * and waits for a line of input.  Prints how many bytes were stored, and where
 * in that function a signal came.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

typedef char body[];

extern body quiet, at_1, at_2, at_3, at_4, itself, forked, marked, hidden;
extern body again, again_on;

/* Goes to `first`, and from there to `second` unless that is NULL. */
char *enter(char *at, const void *first, const void *second);

static char stored[64];
static unsigned long sum;
static char **arguments;
static void *caller;	/* where `act` returns to */

static void
run(const char *first, const char *second)
{
	sum += (unsigned long)(enter(stored, first, second) - stored);
}

static char *const all[] = {
	quiet, at_1, at_2, at_3, at_4, itself, forked, marked, hidden, again,
};

static void
calls(int n)
{
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
			run(all[k], NULL);
}

static void
caught(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *from = context;
	size_t pc = (size_t)from->uc_mcontext.gregs[REG_RIP];
	void *frames[64];
	int n = backtrace(frames, 64), i = 0;

	calls(1);
	while (i < n && frames[i] != caller)
		i++;
	if (pc - (size_t)quiet < 16)
		printf("caught at quiet + %zu%s\n", pc - (size_t)quiet,
		       i < n ? ", called by main" : "");
}

static unsigned stepped;	/* a bit for each byte at which it was */

static void
trapped(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *from = context;
	size_t at = (size_t)from->uc_mcontext.gregs[REG_RIP] - (size_t)quiet;

	if (at < 16)
		stepped |= 1U << at;
}

static void
steps(void)
{
	struct sigaction action = {
		.sa_sigaction = trapped, .sa_flags = SA_SIGINFO,
	};

	sigaction(SIGTRAP, &action, NULL);
	__asm__ volatile("sub $256, %%rsp; pushfq; orl $0x100, (%%rsp); popfq;"
			 "add $256, %%rsp" : : : "memory", "cc");
	run(quiet, NULL);
	__asm__ volatile("sub $256, %%rsp; pushfq; andl $~0x100, (%%rsp);"
			 "popfq; add $256, %%rsp" : : : "memory", "cc");
	printf("stepped %x\n", stepped);
}

static pthread_barrier_t begin;

static void *
thread(void *n)
{
	char here[64];

	pthread_barrier_wait(&begin);
	for (int i = 0; i < *(int *)n; i++)
		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
			enter(here, all[k], NULL);
	return NULL;
}

static void
threads(int n)
{
	pthread_t other;

	pthread_barrier_init(&begin, NULL, 2);
	pthread_create(&other, NULL, thread, &n);
	thread(&n);
	pthread_join(other, NULL);
}

static void
libraries(const char *path, int n)
{
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(path, RTLD_NOW);
		char *at = library ? dlsym(library, "unloaded") : NULL;

		for (int k = 0; at && k < n; k++)
			run(at, NULL);
		if (at)
			run(at + 4, NULL);
		for (int k = 0; at && k < n; k++)
			run(at, NULL);
		if (!library || dlclose(library))
			abort();
	}
}

static void
child(void)
{
	int status = 0;
	pid_t pid;

	pid = fork();
	if (!pid) {
		run(forked + 2, NULL);
		calls(1);
		_exit(sum & 0x7f);
	}
	waitpid(pid, &status, 0);
	printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	run(forked + 3, NULL);
}

__attribute__((noinline)) static void
act(char what, int n)
{
	static char *const at[] = { at_1, at_2, at_3, at_4 };

	caller = __builtin_return_address(0);

	if (what >= '1' && what <= '4')
		run(at[what - '1'] + (what - '0'), NULL);
	else if (what == 'c')
		calls(n);
	else if (what == 'h')
		run(hidden + 1, NULL);
	else if (what == 'i')
		run(itself, itself + 2);
	else if (what == 'a')
		run(again, again_on);
	else if (what == 'f')
		child();
	else if (what == 's')
		raise(SIGUSR1);
	else if (what == 'm')
		run(marked + 4, NULL);
	else if (what == 'u' && !raise(SIGURG))
		run(quiet, NULL);
	else if (what == 'b')
		steps();
	else if (what == 't')
		threads(n);
	else if (what == 'l')
		libraries(arguments[3], n);
	else if (what == 'x')
		execl("/proc/self/exe", arguments[0], arguments[1], "c", NULL);
	else if (what == 'w' && puts("waits") >= 0)
		getchar();
}

int
main(int argc, char **argv)
{
	struct sigaction action = {
		.sa_sigaction = caught, .sa_flags = SA_SIGINFO,
	};
	int n = atoi(argv[1]);

	arguments = argv;
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGUSR1, &action, NULL);
	calls(n);
	for (const char *what = argv[2]; *what; what++)
		act(*what, n);
	printf("stored %lu\n", sum);
	return 0;
}
