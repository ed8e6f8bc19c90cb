/*
 * What a program can see of itself: each mode looks at something that must be
 * the same whether its functions run where they are or elsewhere, and says
 * what it saw.  Counts in comments: N is the argument.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))

extern char __executable_start[], etext[];

static volatile long seen, strange;

NOINLINE int
step(int i)
{
	seen++;
	return i % 3 ? i + 1 : i - 1;
}

/* ---- backtraces */

static void
trace_print(void)
{
	void *pcs[64];
	int n = backtrace(pcs, 64);

	for (int i = 0; i < n; i++) {
		char *pc = pcs[i];

		if (pc >= __executable_start && pc < etext)
			printf(" %lx", (long)(pc - __executable_start));
	}
	putchar('\n');
}

NOINLINE int
deep(int n)
{
	int r;

	if (!n) {
		trace_print();
		return 1;
	}
	r = n % 2 ? deep(n - 1) : step(n) + deep(n - 1);
	return r + 1;
}

static void
traces(int n)
{
	for (int i = 0; i < n; i++)
		printf("%d\n", deep(i % 20));
}

/* ---- pcs that handlers see */

static int
pc_known(void *pc)
{
	Dl_info info;

	return ((char *)pc >= __executable_start && (char *)pc < etext) ||
	       dladdr(pc, &info);
}

static volatile sig_atomic_t handled;

NOINLINE void
on_prof(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	void *pcs[64];
	int n = backtrace(pcs, 64);

	if (!pc_known((void *)u->uc_mcontext.gregs[REG_RIP]))
		strange++;
	for (int i = 0; i < n; i++)
		if (!pc_known(pcs[i]) && i != 1)
			strange++;
	handled++;
}

NOINLINE long
spin(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		if (i % 3)
			sum += i;
		else
			sum ^= i;
		if (i % 64 == 0)
			sum += step(i);
	}
	return sum;
}

static volatile sig_atomic_t told;

static void
on_told(int signal)
{
	told = 1;
}

/* So many signals; or 0: until SIGTERM. */
static void
profile(int n)
{
	struct sigaction sa = { .sa_sigaction = on_prof,
				.sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	long sum = 0, calls = 0;
	void *pcs[4];

	backtrace(pcs, 4);
	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	if (!n)
		signal(SIGTERM, on_told);
	while (n ? handled < n : !told) {
		sum += spin(64000);
		calls++;
	}
	setitimer(ITIMER_PROF, &never, NULL);
	printf("strange %ld, sum %s\n", strange,
	       sum / calls == spin(64000) ? "right" : "wrong");
	fprintf(stderr, "counts: spin %ld, step %ld, on_prof %d\n", calls + 1,
		seen, (int)handled);
}

/* ---- faults that are mended */

static char *page;
static volatile int *slot;
static long faults;

extern char load_at[], load_skip[];
long load(volatile int *p);
/* The second entry is in the middle of a block. */
__asm__(".text\n.globl load\n.type load,@function\nload:\n"
	"xor %eax,%eax\n"
	"load_at: mov (%rdi),%eax\n"
	"add $1,%eax\n"
	"ret\n"
	"load_skip: mov $-7,%eax\n"
	"jmp 1f\nnop\n1: ret\n"
	".size load,.-load\n");

NOINLINE void
on_fault(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	faults++;
	if ((char *)u->uc_mcontext.gregs[REG_RIP] == load_at &&
	    faults % 2) {
		u->uc_mcontext.gregs[REG_RIP] = (long)load_skip;
		return;
	}
	if ((char *)u->uc_mcontext.gregs[REG_RIP] != load_at)
		strange++;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void
mend(int n)
{
	struct sigaction sa = { .sa_sigaction = on_fault,
				.sa_flags = SA_SIGINFO };
	long sum = 0;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	slot = (volatile int *)page;
	sigaction(SIGSEGV, &sa, NULL);
	for (int i = 0; i < n; i++) {
		mprotect(page, 4096, PROT_NONE);
		sum += load(slot);
	}
	printf("faults %ld, sum %ld, strange %ld\n", faults, sum, strange);
}

/* ---- stacks that are left, and other stacks */

static sigjmp_buf back;

NOINLINE void
leave(int i)
{
	if (i)
		leave(i - 1);
	else
		siglongjmp(back, 1);
	step(0);
}

NOINLINE void
on_overflow(int signal)
{
	siglongjmp(back, 2);
}

NOINLINE int
endless(volatile char *p)
{
	volatile char here[4096];

	here[0] = *p;
	return endless(here) + here[0];
}

static void
jumps(int n)
{
	static char alt[1 << 16];
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof(alt) };
	struct sigaction sa = { .sa_handler = on_overflow,
				.sa_flags = SA_ONSTACK };
	volatile int overflows = 0, left = 0;
	char c = 0;

	sigaltstack(&ss, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	for (volatile int i = 0; i < n; i++)
		switch (sigsetjmp(back, 1)) {
		case 0:
			if (i % 5)
				leave(i % 7);
			else
				endless(&c);
			break;
		case 1:
			left++;
			break;
		default:
			overflows++;
		}
	printf("left %d, overflows %d, steps %ld\n", left, overflows, seen);
}

static ucontext_t here, there;
static int turns;

NOINLINE void
other(void)
{
	for (;;) {
		turns += step(turns) ? 1 : 2;
		swapcontext(&there, &here);
	}
}

static void
contexts(int n)
{
	static char stack[1 << 16];

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, other, 0);
	for (int i = 0; i < n; i++)
		swapcontext(&here, &there);
	printf("turns %d, steps %ld\n", turns, seen);
}

/* ---- code with little room */

long redzone(long a, long b);
long flags(long a, long b);
long tiny(void);
long tiny_tail(void);
long dense(long a);
__asm__(".text\n"
	/* Keeps what it needs below the stack pointer. */
	".globl redzone\n.type redzone,@function\nredzone:\n"
	"mov %rdi,-8(%rsp)\nmov %rsi,-128(%rsp)\n"
	"test %rdi,%rdi\njs 1f\n"
	"add $1,%rsi\nmov %rsi,-64(%rsp)\njmp 2f\n"
	"1: sub $1,%rsi\nmov %rsi,-64(%rsp)\n"
	"2: mov -8(%rsp),%rax\nadd -128(%rsp),%rax\nadd -64(%rsp),%rax\n"
	"ret\n.size redzone,.-redzone\n"
	/* Flags live across branches and where they meet. */
	".globl flags\n.type flags,@function\nflags:\n"
	"xor %eax,%eax\ncmp %rsi,%rdi\n"
	"je 1f\njl 2f\n"
	"3: setb %al\njo 4f\njmp 1f\n"
	"2: jp 3b\nlea 16(%rax),%rax\nja 5f\njmp 1f\n"
	"4: lea 32(%rax),%rax\n5: lea 64(%rax),%rax\n"
	"1: adc $0,%rax\nret\n.size flags,.-flags\n"
	".globl tiny\n.type tiny,@function\ntiny: ret\n.size tiny,.-tiny\n"
	".globl tiny_tail\n.type tiny_tail,@function\n"
	"tiny_tail: jmp tiny\n.size tiny_tail,.-tiny_tail\n"
	".globl dense\n.type dense,@function\ndense:\n"
	"mov %edi,%eax\n1: dec %eax\njz 3f\njs 3f\ntest $1,%al\njz 1b\n"
	"test $4,%al\njnz 1b\ndec %eax\njg 1b\n"
	"3: ret\n.size dense,.-dense\n");

NOINLINE long
table(int i)
{
	switch (i) {
	case 0: return step(4);
	case 1: return 17 + seen;
	case 2: return seen * 3;
	case 3: return seen ^ 99;
	case 4: return step(7) + 2;
	case 5: return 5 - seen;
	case 6: return seen << 1;
	case 7: return step(9) * 5;
	default: return -1;
	}
}

NOINLINE int odd(unsigned n);

NOINLINE int
even(unsigned n)
{
	return n ? odd(n - 1) : 1;
}

NOINLINE int
odd(unsigned n)
{
	return n ? even(n - 1) : 0;
}

NOINLINE int
fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void
codes(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		sum += redzone(i - n / 2, i * 3);
		sum = sum * 31 + flags(i % 7 - 3, i % 5 - 2);
		sum += flags(INT64_MIN, i - 2) + dense(i % 40);
		tiny();
		tiny_tail();
		sum += table(i % 10) + even(i) + fib(i % 12);
	}
	printf("sum %lx\n", sum);
}

/* ---- threads and processes */

static void *
thread(void *arg)
{
	for (intptr_t i = 0; i < (intptr_t)arg; i++)
		step(i);
	return NULL;
}

static void
threads(int n)
{
	pthread_t ids[64];

	for (int i = 0; i < n; i++)
		if (pthread_create(&ids[i % 64], NULL, thread,
				   (void *)(intptr_t)(i % 50)) ||
		    (i % 64 == 63 && ({ int bad = 0;
			for (int k = 0; k < 64; k++)
				bad |= pthread_join(ids[k], NULL);
			bad; })))
			_exit(3);
	for (int i = n / 64 * 64; i < n; i++)
		pthread_join(ids[i % 64], NULL);
	puts("joined");
}

static void
server(int n)
{
	int sum = 0, status;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (int k = 0; k <= i; k++)
				step(k);
			_exit(i % 100);
		}
		if (i % 8 == 0) {
			pid_t quick = vfork();

			if (!quick)
				_exit(step(1));
			waitpid(quick, &status, 0);
			sum += WEXITSTATUS(status);
		}
		waitpid(pid, &status, 0);
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
	}
	printf("sum %d\n", sum);
}

static void
chain(int n, char **argv)
{
	char number[16];

	step(n);
	if (!n) {
		puts("last");
		return;
	}
	snprintf(number, sizeof(number), "%d", n - 1);
	execl("/proc/self/exe", argv[0], argv[1], number, (char *)NULL);
}

static void
maps(int n)
{
	FILE *in = fopen("/proc/self/maps", "r");
	char line[512], both = 0;
	int own = 0;

	for (int i = 0; in && fgets(line, sizeof(line), in); i++) {
		both |= strstr(line, " rwx") != NULL;
		own += strstr(line, "observe") != NULL;
		step(i);
	}
	if (in)
		fclose(in);
	printf("writable code %d, own %d\n", both, own > 0);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(int n);
	} modes[] = {
		{ "traces", traces }, { "profile", profile }, { "mend", mend },
		{ "jumps", jumps }, { "contexts", contexts },
		{ "codes", codes }, { "threads", threads },
		{ "server", server }, { "maps", maps },
	};
	int n = argc > 2 ? atoi(argv[2]) : 1;

	if (argc > 1 && !strcmp(argv[1], "chain"))
		chain(n, argv);
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].fn(n);
	return 7;
}
