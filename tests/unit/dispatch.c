/*
 * Dispatches of x86-64, run: for each form of operand that a jump may have, each
 * target's counter alone is added to, all registers are as they were, and if the
 * jump goes elsewhere nothing is done.  A count changes at the commit point
 * alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/lib/native.h"
#include "tests/lib/random.h"

#include <cmocka.h>

enum {
	TARGETS = 5,
	HASH_BITS = 4,
	SCRATCH = 8,		/* offsets in the page */
	SLOTS = 64,
	JUMP = NATIVE_CODE,
	DISPATCH = NATIVE_CODE + 0x100,
	MAP = NATIVE_CODE + 0x400,
	LANDS = NATIVE_CODE + 0x800,
	OPERAND = NATIVE_SCRATCH + 0x40,
};

static uint64_t page[SLOTS / 8 + TARGETS + 1];

/* A jump; base and index: the registers of its operand, or REG_NONE. */
struct jump {
	uint8_t code[8];
	uint8_t len, disp;
	uint8_t base, index;
	bool memory;
};

static struct fragment fragment;

/* The hash of target i's distance from the first is i. */
static uint64_t
target_va(unsigned i)
{
	return LANDS + 16 * i;
}

static void
dispatch_write(const struct jump *jump, int32_t operand)
{
	uint64_t targets[TARGETS];
	uint16_t hash[1 << HASH_BITS] = { 0 };
	struct dispatch_map map = {
		.ntargets = TARGETS,
		.factor = UINT32_C(1) << 24,
		.bits = HASH_BITS,
	};
	struct fragment_at at = {
		.va = DISPATCH,
		.original = JUMP,
		.slot = SLOTS,
		.page.scratch = SCRATCH,
		.code = jump->code,
		.map = &map,
		.map_va = MAP,
	};

	for (unsigned i = 0; i < TARGETS; i++) {
		targets[i] = target_va(i);
		hash[i] = (uint16_t)i;
	}
	memcpy((void *)MAP, targets, sizeof(targets));
	memcpy((void *)(MAP + sizeof(targets)), hash, sizeof(hash));
	fragment = (struct fragment){
		.kind = FRAGMENT_DISPATCH,
		.len = jump->len,
		.disp = jump->disp,
		.operand = operand,
		.load = arch_x86_64.emit.dispatch_load(jump->code, jump->len),
	};
	assert_int_not_equal(fragment.load, 0);
	fragment.size = (uint8_t)arch_x86_64.emit.fragment_size(&fragment);
	assert_int_equal(arch_x86_64.emit.fragment_write(&fragment, &at,
							 (uint8_t *)DISPATCH),
			 0);
	native_landing(DISPATCH + fragment.size, 0);
}

/* Run it with the jump's operand `to`; what the page has then is left there. */
static void
dispatch_run(const struct jump *jump, uint64_t to, struct regs *in,
	     struct regs *out)
{
	memset(page, 0, sizeof(page));
	memcpy((void *)OPERAND, &to, sizeof(to));
	*in = (struct regs){ 0 };
	for (unsigned i = 0; i < X86_ORIG_RAX; i++)
		in->r[i] = random_below(UINT32_MAX) * UINT64_C(0x100000001);
	in->r[X86_RSP] = random_below(UINT32_MAX);
	in->r[X86_EFLAGS] = 0x202;
	if (jump->index != REG_NONE)
		in->r[jump->index] = 3;
	if (jump->base != REG_NONE)
		in->r[jump->base] = jump->memory ? OPERAND - 24 : to;
	native_run(DISPATCH, in, out);
}

static void
regs_check(const struct regs *in, const struct regs *out)
{
	for (unsigned i = 0; i < X86_ORIG_RAX; i++)
		assert_int_equal(out->r[i], in->r[i]);
	assert_int_equal(out->r[X86_RSP], in->r[X86_RSP]);
}

/* All but the given target are no instructions. */
static void
targets_land(unsigned at)
{
	memset((void *)LANDS, 0x06, 16 * (TARGETS + 1));
	if (at < TARGETS)
		native_landing(target_va(at), 1);
}

static void
targets_try(const struct jump *jump, int32_t operand)
{
	const uint64_t others[] = {
		target_va(0) - 16,
		target_va(TARGETS),
		target_va(0) + 1,
		target_va(1) + (UINT64_C(1) << 32),
		0,
		UINT64_MAX,
		target_va(0) - (UINT64_C(1) << 32),
	};
	struct regs in, out;

	for (unsigned i = 0; i < TARGETS; i++) {
		targets_land(i);
		dispatch_run(jump, target_va(i), &in, &out);
		assert_int_equal(out.r[X86_RIP], 1);
		regs_check(&in, &out);
		for (unsigned k = 0; k <= TARGETS; k++)
			assert_int_equal(page[SLOTS / 8 + k],
					 k == i ? (uint64_t)(int64_t)operand :
						  0);
	}
	targets_land(TARGETS);
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++) {
		dispatch_run(jump, others[i], &in, &out);
		assert_int_equal(out.r[X86_RIP], 0);
		regs_check(&in, &out);
		for (unsigned k = 0; k <= TARGETS; k++)
			assert_int_equal(page[SLOTS / 8 + k], 0);
	}
}

/*
 * Stop at each instruction: the count has changed behind the commit point, where
 * the target is in its scratch slot; with a jump that goes elsewhere nowhere.
 */
static void
insides_try(const struct jump *jump)
{
	unsigned starts = 0, saved = 0, committed = 0;
	struct regs in, out;

	for (unsigned offset = 0; offset < fragment.size; offset++) {
		enum fragment_inside inside = arch_x86_64.emit.fragment_inside(
			&fragment, offset);
		uint64_t count;

		if (inside == INSIDE_NOT)
			continue;
		starts += inside == INSIDE_START;
		saved += inside == INSIDE_SAVED;
		committed += inside == INSIDE_COMMITTED;
		targets_land(2);
		dispatch_write(jump, 1);
		native_landing(DISPATCH + offset, 0);
		dispatch_run(jump, target_va(2), &in, &out);
		count = page[SLOTS / 8 + 2];
		/* Control has not come to what it does for other jumps. */
		if (out.r[X86_RIP] == 0)
			assert_int_equal(count, inside == INSIDE_COMMITTED);
		if (inside == INSIDE_COMMITTED) {
			assert_int_equal(out.r[X86_RIP], 0);
			assert_int_equal(page[SCRATCH / 8 + SCRATCH_TARGET],
					 target_va(2));
		}
		if (inside == INSIDE_START)
			regs_check(&in, &out);
	}
	assert_int_equal(starts, 1);
	assert_int_equal(saved, 16);
	assert_int_equal(committed, 3);
}

/* Registers as ModRM numbers them. */
static const uint8_t numbered[16] = {
	X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI,
	X86_R8,	 X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

static void
jump_try(struct jump jump)
{
	dispatch_write(&jump, 1);
	targets_try(&jump, 1);
	insides_try(&jump);
	dispatch_write(&jump, -1000);
	targets_try(&jump, -1000);
}

static void
test_registers(void **state)
{
	for (unsigned r = 0; r < 16; r++) {
		uint8_t rex = 0x40 | r >> 3, modrm = (uint8_t)(0xe0 | (r & 7));
		struct jump jump = {
			.code = { 0x3e, rex, 0xff, modrm },
			.len = 4,
			.base = numbered[r],
			.index = REG_NONE,
		};

		jump_try(jump);
		if (r >= 8)
			continue;
		jump.len = 2;
		memcpy(jump.code, (uint8_t[]){ 0xff, modrm }, 2);
		jump_try(jump);
	}
}

/* 24(base), and (base, index, 8) with the index 3. */
static void
test_memory(void **state)
{
	for (unsigned r = 0; r < 16; r++) {
		uint8_t b = r & 7;
		struct jump jump = {
			.code = { 0x40 | r >> 3, 0xff, 0x60 | b, 24 },
			.len = 4,
			.base = numbered[r],
			.index = REG_NONE,
			.memory = true,
		};

		if (b == 4) {
			memcpy(jump.code + 3, (uint8_t[]){ 0x24, 24 }, 2);
			jump.len = 5;
		}
		jump_try(jump);
		for (unsigned i = 0; i < 16; i++) {
			if (i == 4 || i == r)
				continue;
			memcpy(jump.code,
			       (uint8_t[]){
				       (uint8_t)(0x40 | i >> 3 << 1 | r >> 3),
				       0xff, 0x64,
				       (uint8_t)(0xc0 | (i & 7) << 3 | b), 0 },
			       5);
			jump.len = 5;
			jump.index = numbered[i];
			jump_try(jump);
		}
	}
}

/* disp32, and disp32(%rip). */
static void
test_places(void **state)
{
	for (unsigned rip = 0; rip < 2; rip++) {
		uint32_t disp = rip ? OPERAND - (JUMP + 6) : OPERAND;
		struct jump jump = {
			.code = { 0xff, rip ? 0x25 : 0x24, 0x25 },
			.len = rip ? 6 : 7,
			.disp = rip ? 2 : 0,
			.base = REG_NONE,
			.index = REG_NONE,
			.memory = true,
		};

		memcpy(jump.code + (rip ? 2 : 3), &disp, sizeof(disp));
		jump_try(jump);
	}
}

/* Others than jumps, and jumps with prefixes that mean something. */
static void
test_refused(void **state)
{
	const uint8_t codes[][4] = {
		{ 0xff, 0xd0 },			/* call *%rax */
		{ 0xc3, 0x90 },
		{ 0x65, 0xff, 0x20 },		/* jmp *%gs:(%rax) */
		{ 0x67, 0xff, 0x20 },
		{ 0x66, 0xff, 0xe0 },
		{ 0x3e, 0xe9, 0x00 },
	};

	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		assert_int_equal(arch_x86_64.emit.dispatch_load(codes[i], 4),
				 0);
}

static int
group_open(void **state)
{
	native_open();
	random_open();
	return syscall(SYS_arch_prctl, ARCH_SET_GS, page) ? -1 : 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("dispatch", tests, group_open, NULL);
}
