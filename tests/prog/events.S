# A static program without a C library whose every instruction says how often
# it runs, R being the number of rounds, and of which classes (--event) it is.
# A branch says how often it is taken.  With POINTER, which must not be counted
# on, control gets to the middle of a function by an unaligned pointer.

	.text
	.globl	_start
	.type	_start, @function
_start:
	mov	$ROUNDS, %ebx		# 1:
loop:	call	work			# R: call store
	dec	%ebx			# R:
	jnz	loop			# R: branch taken=R-1
	xor	%edi, %edi		# 1:
	mov	$60, %eax		# 1:
	syscall				# 1: syscall
	.size	_start, . - _start

	.globl	work
	.type	work, @function
work:
	push	%rbx			# R: store
	mov	word(%rip), %rax	# R: load
	mov	%rax, word(%rip)	# R: store
	add	$1, %rax		# R:
	addq	$1, word(%rip)		# R: load store
	lea	word(%rip), %rsi	# R:
	lock incq (%rsi)		# R: load store atomic
	xchg	%rax, (%rsi)		# R: load store atomic
	cmp	$1, %rax		# R:
	nopw	8(%rax, %rax)		# R:
	prefetcht0 (%rsi)		# R:
	mov	$7, %eax		# R:
	xor	%edx, %edx		# R:
	mov	$3, %ecx		# R:
	div	%ecx			# R: div
	cvtsi2sd %ecx, %xmm0		# R: float
	movapd	%xmm0, %xmm1		# R: vector
	divsd	%xmm1, %xmm0		# R: float div
	movss	one(%rip), %xmm2	# R: load
	mulps	%xmm2, %xmm2		# R: float vector
	paddd	%xmm2, %xmm2		# R: vector
	movups	%xmm2, buffer(%rip)	# R: store vector
	fld1				# R:
	fadd	%st, %st		# R: float
	fstpl	buffer(%rip)		# R: store
	lea	buffer(%rip), %rdi	# R:
	xor	%eax, %eax		# R:
	mov	$5, %ecx		# R:
	rep stosb			# R: store string
	lea	leaf(%rip), %rax	# R:
	call	*%rax			# R: call indirect store
#ifdef POINTER
	jmp	*pointer(%rip)		# R: jump indirect load
#else
	mov	$1, %eax		# R:
	cmp	$1, %eax		# R:
	ja	out			# R: branch taken=0
	jmp	*table(, %rax, 8)	# R: jump indirect load
#endif
	hlt				# 0:
next:	mov	$3, %ecx		# R:
inner:	dec	%ecx			# 3*R:
	jne	inner			# 3*R: branch taken=2*R
	jmp	out			# R: jump
	hlt				# 0:
out:	test	%ecx, %ecx		# R:
	js	out			# R: branch taken=0
	pop	%rbx			# R: load
	ret				# R: return load
	.size	work, . - work

	.globl	leaf
	.type	leaf, @function
leaf:
	ret				# R: return load
	.size	leaf, . - leaf

	.data
word:	.quad	7
buffer:	.fill	64
one:	.float	1
pointer:.quad	next
	.section .rodata
	.balign	8
table:	.quad	out, next
	.section .note.GNU-stack, "", @progbits
