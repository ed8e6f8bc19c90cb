/*
 * Data in the midst of a function that jumps to places which are not known.
 * middle(where, n) sets where[0] and where[1] to the addresses of two of them,
 * and returns a sum of the bytes of the third:
 *	stored is no code, though it begins with instructions;
 *	lonely is sound code, but leads to nothing;
 *	looks is a jump to the function's code, which is read, and whose address
 *		is kept on the stack.
 */
	.text
	.globl middle
	.type middle, @function
middle:
	.cfi_startproc
	lea stored(%rip), %rax
	mov %rax, (%rdi)
	lea lonely(%rip), %rax
	mov %rax, 8(%rdi)
	cmp $3, %rsi
	jae third
	lea places(%rip), %rcx
	movslq (%rcx,%rsi,4), %rdx
	add jump_offset(%rip), %rdx
	add %rcx, %rdx
	jmp *%rdx
first:
	nop
second:
	inc %esi
third:
	lea looks(%rip), %rcx
	movzbl (%rcx), %eax
	mov %rcx, -8(%rsp)
	movzbl 1(%rcx), %edx
	imul $3, %edx
	add %edx, %eax
	movzbl 2(%rcx), %edx
	imul $5, %edx
	add %edx, %eax
	ret
looks:
	.byte 0xe9
	.long third - . - 4
lonely:
	nop
	nop
	nop
	nop
	nop
	ret
stored:
	.byte 0x0f, 0x85
	.long third - . - 4
	.byte 0x06
	.cfi_endproc
	.size middle, . - middle

	.section .rodata
	.align 4
places:
	.long first - places
	.long second - places
	.long third - places

	.data
jump_offset:
	.quad 0
	.section .note.GNU-stack, "", @progbits
