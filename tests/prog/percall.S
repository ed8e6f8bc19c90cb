/*
 * Functions of which each call has a known number of instructions: see per.t.
 * What libraries do is not among them, as calls of these go through no stub.
 */
	.text
	.macro function name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.endm

	/* 2 n + 2 */
	function loop
	mov	%edi, %ecx
1:	dec	%ecx
	jnz	1b
	ret
	.cfi_endproc
	.size	loop, . - loop

	/* 5, and loop(3), loop(5) */
	function nest
	mov	$3, %edi
	call	loop
	mov	$5, %edi
	call	loop
	ret
	.cfi_endproc
	.size	nest, . - nest

	/* 5 n + 3 */
	function rec
	test	%edi, %edi
	jz	1f
	dec	%edi
	call	rec
1:	ret
	.cfi_endproc
	.size	rec, . - rec

	/* 2: what it jumps to is its caller's */
	function tail
	mov	$4, %edi
	jmp	loop
	.cfi_endproc
	.size	tail, . - tail

	/* One instruction: what begins its only call ends it. */
	function nothing
	ret
	.cfi_endproc
	.size	nothing, . - nothing

	/* 3 for each level, 5 for the last; what follows never runs */
	function dive
	dec	%edi
	jz	1f
	call	dive
	nop
	nop
	ret
1:	lea	buf(%rip), %rdi
	mov	$1, %esi
	call	*longjmp@GOTPCREL(%rip)
	nop
	ret
	.cfi_endproc
	.size	dive, . - dive

	/* 7 and, when that has come back, 4 */
	function back
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	lea	buf(%rip), %rdi
	call	*_setjmp@GOTPCREL(%rip)
	test	%eax, %eax
	jnz	1f
	mov	$3, %edi
	call	dive
1:	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	back, . - back

	/* 2 */
	function caught
	mov	$1, %eax
	ret
	.cfi_endproc
	.size	caught, . - caught

	/* 5, and caught */
	function struck
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	mov	$10, %edi
	call	*raise@GOTPCREL(%rip)
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	struck, . - struck

	/* 4: it does not return */
	function strike
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	lea	buf(%rip), %rdi
	mov	$1, %esi
	call	*longjmp@GOTPCREL(%rip)
	ud2
	.cfi_endproc
	.size	strike, . - strike

	/*
	 * 7, of which the last does not end, with strike; and then 4.  The block
	 * has more.
	 */
	function jolt
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	lea	buf(%rip), %rdi
	call	*_setjmp@GOTPCREL(%rip)
	test	%eax, %eax
	jnz	1f
	xor	%eax, %eax
	mov	(%rax), %eax
	nop
	nop
	nop
1:	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	jolt, . - jolt

	/* 3 for each level, 4 for the last */
	function leave
	dec	%edi
	jz	1f
	call	leave
	nop
	ret
1:	mov	$7, %edi
	call	*exit@GOTPCREL(%rip)
	ud2
	.cfi_endproc
	.size	leave, . - leave

	function main
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbx, -16
	mov	$10, %edi
	lea	caught(%rip), %rsi
	call	*signal@GOTPCREL(%rip)
	mov	$11, %edi
	lea	strike(%rip), %rsi
	call	*sysv_signal@GOTPCREL(%rip)
	mov	$20, %ebx
1:	mov	%ebx, %edi
	call	loop
	call	nest
	mov	%ebx, %edi
	call	rec
	call	tail
	call	nothing
	call	back
	call	struck
	dec	%ebx
	jnz	1b
	call	jolt
	mov	$4, %edi
	call	leave
	nop
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	main, . - main

	.bss
	.p2align 4
buf:	.zero	512
	.section .note.GNU-stack, "", @progbits
