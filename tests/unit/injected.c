/*
 * Code that a task runs for pmon (arch->emit.injected_write): this process runs
 * such code itself, is stopped behind the calls by a signal that was pending,
 * and goes on with the registers, flags and signals of before.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "arch/x86_64/regs.h"

static const struct arch *const arch = &arch_x86_64;

enum { ROOM = 640, ROOM_ONE = 320 };	/* see monitor/process/inject.c */

static const struct {
	int context;
	enum x86_reg reg;
} registers[] = {
	{ REG_RAX, X86_RAX }, { REG_RBX, X86_RBX }, { REG_RCX, X86_RCX },
	{ REG_RDX, X86_RDX }, { REG_RSI, X86_RSI }, { REG_RDI, X86_RDI },
	{ REG_RBP, X86_RBP }, { REG_RSP, X86_RSP }, { REG_R8, X86_R8 },
	{ REG_R9, X86_R9 },   { REG_R10, X86_R10 }, { REG_R11, X86_R11 },
	{ REG_R12, X86_R12 }, { REG_R13, X86_R13 }, { REG_R14, X86_R14 },
	{ REG_R15, X86_R15 }, { REG_RIP, X86_RIP },
};

static uint8_t *code;		/* of ROOM bytes, executable */
static struct injected injected;
static size_t written;
static struct regs stopped;	/* the registers behind the calls */
/* raise() is declared as if no handler of this file could run in it. */
static volatile unsigned stops;

static struct regs
regs_of(const ucontext_t *context)
{
	struct regs regs = { 0 };

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		regs.r[registers[i].reg] = (uint64_t)context->uc_mcontext
						   .gregs[registers[i].context];
	return regs;
}

/* Go to the code, which is to come back to where the signal was. */
static void
detour(int signal, siginfo_t *info, void *ctx)
{
	ucontext_t *context = ctx;

	(void)signal;
	(void)info;
	injected.regs = regs_of(context);
	written = arch->emit.injected_write(&injected, (uint64_t)code, code,
					    ROOM);
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)code;
	memset(&context->uc_sigmask, 0xff, sizeof(injected.mask));
}

static void
stop(int signal, siginfo_t *info, void *ctx)
{
	(void)signal;
	(void)info;
	stopped = regs_of(ctx);
	stops++;
}

/* Run the n calls; the results are in the calls then. */
static void
calls_run(struct syscall *calls, size_t n)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	sigset_t urgent;

	sigfillset(&action.sa_mask);
	action.sa_sigaction = stop;
	sigaction(SIGURG, &action, NULL);
	action.sa_sigaction = detour;
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	sigprocmask(SIG_BLOCK, &urgent, NULL);
	raise(SIGURG);
	injected = (struct injected){
		.calls = calls,
		.n = n,
		.mask_stop = ~(UINT64_C(1) << (SIGURG - 1)),
		.mask = UINT64_C(1) << (SIGHUP - 1),
	};
	stops = 0;
	raise(SIGUSR1);
	assert_int_equal(stops, 1);
	__asm__ volatile("" : : : "memory");
	for (size_t i = 0; i < n; i++)
		calls[i].result = arch->emit.injected_result(&stopped, i);
}

static void
test_results(void **state)
{
	struct syscall calls[] = {
		{ SYS_getpid, 0 },
		{ SYS_getuid, 0 },
		{ SYS_close, 1, .args = { UINT64_MAX } },
		{ SYS_getppid, 0 },
		{ SYS_getpgid, 1 },
		{ SYS_gettid, 0 },
	};

	calls_run(calls, 6);
	assert_int_equal(calls[0].result, getpid());
	assert_int_equal(calls[1].result, getuid());
	assert_int_equal(calls[2].result, -EBADF);
	assert_int_equal(calls[3].result, getppid());
	assert_int_equal(calls[4].result, getpgid(0));
	assert_int_equal(calls[5].result, getpid());
}

/* Each argument in its place, one of them the result of the first call. */
static void
test_taken(void **state)
{
	struct syscall calls[] = {
		{ SYS_memfd_create, 2, .args = { (uint64_t) "x" } },
		{ SYS_ftruncate, 2, .taken = 1, .args = { 77, 3 * 4096 } },
		{ SYS_pwrite64, 4, .taken = 1,
		  .args = { 77, (uint64_t) "marked", 7, 8192 } },
		{ SYS_mmap, 6, .taken = 5,
		  .args = { 0, 4096, PROT_READ, MAP_PRIVATE, 77, 8192 } },
	};
	struct stat st;

	calls_run(calls, 4);
	assert_int_equal(fstat((int)calls[0].result, &st), 0);
	assert_int_equal(st.st_size, 3 * 4096);
	assert_string_equal((const char *)calls[3].result, "marked");
	munmap((void *)calls[3].result, 4096);
	close((int)calls[0].result);
}

/* Behind the calls all is as before, but for the mask that was asked for. */
static void
test_restored(void **state)
{
	struct syscall call = { SYS_getpid, 0 };
	register uint64_t kept __asm__("rbx") = 0x1234567890;
	sigset_t mask;

	__asm__ volatile("" : "+r"(kept));
	calls_run(&call, 1);
	__asm__ volatile("" : "+r"(kept));
	assert_int_equal(kept, 0x1234567890);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	assert_true(sigismember(&mask, SIGHUP));
	assert_false(sigismember(&mask, SIGURG));
}

/* Any one call fits where there is little room; several fit or are refused. */
static void
test_room(void **state)
{
	struct syscall calls[INJECTED_MAX];
	struct injected in = { .calls = calls, .n = 1 };
	uint8_t bytes[ROOM] = { 0 };

	for (size_t i = 0; i < INJECTED_MAX; i++) {
		calls[i] = (struct syscall){ SYS_mmap, SYSCALL_ARGS };
		memset(calls[i].args, 0xff, sizeof(calls[i].args));
	}
	memset(&in.regs, 0xff, sizeof(in.regs));
	assert_int_not_equal(arch->emit.injected_write(&in, UINT64_MAX / 3,
						       bytes, ROOM_ONE),
			     0);
	in.n = INJECTED_MAX;
	assert_int_equal(arch->emit.injected_write(&in, UINT64_MAX / 3, bytes,
						   ROOM_ONE),
			 0);
	/* Nothing is written behind the room. */
	for (size_t i = ROOM_ONE; i < ROOM; i++)
		assert_int_equal(bytes[i], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_restored),
		cmocka_unit_test(test_room),
	};

	code = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
