/*
 * Code by which a task restores its registers by itself.  It needs no stack and
 * changes no flags, as all it does is moves, a system call and a jump.
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "arch/x86_64/regs.h"
#include "arch/x86_64/x86.h"
#include "util/fail.h"

/* Append n bytes. */
static uint8_t *
put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

/* mov $value, %reg: its REX prefix and opcode, as they stand in memory. */
static uint8_t *
put_move(uint8_t *at, unsigned rex, unsigned opcode, uint64_t value)
{
	const uint8_t code[] = { rex, opcode };

	at = put(at, code, sizeof(code));
	return put(at, &value, sizeof(value));
}

/* The registers that a system call uses or changes, but for the flags. */
static const struct {
	uint8_t reg, rex, opcode;
} moves[] = {
	{ X86_RAX, 0x48, 0xb8 }, { X86_RCX, 0x48, 0xb9 },
	{ X86_RDX, 0x48, 0xba }, { X86_RSI, 0x48, 0xbe },
	{ X86_RDI, 0x48, 0xbf }, { X86_R8, 0x49, 0xb8 },
	{ X86_R9, 0x49, 0xb9 },	 { X86_R10, 0x49, 0xba },
	{ X86_R11, 0x49, 0xbb },
};

void
x86_restorer_write(const struct regs *regs, uint64_t mask, uint64_t va,
		   uint8_t bytes[RESTORER_SIZE])
{
	static const uint8_t call[] = { 0x0f, 0x05 };
	static const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };
	uint64_t mask_at = RESTORER_SIZE - sizeof(mask);
	uint8_t *at = bytes;

	memset(bytes, 0, RESTORER_SIZE);
	memcpy(bytes + mask_at, &mask, sizeof(mask));
	/* rt_sigprocmask(SIG_SETMASK, set, NULL, size of the set) */
	at = put_move(at, 0x48, 0xb8, SYS_rt_sigprocmask);
	at = put_move(at, 0x48, 0xbf, SIG_SETMASK);
	at = put_move(at, 0x48, 0xbe, va + mask_at);
	at = put_move(at, 0x48, 0xba, 0);
	at = put_move(at, 0x49, 0xba, sizeof(mask));
	at = put(at, call, sizeof(call));
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		at = put_move(at, moves[i].rex, moves[i].opcode,
			      regs->r[moves[i].reg]);
	at = put(at, jump, sizeof(jump));
	at = put(at, &regs->r[X86_RIP], sizeof(uint64_t));
	must(at <= bytes + mask_at);
}
