/*
 * The fake host's processor: does the instructions that pmon's emulator knows,
 * by that emulator, which tests/unit/emul.c compares with the real processor,
 * and those with which relocated functions count.  System calls and traps are
 * the kernel's.
 */
#include "tests/lib/fake_kernel.h"

#include <string.h>

static int
task_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	struct fake_task *task = ctx;

	return fake_mm_move(task->process->mm, va, buf, len, false, true) ? 0 :
									    -1;
}

static int
task_write(void *ctx, uint64_t va, const void *buf, size_t len)
{
	struct fake_task *task = ctx;

	return fake_mm_move(task->process->mm, va, (void *)buf, len, true,
			    true) ?
		       0 :
		       -1;
}

/*
 * op %gs:disp32 with 64 bits: inc, or a move from or to rax.  -1 if it is not
 * one of these.
 */
static int
gs_insn(struct fake_task *task, const uint8_t *code)
{
	enum { LEN = 9, INC = 0xff, STORE = 0x89, LOAD = 0x8b };
	uint64_t *r = task->regs.r, at, value;
	int32_t disp;

	if (code[0] != 0x65 || code[1] != 0x48 || code[3] != 0x04 ||
	    code[4] != 0x25)
		return -1;
	memcpy(&disp, code + 5, sizeof(disp));
	at = r[X86_GS_BASE] + (uint64_t)(int64_t)disp;
	if (task_read(task, at, &value, sizeof(value)))
		return -1;
	if (code[2] == LOAD)
		r[X86_RAX] = value;
	else if (code[2] == STORE)
		value = r[X86_RAX];
	else if (code[2] != INC)
		return -1;
	/* pmon counts so where nobody uses the flags; they become wrong. */
	if (code[2] == INC) {
		value++;
		r[X86_EFLAGS] ^= X86_ZF | X86_SF;
	}
	if (code[2] != LOAD && task_write(task, at, &value, sizeof(value)))
		return -1;
	r[X86_RIP] += LEN;
	return 0;
}

enum fake_insn
fake_insn(struct fake_task *task)
{
	enum { CODE_MAX = 15 };
	struct memory memory = { task_read, task_write, task };
	uint64_t pc = task->regs.r[X86_RIP];
	uint8_t code[CODE_MAX] = { 0 };
	size_t n = CODE_MAX;
	struct emul emul;

	while (n && !fake_mm_move(task->process->mm, pc, code, n, false, false))
		n--;
	if (n >= 2 && code[0] == 0x0f && code[1] == 0x05) {
		task->regs.r[X86_RIP] = pc + 2;
		return FAKE_INSN_CALL;
	}
	if (n && code[0] == 0xcc) {
		task->regs.r[X86_RIP] = pc + 1;
		return FAKE_INSN_TRAP;
	}
	if (!gs_insn(task, code))
		return FAKE_INSN_DONE;
	if (!n || arch_x86_64.emul_prepare(code, n, pc, &emul) ||
	    arch_x86_64.emul_run(&emul, &task->regs, &memory) == EMUL_FAULT)
		return FAKE_INSN_BAD;
	return FAKE_INSN_DONE;
}
