/* A function like those of entries_asm.S, for a library. */
	.text
	.globl	unloaded
	.type	unloaded, @function
unloaded:
	stosb
	stosb
	stosb
	stosb
	stosb
	mov	%rdi, %rax
	xchg	%rdx, %rcx
	jmp	*%rcx
	.size	unloaded, . - unloaded

	.section .note.GNU-stack, "", @progbits
