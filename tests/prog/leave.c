/*
 * Leaves stack frames in every way that C has: the argument says which.
 * Calls everything from functions whose names begin with t_, so that a
 * monitor of these can tell.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { DEPTH = 20, STACK_SIZE = 1 << 17 };

static jmp_buf env, inner;
static sigjmp_buf sig_env;
static volatile int sum, rounds = 5;

static void
t_jump(int depth)
{
	char room[depth * 3 + 1];

	memset(room, depth, sizeof(room));
	if (!depth)
		longjmp(env, 1);
	t_jump(depth - 1);
	sum += room[0];
}

static void
t_longjmp(void)
{
	for (volatile int i = 0; i < rounds; i++)
		if (!setjmp(env))
			t_jump(i * 3);
}

/* Into the same function, and from within an inner jump's. */
static void
t_nested_inner(int n)
{
	if (!setjmp(inner)) {
		if (n % 2)
			longjmp(inner, 2);
		t_jump(n);
	}
	t_jump(1);
}

static void
t_nested(void)
{
	volatile int i = 0;

	setjmp(env);
	if (i++ < rounds)
		t_nested_inner(i);
}

/* Round and round by longjmp alone. */
static void
t_loop(void)
{
	volatile int n = 0;

	setjmp(env);
	if (++n < 10)
		longjmp(env, n);
}

static void
t_handler(int signal)
{
	sum += signal;
	siglongjmp(sig_env, signal);
}

static void
t_raise(int depth)
{
	if (!depth)
		raise(SIGUSR1);
	else
		t_raise(depth - 1);
	sum++;
}

static void
t_fault(int depth)
{
	if (!depth)
		*(volatile int *)8 = 1;
	else
		t_fault(depth - 1);
	sum++;
}

static void
t_signal(int number, void (*how)(int), int flags)
{
	struct sigaction action = { .sa_handler = t_handler };

	action.sa_flags = flags;
	sigaction(number, &action, NULL);
	for (volatile int i = 0; i < rounds; i++)
		if (!sigsetjmp(sig_env, 1))
			how(i);
}

/*
 * longjmp itself is interrupted and left: where it loads the first register,
 * which lies in a page of its own, when it has found out where to go.
 */
static jmp_buf *torn;

static void
t_torn_deep(int depth)
{
	if (!depth)
		longjmp(*torn, 1);
	t_torn_deep(depth - 1);
	sum++;
}

static void
t_torn(int depth)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	torn = (jmp_buf *)(pages + page - sizeof(long));
	if (!setjmp(*torn)) {
		mprotect(pages, page, PROT_NONE);
		t_torn_deep(depth);
	}
	sum += depth;
}

static void
t_fault_other(int depth)
{
	if (depth)
		t_fault_other(depth - 1);
	else
		*(volatile int *)16 = 2;
	sum += 2;
}

static void
t_fault_turns(int i)
{
	if (i % 2)
		t_fault_other(i);
	else
		t_fault(i);
}

static void
t_fault_again(int signal)
{
	if (sum++ % 2)
		t_handler(signal);
	t_fault_other(2);
}

/* By turns at two instructions; and at one in a handler for the other. */
static void
t_faults(void)
{
	struct sigaction action = { .sa_handler = t_fault_again };

	t_signal(SIGSEGV, t_fault_turns, 0);
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, NULL);
	sum = 0;
	if (!sigsetjmp(sig_env, 1))
		t_fault(1);
}

static void
t_altstack(void (*how)(int), int number)
{
	stack_t stack = { .ss_size = STACK_SIZE };

	stack.ss_sp = malloc(STACK_SIZE);
	sigaltstack(&stack, NULL);
	t_signal(number, how, SA_ONSTACK);
}

/* A handler that is interrupted by another one, which leaves both. */
static void
t_twice_handler(int signal)
{
	raise(SIGUSR1);
	sum += signal;
}

static void
t_twice_raise(int depth)
{
	raise(SIGUSR2);
	sum += depth;
}

static void
t_twice(void)
{
	signal(SIGUSR2, t_twice_handler);
	t_signal(SIGUSR1, t_twice_raise, 0);
}

/* ---- contexts */

static ucontext_t home, one, two;

static void
t_pong(int n)
{
	for (int i = 0; i < n; i++) {
		sum += i;
		swapcontext(&two, &one);
	}
}

static void
t_ping_deep(int depth)
{
	if (depth)
		t_ping_deep(depth - 1);
	else
		swapcontext(&one, &two);
	sum++;
}

static void
t_ping(int n)
{
	for (int i = 0; i < n; i++)
		t_ping_deep(i);
	swapcontext(&one, &home);
}

static void
t_context(ucontext_t *context, void (*f)(int), int n, ucontext_t *link)
{
	getcontext(context);
	context->uc_stack.ss_sp = malloc(STACK_SIZE);
	context->uc_stack.ss_size = STACK_SIZE;
	context->uc_link = link;
	makecontext(context, (void (*)(void))f, 1, n);
}

static void
t_swapcontext(void)
{
	t_context(&one, t_ping, 6, &home);
	t_context(&two, t_pong, 10, &home);
	swapcontext(&home, &one);
	/* Back into the other, which now ends by going home. */
	t_context(&one, t_pong, 0, &home);
	swapcontext(&home, &one);
}

static void
t_linked(int n)
{
	sum += n;
}

/* A chain of contexts that end, each going on with the next. */
static void
t_link(void)
{
	volatile int back = 0;

	t_context(&two, t_linked, 2, &home);
	t_context(&one, t_linked, 1, &two);
	getcontext(&home);
	if (!back++)
		setcontext(&one);
}

static void
t_get(void)
{
	volatile int n = 0;

	getcontext(&home);
	if (n++ < rounds)
		setcontext(&home);
}

/* Out of a context's stack by longjmp, and the program ends in another. */
static void
t_escape_body(int n)
{
	t_jump(n);
}

static void
t_last(int n)
{
	exit(n != 3);
}

static void
t_escape(void)
{
	t_context(&one, t_escape_body, 4, &home);
	if (!setjmp(env))
		setcontext(&one);
	t_context(&two, t_last, 3, NULL);
	swapcontext(&home, &two);
}

/* ---- ends */

static void
t_exit_deep(int depth)
{
	if (!depth)
		exit(0);
	t_exit_deep(depth - 1);
	sum++;
}

static void
t_atexit(void)
{
	sum++;
}

static void
t_exit(void)
{
	atexit(t_atexit);
	t_exit_deep(DEPTH);
}

static void
t_kill(int depth)
{
	if (!depth)
		raise(SIGKILL);
	else
		t_kill(depth - 1);
	sum++;
}

static void
t_wait(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		exit(1);
}

static void
t_exec_deep(int depth)
{
	char *argv[] = { "true", NULL };

	if (depth) {
		t_exec_deep(depth - 1);
		return;
	}
	execv("/does/not/exist", argv);
	execv("/bin/true", argv);
	_exit(1);
}

static void
t_exec(void)
{
	t_exec_deep(DEPTH);
}

static int
t_fork_deep(int depth)
{
	pid_t pid;

	if (depth)
		return t_fork_deep(depth - 1) + 1;
	pid = fork();
	if (!pid)
		return 0;
	t_wait(pid);
	return -DEPTH;
}

static void
t_forks(void)
{
	pid_t pid;

	if (t_fork_deep(DEPTH) > 0)
		return;
	pid = fork();
	if (!pid)
		t_exec_deep(3);
	t_wait(pid);
	pid = vfork();
	if (!pid)
		t_exec_deep(3);
	t_wait(pid);
	pid = vfork();
	if (!pid)
		_exit(0);
	t_wait(pid);
}

static void
t_spawn(void)
{
	char *argv[] = { "true", NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ))
		exit(1);
	t_wait(pid);
	if (system("true"))
		exit(1);
}

/* ---- threads */

static pthread_barrier_t barrier;

static void
t_cleanup(void *arg)
{
	sum++;
}

static void
t_thread_deep(int depth)
{
	if (depth) {
		pthread_cleanup_push(t_cleanup, NULL);
		t_thread_deep(depth - 1);
		pthread_cleanup_pop(1);
		return;
	}
	pthread_exit(NULL);
}

static void
t_sleep_deep(int depth)
{
	if (depth) {
		pthread_cleanup_push(t_cleanup, NULL);
		t_sleep_deep(depth - 1);
		pthread_cleanup_pop(1);
		return;
	}
	pthread_barrier_wait(&barrier);
	pause();
}

/*
 * A thread says that it is there and does THEN for ever.  No block begins in
 * between, so how often each has run by the time that the others hear of it is
 * not a matter of time.
 */
static int there[2];

#define STAY(then) do { \
	long nr_ = SYS_write; \
	__asm__ volatile("syscall\n" then \
			 : "+a"(nr_) \
			 : "D"((long)there[1]), "S"("."), "d"(1L) \
			 : "rcx", "r11", "memory"); \
} while (0)

#define PAUSE	"mov $34, %%eax\n\tsyscall\n\tud2"

static void
t_rest_deep(int depth)
{
	if (depth) {
		pthread_cleanup_push(t_cleanup, NULL);
		t_rest_deep(depth - 1);
		pthread_cleanup_pop(1);
		return;
	}
	STAY(PAUSE);
}

static void
t_spin(int depth)
{
	if (depth) {
		t_spin(depth - 1);
		return;
	}
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	STAY("1:\tjmp 1b");
}

/* Wait until N threads are there. */
static void
t_await(int n)
{
	char byte;

	while (n-- > 0)
		if (read(there[0], &byte, 1) != 1)
			_exit(3);
}

static void *
t_body(void *arg)
{
	void (*f)(int) = (void (*)(int))arg;

	f(7);
	return NULL;
}

static void
t_threads(void (*f)(int), int cancel, int stay)
{
	pthread_t threads[3];

	pthread_barrier_init(&barrier, NULL, 4);
	if (pipe(there))
		_exit(3);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, t_body, (void *)f);
	if (stay)
		t_await(3);
	else if (cancel)
		pthread_barrier_wait(&barrier);
	for (int i = 0; i < 3; i++) {
		if (cancel)
			pthread_cancel(threads[i]);
		pthread_join(threads[i], NULL);
	}
}

/* The process ends, or becomes another program, while threads are deep. */
static void
t_abandon(void (*f)(void))
{
	pthread_t thread;

	if (pipe(there))
		_exit(3);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, t_body, (void *)t_rest_deep);
	t_await(2);
	f();
}

static void *
t_exec_body(void *arg)
{
	t_await(1);
	t_exec_deep(2);
	return arg;
}

static void
t_exec_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, t_exec_body, NULL);
	STAY(PAUSE);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "longjmp"))
		t_longjmp();
	else if (!strcmp(what, "nested"))
		t_nested();
	else if (!strcmp(what, "loop"))
		t_loop();
	else if (!strcmp(what, "raise"))
		t_signal(SIGUSR1, t_raise, 0);
	else if (!strcmp(what, "fault"))
		t_signal(SIGSEGV, t_fault, 0);
	else if (!strcmp(what, "torn"))
		t_signal(SIGSEGV, t_torn, SA_NODEFER);
	else if (!strcmp(what, "faults"))
		t_faults();
	else if (!strcmp(what, "altstack"))
		t_altstack(t_raise, SIGUSR1);
	else if (!strcmp(what, "altfault"))
		t_altstack(t_fault, SIGSEGV);
	else if (!strcmp(what, "twice"))
		t_twice();
	else if (!strcmp(what, "swapcontext"))
		t_swapcontext();
	else if (!strcmp(what, "link"))
		t_link();
	else if (!strcmp(what, "get"))
		t_get();
	else if (!strcmp(what, "escape"))
		t_escape();
	else if (!strcmp(what, "exit"))
		t_exit();
	else if (!strcmp(what, "kill"))
		t_kill(DEPTH);
	else if (!strcmp(what, "exec"))
		t_exec();
	else if (!strcmp(what, "forks"))
		t_forks();
	else if (!strcmp(what, "spawn"))
		t_spawn();
	else if (!strcmp(what, "pthread_exit"))
		t_threads(t_thread_deep, 0, 0);
	else if (!strcmp(what, "cancel"))
		t_threads(t_sleep_deep, 1, 0);
	else if (!strcmp(what, "asynchronous"))
		t_threads(t_spin, 1, 1);
	else if (!strcmp(what, "abandon"))
		t_abandon(t_exit);
	else if (!strcmp(what, "abandon_exec"))
		t_abandon(t_exec);
	else if (!strcmp(what, "exec_thread"))
		t_abandon(t_exec_thread);
	else
		return 2;
	return 0;
}
