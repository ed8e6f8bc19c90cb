/*
 * NEVER functions of 1 KB that never run, each with three edges between its
 * blocks, and one that runs, with one edge that is taken and two that are not.
 */
	.altmacro
	.macro	one name
	.globl	\name
	.type	\name, @function
\name:
	test	%edi, %edi
	jz	1f
	.fill	1000, 1, 0x90
1:
	mov	$0, %eax
	ret
	.size	\name, . - \name
	.endm
	.macro	never n
	one	never_\n
	.endm

	.text
	.set	n, 0
	.rept	NEVER
	never	%n
	.set	n, n + 1
	.endr
	one	main
	.section .note.GNU-stack, "", @progbits
