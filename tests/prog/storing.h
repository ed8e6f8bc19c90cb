/*
 * storing NAME [MARKS]: a function that stores al once for each byte of its
 * beginning that runs, and goes on to an unknown place.
 */
	.macro	storing name, marks=
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	\marks
	stosb
	stosb
	stosb
	stosb
	stosb
	mov	%rdi, %rax
	xchg	%rdx, %rcx
	jmp	*%rcx
	.cfi_endproc
	.size	\name, . - \name
	.endm
