/*
 * Keeps a ledger of itself in a file that outlives it: each RUN(n) adds one
 * to entry n by a single instruction, which a monitor's count of that
 * instruction must equal whenever the program is stopped or killed.  Goes on
 * for ever, or until entry 0 has reached a limit, when other threads are in
 * the middle of something.
 *
 * ledger FILE MODE [LIMIT]; the entries begin at the symbol ledger.  In mode
 * pauses it waits now and then for a byte of its standard input, in mode often
 * others send it SIGALRM.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 4096, THREADS = 3 };

uint64_t ledger[ROOM / sizeof(uint64_t)] __attribute__((aligned(ROOM)));

#define RUN(n) __asm__ volatile("lock addq $1, ledger+%c0(%%rip)" \
				: : "i"(8 * (n)) : "memory", "cc")
#define NOINLINE __attribute__((noinline, noclone))

static uint64_t limit, pause_after;
static volatile uint64_t sink = 1;
static sigjmp_buf env;

/* Something that no compiler foresees. */
static unsigned
chance(unsigned n)
{
	static __thread uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % n;
}

NOINLINE static void
leaf(unsigned n)
{
	RUN(1);
	for (unsigned i = 0; i < n; i++) {
		RUN(2);
		if (chance(3))
			continue;
		RUN(3);
		sink += i;
	}
	RUN(4);
}

NOINLINE static unsigned
branches(unsigned n)
{
	switch (n % 7) {
	case 0: RUN(5); break;
	case 1: RUN(6); return 1;
	case 2: RUN(7); leaf(1); break;
	case 3: RUN(8); sink /= 3; break;
	case 5: RUN(9); return branches(n / 2);
	default: RUN(10);
	}
	RUN(11);
	return n;
}

NOINLINE static void
recurse(unsigned depth)
{
	char byte;

	RUN(12);
	if (!depth) {
		RUN(13);
		if (pause_after && !chance(pause_after)) {
			RUN(31);
			if (read(0, &byte, 1) != 1)
				_exit(3);
			RUN(32);
		}
		return;
	}
	recurse(depth - 1);
	RUN(14);
	while (chance(4)) {
		RUN(15);
		branches(chance(100));
	}
	RUN(16);
	recurse(depth - 1);
	RUN(17);
}

NOINLINE static void
leave(unsigned depth)
{
	RUN(18);
	if (!depth && chance(2)) {
		RUN(19);
		siglongjmp(env, 1);
	}
	if (depth)
		leave(depth - 1);
	RUN(20);
}

NOINLINE static void
returned(void)
{
	if (!sigsetjmp(env, 1)) {
		RUN(21);
		leave(chance(5));
		RUN(22);
	} else {
		RUN(23);
	}
	RUN(24);
}

static void
turn(void)
{
	RUN(0);
	if (limit && ledger[0] >= limit)
		_exit(0);
}

static void
calls(void)
{
	for (;;) {
		turn();
		recurse(3);
		leaf(4);
	}
}

static void
jumps(void)
{
	for (;;) {
		turn();
		returned();
	}
}

static void
on_alarm(int signal)
{
	RUN(25);
	if (chance(2)) {
		RUN(26);
		siglongjmp(env, signal);
	}
	RUN(27);
}

#define PUSH_POP	"push %%rax\n\t.cfi_adjust_cfa_offset 8\n\t" \
			"pop %%rax\n\t.cfi_adjust_cfa_offset -8\n\t"

/* Blocks that begin with instructions as short as a trap. */
static void
bytes(void)
{
	for (;;) {
		turn();
		for (unsigned i = 0; i < 100; i++) {
			RUN(33);
			__asm__ volatile("test $1, %b0\n\t"
					 "jz 1f\n\t"
					 PUSH_POP
					 "jmp 2f\n"
					 "1:" PUSH_POP
					 "2:" PUSH_POP
					 : : "q"(i) : "cc");
		}
	}
}

/* Handlers, some of which never return; each pause of so many us, or never. */
static void
handlers(suseconds_t pause)
{
	struct itimerval often = { { 0, pause }, { 0, pause } };

	signal(SIGALRM, on_alarm);
	sigsetjmp(env, 1);
	RUN(28);
	setitimer(ITIMER_REAL, &often, NULL);
	calls();
}

static void *
body(void *arg)
{
	calls();
	return arg;
}

static void
threads(void)
{
	pthread_t thread;

	for (int i = 0; i < THREADS - 1; i++)
		pthread_create(&thread, NULL, body, NULL);
	calls();
}

/* Children that are killed, too, with the one that waits for them. */
static void
children(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			RUN(29);
			recurse(2);
			raise(SIGKILL);
		}
		RUN(30);
		waitpid(pid, NULL, 0);
		turn();
	}
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "";
	int file;

	limit = argc > 3 ? (uint64_t)atol(argv[3]) : 0;
	if (argc < 3 || (file = open(argv[1], O_RDWR)) < 0 ||
	    mmap(ledger, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 file, 0) != ledger)
		return 2;
	if (!strcmp(mode, "pauses"))
		pause_after = 100;
	if (!strcmp(mode, "calls") || pause_after)
		calls();
	else if (!strcmp(mode, "bytes"))
		bytes();
	else if (!strcmp(mode, "jumps"))
		jumps();
	else if (!strcmp(mode, "handlers"))
		handlers(2000);
	else if (!strcmp(mode, "often"))
		handlers(0);
	else if (!strcmp(mode, "threads"))
		threads();
	else if (!strcmp(mode, "children"))
		children();
	return 2;
}
