/*
 * The code of PROBE_RECORD and PROBE_RECORD_EVENTS: appends a record to those of
 * the thread, which lie in its page, found by gs.  Never writes a process's
 * memory.
 *
 * The code uses no stack and changes no flags.  The registers that it needs are
 * in the scratch slots meanwhile.  `room` is minus the number of bytes that are
 * free, so rcx is an offset from the end of the records, and 0 if they are full.
 * The probe commits when it stores the new room.  Where there is none, pmon
 * learns by the time stamp how long the task then stood still.  Where events are
 * recorded nobody asks for the time, and rdx is left alone.
 *
 * Encodings: Intel SDM volume 2.
 */
#include <string.h>

#include "arch/x86_64/x86.h"

enum { RAX, RCX, RDX, RSP = 4 };

enum {
	LOAD = 0x8b,
	STORE = 0x89,
	JUMP_SHORT = 0xeb,
	JRCXZ = 0xe3,
	PUT_LEN = 7,		/* mov %r32, %gs:disp32(%rcx) */
	PUT_WIDE_LEN = 8,	/* mov %r64, %gs:disp32(%rcx) */
	PUT_IMM_LEN = 11,	/* movl $imm32, %gs:disp32(%rcx) */
	SHORT_LEN = 2,
	RDTSC_LEN = 2,
	LEA_LEN = 4,
	TRAP_LEN = 1,
};

/* The code's instructions, in their order. */
enum step {
	STEP_SAVE_RAX,
	STEP_SAVE_RCX,
	STEP_SAVE_RDX,
	STEP_ROOM,
	STEP_IF_FULL,
	STEP_STAMP,
	STEP_LOW,
	STEP_HIGH,
	STEP_WHAT,
	STEP_SP,
	STEP_NEXT,
	STEP_COMMIT,
	STEP_RAX,
	STEP_RCX,
	STEP_RDX,
	STEP_OVER,
	STEP_FULL,
	STEP_FULL_LOW,
	STEP_FULL_HIGH,
	STEP_TRAP,
	STEP_AGAIN,
	STEPS
};

static const uint8_t lens[STEPS] = {
	[STEP_SAVE_RAX] = GS_LEN,
	[STEP_SAVE_RCX] = GS_LEN,
	[STEP_SAVE_RDX] = GS_LEN,
	[STEP_ROOM] = GS_LEN,
	[STEP_IF_FULL] = SHORT_LEN,
	[STEP_STAMP] = RDTSC_LEN,
	[STEP_LOW] = PUT_LEN,
	[STEP_HIGH] = PUT_LEN,
	[STEP_WHAT] = PUT_IMM_LEN,
	[STEP_SP] = PUT_LEN,
	[STEP_NEXT] = LEA_LEN,
	[STEP_COMMIT] = GS_LEN,
	[STEP_RAX] = GS_LEN,
	[STEP_RCX] = GS_LEN,
	[STEP_RDX] = GS_LEN,
	[STEP_OVER] = SHORT_LEN,
	[STEP_FULL] = RDTSC_LEN,
	[STEP_FULL_LOW] = GS_STORE_LEN,
	[STEP_FULL_HIGH] = GS_STORE_LEN,
	[STEP_TRAP] = TRAP_LEN,
	[STEP_AGAIN] = SHORT_LEN,
};

static unsigned
step_len(enum probe_op op, enum step step)
{
	if (op == PROBE_RECORD)
		return lens[step];
	switch (step) {
	case STEP_STAMP:
		return GS_LEN;
	case STEP_LOW:
		return PUT_WIDE_LEN;
	case STEP_SAVE_RDX:
	case STEP_HIGH:
	case STEP_RDX:
	case STEP_FULL:
	case STEP_FULL_LOW:
	case STEP_FULL_HIGH:
		return 0;
	default:
		return lens[step];
	}
}

/* The offset at which an instruction begins; of STEPS, the code's size. */
static unsigned
step_offset(enum probe_op op, enum step step)
{
	unsigned offset = 0;

	for (enum step before = 0; before < step; before++)
		offset += step_len(op, before);
	return offset;
}

unsigned
x86_record_size(enum probe_op op)
{
	return step_offset(op, STEPS);
}

static int
bytes_put(uint8_t *p, const uint8_t *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return 0;
}

static int
jump_put(uint8_t *p, uint8_t opcode, enum probe_op op, enum step from,
	 enum step to)
{
	unsigned distance = step_offset(op, to) - step_offset(op, from + 1);

	p[0] = opcode;
	p[1] = (uint8_t)distance;
	return 0;
}

/* Store a 32-bit register in the record, at an offset from its beginning. */
static int
field_put(uint8_t *p, unsigned reg, const struct fragment_at *at, size_t offset)
{
	uint32_t disp = (uint32_t)(at->page.records + offset);

	memcpy(p, (uint8_t[]){ 0x65, STORE, (uint8_t)(0x81 | reg << 3) }, 3);
	memcpy(p + 3, &disp, 4);
	return 0;
}

/* Store rax there, all of it. */
static int
wide_put(uint8_t *p, const struct fragment_at *at, size_t offset)
{
	uint32_t disp = (uint32_t)(at->page.records + offset);

	memcpy(p, (uint8_t[]){ 0x65, 0x48, STORE, 0x81 | RAX << 3 }, 4);
	memcpy(p + 4, &disp, 4);
	return 0;
}

/* Store the probe's operand there. */
static int
what_put(uint8_t *p, int32_t operand, const struct fragment_at *at)
{
	size_t offset = offsetof(struct record, what);
	uint32_t disp = (uint32_t)(at->page.records + offset);

	memcpy(p, (uint8_t[]){ 0x65, 0xc7, 0x81 }, 3);
	memcpy(p + 3, &disp, 4);
	memcpy(p + 7, &operand, 4);
	return 0;
}

static int
full_put(uint8_t *p, unsigned reg, uint64_t disp)
{
	x86_gs_store(p, reg, disp);
	return 0;
}

/* Write one instruction.  0, or -1: the records are too far away. */
static int
step_put(const struct fragment *fragment, const struct fragment_at *at,
	 enum step step, uint8_t *p)
{
	static const uint8_t rdtsc[] = { 0x0f, 0x31 };
	/* lea sizeof(struct record)(%rcx), %rcx */
	static const uint8_t lea[] = { 0x48, 0x8d, 0x49,
				       sizeof(struct record) };
	const size_t stamp = offsetof(struct record, stamp);
	uint64_t scratch = at->page.scratch;
	enum probe_op op = fragment->op;

	if (op == PROBE_RECORD_EVENTS && step == STEP_STAMP)
		return x86_gs_put(p, LOAD, RAX, at->page.events);
	if (op == PROBE_RECORD_EVENTS && step == STEP_LOW)
		return wide_put(p, at, stamp);
	switch (step) {
	case STEP_SAVE_RAX:
		return x86_gs_put(p, STORE, RAX, scratch + 8 * SCRATCH_REG);
	case STEP_SAVE_RCX:
		return x86_gs_put(p, STORE, RCX, scratch + 8 * SCRATCH_OTHER);
	case STEP_SAVE_RDX:
		return x86_gs_put(p, STORE, RDX, scratch + 8 * SCRATCH_TARGET);
	case STEP_ROOM:
		return x86_gs_put(p, LOAD, RCX, at->page.room);
	case STEP_IF_FULL:
		return jump_put(p, JRCXZ, op, step, STEP_FULL);
	case STEP_STAMP:
	case STEP_FULL:
		return bytes_put(p, rdtsc, sizeof(rdtsc));
	case STEP_LOW:
		return field_put(p, RAX, at, stamp);
	case STEP_HIGH:
		return field_put(p, RDX, at, stamp + 4);
	case STEP_WHAT:
		return what_put(p, fragment->operand, at);
	case STEP_SP:
		return field_put(p, RSP, at, offsetof(struct record, sp));
	case STEP_NEXT:
		return bytes_put(p, lea, sizeof(lea));
	case STEP_COMMIT:
		return x86_gs_put(p, STORE, RCX, at->page.room);
	case STEP_RAX:
		return x86_gs_put(p, LOAD, RAX, scratch + 8 * SCRATCH_REG);
	case STEP_RCX:
		return x86_gs_put(p, LOAD, RCX, scratch + 8 * SCRATCH_OTHER);
	case STEP_RDX:
		return x86_gs_put(p, LOAD, RDX, scratch + 8 * SCRATCH_TARGET);
	case STEP_OVER:
		return jump_put(p, JUMP_SHORT, op, step, STEPS);
	case STEP_FULL_LOW:
		return full_put(p, RAX, at->page.full);
	case STEP_FULL_HIGH:
		return full_put(p, RDX, at->page.full + 4);
	case STEP_TRAP:
		return bytes_put(p, (uint8_t[]){ 0xcc }, TRAP_LEN);
	case STEP_AGAIN:
		return jump_put(p, JUMP_SHORT, op, step, STEP_ROOM);
	case STEPS:
		break;
	}
	return -1;
}

int
x86_record_write(const struct fragment *fragment, const struct fragment_at *at,
		 uint8_t *bytes)
{
	int err = at->page.records > INT32_MAX - sizeof(struct record) ? -1 : 0;

	for (enum step step = 0; step < STEPS; step++) {
		unsigned len = step_len(fragment->op, step);

		if (len)
			err |= step_put(fragment, at, step, bytes);
		bytes += len;
	}
	return err;
}

enum fragment_inside
x86_record_inside(enum probe_op op, unsigned offset)
{
	for (enum step step = STEP_SAVE_RCX; step < STEPS; step++)
		if (step_len(op, step) && step_offset(op, step) == offset)
			return step == STEP_TRAP ? INSIDE_FULL : INSIDE_BETWEEN;
	return INSIDE_NOT;
}
