/*
 * Runs the instructions of stack switches on copies of a task's registers and
 * memory, and keeps those of the last few switches ready to be run: to decode
 * them takes longer.  Changes nothing in the task.
 */
#include "monitor/unwind/switch_code.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* A byte that emulated instructions have written, which memory has not yet. */
struct written {
	uint64_t va;
	uint8_t byte;
};

struct copy {
	struct stack *stack;
	pid_t tid;
	struct written *written;
	size_t n;
};

static int
copy_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	struct copy *copy = ctx;

	if (stack_read(copy->stack, copy->tid, va, buf, len))
		return -1;
	for (size_t i = 0; i < copy->n; i++)
		if (copy->written[i].va - va < len)
			((uint8_t *)buf)[copy->written[i].va - va] =
				copy->written[i].byte;
	return 0;
}

static int
copy_write(void *ctx, uint64_t va, const void *buf, size_t len)
{
	struct copy *copy = ctx;

	for (size_t i = 0; i < len; i++)
		*vec_push(copy->written, copy->n) = (struct written){
			va + i,
			((const uint8_t *)buf)[i],
		};
	return 0;
}

/* ---- instructions that are ready */

/* One that does something to registers or memory, as far as pmon can tell. */
struct ready {
	uint64_t va;
	struct emul emul;
};

/*
 * The code of a hook, these bytes at va.  What is ready follows from the bytes
 * alone, so nobody needs to say when an image has gone.
 */
struct code {
	const struct arch *arch;
	uint64_t va, end;	/* at end is the last instruction */
	uint8_t *bytes;
	size_t len;
	struct ready *ready;
	size_t n;
};

static void
code_clear(struct code *code)
{
	free(code->bytes);
	free(code->ready);
	*code = (struct code){ 0 };
}

static int
code_make(struct code *code, const struct image *image, uint64_t bias,
	  const struct hook *hook)
{
	const struct arch *arch = image->arch;
	uint64_t addr = hook->addr;
	const uint8_t *bytes;
	struct insn insn;
	struct emul emul;
	size_t avail;

	code_clear(code);
	code->arch = arch;
	code->va = addr + bias;
	code->end = hook->end + bias;
	for (; addr <= hook->end; addr += insn.len) {
		bytes = image_text(image, addr, &avail);
		if (!bytes || arch->decode(bytes, avail, addr, &insn))
			return -1;
		for (unsigned i = 0; i < insn.len; i++)
			*vec_push(code->bytes, code->len) = bytes[i];
		/* The others do not change registers: see hook_find. */
		if (!arch->emul_prepare(bytes, avail, addr + bias, &emul))
			*vec_push(code->ready,
				  code->n) = (struct ready){ addr + bias,
							     emul };
	}
	return 0;
}

static bool
code_is(const struct code *code, const struct image *image, uint64_t bias,
	const struct hook *hook)
{
	const uint8_t *bytes;
	size_t avail;

	if (code->arch != image->arch || code->va != hook->addr + bias ||
	    code->end != hook->end + bias)
		return false;
	bytes = image_text(image, hook->addr, &avail);
	return bytes && avail >= code->len &&
	       !memcmp(bytes, code->bytes, code->len);
}

/* The code of a hook, good until the next call; or NULL. */
static const struct code *
code_get(const struct image *image, uint64_t bias, const struct hook *hook)
{
	static struct code codes[16];
	static unsigned next;
	const size_t n = sizeof(codes) / sizeof(codes[0]);
	struct code *code;

	for (size_t i = 0; i < n; i++)
		if (code_is(&codes[i], image, bias, hook))
			return &codes[i];
	code = &codes[next++ % n];
	if (!code_make(code, image, bias, hook))
		return code;
	code_clear(code);
	return NULL;
}

int
switch_code_run(struct stack *stack, pid_t tid, const struct image *image,
		uint64_t bias, const struct hook *hook, struct regs *regs)
{
	const struct code *code = code_get(image, bias, hook);
	struct copy copy = { stack, tid, NULL, 0 };
	const struct memory memory = { copy_read, copy_write, &copy };
	int err = code ? 0 : -1;

	for (size_t i = 0; !err && i < code->n; i++) {
		regs->r[code->arch->reg_pc] = code->ready[i].va;
		if (code->arch->emul_run(&code->ready[i].emul, regs, &memory) ==
		    EMUL_FAULT)
			err = -1;
	}
	free(copy.written);
	return err;
}
