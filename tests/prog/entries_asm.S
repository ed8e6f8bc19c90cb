/*
 * Functions whose own jump has an unknown target, and that jumps from elsewhere
 * enter at one of their first bytes: see entries.c.
 */
#include "storing.h"

	.text

	storing	quiet
	storing	at_1
	storing	at_2
	storing	at_3
	storing	at_4
	storing	itself
	storing	forked
	/* The mark is as long as the jump but for one byte. */
	storing	marked, endbr64

	/* The same, but as another instruction's operand. */
	.globl	hidden
	.type	hidden, @function
	.p2align 4
hidden:
	mov	$0x90aaaaaa, %r8d
	mov	%rdi, %rax
	xchg	%rdx, %rcx
	jmp	*%rcx
	.size	hidden, . - hidden

	/* One that jumps to its own beginning, twice around in each call. */
	.globl	again
	.type	again, @function
	.p2align 4
again:
	stosb
	stosb
	stosb
	stosb
	stosb
	.globl	again_on
again_on:
	mov	%rdi, %rax
	xor	$1, %r8d
	jnz	again
	xchg	%rdx, %rcx
	jmp	*%rcx
	.size	again, . - again

	/* char *enter(char *at, const void *first, const void *second); */
	.globl	enter
	.type	enter, @function
enter:
	xor	%r8d, %r8d
	lea	done(%rip), %rcx
	test	%rdx, %rdx
	cmovz	%rcx, %rdx
	jmp	*%rsi
	.size	enter, . - enter

	.type	done, @function
done:
	ret
	.size	done, . - done

	.section .note.GNU-stack, "", @progbits
