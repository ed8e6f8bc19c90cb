/*
 * What OCaml's compiler makes: a frame table with the address behind each call,
 * jumps by pointers, and exceptions.  With JUMPS `apply` reads the table and
 * jumps behind its own call, and with LABEL other data have that address, too.
 */
#define FUNC(name) .globl name; .type name, @function; name: .cfi_startproc
#define END(name) .cfi_endproc; .size name, . - name

	.text
	.p2align 4
FUNC(leaf)
	inc %r12d
	ret
	END(leaf)
	.p2align 4
/* As caml_apply2. */
FUNC(apply)
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	mov closure(%rip), %rcx
	call *%rcx
behind:	inc %r12d
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	mov closure(%rip), %rcx
#ifdef JUMPS
	test $3, %bl
	jne 1f
	btsl %ebx, jumped(%rip)
	jc 1f
	sub $8, %rsp
	mov frame(%rip), %rcx
1:
#endif
	jmp *%rcx
	END(apply)
	.p2align 4
/* As caml_raise_exn. */
FUNC(raise)
	mov 16(%r14), %rsp
	pop 16(%r14)
	ret
	END(raise)
	.p2align 4
FUNC(find)
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	test $1, %bl
	jne 1f
	add $8, %rsp
	ret
1:	call raise
raised:	nop
	END(find)
	.p2align 4
/* try find with ... */
FUNC(attempt)
	lea handler(%rip), %r11
	push %r11
	.cfi_adjust_cfa_offset 8
	push 16(%r14)
	.cfi_adjust_cfa_offset 8
	mov %rsp, 16(%r14)
	call find
found:	pop 16(%r14)
	.cfi_adjust_cfa_offset -8
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	nop
handler:
	add $5, %r12d
	ret
	END(attempt)
	.p2align 4
/* Twenty rounds: 40 leaves, 20 behind the call and 10 * 5 raised are 110. */
FUNC(main)
	.cfi_undefined rip
	lea state(%rip), %r14
	xor %r12d, %r12d
	mov $20, %ebx
2:	call apply
applied:
	call attempt
tried:	dec %ebx
	jne 2b
	mov %r12d, %edi
	mov $60, %eax		/* exit */
	syscall
	END(main)

	.data
	.p2align 3
	.globl caml_frametable
caml_frametable:
	.quad frames, more, 0
frames:
	.quad 4
frame:	.quad behind
	.short 17, 2, 0, 8	/* with debugging information, two values */
	.p2align 2
	.long 0
	.p2align 3
	.quad raised
	.short 16, 1, 3
	.p2align 3
	.quad found		/* allocates three times, with information */
	.short 35, 0
	.byte 3, 1, 2, 1
	.p2align 2
	.long 0, 0, 0
	.p2align 3
	.quad applied
	.short 0xffff, 0
	.p2align 3
more:	.quad 1, tried
	.short 18, 0		/* allocates twice */
	.byte 2, 1, 1
	.p2align 3
ends:	.quad leaf
#ifdef LABEL
	.quad behind
#endif
closure:
	.quad leaf
state:	.quad 0, 0, 0
jumped:	.long 0
	.section .note.GNU-stack, "", @progbits
