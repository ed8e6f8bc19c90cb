/*
 * Interprets a program by computed gotos: once, and argv[1] times after it has
 * sent itself SIGURG, which it ignores.  Handles SIGUSR1.  Tells what the
 * program computes, how many signals came, and how many of them where no file's
 * code is.  argv[2]: reads a line before each time and tells when it is done;
 * with an empty line it sends no SIGURG.  OFFSETS: its table has distances
 * instead of addresses.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static const unsigned char program[] = {
	0, 1, 1, 2, 3, 0, 0, 4, 1, 2, 2, 2, 5,
};
static int signals, elsewhere;

static void
on_signal(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	Dl_info found;

	signals++;
	elsewhere += !dladdr((void *)regs[REG_RIP], &found);
}

__attribute__((noinline)) static unsigned
interpret(const unsigned char *at, unsigned n)
{
#ifdef OFFSETS
	static const int labels[] = {
		&&push - &&push, &&add - &&push, &&twice - &&push,
		&&less - &&push, &&skip - &&push, &&end - &&push,
	};

#define NEXT goto *(&&push + labels[*at++])
#else
	static const void *const labels[] = {
		&&push, &&add, &&twice, &&less, &&skip, &&end,
	};

#define NEXT goto *labels[*at++]
#endif
	NEXT;
push:	n = n * 10 + 1; NEXT;
add:	n += 3; if (n > 1000) n = -n; NEXT;
twice:	n *= 2; NEXT;
less:	if (n % 2) n--; NEXT;
skip:	n ^= 5; NEXT;
end:	return n;
}

int
main(int argc, char **argv)
{
	struct sigaction sa = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO,
	};
	unsigned n = interpret(program, 0);
	char line[8] = "u";

	sigaction(SIGUSR1, &sa, NULL);
	for (int i = atoi(argv[1]); i > 0; i--) {
		if (argc > 2 && !fgets(line, sizeof(line), stdin))
			break;
		if (line[0] == 'u')
			kill(getpid(), SIGURG);
		n = interpret(program, n);
		if (argc > 2) {
			printf("done\n");
			fflush(stdout);
		}
	}
	printf("%u, %d signals, %d elsewhere\n", n, signals, elsewhere);
	return 0;
}
