/*
 * Functions that take the address of a place in the middle of their code.
 * `fall` is called 10 times with each of 0 to 4; with 3 it jumps to `jumper`,
 * which comes back to the place; else control falls to it.  The place is the
 * head of a loop that goes round n + 1 times.  `stored` only stores the
 * address, and nothing ever jumps there.
 */
	.text
	.globl main
	.type main, @function
main:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov $49, %ebx
1:	mov %ebx, %eax
	xor %edx, %edx
	mov $5, %ecx
	div %ecx
	mov %edx, %edi
	call fall
	call stored
	dec %ebx
	jns 1b
	xor %eax, %eax
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size main, . - main

	.type fall, @function
fall:
	.cfi_startproc
	lea fall_place(%rip), %rdx
	cmp $3, %edi
	je fall_away
	inc %eax
	.globl fall_place
	.hidden fall_place
fall_place:
	inc %eax
	dec %edi
	jns fall_place
	ret
fall_away:
	jmp jumper
	.cfi_endproc
	.size fall, . - fall

	.type jumper, @function
jumper:
	.cfi_startproc
	xor %esi, %esi
	jmp *%rdx
	.cfi_endproc
	.size jumper, . - jumper

	.type stored, @function
stored:
	.cfi_startproc
	lea stored_place(%rip), %rax
	mov %rax, -8(%rsp)
stored_place:
	mov %rsp, %rcx
	ret
	.cfi_endproc
	.size stored, . - stored
	.section .note.GNU-stack, "", @progbits
