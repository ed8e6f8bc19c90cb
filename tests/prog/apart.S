# Code at which no statement begins (is_stmt 0), behind code that control never
# leaves to it: main calls f(0), f(0) and f(1).
	.file	1 "apart.c"

	.text
	.globl	main
	.type	main, @function
main:
	.loc	1 1 0
	push	%rbx
	.loc	1 2 0
	xor	%edi, %edi
	call	f
	xor	%edi, %edi
	call	f
	mov	$1, %edi
	call	f
	.loc	1 3 0
	xor	%eax, %eax
	pop	%rbx
	ret
	.size	main, . - main

# Line 13 never runs; the code behind it is of line 11, which leads there.
	.p2align 4
	.type	f, @function
f:
	.loc	1 10 0
	push	%rbx
	.loc	1 11 0
	test	%edi, %edi
	je	1f
	.loc	1 12 0
2:	cmp	$2, %edi
	je	3f
	.loc	1 14 0
	pop	%rbx
	ret
	.loc	1 13 0
3:	call	abort@plt
	.p2align 4
	.loc	1 11 0 is_stmt 0
1:	inc	%edi
	.loc	1 15 0 is_stmt 1
	jmp	2b
	.size	f, . - f

# No statement begins at its first row: that is not of the line in front of it.
	.p2align 4
	.type	g, @function
	.globl	g
g:
	.loc	1 20 0 is_stmt 0
	nop
	.loc	1 21 0 is_stmt 1
	ret
	.size	g, . - g
	.section .note.GNU-stack,"",@progbits
