/*
 * Which flags are in use at an address that a function jumps to, as far as the
 * first instructions there show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86_64/x86.h"
#include "relocate/flags.h"

#include <cmocka.h>

enum { CF = 1 };

struct code {
	size_t n;
	uint8_t bytes[16];
	uint32_t live;
	const char *what;
};

static const struct code codes[] = {
	{ 1, { 0xc3 }, 0, "ret" },
	{ 4, { 0x48, 0x89, 0xc7, 0xc3 }, 0, "mov, ret" },
	{ 6, { 0x89, 0xc7, 0xe8, 0, 0, 0 }, X86_FLAGS, "half a call" },
	{ 7, { 0x89, 0xc7, 0xe8, 0, 0, 0, 0 }, 0, "mov, call" },
	{ 4, { 0x01, 0xf8, 0x74, 0 }, 0, "add, je" },
	{ 2, { 0x74, 0 }, X86_FLAGS, "je" },
	{ 4, { 0xff, 0xc0, 0x73, 0 }, CF, "inc, jnc" },
	{ 3, { 0x11, 0xf8, 0xc3 }, CF, "adc, ret" },
	{ 4, { 0x01, 0xf8, 0x11, 0xf8 }, 0, "add, adc" },
	{ 2, { 0xff, 0xe0 }, 0, "jmp *%rax, as in the PLT" },
	{ 6, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0xe0 }, 0, "the same, marked" },
	{ 4, { 0x89, 0xc7, 0xff, 0xe0 }, X86_FLAGS, "mov, jmp *%rax" },
	{ 4, { 0xeb, 1, 0xcc, 0xc3 }, 0, "jmp to ret" },
	{ 4, { 0xeb, 0, 0x72, 0 }, X86_FLAGS, "jmp to jc" },
	{ 2, { 0xeb, 0xfe }, X86_FLAGS, "jmp to itself" },
	{ 1, { 0xcc }, X86_FLAGS, "int3" },
	{ 0, { 0 }, X86_FLAGS, "nothing" },
};

static const uint8_t *
code_text(void *ctx, uint64_t addr, size_t *avail)
{
	const struct code *code = ctx;

	if (addr - 0x1000 >= code->n)
		return NULL;
	*avail = code->n - (addr - 0x1000);
	return code->bytes + (addr - 0x1000);
}

static void
test_at(void **state)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		const struct relocate_input in = {
			.arch = &arch_x86_64,
			.text = code_text,
			.ctx = (void *)&codes[i],
		};

		if (flags_at(&in, 0x1000) != codes[i].live)
			fail_msg("%s: %#x", codes[i].what,
				 flags_at(&in, 0x1000));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
