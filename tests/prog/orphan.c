/*
 * A process whose monitor is killed.  A thread works once for each `w` line
 * that it reads and answers the sum; `q` ends the process.  Meanwhile the first
 * thread does what the argument says: it makes a system call (`sleep`, `futex`,
 * `poll`, `epoll`, `suspend`) that lasts until the end, or counts (`spin`);
 * with `read` it reads the lines itself.  It has known values in all its
 * registers, in the carry flag and below its stack pointer, and says at the end
 * if one has changed, or if it blocks a signal or has one pending.  With
 * `threads` two others count, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 20, COUNTERS = 2 };

static volatile int sink, over;
static int word, wake[2];

/*
 * Make a system call with a value in each register; *result is the kernel's.
 * What has changed, or 0.
 */
extern long held_call(long nr, const long args[6], long *result);

/* Count until *stop is not 0, with a value in each register. */
extern long held_count(volatile int *stop);

#define CHECK(reg, value) \
	"	cmp $" #value ", %" #reg "\n" \
	"	jne 9f\n"
#define HOLD(reg, value) \
	"	mov $" #value ", %" #reg "\n"
#define PUSH(reg) \
	"	push %" #reg "\n" \
	"	.cfi_adjust_cfa_offset 8\n" \
	"	.cfi_rel_offset %" #reg ", 0\n"
#define POP(reg) \
	"	pop %" #reg "\n" \
	"	.cfi_adjust_cfa_offset -8\n" \
	"	.cfi_restore %" #reg "\n"
#define PUSHES PUSH(rbx) PUSH(rbp) PUSH(r12) PUSH(r13) PUSH(r14) PUSH(r15)
#define POPS POP(r15) POP(r14) POP(r13) POP(r12) POP(rbp) POP(rbx)

__asm__("	.text\n"
	"	.globl held_call, held_count\n"
	"	.type held_call, @function\n"
	"held_call:\n"
	"	.cfi_startproc\n"
	PUSHES
	"	push %rdx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rbx\n"
	"	mov (%rbx), %rdi\n	mov 8(%rbx), %rsi\n"
	"	mov 16(%rbx), %rdx\n	mov 24(%rbx), %r10\n"
	"	mov 32(%rbx), %r8\n	mov 40(%rbx), %r9\n"
	HOLD(rbp, 0x15) HOLD(r12, 0x1c) HOLD(r13, 0x1d) HOLD(r14, 0x1e)
	HOLD(r15, 0x1f)
	"	movq $0x77, -8(%rsp)\n"
	"	movq $0x78, -128(%rsp)\n"
	"	stc\n"
	"	syscall\n"
	"	jnc 9f\n"
	"	cmp (%rbx), %rdi\n	jne 9f\n"
	"	cmp 8(%rbx), %rsi\n	jne 9f\n"
	"	cmp 16(%rbx), %rdx\n	jne 9f\n"
	"	cmp 24(%rbx), %r10\n	jne 9f\n"
	"	cmp 32(%rbx), %r8\n	jne 9f\n"
	"	cmp 40(%rbx), %r9\n	jne 9f\n"
	CHECK(rbp, 0x15) CHECK(r12, 0x1c) CHECK(r13, 0x1d) CHECK(r14, 0x1e)
	CHECK(r15, 0x1f)
	"	cmpq $0x77, -8(%rsp)\n	jne 9f\n"
	"	cmpq $0x78, -128(%rsp)\n	jne 9f\n"
	"	mov (%rsp), %rdx\n"
	"	mov %rax, (%rdx)\n"
	"	xor %eax, %eax\n"
	"	jmp 8f\n"
	"9:	mov $1, %eax\n"
	"8:	pop %rdx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	POPS
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size held_call, . - held_call\n"
	"	.type held_count, @function\n"
	"held_count:\n"
	"	.cfi_startproc\n"
	PUSHES
	HOLD(rax, 0x20) HOLD(rbx, 0x21) HOLD(rcx, 0x22) HOLD(rdx, 0x23)
	HOLD(rsi, 0x24) HOLD(rbp, 0x25) HOLD(r8, 0x28) HOLD(r9, 0x29)
	HOLD(r10, 0x2a) HOLD(r11, 0x2b) HOLD(r12, 0x2c) HOLD(r13, 0x2d)
	HOLD(r14, 0x2e) HOLD(r15, 0x2f)
	"	movq $0x77, -8(%rsp)\n"
	"	movq $0x78, -128(%rsp)\n"
	"7:	stc\n"
	"	.rept 64\n	nop\n	.endr\n"
	"	jnc 9f\n"
	CHECK(rax, 0x20) CHECK(rbx, 0x21) CHECK(rcx, 0x22) CHECK(rdx, 0x23)
	CHECK(rsi, 0x24) CHECK(rbp, 0x25) CHECK(r8, 0x28) CHECK(r9, 0x29)
	CHECK(r10, 0x2a) CHECK(r11, 0x2b) CHECK(r12, 0x2c) CHECK(r13, 0x2d)
	CHECK(r14, 0x2e) CHECK(r15, 0x2f)
	"	cmpq $0x77, -8(%rsp)\n	jne 9f\n"
	"	cmpq $0x78, -128(%rsp)\n	jne 9f\n"
	"	cmpl $0, (%rdi)\n"
	"	je 7b\n"
	"	xor %eax, %eax\n"
	"	jmp 8f\n"
	"9:	mov $1, %eax\n"
	"8:\n"
	POPS
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size held_count, . - held_count\n");

__attribute__((noinline)) int
leaf(int n)
{
	if (n & 1)
		sink += n;
	return n + 1;
}

__attribute__((noinline)) int
work(void)
{
	int sum = 0;

	for (int i = 0; i < TIMES; i++)
		sum += leaf(i);
	return sum;
}

/* Does the thread block a signal, or is one pending? */
static long
signals_changed(void)
{
	sigset_t blocked, pending;

	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	sigpending(&pending);
	return !sigisemptyset(&blocked) || !sigisemptyset(&pending) ? 2 : 0;
}

static void
serve(void)
{
	char byte;

	while (read(0, &byte, 1) == 1 && byte != 'q')
		if (byte == 'w')
			dprintf(1, "%d\n", work());
}

/* `suspend` and `sleep` return when this has come. */
static void
on_user(int signal)
{
}

static void *
server(void *first)
{
	serve();
	over = 1;
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE, 1);
	if (write(wake[1], "", 1) != 1)
		abort();
	pthread_kill(*(pthread_t *)first, SIGUSR1);
	return NULL;
}

static void *
counter(void *begun)
{
	pthread_barrier_wait(begun);
	return (void *)(held_count(&over) | signals_changed());
}

/* What the first thread does; 0 if nothing of its own has changed. */
static long
first(const char *mode)
{
	struct timespec time = { 10000, 0 };
	struct pollfd fd = { .fd = wake[0], .events = POLLIN };
	struct epoll_event event = { .events = EPOLLIN };
	unsigned long mask = 0;
	long result = 0, changed, expected = -EINTR;
	long call[7] = { SYS_clock_nanosleep, CLOCK_MONOTONIC, 0,
			 (long)&time, (long)&time };
	int epoll = epoll_create1(0);

	epoll_ctl(epoll, EPOLL_CTL_ADD, wake[0], &event);
	if (!strcmp(mode, "spin"))
		return held_count(&over);
	if (!strcmp(mode, "futex")) {
		memcpy(call, (long[7]){ SYS_futex, (long)&word, FUTEX_WAIT, 0 },
		       sizeof(call));
		expected = 0;
	} else if (!strcmp(mode, "poll")) {
		memcpy(call, (long[7]){ SYS_poll, (long)&fd, 1, -1 },
		       sizeof(call));
		expected = 1;
	} else if (!strcmp(mode, "epoll")) {
		memcpy(call, (long[7]){ SYS_epoll_wait, epoll, (long)&event, 1,
					-1 }, sizeof(call));
		expected = 1;
	} else if (!strcmp(mode, "suspend")) {
		memcpy(call, (long[7]){ SYS_rt_sigsuspend, (long)&mask, 8 },
		       sizeof(call));
	}
	changed = held_call(call[0], call + 1, &result);
	return changed ? changed : result == expected ? 0 : result;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "read";
	struct sigaction user = { .sa_handler = on_user };
	pthread_t self = pthread_self(), thread, counters[COUNTERS];
	int threads = !strcmp(mode, "threads");
	pthread_barrier_t begun;
	long changed = 0;
	void *result;

	sigaction(SIGUSR1, &user, NULL);
	if (pipe(wake))
		return 1;
	pthread_barrier_init(&begun, NULL, COUNTERS + 1);
	for (int i = 0; threads && i < COUNTERS; i++)
		pthread_create(&counters[i], NULL, counter, &begun);
	if (threads)
		pthread_barrier_wait(&begun);
	if (threads || !strcmp(mode, "read")) {
		serve();
		over = 1;
	} else {
		pthread_create(&thread, NULL, server, &self);
		changed = first(mode);
		pthread_join(thread, NULL);
	}
	for (int i = 0; threads && i < COUNTERS; i++) {
		pthread_join(counters[i], &result);
		changed |= (long)result;
	}
	dprintf(1, "%s %ld\n", mode, changed | signals_changed());
	return 0;
}
