/*
 * A jump table two of whose four entries lead out of the function, by hand.
 * main calls f 40 times, of which half go by the table: f's own cases get 5
 * each, g gets 10.
 */
	.text
	.globl	main
	.type	main, @function
main:
	push	%rbx
	xor	%ebx, %ebx
1:	mov	%ebx, %edi
	and	$7, %edi
	call	f
	inc	%ebx
	cmp	$40, %ebx
	jne	1b
	pop	%rbx
	xor	%eax, %eax
	ret
	.size	main, . - main

	.type	f, @function
f:	cmp	$3, %edi
	ja	4f
	lea	table(%rip), %rdx
	mov	%edi, %edi
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
2:	mov	$1, %eax
	ret
3:	mov	$2, %eax
	ret
4:	xor	%eax, %eax
	ret
	.size	f, . - f
	.skip	16, 0x90

	.type	g, @function
g:	mov	$5, %eax
	ret
	.size	g, . - g

	.section .rodata
	.align	4
table:	.long	2b - table, g - table, 3b - table, g - table
	.section .note.GNU-stack, "", @progbits
