/*
 * Switches to an instruction's registers and back.
 */
#include "tests/lib/native.h"

/* 0x10000000 + 8 * index in struct regs; out is 0x100 after in. */
__asm__(".text\n"
	"native_switch:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14\n"
	"	push %r15\n"
	"	mov %rsp, 0x10000200\n"
	"	mov $0x10000090, %esp\n"
	"	popfq\n"
	"	mov 0x10000000, %r15; mov 0x10000008, %r14\n"
	"	mov 0x10000010, %r13; mov 0x10000018, %r12\n"
	"	mov 0x10000020, %rbp; mov 0x10000028, %rbx\n"
	"	mov 0x10000030, %r11; mov 0x10000038, %r10\n"
	"	mov 0x10000040, %r9; mov 0x10000048, %r8\n"
	"	mov 0x10000050, %rax; mov 0x10000058, %rcx\n"
	"	mov 0x10000060, %rdx; mov 0x10000068, %rsi\n"
	"	mov 0x10000070, %rdi; mov 0x10000098, %rsp\n"
	"	jmp *0x10000208\n"
	"native_exit_next:\n"
	"	movq $0, 0x10000180\n"
	"	jmp 1f\n"
	"native_exit_taken:\n"
	"	movq $1, 0x10000180\n"
	"1:	mov %rsp, 0x10000198\n"
	"	mov $0x10000198, %esp\n"
	"	pushfq\n"
	"	cld\n"
	"	mov %r15, 0x10000100; mov %r14, 0x10000108\n"
	"	mov %r13, 0x10000110; mov %r12, 0x10000118\n"
	"	mov %rbp, 0x10000120; mov %rbx, 0x10000128\n"
	"	mov %r11, 0x10000130; mov %r10, 0x10000138\n"
	"	mov %r9, 0x10000140; mov %r8, 0x10000148\n"
	"	mov %rax, 0x10000150; mov %rcx, 0x10000158\n"
	"	mov %rdx, 0x10000160; mov %rsi, 0x10000168\n"
	"	mov %rdi, 0x10000170; popq 0x10000190\n"
	"	mov 0x10000200, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n");

struct native *const native = (struct native *)NATIVE_BASE;

uint8_t *const native_scratch = (uint8_t *)NATIVE_SCRATCH;

void
native_map(uint64_t va, size_t size, int prot)
{
	void *p = mmap((void *)va, size, prot,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		       0);

	if (p != (void *)va)
		abort();
}

void
native_open(void)
{
	native_map(NATIVE_BASE, 4096, PROT_READ | PROT_WRITE);
	native_map(NATIVE_CODE, NATIVE_CODE_SIZE,
		   PROT_READ | PROT_WRITE | PROT_EXEC);
	native_map(NATIVE_SCRATCH, 4096, PROT_READ | PROT_WRITE);
	native->exits[0] = (uint64_t)native_exit_next;
	native->exits[1] = (uint64_t)native_exit_taken;
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, UINT64_C(0x123456789000)))
		abort();
}

void
native_segments(struct regs *regs)
{
	if (syscall(SYS_arch_prctl, ARCH_GET_FS, &regs->r[X86_FS_BASE]) ||
	    syscall(SYS_arch_prctl, ARCH_GET_GS, &regs->r[X86_GS_BASE]))
		abort();
}

void
native_landing(uint64_t va, int taken)
{
	uint8_t *p = (uint8_t *)va;
	uint32_t slot = (uint32_t)(uint64_t)&native->exits[taken];

	memcpy(p, (uint8_t[]){ 0xff, 0x24, 0x25 }, 3);	/* jmp *slot */
	memcpy(p + 3, &slot, 4);
}

void
native_run(uint64_t va, const struct regs *in, struct regs *out)
{
	memcpy(native->in, in->r, sizeof(native->in));
	native->code = va;
	native_switch();
	*out = *in;
	memcpy(out->r, native->out, sizeof(native->out));
}
