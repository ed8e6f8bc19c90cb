/*
 * Code that a task runs for pmon: system calls, one after the other, and behind
 * them the restorer, by which the task goes on by itself.  That code needs no
 * stack and changes no flags, as all it does is moves, system calls and jumps.
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "arch/x86_64/regs.h"
#include "arch/x86_64/x86.h"
#include "util/fail.h"

/* General registers by their numbers in instructions. */
enum gpr {
	GPR_RAX = 0,
	GPR_RDX = 2,
	GPR_RSP = 4,
	GPR_RSI = 6,
	GPR_RDI = 7,
	GPR_R8 = 8,
	GPR_R9 = 9,
	GPR_R10 = 10,
	GPRS = 16,
};

static const uint8_t arguments[SYSCALL_ARGS] = {
	GPR_RDI, GPR_RSI, GPR_RDX, GPR_R10, GPR_R8, GPR_R9,
};

/* That of each result: a register that system calls leave alone. */
static const uint8_t results[INJECTED_MAX] = { 3, 5, 12, 13, 14, 15 };

/* The masks stand behind a jump over them: that of a stop, and the task's. */
enum { JUMP_SIZE = 2, MASK_SIZE = 8 };

/* Code that is being written: what there is no room for is only counted. */
struct writing {
	uint8_t *bytes;
	size_t n, size;
};

static void
put(struct writing *w, const void *bytes, size_t n)
{
	if (w->n + n <= w->size)
		memcpy(w->bytes + w->n, bytes, n);
	w->n += n;
}

/* mov $value, %reg */
static void
put_value(struct writing *w, unsigned reg, uint64_t value)
{
	bool wide = value > UINT32_MAX;
	uint8_t rex = 0x40 | wide << 3 | reg >> 3, opcode = 0xb8 | (reg & 7);

	if (rex != 0x40)
		put(w, &rex, 1);
	put(w, &opcode, 1);
	put(w, &value, wide ? 8 : 4);
}

/* mov %from, %to */
static void
put_move(struct writing *w, unsigned from, unsigned to)
{
	const uint8_t code[] = { 0x48 | from >> 3 << 2 | to >> 3, 0x89,
				 0xc0 | (from & 7) << 3 | (to & 7) };

	put(w, code, sizeof(code));
}

static void
put_syscall(struct writing *w, int nr)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 };

	put_value(w, GPR_RAX, (uint64_t)nr);
	put(w, syscall, sizeof(syscall));
}

/*
 * rt_sigprocmask(SIG_SETMASK, set, NULL, size of the set), with the one set and
 * then with the other
 */
static void
put_masks(struct writing *w, uint64_t va)
{
	put_value(w, GPR_RDI, SIG_SETMASK);
	put_value(w, GPR_RSI, va);
	put_value(w, GPR_RDX, 0);
	put_value(w, GPR_R10, MASK_SIZE);
	put_syscall(w, SYS_rt_sigprocmask);
	put_value(w, GPR_RSI, va + MASK_SIZE);
	put_syscall(w, SYS_rt_sigprocmask);
}

static void
put_call(struct writing *w, const struct syscall *call)
{
	for (unsigned i = 0; i < call->nargs; i++)
		if (call->taken == i + 1)
			put_move(w, results[0], arguments[i]);
		else
			put_value(w, arguments[i], call->args[i]);
	put_syscall(w, call->nr);
}

/* Behind the last system call: all registers but the flags, and the pc. */
static void
put_regs(struct writing *w, const struct regs *regs)
{
	static const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };

	for (unsigned i = 0; i < GPRS; i++)
		if (i != GPR_RSP)
			put_value(w, i, regs->r[x86_gprs[i]]);
	put(w, jump, sizeof(jump));
	put(w, &regs->r[X86_RIP], sizeof(uint64_t));
}

size_t
x86_injected_write(const struct injected *injected, uint64_t va, uint8_t *bytes,
		   size_t size)
{
	static const uint8_t jump[JUMP_SIZE] = { 0xeb, 2 * MASK_SIZE };
	struct writing w = { bytes, .size = size };

	must(injected->n <= INJECTED_MAX);
	put(&w, jump, sizeof(jump));
	put(&w, &injected->mask_stop, MASK_SIZE);
	put(&w, &injected->mask, MASK_SIZE);
	for (size_t i = 0; i < injected->n; i++) {
		put_call(&w, &injected->calls[i]);
		put_move(&w, GPR_RAX, results[i]);
	}
	put_masks(&w, va + JUMP_SIZE);
	put_regs(&w, &injected->regs);
	return w.n <= size ? w.n : 0;
}

int64_t
x86_injected_result(const struct regs *regs, size_t i)
{
	return (int64_t)regs->r[x86_gprs[results[i]]];
}
