/*
 * As Go makes room on its stacks: a function that finds too little, or is to
 * let others run, calls morestack, which goes on with newstack on a stack of
 * its own.  That goes on behind the call, perhaps on a larger stack, and the
 * function begins anew.  Neither morestack nor newstack ever returns.
 */
#define FUNC(name) .globl name; .type name, @function; name
#define END(name) .size name, . - name

	.text
	.p2align 5
FUNC(deep):
	cmp limit(%rip), %rsp
	jbe 2f
	sub $8, %rsp
	test %edi, %edi
	je 1f
	dec %edi
	call deep
	inc %eax
	add $8, %rsp
	ret
1:	xor %eax, %eax
	add $8, %rsp
	ret
2:	call morestack
	jmp deep
	END(deep)
	.p2align 5, 0xcc
FUNC(morestack):
	mov (%rsp), %rax
	mov %rax, pc(%rip)
	lea 8(%rsp), %rax
	mov %rax, sp(%rip)
	mov system(%rip), %rsp
	call newstack
	ud2
	END(morestack)
	.p2align 5, 0xcc
FUNC(newstack):
	push %rdi
	lea small(%rip), %rax
	xchg %rax, limit(%rip)
	cmpl $-1, %eax
	je 4f
	/* The small stack is full: go on with what it holds on the large. */
	lea large(%rip), %rax
	mov %rax, limit(%rip)
	lea small_end(%rip), %rcx
	sub sp(%rip), %rcx
	mov sp(%rip), %rsi
	lea large_end(%rip), %rdi
	sub %rcx, %rdi
	mov %rdi, sp(%rip)
	rep movsb
4:	pop %rdi
	mov sp(%rip), %rsp
	jmp *pc(%rip)
	END(newstack)
	.p2align 5, 0xcc
/*
 * Five calls with four more inside each, which are to let others run: 25 of
 * deep, five of morestack.  Five with twenty inside, the first of which needs
 * the large stack: 105 of deep, one of morestack.  The sum is 5 * 4 + 5 * 20.
 */
FUNC(main):
	lea small_end(%rip), %rsp
	xor %ebp, %ebp
	mov $10, %ebx
3:	mov $20, %edi
	cmp $6, %ebx
	jl 5f
	mov $4, %edi
	movq $-1, limit(%rip)
5:	call deep
	add %eax, %ebp
	dec %ebx
	jne 3b
	mov %ebp, %edi
	mov $60, %eax		/* exit */
	syscall
	END(main)

	.data
limit:	.quad 0
system:	.quad system_end
pc:	.quad 0
sp:	.quad 0
	.bss
	.p2align 4
	.skip 4096
system_end:
	.skip 4096
small:	.skip 256
small_end:
	.skip 4096
large:	.skip 4096
large_end:
	.section .note.GNU-stack, ""
