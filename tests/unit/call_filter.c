/*
 * Filters: run from many registers, one traps for the system calls that matter
 * and goes to the call for all others, by the CPU's own word, and changes
 * nothing but what its instructions and the call change.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "arch/abi.h"
#include "arch/x86_64/x86.h"
#include "tests/lib/insns.h"

static const struct arch *const arch = &arch_x86_64;

enum { ROUNDS = 2000 };

static const uint64_t near_filter = 0x50000000, far_filter = 0x7e0000000000;
static const uint64_t call = NATIVE_CODE + 64;

/* mov 8(%rsp), %r9: what is in front of the call in glibc's syscall(2). */
static const uint8_t load[] = { 0x4c, 0x8b, 0x4c, 0x24, 0x08 };

static struct filter_input
input(const uint8_t *code, size_t len, int *numbers)
{
	return (struct filter_input){
		.code = code,
		.len = len,
		.call = call,
		.reg = X86_RAX,
		.numbers = numbers,
		.n = abi_matter(&abi_x86_64, numbers),
	};
}

/* Whether the filter traps with this in reg; checks all other registers. */
static bool
traps(const struct call_filter *filter, uint8_t reg, uint64_t value)
{
	struct regs in = { 0 }, out, want;

	native_segments(&in);
	for (int i = 0; i < 16; i++)
		in.r[encoded_reg(i)] = random_u64();
	in.r[X86_RSP] = NATIVE_SCRATCH + 64;
	in.r[reg] = value;
	in.r[X86_EFLAGS] = 0x202 | (random_u64() & X86_FLAGS);
	memcpy((void *)near_filter, filter->bytes, filter->len);
	native_landing(near_filter + filter->trap, 1);
	native_landing(call, 0);
	native_run(near_filter, &in, &out);
	want = in;
	want.r[X86_R9] = *(uint64_t *)(native_scratch + 72);
	want.r[X86_RCX] = out.r[X86_RCX];
	for (int i = 0; i < 16; i++)
		assert_int_equal(out.r[encoded_reg(i)], want.r[encoded_reg(i)]);
	assert_int_equal(out.r[X86_EFLAGS], want.r[X86_EFLAGS]);
	return out.r[X86_RIP];
}

static bool
matters(const struct filter_input *in, uint64_t rax)
{
	for (size_t i = 0; i < in->n; i++)
		if ((uint32_t)rax == (uint32_t)in->numbers[i])
			return true;
	return false;
}

static void
test_cpu(void **state)
{
	int numbers[ABI_MATTER];
	struct filter_input in = input(load, sizeof(load), numbers);
	struct call_filter filter;

	assert_int_equal(arch->filter_make(&in, near_filter, &filter), 0);
	assert_int_equal(filter.bytes[filter.trap], arch->trap[0]);
	for (size_t i = 0; i < NATIVE_SCRATCH_SIZE; i++)
		native_scratch[i] = (uint8_t)random_u64();
	for (uint64_t nr = 0; nr < ROUNDS; nr++) {
		/* The kernel takes the low half alone. */
		uint64_t high = random_u64() << 32;

		assert_int_equal(traps(&filter, X86_RAX, nr), matters(&in, nr));
		assert_int_equal(traps(&filter, X86_RAX, nr | high),
				 matters(&in, nr));
		assert_int_equal(traps(&filter, X86_RAX, -nr),
				 matters(&in, -nr));
	}
}

/* At a call that sets an action: of a signal's number, too, an int. */
static void
test_signal(void **state)
{
	static const int signals[] = { SIGTRAP, SIGSEGV, SIGBUS };
	struct filter_input in = {
		.code = load,
		.len = sizeof(load),
		.call = call,
		.reg = X86_RDI,
		.numbers = signals,
		.n = 3,
	};
	struct call_filter filter;

	assert_int_equal(arch->filter_make(&in, near_filter, &filter), 0);
	for (uint64_t signal = 0; signal < 128; signal++) {
		uint64_t high = random_u64() << 32;

		assert_int_equal(traps(&filter, X86_RDI, signal | high),
				 matters(&in, signal));
		assert_int_equal(traps(&filter, X86_RDI, -signal),
				 matters(&in, -signal));
	}
}

/* Numbers: asm/unistd_64.h. */
static void
test_numbers(void **state)
{
	int numbers[ABI_MATTER];
	struct filter_input in = input(load, sizeof(load), numbers);

	assert_true(matters(&in, SYS_rt_sigaction));
	assert_true(matters(&in, SYS_rt_sigprocmask));
	assert_true(matters(&in, SYS_clone));
	assert_true(matters(&in, SYS_clone3));
	assert_true(matters(&in, SYS_execve));
	assert_true(matters(&in, SYS_mmap));
	assert_true(matters(&in, SYS_arch_prctl));
	assert_false(matters(&in, SYS_futex));
	assert_false(matters(&in, SYS_read));
}

static void
test_refused(void **state)
{
	static const struct {
		const char *what;
		uint8_t code[8], len;
	} cases[] = {
		{ "lea 8(%rip), %rdi", { 0x48, 0x8d, 0x3d, 8, 0, 0, 0 }, 7 },
		{ "mov 8(%rip), %edi", { 0x8b, 0x3d, 8, 0, 0, 0 }, 6 },
		{ "mov 8(%rcx), %r9", { 0x4c, 0x8b, 0x49, 8 }, 4 },
		{ "mov %r11d, %edi", { 0x44, 0x89, 0xdf }, 3 },
		{ "mov 0(,%rcx,8), %rdi",
		  { 0x48, 0x8b, 0x3c, 0xcd, 0, 0, 0, 0 },
		  8 },
		{ "half of an instruction", { 0x4c, 0x8b, 0x4c, 0x24 }, 4 },
	};
	int numbers[ABI_MATTER];
	struct filter_input in = input(load, sizeof(load), numbers);
	struct call_filter filter;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		in.code = cases[i].code;
		in.len = cases[i].len;
		print_message("# %s\n", cases[i].what);
		assert_int_equal(arch->filter_make(&in, near_filter, &filter),
				 -1);
	}
	in = input(load, sizeof(load), numbers);
	in.reg = X86_RSI;
	assert_int_equal(arch->filter_make(&in, near_filter, &filter), -1);
	in = input(load, sizeof(load), numbers);
	assert_int_equal(arch->filter_make(&in, far_filter, &filter), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_refused),
	};

	native_open();
	native_map(near_filter, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
