/*
 * The code of PROBE_RECORD: appends a record to those of the thread, which lie
 * in its page, found by gs.  Never writes a process's memory.
 *
 * The code uses no stack and changes no flags.  The registers that it needs are
 * in the scratch slots meanwhile.  `room` is minus the number of bytes that are
 * free, so rcx is an offset from the end of the records, and 0 if they are full.
 * The probe commits when it stores the new room.  Where there is none, pmon
 * learns by the time stamp how long the task then stood still.
 *
 * Encodings: Intel SDM volume 2.
 */
#include <string.h>

#include "arch/x86_64/x86.h"

enum { RAX, RCX, RDX, RSP = 4 };

enum {
	LOAD = 0x8b,
	STORE = 0x89,
	JUMP_SHORT = 2,
	RDTSC_LEN = 2,
	PUT_LEN = 7,		/* mov %r32, %gs:disp32(%rcx) */
	PUT_IMM_LEN = 11,	/* movl $imm32, %gs:disp32(%rcx) */
	LEA_LEN = 4,
	TRAP_LEN = 1,
};

/* Offsets of the code's instructions. */
enum {
	AT_ROOM = 3 * GS_LEN,
	AT_FULL = AT_ROOM + GS_LEN,
	AT_STAMP = AT_FULL + JUMP_SHORT,
	AT_LOW = AT_STAMP + RDTSC_LEN,
	AT_HIGH = AT_LOW + PUT_LEN,
	AT_WHAT = AT_HIGH + PUT_LEN,
	AT_SP = AT_WHAT + PUT_IMM_LEN,
	AT_NEXT = AT_SP + PUT_LEN,
	AT_COMMIT = AT_NEXT + LEA_LEN,
	AT_RESTORE = AT_COMMIT + GS_LEN,
	AT_OVER = AT_RESTORE + 3 * GS_LEN,
	AT_FOUND = AT_OVER + JUMP_SHORT,
	AT_FOUND_LOW = AT_FOUND + RDTSC_LEN,
	AT_FOUND_HIGH = AT_FOUND_LOW + GS_STORE_LEN,
	AT_TRAP = AT_FOUND_HIGH + GS_STORE_LEN,
	AT_AGAIN = AT_TRAP + TRAP_LEN,
	AT_END = AT_AGAIN + JUMP_SHORT,
};

static const uint8_t boundaries[] = {
	GS_LEN,
	2 * GS_LEN,
	AT_ROOM,
	AT_FULL,
	AT_STAMP,
	AT_LOW,
	AT_HIGH,
	AT_WHAT,
	AT_SP,
	AT_NEXT,
	AT_COMMIT,
	AT_RESTORE,
	AT_RESTORE + GS_LEN,
	AT_RESTORE + 2 * GS_LEN,
	AT_OVER,
	AT_FOUND,
	AT_FOUND_LOW,
	AT_FOUND_HIGH,
	AT_AGAIN,
};

unsigned
x86_record_size(void)
{
	return AT_END;
}

/* Store a 32-bit register in the record, at an offset from its beginning. */
static void
field_put(uint8_t *p, unsigned reg, uint64_t records, size_t offset)
{
	uint32_t disp = (uint32_t)(records + offset);

	memcpy(p, (uint8_t[]){ 0x65, STORE, (uint8_t)(0x81 | reg << 3) }, 3);
	memcpy(p + 3, &disp, 4);
}

/* Save rax, rcx and rdx in the scratch slots, or load them from there. */
static int
scratch_put(uint8_t *p, uint8_t opcode, uint64_t scratch)
{
	static const uint8_t regs[] = { RAX, RCX, RDX };
	int err = 0;

	for (unsigned i = 0; i < sizeof(regs); i++)
		err |= x86_gs_put(p + i * GS_LEN, opcode, regs[i],
				  scratch + UINT64_C(8) * i);
	return err;
}

int
x86_record_write(const struct fragment *fragment, const struct fragment_at *at,
		 uint8_t *bytes)
{
	uint32_t disp = (uint32_t)(at->records + offsetof(struct record, what));

	if (scratch_put(bytes, STORE, at->scratch) ||
	    scratch_put(bytes + AT_RESTORE, LOAD, at->scratch) ||
	    x86_gs_put(bytes + AT_ROOM, LOAD, RCX, at->room) ||
	    x86_gs_put(bytes + AT_COMMIT, STORE, RCX, at->room) ||
	    at->records > INT32_MAX - sizeof(struct record))
		return -1;
	/* jrcxz */
	bytes[AT_FULL] = 0xe3;
	bytes[AT_FULL + 1] = AT_FOUND - AT_STAMP;
	memcpy(bytes + AT_STAMP, (uint8_t[]){ 0x0f, 0x31 }, RDTSC_LEN);
	field_put(bytes + AT_LOW, RAX, at->records,
		  offsetof(struct record, stamp));
	field_put(bytes + AT_HIGH, RDX, at->records,
		  offsetof(struct record, stamp) + 4);
	memcpy(bytes + AT_WHAT, (uint8_t[]){ 0x65, 0xc7, 0x81 }, 3);
	memcpy(bytes + AT_WHAT + 3, &disp, 4);
	memcpy(bytes + AT_WHAT + 7, &fragment->operand, 4);
	field_put(bytes + AT_SP, RSP, at->records, offsetof(struct record, sp));
	/* lea 16(%rcx), %rcx */
	memcpy(bytes + AT_NEXT,
	       (uint8_t[]){ 0x48, 0x8d, 0x49, sizeof(struct record) }, LEA_LEN);
	memcpy(bytes + AT_OVER, (uint8_t[]){ 0xeb, AT_END - AT_FOUND },
	       JUMP_SHORT);
	memcpy(bytes + AT_FOUND, bytes + AT_STAMP, RDTSC_LEN);
	x86_gs_store(bytes + AT_FOUND_LOW, RAX, at->full);
	x86_gs_store(bytes + AT_FOUND_HIGH, RDX, at->full + 4);
	bytes[AT_TRAP] = 0xcc;
	memcpy(bytes + AT_AGAIN,
	       (uint8_t[]){ 0xeb, (uint8_t)(AT_ROOM - AT_END) }, JUMP_SHORT);
	return 0;
}

enum fragment_inside
x86_record_inside(unsigned offset)
{
	if (offset == AT_TRAP)
		return INSIDE_FULL;
	for (size_t i = 0; i < sizeof(boundaries); i++)
		if (offset == boundaries[i])
			return INSIDE_BETWEEN;
	return INSIDE_NOT;
}
