/*
 * Finds the places in code that could move something into the stack pointer,
 * make a system call, or set the gs base.  Never decodes instructions, only
 * compares bytes, and so searches 100 MB in 20 ms.  May find too much, but
 * misses nothing.
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
	MOV_EDI = 0xbf,
	MOV_RM = 0xc7,
	LANES = 32,
	STRIDE = 2 * LANES,
};

_Static_assert(NEAR + 8 <= HINT_CONTEXT, "it is all that is looked at");

/* ---- one place */

/*
 * Is the base of the address of this lea, which has no REX.B, the stack or the
 * frame pointer?  A SIB byte may be behind the n bytes.
 */
static bool
lea_own(const uint8_t *code, size_t n)
{
	uint8_t modrm = code[2], base = modrm & 7;

	if (base == 4 && n < 4)
		return false;
	if (base == 4)
		base = code[3] & 7;
	/* Without a displacement 5 is no base. */
	return base == 4 || (base == 5 && modrm >= 0x40);
}

/*
 * REX.W 01, 89, 8b, 8d or 87, and which ModRM bytes: mov and lea to the stack
 * pointer, xchg with it, and add of a register to it; not of what is by itself
 * or the frame pointer.
 */
static bool
moves_sp(const uint8_t *code, size_t n)
{
	uint8_t rex = code[0], op = code[1], modrm = code[2];

	if (op == 0x8d)
		return (rex & 0xfc) == 0x48 && (modrm & 0x38) == 0x20 &&
		       modrm < 0xc0 && (rex & 1 || !lea_own(code, n));
	if (op == 0x87)
		return (rex & 0xf8) == 0x48 &&
		       ((!(rex & 4) && (modrm & 0x38) == 0x20) ||
			(!(rex & 1) && (modrm & 0xc7) == 0xc4));
	if (op == 0x01)
		return (rex & 0xf9) == 0x48 && (modrm & 0xc7) == 0xc4;
	if (op == 0x89 && (rex & 0xf9) == 0x48 && (modrm & 0xc7) == 0xc4)
		return rex & 4 || (modrm != 0xe4 && modrm != 0xec);
	return op == 0x8b && (rex & 0xfc) == 0x48 && (modrm & 0x38) == 0x20 &&
	       (rex & 1 || (modrm != 0xe4 && modrm != 0xe5));
}

static bool
word_is(const uint8_t *code, uint32_t value)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word == value;
}

/*
 * Is wrgsbase at `at`?  f3 [rex] 0f ae /3 with a register, where `at` is the
 * offset of 0f (Intel SDM 2B, WRFSBASE/WRGSBASE).
 */
static bool
sets_gs_base(const uint8_t *code, size_t at, size_t n)
{
	return at && at + 2 < n && code[at + 1] == 0xae &&
	       code[at + 2] >> 6 == WRGSBASE_MOD &&
	       (code[at + 2] >> 3 & 7) == WRGSBASE_REG &&
	       (code[at - 1] == 0xf3 ||
		(at >= 2 && code[at - 1] >> 4 == 4 && code[at - 2] == 0xf3));
}

/* Are the four bytes at `at` the operand of a mov $value? */
static bool
moved_at(const uint8_t *code, size_t at, size_t n, uint32_t value)
{
	if (at + 4 > n || !at || !word_is(code + at, value))
		return false;
	return code[at - 1] >> 3 == MOV_REG >> 3 ||
	       (at >= 2 && code[at - 2] == MOV_RM) ||
	       (at >= 3 && code[at - 3] == MOV_RM);
}

/* Is arch_prctl's number loaded at `at`, and ARCH_SET_GS near it? */
static bool
calls_set_gs(const uint8_t *code, size_t at, size_t n)
{
	size_t lo = at > NEAR ? at - NEAR : 0;

	if (!moved_at(code, at, n, SYS_arch_prctl))
		return false;
	for (size_t i = lo; i < at + NEAR && i + 4 <= n; i++)
		if (moved_at(code, i, n, ARCH_SET_GS))
			return true;
	return false;
}

static enum hint_kind
hint_at(const uint8_t *code, size_t at, size_t n)
{
	if (at + 1 < n && code[at] == 0x0f && code[at + 1] == 0x05)
		return HINT_SYSCALL;
	if (at + 2 < n && moves_sp(code + at, n - at))
		return HINT_SWITCH;
	/* xchg %rax, %rsp */
	if (at + 1 < n && code[at] == 0x48 && code[at + 1] == 0x94)
		return HINT_SWITCH;
	if (code[at] == 0x0f && sets_gs_base(code, at, n))
		return HINT_THREAD_REG;
	if (code[at] == SYS_arch_prctl && calls_set_gs(code, at, n))
		return HINT_THREAD_REG;
	/* mov $ARCH_SET_GS, %edi: for a call of the library's arch_prctl. */
	if (code[at] == MOV_EDI && at + 5 <= n &&
	    word_is(code + at + 1, ARCH_SET_GS))
		return HINT_THREAD_REG_CALL;
	return HINT_NONE;
}

/* ---- many at once */

typedef uint8_t lanes __attribute__((vector_size(LANES)));
typedef uint64_t words __attribute__((vector_size(LANES)));

#define INLINE static inline __attribute__((always_inline))

INLINE void
lanes_load(const uint8_t *code, lanes *to)
{
	memcpy(to, code, sizeof(*to));
}

/*
 * Set bits of *found if hint_at may find a hint at one of LANES bytes, as far
 * as that byte and the two behind it tell.  Passes vectors by pointer, because
 * AVX changes how functions return them.
 */
INLINE void
lanes_look(const uint8_t *code, words *found)
{
	lanes a, b, c;

	lanes_load(code, &a);
	lanes_load(code + 1, &b);
	lanes_load(code + 2, &c);
	*found |= (words)((((a & 0xf9) == 0x48) & ((b == 0x89) | (b == 0x01)) &
			   ((c & 0xc7) == 0xc4)) |
			  (((a & 0xfc) == 0x48) & ((b == 0x8b) | (b == 0x8d)) &
			   ((c & 0x38) == 0x20)) |
			  (((a & 0xf8) == 0x48) & (b == 0x87)) |
			  ((a == 0x48) & (b == 0x94)) |
			  ((a == 0x0f) & ((b == 0x05) | (b == 0xae))) |
			  ((a == SYS_arch_prctl) & (b == 0)) |
			  ((b == (ARCH_SET_GS & 0xff)) &
			   (c == ARCH_SET_GS >> 8)));
}

/* Skip steps of STRIDE bytes from i on that have no hint. */
INLINE size_t
lanes_skip(const uint8_t *code, size_t n, size_t i)
{
	for (; i + STRIDE + 2 <= n; i += STRIDE) {
		words found = { 0 };

		for (size_t k = 0; k < STRIDE; k += LANES)
			lanes_look(code + i + k, &found);
		if (found[0] | found[1] | found[2] | found[3])
			break;
	}
	return i;
}

static __attribute__((target("avx2"))) size_t
skip_avx2(const uint8_t *code, size_t n, size_t i)
{
	return lanes_skip(code, n, i);
}

static size_t
skip(const uint8_t *code, size_t n, size_t i)
{
	return __builtin_cpu_supports("avx2") ? skip_avx2(code, n, i) :
						lanes_skip(code, n, i);
}

size_t
x86_hint(const uint8_t *code, size_t n, size_t from, enum hint_kind *kind)
{
	size_t i = from, end;

	while (i < n) {
		i = skip(code, n, i);
		end = n - i < STRIDE ? n : i + STRIDE;
		for (; i < end; i++) {
			*kind = hint_at(code, i, n);
			if (*kind)
				return i;
		}
	}
	return n;
}
