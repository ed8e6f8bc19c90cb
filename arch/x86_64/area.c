/*
 * Whether code may use the gs base for purposes of its own: where it could
 * set it.  Looks at bytes, not at instructions, so as to be quick with large
 * libraries; so it may be wrong, but only by saying yes.
 */
#include <asm/prctl.h>
#include <string.h>
#include <sys/syscall.h>

#include "arch/x86_64/x86.h"

enum {
	NEAR = 64,	/* bytes between a call's number and its argument */
	WRGSBASE_REG = 3,
	WRGSBASE_MOD = 3,
	MOV_REG = 0xb8,	/* to 0xbf */
	MOV_RM = 0xc7,
};

static bool
word_is(const uint8_t *code, uint32_t value)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word == value;
}

/* f3 [rex] 0f ae /3, of registers only (Intel SDM 2B, WRFSBASE/WRGSBASE). */
static bool
wrgsbase_at(const uint8_t *code, size_t at, size_t n)
{
	return at >= 2 && at + 1 < n && code[at - 1] == 0x0f &&
	       code[at + 1] >> 6 == WRGSBASE_MOD &&
	       (code[at + 1] >> 3 & 7) == WRGSBASE_REG &&
	       (code[at - 2] == 0xf3 ||
		(at >= 3 && code[at - 2] >> 4 == 4 && code[at - 3] == 0xf3));
}

/* mov $value, to a register or memory: its last four bytes are at `at`. */
static bool
moved_at(const uint8_t *code, size_t at, size_t n, uint32_t value)
{
	if (at + 4 > n || !at || !word_is(code + at, value))
		return false;
	return code[at - 1] >> 3 == MOV_REG >> 3 ||
	       (at >= 2 && code[at - 2] == MOV_RM) ||
	       (at >= 3 && code[at - 3] == MOV_RM);
}

/* The number of arch_prctl with ARCH_SET_GS near it. */
static bool
set_gs_at(const uint8_t *code, size_t at, size_t n)
{
	size_t lo = at > NEAR ? at - NEAR : 0;

	if (!moved_at(code, at, n, SYS_arch_prctl))
		return false;
	for (size_t i = lo; i < at + NEAR && i + 4 <= n; i++)
		if (moved_at(code, i, n, ARCH_SET_GS))
			return true;
	return false;
}

typedef bool found_at(const uint8_t *code, size_t at, size_t n);

static bool
code_has(const uint8_t *code, size_t n, uint8_t byte, found_at *found)
{
	const uint8_t *p = code;

	while ((p = memchr(p, byte, n - (p - code)))) {
		if (found(code, p - code, n))
			return true;
		p++;
	}
	return false;
}

/* mov $ARCH_SET_GS, %edi: the argument of the C library's arch_prctl. */
static bool
argument_at(const uint8_t *code, size_t at, size_t n)
{
	return at + 5 <= n && word_is(code + at + 1, ARCH_SET_GS);
}

bool
x86_area_used(const uint8_t *code, size_t n, bool calls)
{
	return code_has(code, n, 0xae, wrgsbase_at) ||
	       code_has(code, n, SYS_arch_prctl, set_gs_at) ||
	       (calls && code_has(code, n, 0xbf, argument_at));
}
