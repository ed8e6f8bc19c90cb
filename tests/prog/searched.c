/*
 * PROGRAM HOW DEPTH: calls through code that is in no file, as a compiler that
 * runs in the program makes it, so that its stack cannot be walked; and in that
 * depth it exits (e), kills itself (k), forks a child that ends there (f) or
 * returns as its parent does (r), executes itself (x), waits for input (w), or
 * ends its other thread, which is there (t).  The stack may be at odd addresses
 * (o) or in shared memory (s), where it exits.  A handler is left by such code
 * before (h), or there is more shared memory than pmon searches (b).  A thread
 * unmaps its stack (u), or has its only return address in a register (g), and
 * ends.  Lines say how often they run.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 1 << 18, STALE = 60, SHARED = 65 << 20 };

static char how, *self;
static volatile int sum;
static uint64_t spot;
static int there[2];

/* ---- code that is in no file */

static const unsigned char code[] = {
	/* through(f): calls f. */
	0x53, 0xff, 0xd7, 0x5b, 0xc3, 0x90, 0x90, 0x90,
	/* on(f, stack): calls f on that stack. */
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf4, 0xff, 0xd7, 0x48, 0x89, 0xec,
	0x5d, 0xc3, 0x90, 0x90,
	/* mark(spot, f): calls f. */
	0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x51, 0x48,
	0x89, 0x27, 0xff, 0xd6,
	/* ... and returns. */
	0x59, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3,
	0x90, 0x90, 0x90, 0x90,
	/* leap(spot): has mark return. */
	0x48, 0x8b, 0x27, 0xeb, 0xeb,
};
static void (*through)(void (*f)(void));
static void (*on)(void (*f)(void), char *stack);
static void (*mark)(uint64_t *spot, void (*f)(void));
static void (*leap)(uint64_t *spot);

static void
code_make(void)
{
	unsigned char *at = mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, code, sizeof(code));
	if (mprotect(at, sizeof(code), PROT_READ | PROT_EXEC))
		exit(3);
	through = (void (*)(void (*)(void)))at;
	on = (void (*)(void (*)(void), char *))(at + 8);
	mark = (void (*)(uint64_t *, void (*)(void)))(at + 24);
	leap = (void (*)(uint64_t *))(at + 56);
}

/* ---- functions that no task is in when a stack is lost */

static __attribute__((noinline)) void
touch(int n)
{
	sum += n;
}

/* On a stack that is gone then. */
static __attribute__((noinline)) void
gone(int n)
{
	if (n & 1)
		touch(1);		/* x ODD */
	else if (n & 2)
		touch(2);		/* x TWO */
	else
		touch(3);		/* x DEPTH + 1 - ODD - TWO */
	sum++;				/* x DEPTH + 1 */
	if (n)
		gone(n - 1);		/* x DEPTH */
	sum++;				/* x DEPTH + 1 */
}

/* On the stack that is lost, where its return addresses stay. */
static __attribute__((noinline)) void
stale(int n)
{
	if (n & 1)
		touch(1);		/* x STALE / 2 */
	else
		touch(3);		/* x STALE / 2 + 1 */
	if (n)
		stale(n - 1);		/* x STALE */
	sum++;				/* x STALE + 1 */
}

static void *
gone_begin(void *arg)
{
	gone(*(int *)arg);		/* x 1 */
	return NULL;
}

static char *
stack_make(int flags)
{
	return mmap(NULL, STACK, PROT_READ | PROT_WRITE,
		    flags | MAP_ANONYMOUS, -1, 0);
}

static void
thread_run(char *stack, void *(*f)(void *), void *arg, pthread_t *thread)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	if (pthread_create(thread, &attr, f, arg))
		exit(3);
	pthread_attr_destroy(&attr);
}

/* ---- what is left by code that is in no file */

static __attribute__((noinline)) void
leave(void)
{
	sum++;				/* x HANDLED */
	leap(&spot);			/* x HANDLED */
	sum++;				/* x 0 */
}

static void
handle(int signal)
{
	sum++;				/* x HANDLED */
	leave();			/* x HANDLED */
	sum++;				/* x 0 */
}

static __attribute__((noinline)) void
risk(void)
{
	raise(SIGUSR1);			/* x HANDLED */
	sum++;				/* x 0 */
}

/* ---- the depth */

static __attribute__((noinline)) void
act(void)
{
	char *argv[] = { self, (char *)"q", (char *)"0", NULL };
	char c = '.';
	pid_t pid;

	sum++;				/* x DEEP */
	if (how == 'o')
		_exit(0);		/* x O */
	if (how == 'k')
		raise(SIGKILL);		/* x K */
	if (how == 'x')
		execv(self, argv);	/* x X */
	if (how == 't') {
		write(there[1], &c, 1);	/* x T */
		pause();
	}
	if (how == 'w') {
		puts("there");		/* x W */
		fflush(stdout);		/* x W */
		read(0, &c, 1);		/* x W */
	}
	if (how != 'f' && how != 'r' && how != 'w')
		exit(0);		/* x ENDS */
	if (how == 'w')
		return;			/* x W * BACK */
	pid = fork();			/* x FORKS */
	if (!pid && how == 'f')
		_exit(0);		/* x F */
	if (pid)
		waitpid(pid, NULL, 0);	/* x FORKS */
}

static __attribute__((noinline)) void
deep(int n)
{
	sum++;				/* x DEEP * (DEPTH + 1) */
	if (n)
		deep(n - 1);		/* x DEEP * DEPTH */
	else
		through(act);		/* x DEEP */
	sum++;				/* x BACK * (DEPTH + 1) */
}

static int depth;

static void
deep_begin(void)
{
	deep(depth);			/* x DEEP */
	sum++;				/* x BACK */
}

static void *
deep_thread(void *arg)
{
	deep_begin();			/* x T */
	return NULL;
}

/* ---- a thread that ends with no return address in its stack */

__asm__(".text\n"
	/* unmap(stack, size): both system calls need no stack. */
	"unmap:	mov $11, %eax\n	syscall\n	mov $60, %eax\n"
	"	xor %edi, %edi\n	syscall\n	ret\n"
	/* register_end(): its return address is in rbx alone. */
	"register_end:	pop %rbx\n	movq $0, -8(%rsp)\n"
	"	mov $60, %eax\n	xor %edi, %edi\n	syscall\n	jmp *%rbx\n");
void unmap(char *stack, size_t size);
void register_end(void);

static __attribute__((noinline)) void
unmapped(char *stack)
{
	sum++;				/* x U */
	unmap(stack, STACK);		/* x U */
	sum++;				/* x 0 */
}

static __attribute__((noinline)) void
registered(void)
{
	sum++;				/* x G */
	register_end();			/* x G */
	sum++;				/* x 0 */
}

static int
lost_begin(void *stack)
{
	if (how == 'u')
		unmapped(stack);	/* x U */
	else
		registered();		/* x G */
	return 0;			/* x 0 */
}

/* The thread has nothing of the C library's, which would be on its stack. */
static void
lost_run(char *stack)
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		    CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
	static volatile int alive = 1;

	if (clone(lost_begin, stack + STACK, flags, stack, NULL, NULL,
		  &alive) < 0)
		exit(3);
	while (alive)
		syscall(SYS_futex, &alive, FUTEX_WAIT, 1, NULL, NULL, 0);
}

int
main(int argc, char **argv)
{
	char *stack = stack_make(MAP_PRIVATE), c;
	pthread_t thread;

	self = argv[0];
	how = argv[1][0];
	depth = atoi(argv[2]);
	if (how == 'q')
		_exit(0);		/* x X */
	code_make();
	thread_run(stack, gone_begin, &depth, &thread);
	pthread_join(thread, NULL);
	munmap(stack, STACK);
	stale(STALE);			/* x 1 */
	signal(SIGUSR1, handle);
	if (how == 'h')
		mark(&spot, risk);	/* x HANDLED */
	if (how == 'b')
		mmap(NULL, SHARED, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	stack = stack_make(how == 's' ? MAP_SHARED : MAP_PRIVATE);
	if (how == 'u' || how == 'g') {
		lost_run(stack);	/* x LOST */
	} else if (how == 't') {
		if (pipe(there))
			return 3;
		thread_run(stack, deep_thread, NULL, &thread);
		read(there[0], &c, 1);
		exit(0);		/* x T */
	} else if (how == 'o') {
		on(deep_begin, stack + STACK - 13);	/* x O */
	} else if (how == 's') {
		on(deep_begin, stack + STACK - 16);	/* x S */
	} else {
		deep_begin();		/* x PLAIN */
	}
	return 0;
}
