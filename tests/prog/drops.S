/*
 * Calls whose targets drop or replace their return addresses: jumps, as to
 * control flow.  main calls each of the functions with 0 to 49.
 */
	.macro begin name
	.type \name, @function
\name:
	.cfi_startproc
	.endm

	.macro end name
	.cfi_endproc
	.size \name, . - \name
	.endm

	.text
	.globl main
begin main
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov $49, %ebx
1:	mov %ebx, %edi
	call inside
	mov %ebx, %edi
	call outside
	mov %ebx, %edi
	call replaced
	mov %ebx, %edi
	call kept
	dec %ebx
	jns 1b
	xor %eax, %eax
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
end main

/* Odd arguments come to `dropped` by a call, even ones otherwise. */
begin inside
	test $1, %edi
	je pushes
	call dropped
caught:	pause
	lfence
	jmp caught
pushes:	push %rax
dropped: lea 8(%rsp), %rsp
	dec %edi
	jns looped
	ret
looped:	sub $10, %edi
	jns looped
	ret
end inside

/* What it calls returns from it, unless the argument is a multiple of 4. */
begin outside
	test $3, %edi
	je spared
	call dropper
	ud2
spared:	nop
	ret
end outside

begin dropper
	endbr64
	add $8, %rsp
	ret
end dropper

/* Goes on in `goal` by a return. */
begin replaced
	lea goal(%rip), %rax
	call 1f
	ud2
1:	mov %rax, (%rsp)
	ret
end replaced

begin goal
	dec %edi
	jns 1f
	ret
1:	nop
	ret
end goal

/* Reads the return address, and goes on behind the call. */
begin kept
	call 1f
	dec %edi
	jns 2f
	ret
1:	pop %rcx
	lea 1(%rdi), %edi
	jmp *%rcx
2:	nop
	ret
end kept
	.section .note.GNU-stack, "", @progbits
