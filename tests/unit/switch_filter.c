/*
 * Filters of stack switches, run: a switch whose stacks are as a pattern says is
 * counted and done as in its place; all others trap, with registers and memory
 * as before.  From each place in a filter a task can be taken out.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <ucontext.h>

#include "arch/switch_filter.h"
#include "arch/x86_64/x86.h"
#include "tests/lib/native.h"
#include "tests/lib/random.h"

#include <cmocka.h>

enum {
	HOOK = NATIVE_CODE,
	TARGET = NATIVE_CODE + 0x800,
	FILTER = 0x50000000,
	OLD = NATIVE_SCRATCH + 512,	/* the stack pointer that is left */
	CONTEXT = NATIVE_SCRATCH + 2048,
	MEMORY = 4096,
	SCRATCH_AT = 64,		/* offsets in the thread page */
	COUNTER = 1024,
};

static uint64_t page[512];

/* longjmp's way, and setcontext's, which pushes where it goes and returns. */
static const uint8_t jumps[] = {
	0x48, 0x8b, 0x1f,		/* mov (%rdi), %rbx */
	0x4c, 0x8b, 0x67, 0x20,		/* mov 32(%rdi), %r12 */
	0x48, 0x8b, 0x57, 0x18,		/* mov 24(%rdi), %rdx */
	0x31, 0xc0,			/* xor %eax, %eax */
	0x48, 0x8b, 0x6f, 0x08,		/* mov 8(%rdi), %rbp */
	0x48, 0x8b, 0x67, 0x10,		/* mov 16(%rdi), %rsp */
	0xff, 0xe2,			/* jmp *%rdx */
};
static const uint8_t returns[] = {
	0x48, 0x8b, 0x67, 0x10,		/* mov 16(%rdi), %rsp */
	0x48, 0x8b, 0x1f,		/* mov (%rdi), %rbx */
	0x48, 0x8b, 0x6f, 0x08,		/* mov 8(%rdi), %rbp */
	0x48, 0x8b, 0x4f, 0x18,		/* mov 24(%rdi), %rcx */
	0x51,				/* push %rcx */
	0x48, 0x8b, 0x4f, 0x28,		/* mov 40(%rdi), %rcx */
	0x31, 0xc0,			/* xor %eax, %eax */
	0xc3,				/* ret */
};

struct form {
	const uint8_t *code;
	size_t len, last, moved;
	bool push;
};

static const struct form forms[] = {
	{ jumps, sizeof(jumps), sizeof(jumps) - 2, 7, false },
	{ returns, sizeof(returns), sizeof(returns) - 1, 7, true },
};

/* A stack switch: what memory and registers are before it. */
struct before {
	struct regs regs;
	uint8_t memory[MEMORY];
	uint64_t sp;		/* that is switched to */
};

static uint64_t *
word_at(uint64_t va)
{
	return (uint64_t *)va;
}

static void
before_make(struct before *before, uint64_t sp)
{
	struct regs *regs = &before->regs;

	*regs = (struct regs){ 0 };
	for (unsigned i = 0; i < X86_ORIG_RAX; i++)
		regs->r[i] = random_u64();
	regs->r[X86_RSP] = OLD;
	regs->r[X86_RBP] = OLD + 80;
	regs->r[X86_RDI] = CONTEXT;
	regs->r[X86_EFLAGS] = 0x202 | (random_u64() & X86_FLAGS);
	for (size_t i = 0; i < MEMORY; i += 8)
		*word_at(NATIVE_SCRATCH + i) = random_u64();
	*word_at(CONTEXT + 8) = sp + 48;
	*word_at(CONTEXT + 16) = sp;
	*word_at(CONTEXT + 24) = TARGET;
	*word_at(OLD + 32) = OLD + 160;
	*word_at(sp + 16) = sp - 40;
	memcpy(before->memory, native_scratch, MEMORY);
	before->sp = sp;
}

static void
before_put(const struct before *before)
{
	memcpy(native_scratch, before->memory, MEMORY);
	memset(page, 0, sizeof(page));
}

/* What is at these places now. */
static struct switch_pattern
pattern_of(const struct form *form, uint64_t sp)
{
	uint64_t at_jump = form->push ? sp - 8 : sp;
	int32_t up = (int32_t)(sp - at_jump);
	struct switch_pattern pattern = {
		.target = TARGET,
		.distance = at_jump - OLD,
		.counter = COUNTER,
		.words = {
			{ .at = 0, .value = *word_at(OLD) },
			{ .pointer = true, .relative = true, .value = 80 },
			{ .at = 40, .value = *word_at(OLD + 40) },
			{ .at = 32, .relative = true, .value = 160 },
			{ .at = 200, .value = *word_at(OLD + 200) },
			{ .after = true, .at = up, .value = *word_at(sp) },
			{ .after = true, .pointer = true, .relative = true,
			  .value = (uint64_t)(up + 48) },
			{ .after = true, .at = up + 16, .relative = true,
			  .value = (uint64_t)(int64_t)(up - 40) },
		},
	};

	while (pattern.n < SWITCH_WORDS &&
	       (pattern.words[pattern.n].value || pattern.words[pattern.n].at))
		pattern.n++;
	return pattern;
}

static struct switch_input
input(const struct form *form, const struct switch_pattern *patterns, size_t n)
{
	return (struct switch_input){
		.code = form->code,
		.len = form->len,
		.last = form->last,
		.moved = form->moved,
		.va = HOOK,
		.scratch = SCRATCH_AT,
		.patterns = patterns,
		.n = n,
	};
}

static struct switch_filter filter;

/* A trap of the filter is a landing: control leaves as fallen through. */
static void
trapped(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t at = (uint64_t)regs[REG_RIP] - 1 - FILTER;

	(void)signal;
	(void)info;
	if (at != filter.traps[0] && at != filter.traps[1])
		_exit(3);
	regs[REG_RIP] = (greg_t)native->exits[0];
}

static void
traps_catch(void)
{
	static uint8_t stack[65536];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = {
		.sa_sigaction = trapped,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	if (sigaltstack(&other, NULL) || sigaction(SIGTRAP, &action, NULL))
		_exit(3);
}

static void
filter_put(const struct switch_input *in)
{
	assert_int_equal(arch_x86_64.switch_make(in, FILTER, &filter), 0);
	memcpy((void *)FILTER, filter.bytes, filter.len);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(filter.bytes[filter.traps[i]], 0xcc);
}

/* Run the switch in its place: registers and memory behind it. */
static void
in_place(const struct form *form, const struct before *before, struct regs *out,
	 uint8_t *memory)
{
	before_put(before);
	memcpy((void *)HOOK, form->code, form->len);
	native_landing(TARGET, 1);
	native_run(HOOK, &before->regs, out);
	memcpy(memory, native_scratch, MEMORY);
}

static void
regs_same(const struct regs *a, const struct regs *b)
{
	for (unsigned i = 0; i < X86_ORIG_RAX; i++)
		assert_int_equal(a->r[i], b->r[i]);
	assert_int_equal(a->r[X86_RSP], b->r[X86_RSP]);
	assert_int_equal(a->r[X86_EFLAGS], b->r[X86_EFLAGS]);
}

/*
 * Run the filter, which traps with all as before or, if it counts, goes where
 * the switch goes with all as behind it.
 */
static void
filter_check(const struct before *before, bool counts,
	     const struct regs *place_regs, const uint8_t *place_memory)
{
	struct regs out;

	before_put(before);
	memcpy((void *)FILTER, filter.bytes, filter.len);
	native_landing(TARGET, 1);
	native_run(FILTER, &before->regs, &out);
	assert_int_equal(out.r[X86_RIP], counts);
	assert_int_equal(page[COUNTER / 8], counts);
	regs_same(&out, counts ? place_regs : &before->regs);
	assert_memory_equal(native_scratch,
			    counts ? place_memory : before->memory, MEMORY);
}

static const uint64_t targets[] = {
	NATIVE_SCRATCH + 1024,	/* another stack */
	OLD + 320,		/* the same, further out */
	/* The word that is pushed overwrites the return address. */
	OLD + 8,
};

static void
test_counts(void **state)
{
	static uint8_t memory[MEMORY];
	struct before before;
	struct regs place;

	for (size_t f = 0; f < 2; f++)
		for (size_t t = 0; t < sizeof(targets) / sizeof(*targets);
		     t++) {
			struct switch_pattern patterns[3];

			before_make(&before, targets[t]);
			for (size_t i = 0; i < 3; i++)
				patterns[i] = pattern_of(&forms[f], targets[t]);
			assert_int_equal(patterns[0].n, 8);
			patterns[0].words[4].value++;
			patterns[1].target++;
			in_place(&forms[f], &before, &place, memory);
			for (size_t n = 1; n <= 3; n++) {
				struct switch_input in = input(&forms[f],
							       patterns, n);

				filter_put(&in);
				filter_check(&before, n == 3, &place, memory);
			}
		}
}

/* Each thing that a pattern says matters. */
static void
test_differs(void **state)
{
	struct switch_pattern pattern;
	struct before before;

	for (size_t f = 0; f < 2; f++) {
		struct switch_input in = input(&forms[f], &pattern, 1);

		before_make(&before, targets[0]);
		for (size_t i = 0; i < 10; i++) {
			pattern = pattern_of(&forms[f], targets[0]);
			if (i < 8)
				pattern.words[i].value ^= 16;
			else if (i == 8)
				pattern.distance += 8;
			else
				pattern.target ^= 1;
			filter_put(&in);
			filter_check(&before, false, NULL, NULL);
		}
	}
}

/* Without patterns, or where it is off, it traps at once. */
static void
test_off(void **state)
{
	struct switch_pattern pattern;
	struct before before;
	struct regs out;

	before_make(&before, targets[0]);
	pattern = pattern_of(&forms[0], targets[0]);
	for (unsigned off = 0; off < 2; off++) {
		struct switch_input in = input(&forms[0], &pattern, off);

		in.off = off;
		filter_put(&in);
		before_put(&before);
		native_run(FILTER, &before.regs, &out);
		assert_int_equal(out.r[X86_RIP], 0);
		/* Nothing was saved. */
		assert_int_equal(page[SCRATCH_AT / 8], 0);
		regs_same(&out, &before.regs);
	}
}

/* From the trap it goes on with the instructions that the jump replaces. */
static void
test_moved(void **state)
{
	static uint8_t memory[MEMORY];
	struct before before;
	struct regs place, out;

	for (size_t f = 0; f < 2; f++) {
		struct switch_input in = input(&forms[f], NULL, 0);

		before_make(&before, targets[0]);
		in_place(&forms[f], &before, &place, memory);
		filter_put(&in);
		memset((void *)HOOK, 0xcc, forms[f].moved);
		before_put(&before);
		native_run(FILTER + filter.moved, &before.regs, &out);
		regs_same(&out, &place);
		assert_memory_equal(native_scratch, memory, MEMORY);
	}
}

/* Whether the word that the filter may have overwritten is to be put back. */
static bool
undoes(uint32_t offset)
{
	return filter.stored && offset >= filter.stored &&
	       (offset < filter.restored || offset > filter.traps[1] + 1);
}

/* Stop at the offset, and take the task out. */
static enum switch_inside
leave_at(const struct before *before, uint32_t offset, struct regs *regs,
	 bool *reached)
{
	const uint64_t *scratch = page + SCRATCH_AT / 8;
	enum switch_inside inside;

	before_put(before);
	memcpy((void *)FILTER, filter.bytes, filter.len);
	native_landing(FILTER + offset, 1);
	native_run(FILTER, &before->regs, regs);
	*reached = regs->r[X86_RIP];
	if (!*reached)
		return SWITCH_BEFORE;
	inside = arch_x86_64.switch_leave(&filter, offset, scratch, regs);
	if (inside == SWITCH_COUNTED && filter.stored)
		*word_at(scratch[SWITCH_STORED_AT]) = scratch[SWITCH_STORED];
	if (inside == SWITCH_BEFORE && undoes(offset))
		*word_at(scratch[SWITCH_STORED_AT]) =
			scratch[SWITCH_STORED_OVER];
	return inside;
}

/* Take a task out at each instruction that it comes to. */
static unsigned
leaves(const struct form *form, const struct before *before, bool wrong,
       const struct regs *place, const uint8_t *memory)
{
	unsigned n = 0;
	struct insn insn;

	for (uint32_t at = 0; at < filter.len; at += insn.len) {
		struct regs regs, want = *place;
		bool reached;
		enum switch_inside inside;

		if (arch_x86_64.decode(filter.bytes + at, filter.len - at, at,
				       &insn))
			fail();
		/* A landing there would overwrite what is run before. */
		if (at == filter.traps[1] || at == filter.traps[1] + 1 ||
		    (at >= filter.traps[0] && at <= filter.moved_end) ||
		    (wrong && at + NATIVE_LANDING > filter.done &&
		     at < filter.done))
			continue;
		inside = leave_at(before, at, &regs, &reached);
		if (!reached)
			continue;
		n++;
		if (inside == SWITCH_BEFORE) {
			regs_same(&regs, &before->regs);
			assert_memory_equal(native_scratch, before->memory,
					    MEMORY);
			assert_int_equal(page[COUNTER / 8], 0);
			continue;
		}
		/* Before a return. */
		if (form->push)
			want.r[X86_RSP] -= 8;
		assert_int_equal(inside, SWITCH_COUNTED);
		regs_same(&regs, &want);
		assert_memory_equal(native_scratch, memory, MEMORY);
		assert_int_equal(page[COUNTER / 8], 1);
	}
	return n;
}

static void
test_leave(void **state)
{
	static uint8_t memory[MEMORY];
	struct before before;
	struct regs place;

	for (size_t f = 0; f < 2; f++)
		for (size_t t = 0; t < sizeof(targets) / sizeof(*targets);
		     t++) {
			struct switch_pattern pattern;
			struct switch_input in = input(&forms[f], &pattern, 1);

			for (unsigned wrong = 0; wrong < 2; wrong++) {
				before_make(&before, targets[t]);
				pattern = pattern_of(&forms[f], targets[t]);
				pattern.words[5].value += wrong;
				in_place(&forms[f], &before, &place, memory);
				filter_put(&in);
				native_landing(TARGET, 0);
				assert_true(leaves(&forms[f], &before, wrong,
						   &place, memory) > 60);
			}
		}
}

/* ---- entries, and switches of functions that overwrite their frames */

/* As libgcc's: the store is the return address of the frame gone to. */
static const uint8_t unwinds[] = {
	0x48, 0x89, 0xc1,		/* mov %rax, %rcx */
	0x48, 0x89, 0x74, 0x05, 0x08,	/* mov %rsi, 8(%rbp,%rax) */
	0x48, 0x8d, 0x4c, 0x0d, 0x08,	/* lea 8(%rbp,%rcx), %rcx */
	0x48, 0x8b, 0x6d, 0x00,		/* mov (%rbp), %rbp */
	0x48, 0x89, 0xcc,		/* mov %rcx, %rsp */
	0x59,				/* pop %rcx */
	0xff, 0xe1,			/* jmp *%rcx */
};

static const struct form unwind = { unwinds, sizeof(unwinds),
				    sizeof(unwinds) - 2, 8, false };

/* push %rbp; mov %rsp, %rbp; push %r15; sub $64, %rsp */
static const uint8_t enters[] = { 0x55, 0x48, 0x89, 0xe5, 0x41,
				  0x57, 0x48, 0x83, 0xec, 0x40 };

enum {
	FUNC = NATIVE_CODE + 0x1000,
	ENTRY = FILTER + SWITCH_FILTER_MAX,
	BELOW = 96,	/* the stack pointer at the hook, from the entry */
};

static struct entry_filter entry;

/* Run the entry's filter from these registers, and the function behind it. */
static void
enter(const struct regs *in, struct regs *out)
{
	struct entry_input at = {
		.code = enters,
		.moved = 6,
		.va = FUNC,
		.scratch = SCRATCH_AT,
	};

	assert_int_equal(arch_x86_64.entry_make(&at, ENTRY, &entry), 0);
	memcpy((void *)ENTRY, entry.bytes, entry.len);
	memcpy((void *)FUNC, enters, sizeof(enters));
	memset((void *)FUNC, 0xcc, 6);
	native_landing(FUNC + sizeof(enters), 1);
	native_run(ENTRY, in, out);
	assert_int_equal(out->r[X86_RIP], 1);
}

/* It records the caller, and changes nothing else. */
static void
test_entry(void **state)
{
	const uint64_t *scratch = page + SCRATCH_AT / 8;
	struct before before;
	struct regs out, want, caller = { 0 };
	uint32_t known;

	before_make(&before, targets[0]);
	before_put(&before);
	for (unsigned i = 1; i <= 2 * SWITCH_KEPT; i++) {
		const uint64_t *record = scratch + SWITCH_ENTRIES +
					 i % SWITCH_KEPT * SWITCH_RECORD;

		memcpy(native_scratch, before.memory, MEMORY);
		enter(&before.regs, &out);
		want = before.regs;
		want.r[X86_RBP] = OLD - 8;
		want.r[X86_RSP] = OLD - 16 - 64;
		want.r[X86_EFLAGS] = out.r[X86_EFLAGS];
		regs_same(&out, &want);
		assert_int_equal(scratch[SWITCH_ENTRY], 32 * (i % SWITCH_KEPT));
		assert_int_equal(record[ENTRY_RETURN],
				 *(uint64_t *)(before.memory + 512));
		arch_x86_64.entry_regs(record, &caller, &known);
		assert_int_equal(caller.r[X86_RSP], OLD);
		assert_int_equal(caller.r[X86_RBP], before.regs.r[X86_RBP]);
		assert_int_equal(caller.r[X86_RBX], before.regs.r[X86_RBX]);
		assert_int_equal(caller.r[X86_R12], before.regs.r[X86_R12]);
		assert_int_equal(caller.r[X86_R13], before.regs.r[X86_R13]);
		assert_int_equal(caller.r[X86_R14], before.regs.r[X86_R14]);
		assert_int_equal(caller.r[X86_R15], before.regs.r[X86_R15]);
	}
}

static void
test_entry_leave(void **state)
{
	struct before before;
	struct regs regs;
	struct insn insn;

	before_make(&before, targets[0]);
	for (uint32_t at = 0; at < entry.moved_end; at += insn.len) {
		enum switch_inside inside;

		before_put(&before);
		memcpy((void *)ENTRY, entry.bytes, entry.len);
		native_landing(ENTRY + at, 1);
		native_run(ENTRY, &before.regs, &regs);
		inside = arch_x86_64.entry_leave(&entry, at,
						 page + SCRATCH_AT / 8, &regs);
		assert_int_equal(inside, at > entry.moved ? SWITCH_MOVED :
							    SWITCH_BEFORE);
		if (inside == SWITCH_BEFORE)
			regs_same(&regs, &before.regs);
		assert_int_equal(arch_x86_64.decode(entry.bytes + at,
						    entry.len - at, at, &insn),
				 0);
	}
}

/* The same stacks, as an entry's filter has recorded the caller. */
static void
test_unwinds(void **state)
{
	static uint8_t memory[MEMORY];
	struct switch_pattern pattern;
	struct switch_input in = input(&unwind, &pattern, 1);
	uint64_t *scratch = page + SCRATCH_AT / 8;
	uint64_t *record = scratch + SWITCH_ENTRIES + 3 * SWITCH_RECORD;
	struct before before;
	struct regs place, out;

	in.depth = BELOW;
	filter_put(&in);
	for (unsigned wrong = 0; wrong <= 8; wrong++) {
		before_make(&before, targets[0]);
		before.regs.r[X86_RSP] = OLD - BELOW;
		before.regs.r[X86_RBP] = OLD - 8;
		before.regs.r[X86_RAX] = 200;	/* to OLD + 208 */
		before.regs.r[X86_RSI] = TARGET;
		*word_at(OLD - 8) = OLD + 300;
		memcpy(before.memory, native_scratch, MEMORY);
		pattern = (struct switch_pattern){
			.target = TARGET + (wrong == 1),
			.distance = 208 + (wrong == 2),
			.counter = COUNTER,
			.n = 5,
			.words = {
				{ .value = 0x1234 + (wrong == 3) },
				{ .pointer = true, .relative = true,
				  .value = 80 + (wrong == 4) },
				{ .at = 40,
				  .value = *word_at(OLD + 40) + (wrong == 5) },
				/* What is stored overwrites this. */
				{ .at = 200,
				  .value = *word_at(OLD + 200) + (wrong == 6) },
				{ .after = true, .pointer = true,
				  .relative = true, .value = 92 },
			},
		};
		in_place(&unwind, &before, &place, memory);
		filter_put(&in);
		before_put(&before);
		scratch[SWITCH_ENTRY] = 3 * 32;
		record[ENTRY_RETURN] = 0x1234;
		record[ENTRY_SP] = OLD + (wrong == 7);
		record[ENTRY_REGS] = OLD + 80 + (wrong == 8);
		memcpy((void *)FILTER, filter.bytes, filter.len);
		native_landing(TARGET, 1);
		native_run(FILTER, &before.regs, &out);
		assert_int_equal(out.r[X86_RIP], !wrong);
		assert_int_equal(page[COUNTER / 8], !wrong);
		regs_same(&out, wrong ? &before.regs : &place);
		assert_memory_equal(native_scratch,
				    wrong ? before.memory : memory, MEMORY);
	}
}

static void
test_refused(void **state)
{
	static const struct {
		const char *what;
		uint8_t code[16];
		uint8_t len, last;
	} cases[] = {
		{ "jmp *8(%rdx)", { 0x90, 0xff, 0x62, 8 }, 4, 1 },
		{ "ret $8", { 0x90, 0xc2, 8, 0 }, 4, 1 },
		{ "two pushes", { 0x51, 0x52, 0xc3 }, 3, 2 },
		{ "mov %rcx, (%rdx); push %rcx",
		  { 0x48, 0x89, 0x0a, 0x51, 0xc3 },
		  5,
		  4 },
		{ "mov %ecx, (%rdx)", { 0x89, 0x0a, 0xff, 0xe2 }, 4, 2 },
		{ "push, then a jump", { 0x51, 0xff, 0xe2 }, 3, 1 },
		{ "push, then pop", { 0x51, 0x5a, 0xc3 }, 3, 2 },
		{ "push $1", { 0x6a, 1, 0xc3 }, 3, 2 },
		{ "push %rsp", { 0x54, 0xc3 }, 2, 1 },
		{ "mov 8(%rip), %rdx; jmp *%rdx",
		  { 0x48, 0x8b, 0x15, 8, 0, 0, 0, 0xff, 0xe2 },
		  9,
		  7 },
		{ "mov %gs:8, %rdx; jmp *%rdx",
		  { 0x65, 0x48, 0x8b, 0x14, 0x25, 8, 0, 0, 0, 0xff, 0xe2 },
		  11,
		  9 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct switch_input in = {
			.code = cases[i].code,
			.len = cases[i].len,
			.last = cases[i].last,
			.va = HOOK,
		};

		print_message("# %s\n", cases[i].what);
		assert_int_equal(arch_x86_64.switch_make(&in, FILTER, &filter),
				 -1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_differs),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_entry_leave),
		cmocka_unit_test(test_unwinds),
	};

	native_open();
	native_map(FILTER, SWITCH_FILTER_MAX + 4096,
		   PROT_READ | PROT_WRITE | PROT_EXEC);
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, page))
		return 1;
	traps_catch();
	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
