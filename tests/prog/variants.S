/*
 * A function that a variant in front of it enters three bytes behind its entry,
 * as glibc's mempcpy does memmove.  main calls each 2000 times; what follows is
 * run 4000 times, for even and odd numbers as often.
 */
	.text
	.globl	main
	.type	main, @function
main:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	xor	%ebx, %ebx
1:	mov	%ebx, %edi
	call	sum
	mov	%ebx, %edi
	call	twice
	inc	%ebx
	cmp	$2000, %ebx
	jne	1b
	pop	%rbx
	.cfi_def_cfa_offset 8
	sub	$4000, %eax
	ret
	.cfi_endproc
	.size	main, . - main

	.p2align 6
	.type	twice, @function
twice:	.cfi_startproc
	mov	%rdi, %rax
	add	%rdi, %rax
	jmp	2f
	.cfi_endproc
	.size	twice, . - twice

	.p2align 4
	.type	sum, @function
sum:	.cfi_startproc
	mov	%rdi, %rax
2:	test	$1, %dil
	jz	3f
	add	$2, %rax
	ret
	.skip	6, 0x90
3:	inc	%rax
	ret
	.cfi_endproc
	.size	sum, . - sum
	.section .note.GNU-stack, "", @progbits
