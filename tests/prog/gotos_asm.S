/*
 * Functions that jump as far behind a label as their first argument says: to
 * an instruction that a patch at the label overwrites, or to the middle of one.
 * They go round as often as the second says, or not at all.
 */
	.text
	.globl	enters
	.type	enters, @function
enters:
	xorl	%eax, %eax
	leaq	enters_label(%rip), %rdx
	addq	%rdi, %rdx
	testl	%esi, %esi
	js	1f
	jmp	*%rdx
enters_label:
	incl	%eax
	addl	$2, %eax
	subl	$1, %esi
	jg	enters_label
1:	ret
	.size	enters, .-enters

	.globl	imm
	.type	imm, @function
imm:
	xorl	%eax, %eax
	leaq	imm_label(%rip), %rdx
	addq	%rdi, %rdx
	testl	%esi, %esi
	js	1f
	jmp	*%rdx
imm_label:
	movl	$0xc3909090, %eax	/* nop; nop; nop; ret */
	subl	$1, %esi
	jg	imm_label
1:	ret
	.size	imm, .-imm

	.data
	.quad	enters_label, imm_label
	.section .note.GNU-stack, "", @progbits
