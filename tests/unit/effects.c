/*
 * What instructions are said to do to registers, against what they do: each
 * is run alone by the simulator, and no register may change that it is not
 * said to change, nor get another value than it is said to get.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "arch/m68k/regs.h"
#include "symtab/image.h"
#include "tests/lib/remotes.h"

#include <cmocka.h>

enum { STEPS = 3000, NOP = 0x4e71 };

/* What is said, and what was seen. */
struct seen {
	const struct arch *arch;
	uint64_t pc;
	struct effect effect;
	struct regs before, after;
};

static uint64_t
low_bytes(uint64_t value, unsigned n, bool sign)
{
	unsigned shift = 64 - 8 * n;

	if (!n || n >= 8)
		return value;
	return sign ? (uint64_t)((int64_t)(value << shift) >> shift) :
		      value << shift >> shift;
}

/* The sum that a place describes. */
static uint64_t
place_sum(const struct place *place, const struct regs *regs)
{
	uint64_t sum = (uint64_t)place->disp;

	if (place->reg != REG_NONE)
		sum += regs->r[place->reg];
	if (place->index != REG_NONE)
		sum += place->scale * low_bytes(regs->r[place->index],
						place->index_width,
						place->index_sign);
	return sum;
}

/* The value that the register gets, if it is said; only its low bytes. */
static bool
value_said(const struct seen *s, uint64_t *value)
{
	const struct effect *e = &s->effect;

	switch (e->op) {
	case EFFECT_COPY:
		if (e->src.kind != PLACE_REG)
			return false;
		*value = low_bytes(s->before.r[e->src.reg], e->src.width,
				   e->sign);
		return true;
	case EFFECT_SUM:
		*value = place_sum(&e->src, &s->before);
		return true;
	default:
		return false;
	}
}

static void
seen_check(const struct seen *s)
{
	const struct arch *arch = s->arch;
	const struct effect *e = &s->effect;
	uint64_t value;

	/* The stack pointer is the last of those that hold values. */
	for (unsigned i = 0; i <= arch->reg_sp; i++) {
		uint64_t was = s->before.r[i], is = s->after.r[i];

		if (i == arch->reg_sp && !(e->kills >> i & 1))
			assert_int_equal(is, was + (uint64_t)e->sp);
		else if (is != was && !(e->kills >> i & 1))
			fail_msg("%" PRIx64 ": register %u becomes %" PRIx64,
				 s->pc, i, is);
	}
	if (e->dst.kind == PLACE_REG && value_said(s, &value))
		assert_int_equal(low_bytes(s->after.r[e->dst.reg], e->dst.width,
					   false),
				 low_bytes(value, e->dst.width, false));
}

/* One step.  False if the program ended, or made a call of the kernel. */
static bool
step(const struct arch *arch, pid_t tid, struct event *event)
{
	struct seen s = { .arch = arch };
	uint8_t code[INSN_MAX];
	struct insn insn;

	must(!far->regs_get(tid, &s.before));
	s.pc = s.before.r[arch->reg_pc];
	must(!far->mem_read(0, tid, s.pc, code, sizeof(code)));
	assert_int_equal(arch->decode(code, sizeof(code), s.pc, &insn), 0);
	assert_int_equal(arch->effect(code, sizeof(code), s.pc, &s.effect), 0);
	far->resume(tid, RESUME_STEP, 0);
	event_next(event);
	if (ended(event))
		return false;
	assert_int_equal(event->kind, EVENT_TRAP);
	must(!far->regs_get(tid, &s.after));
	/* Of a call it is said what has changed when it comes back, and qemu
	   steps over one instruction more than a system call. */
	if (insn.kind != INSN_CALL && insn.kind != INSN_CALL_INDIRECT &&
	    insn.kind != INSN_SYSCALL && insn.kind != INSN_RETURN)
		seen_check(&s);
	return true;
}

static pid_t
start(const char **argv, struct event *event)
{
	const struct arch *arch = image_probe(argv[0]);
	pid_t tid;

	assert_non_null(arch);
	remote_use(arch, NULL);
	if (far->launch(argv[0], (char **)argv, &tid))
		fail_msg("%s", fail_message());
	event_next(event);
	assert_int_equal(event->kind, EVENT_EXEC);
	return tid;
}

static void
finish(pid_t tid, struct event *event)
{
	if (!ended(event)) {
		far->kill(tid, SIGKILL);
		far->resume(tid, RESUME_RUN, 0);
		event_next(event);
	}
	assert_true(ended(event));
	event_next(event);
	assert_int_equal(event->kind, EVENT_DONE);
}

static bool
there(const char *tool)
{
	char *cmd = mem_printf("%s --version >/dev/null 2>&1", tool);
	bool found = !system(cmd);

	if (!found)
		print_message("# no %s (package qemu-user)\n", tool);
	free(cmd);
	return found;
}

/* Programs of a compiler. */
static void
test_programs(void **state)
{
	static const char *const programs[] = {
		"tests/m68k/many-O0.m68k",    "tests/m68k/many-O2.m68k",
		"tests/m68k/many-O2.m68000",  "tests/m68k/many-O0.aarch64",
		"tests/m68k/many-O2.aarch64",
	};

	if (!there("qemu-m68k") || !there("qemu-aarch64"))
		skip();
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		const char *argv[] = { programs[i], "/dev/null", NULL };
		const struct arch *arch = image_probe(argv[0]);
		int was = dup(STDOUT_FILENO), n = 0;
		struct event event;
		pid_t tid;

		fflush(stdout);
		assert_non_null(freopen("/dev/null", "w", stdout));
		tid = start(argv, &event);
		while (n < STEPS && step(arch, tid, &event))
			n++;
		finish(tid, &event);
		fflush(stdout);
		dup2(was, STDOUT_FILENO);
		close(was);
		assert_true(n > STEPS / 10);
	}
}

/* The bits of registers, as in a mask of those that change. */
enum {
	D0 = 1 << M68K_D0,
	D1 = D0 << 1,
	D2 = D0 << 2,
	D3 = D0 << 3,
	D6 = D0 << 6,
	D7 = D0 << 7,
	A0 = 1 << M68K_A0,
	A3 = A0 << 3,
};

/* All condition codes. */
enum { M68K_ALL = M68K_X | M68K_N | M68K_Z | M68K_V | M68K_C };

/*
 * Instructions of the 68020 and its floating point unit, and which registers
 * they change by the M68000 Family Programmer's Reference Manual; sp is what
 * is added to the stack pointer.  Where more is said than that, values are
 * lost, and with them jump tables.
 */
static const struct one {
	uint16_t words[4];
	uint32_t kills;
	int32_t sp;
} ones[] = {
	{ { 0x4480 }, D0 },				/* neg.l d0 */
	{ { 0x4640, 0xe9c6 }, D0 },			/* not.w d0 */
	{ { 0x4698 }, A0 },				/* not.l (a0)+ */
	{ { 0x4463 }, A3 },				/* neg.w -(a3) */
	{ { 0x4068, 0x01fc }, 0 },		/* negx.w 0x1fc(a0) */
	{ { 0x4083 }, D3 },		/* negx.l d3 */
	{ { 0xd581 }, D2 },		/* addx.l d1,d2 */
	{ { 0x9541 }, D2 },		/* subx.w d1,d2 */
	{ { 0xd788 }, A0 | A3 },	/* addx.l -(a0),-(a3) */
	{ { 0x9708 }, A0 | A3 },	/* subx.b -(a0),-(a3) */
	{ { 0xd78f }, A3, -4 },		/* addx.l -(sp),-(a3) */
	{ { 0x9f8f }, 0, -8 },		/* subx.l -(sp),-(sp) */
	{ { 0xe396 }, D6 },		/* roxl.l #1,d6 */
	{ { 0xe9c6, 0x6401 }, D6 },	/* bfextu d6{16:1},d6 */
	{ { 0xebc6, 0x7401 }, D7 },	/* bfexts d6{16:1},d7 */
	{ { 0xedd0, 0x1401 }, D1 },	/* bfffo (a0){16:1},d1 */
	{ { 0xefc3, 0x6401 }, D3 },	/* bfins d6,d3{16:1} */
	{ { 0xefd0, 0x6401 }, 0 },	/* bfins d6,(a0){16:1} */
	{ { 0xe8c6, 0x0401 }, 0 },	/* bftst d6{16:1} */
	{ { 0xecc6, 0x0401 }, D6 },	/* bfclr d6{16:1} */
	{ { 0x4c03, 0x2800 }, D2 },	/* muls.l d3,d2 */
	{ { 0x4c03, 0x2401 }, D2 | D1 }, /* mulu.l d3,d1:d2 */
	{ { 0x4c43, 0x2801 }, D2 | D1 }, /* divsl.l d3,d1:d2 */
	{ { 0x4c58, 0x2801 }, D2 | D1 | A0 },	/* divsl.l (a0)+,d1:d2 */
	{ { 0xc7c6 }, D3 },		/* muls.w d6,d3 */
	{ { 0x87d8 }, D3 | A0 },	/* divs.w (a0)+,d3 */
	{ { 0x8686 }, D3 },		/* or.l d6,d3 */
	{ { 0x8798 }, A0 },		/* or.l d3,(a0)+ */
	{ { 0xc650 }, D3 },		/* and.w (a0),d3 */
	{ { 0xc790 }, 0 },		/* and.l d3,(a0) */
	{ { 0x0803, 0x0007 }, 0 },	/* btst #7,d3 */
	{ { 0x08c3, 0x0007 }, D3 },	/* bset #7,d3 */
	{ { 0x0898, 0x0007 }, A0 },	/* bclr #7,(a0)+ */
	{ { 0x0d53 }, 0 },		/* bchg d6,(a3) */
	{ { 0x0d03 }, 0 },		/* btst d6,d3 */
	{ { 0xf213, 0x7500 }, 0 },	/* fmove.d fp2,(a3) */
	{ { 0xf21b, 0x7500 }, A3 },	/* fmove.d fp2,(a3)+ */
	{ { 0xf203, 0x6000 }, D3 },	/* fmove.l fp0,d3 */
	{ { 0xf203, 0x7000 }, D3 },	/* fmove.w fp0,d3 */
	{ { 0xf227, 0x6800 }, 0, -12 },	/* fmove.x fp0,-(sp) */
	{ { 0xf21f, 0x5480 }, 0, 8 },	/* fmove.d (sp)+,fp1 */
	{ { 0xf21f, 0x4480 }, 0, 4 },	/* fmove.s (sp)+,fp1 */
	{ { 0xf200, 0x5c32 }, 0 },	/* fmovecr #0x32,fp0 */
	{ { 0xf200, 0x0e22 }, 0 },	/* fadd.x fp3,fp4 */
	{ { 0xf218, 0x5422 }, A0 },	/* fadd.d (a0)+,fp0 */
	{ { 0xf200, 0x04b8 }, 0 },	/* fcmp.x fp1,fp1 */
	{ { 0xf243, 0x0001 }, D3 },	/* fseq d3 */
	{ { 0xf258, 0x0001 }, A0 },	/* fseq (a0)+ */
	{ { 0xf227, 0xe020 }, 0, -12 },	/* fmovem.x fp5,-(sp) */
	{ { 0xf227, 0xe028 }, 0, -24 },	/* fmovem.x fp3/fp5,-(sp) */
	{ { 0xf21f, 0xd014 }, 0, 24 },	/* fmovem.x (sp)+,fp3/fp5 */
	{ { 0xf223, 0xe028 }, A3 },	/* fmovem.x fp3/fp5,-(a3) */
	{ { 0xf213, 0xf028 }, 0 },	/* fmovem.x fp2/fp4,(a3) */
	{ { 0xf203, 0xa800 }, D3 },	/* fmove.l fpsr,d3 */
	{ { 0xf203, 0x9000 }, 0 },	/* fmove.l d3,fpcr */
	{ { 0xf227, 0xbc00 }, 0, -12 },	/* fmovem.l fpcr/fpsr/fpiar,-(sp) */
	{ { 0xf21f, 0x9c00 }, 0, 12 },	/* fmovem.l (sp)+,fpcr/fpsr/fpiar */
};

static void
one_run(const struct one *one, uint64_t stack, pid_t tid,
	const struct regs *start_regs)
{
	const struct arch *arch = &arch_m68k;
	struct seen s = { .arch = arch, .before = *start_regs };
	struct event event;
	uint8_t code[16] = { 0 };

	s.pc = s.before.r[M68K_PC];
	for (size_t i = 0; i < 4; i++) {
		uint16_t word = one->words[i] ? one->words[i] : NOP;

		code[2 * i] = (uint8_t)(word >> 8);
		code[2 * i + 1] = (uint8_t)word;
	}
	for (unsigned i = 0; i < 8; i++) {
		s.before.r[M68K_D0 + i] = 0x10203 * (i + 1);
		s.before.r[M68K_A0 + i] = stack - 256 * i;
	}
	/* Values that depend on it differ from those of add and sub. */
	s.before.r[M68K_PS] |= M68K_X;
	must(!far->mem_write(0, tid, s.pc, code, sizeof(code)));
	must(!far->regs_set(tid, &s.before));
	assert_int_equal(arch->effect(code, sizeof(code), s.pc, &s.effect), 0);
	far->resume(tid, RESUME_STEP, 0);
	event_next(&event);
	if (event.kind != EVENT_TRAP)
		fail_msg("%04x %04x: event %d", one->words[0], one->words[1],
			 event.kind);
	must(!far->regs_get(tid, &s.after));
	if (s.effect.kills != one->kills || s.effect.sp != one->sp)
		fail_msg("%04x %04x: kills %x, sp %d", one->words[0],
			 one->words[1], s.effect.kills, s.effect.sp);
	if ((s.before.r[M68K_PS] ^ s.after.r[M68K_PS]) & M68K_ALL &&
	    !s.effect.flags)
		fail_msg("%04x %04x: the flags change", one->words[0],
			 one->words[1]);
	seen_check(&s);
}

static void
test_ones(void **state)
{
	const char *argv[] = { "tests/m68k/shell-O0.m68k", NULL };
	struct event event;
	struct regs regs;
	pid_t tid;

	if (!there("qemu-m68k"))
		skip();
	tid = start(argv, &event);
	must(!far->regs_get(tid, &regs));
	for (size_t i = 0; i < sizeof(ones) / sizeof(*ones); i++)
		one_run(&ones[i], (regs.r[M68K_SP] & ~UINT64_C(0xff)) - 4096,
			tid, &regs);
	finish(tid, &event);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_ones),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
