# Functions of few instructions, each instruction a line of its own and so a
# site of its own.  A line's comment says how often it is entered when its
# function is called R times.

	.macro	function name
	.globl	\name
	.type	\name, @function
	.align	16
\name:
	.endm
	.macro	finish name
	.size	\name, . - \name
	.endm

	.text
	function ret_only
	ret				# x R
	finish	ret_only

# Sites of one byte each, side by side.
	function adjacent
	nop				# x R
	nop				# x R
	push	%rax			# x R
	clc				# x R
	stc				# x R
	cmc				# x R
	pop	%rax			# x R
	cld				# x R
	ret				# x R
	finish	adjacent

# A loop of one instruction is one line: it counts its iterations.
	function loop_self
	mov	%rdi, %rcx		# x R
1:	loop	1b			# x R * 10
	mov	%rdi, %rcx		# x R
2:	dec	%rcx			# x R * 10
	jnz	2b			# x R * 10
	ret				# x R
	finish	loop_self

# A loop that begins where the function does is not called by its iterations.
	function head_is_entry
	dec	%rdi			# x R * 10
	jnz	head_is_entry		# x R * 10
	ret				# x R
	finish	head_is_entry

	function self_is_entry
	dec	%rdi			# x R * 10
	jz	2f			# x R * 10
	jmp	self_is_entry		# x R * 9
2:	ret				# x R
	finish	self_is_entry

# A repeated instruction is one, though a single step does one repetition.
	function rep_first
	mov	%rdx, %rcx		# x R * 2
	rep movsb			# x R * 2
	mov	%rdi, %rax		# x R * 2
	sub	%rsi, %rax		# x R * 2
	sub	%rax, %rax		# x R * 2
	mov	%rdx, %rcx		# x R * 2
	lea	-1(%rsi), %rsi		# x R * 2
	xor	%eax, %eax		# x R * 2
	std				# x R * 2
	rep lodsb			# x R * 2
	cld				# x R * 2
	ret				# x R * 2
	finish	rep_first

# The trap flag of a single step must not be seen.
	function flags_first
	pushfq				# x R
	pop	%rax			# x R
	and	$0x100, %eax		# x R
	push	%rax			# x R
	pushfq				# x R
	popfq				# x R
	pop	%rax			# x R
	ret				# x R
	finish	flags_first

# Loading ss holds back the trap of a single step for one instruction more.
	function stack_segment
	mov	%ss, %eax		# x R
	mov	%eax, %ss		# x R
	nop				# x R
	nop				# x R
	mov	%eax, %ss		# x R
	mov	$5, %eax		# x R
	ret				# x R
	finish	stack_segment

# The system call leaves its return address in rcx and the flags in r11.
	function syscall_first
	mov	%rdi, %rax		# x R
	syscall				# x R
1:	lea	1b(%rip), %rdx		# x R
	sub	%rdx, %rcx		# x R
	add	%rcx, %rax		# x R
	and	$0x100, %r11d		# x R
	add	%r11, %rax		# x R
	ret				# x R
	finish	syscall_first

	function call_first
	call	four			# x R
	inc	%eax			# x R
	ret				# x R
	finish	call_first

# Where a call says that it returns to is the original place.
	function four
	mov	(%rsp), %rdx		# x R * 2
	lea	call_first(%rip), %rcx	# x R * 2
	sub	%rcx, %rdx		# x R * 2
	mov	$4, %eax		# x R * 2
	ret				# x R * 2
	finish	four

	function jump_first
	jmp	*address_of_five(%rip)	# x R
	finish	jump_first

	function five
	mov	$5, %eax		# x R * 2
	ret				# x R * 2
	finish	five

	function jump_memory_first
	push	address_of_five(%rip)	# x R
	ret				# x R
	finish	jump_memory_first

	function call_memory_first
	call	*address_of_four(%rip)	# x R
	ret				# x R
	finish	call_memory_first

	function rip_first
	mov	forty(%rip), %rax	# x R
	cmpq	$40, forty(%rip)	# x R
	sete	%cl			# x R
	movzbl	%cl, %ecx		# x R
	add	%rcx, %rax		# x R
	addq	$1, scratch(%rip)	# x R
	vzeroupper			# x R
	ret				# x R
	finish	rip_first

	function lea_first
	lea	lea_first_to(%rip), %rax	# x R
	ret				# x R
	finish	lea_first

# Called with 0 and 1 in turn: R is even.
	function jrcxz_first
	mov	%rdi, %rcx		# x R
	jrcxz	1f			# x R
	mov	$1, %eax		# x R / 2
	ret				# x R / 2
1:	mov	$2, %eax		# x R / 2
	ret				# x R / 2
	finish	jrcxz_first

	function lock_first
	lock incq (%rdi)		# x R
	mov	$3, %eax		# x R
	lock xadd %rax, (%rdi)		# x R
	xchg	%rax, (%rdi)		# x R
	ret				# x R
	finish	lock_first

	function push_first
	push	%rbp			# x R
	mov	%rsp, %rbp		# x R
	push	$-1			# x R
	push	%rdi			# x R
	push	$0x12345678		# x R
	pop	%rax			# x R
	pop	%rcx			# x R
	pop	%rdx			# x R
	sub	$64, %rsp		# x R
	mov	%rdi, 8(%rsp)		# x R
	mov	8(%rsp), %esi		# x R
	movq	$77, (%rsp)		# x R
	movb	$1, 3(%rsp)		# x R
	add	(%rsp), %rax		# x R
	add	%rcx, %rax		# x R
	add	%rdx, %rax		# x R
	add	%rsi, %rax		# x R
	push	%rsp			# x R
	pop	%rcx			# x R
	sub	%rsp, %rcx		# x R
	add	%rcx, %rax		# x R
	add	$64, %rsp		# x R
	leave				# x R
	ret				# x R
	finish	push_first

# What lies below the stack pointer belongs to the function.
	function red_zone
	mov	%rdi, -8(%rsp)		# x R
	movq	$17, -16(%rsp)		# x R
	mov	%rdi, -128(%rsp)	# x R
	nop				# x R
	clc				# x R
	mov	-8(%rsp), %rax		# x R
	add	-16(%rsp), %rax		# x R
	add	-128(%rsp), %rax	# x R
	ret				# x R
	finish	red_zone

# Flags live across sites; R is above 3.
	function cmp_first
	cmp	%rsi, %rdi		# x R
	mov	$0, %eax		# x R
	nop				# x R
	je	1f			# x R
	jl	2f			# x R - 1
	lea	3(%rax), %eax		# x R - 4
	ret				# x R - 4
1:	lea	1(%rax), %eax		# x 1
	ret				# x 1
2:	test	%rdi, %rdi		# x 3
	setz	%al			# x 3
	ret				# x 3
	finish	cmp_first

	function adc_first
	xor	%eax, %eax		# x R
	add	$-3, %rdi		# x R
	endbr64				# x R
	adc	$0, %rax		# x R
	sub	$-1, %edi		# x R
	sbb	$7, %rax		# x R
	and	$0xff, %eax		# x R
	xor	%edi, %eax		# x R
	or	$16, %al		# x R
	inc	%eax			# x R
	neg	%rax			# x R
	not	%rax			# x R
	ret				# x R
	finish	adc_first

	function sse_first
	movdqu	forty(%rip), %xmm0	# x R
	paddq	forty(%rip), %xmm0	# x R
	movq	%xmm0, %rax		# x R
	ret				# x R
	finish	sse_first

	function leave_first
	enter	$32, $0			# x R
	mov	%rsp, %rax		# x R
	leave				# x R
	sub	%rsp, %rax		# x R
	ret				# x R
	finish	leave_first

	function prefix_first
	nopw	%cs:0(%rax,%rax)	# x R
	mov	%fs:0, %rax		# x R
	cmp	%fs:0, %rax		# x R
	mov	%edi, %eax		# x R
	rep ret				# x R
	finish	prefix_first

	function cpuid_first
	push	%rbx			# x R
	xor	%eax, %eax		# x R
	cpuid				# x R
	movslq	%ebx, %rax		# x R
	pop	%rbx			# x R
	ret				# x R
	finish	cpuid_first

# A table's entry leads to the function's end, where another begins at once.
	function table_to_end
	lea	ends(%rip), %rdx	# x R * 3
	cmp	$2, %edi		# x R * 3
	ja	2f			# x R * 3
	movslq	(%rdx,%rdi,4), %rax	# x R * 3
	add	%rdx, %rax		# x R * 3
	jmp	*%rax			# x R * 3
1:	mov	$1, %eax		# x R
	ret				# x R
2:	mov	$2, %eax		# x 0
	ret				# x 0
	finish	table_to_end
	.type	at_the_end, @function
at_the_end:
	mov	$3, %eax		# x R * 2
	ret				# x R * 2
	finish	at_the_end
	.section .rodata
	.align	4
ends:	.long	at_the_end - ends, 1b - ends, at_the_end - ends
	.text

# Tail calls: each jumps to the next.
	function tail_first
	add	$1, %rdi		# x R
	jmp	tail_second		# x R
	finish	tail_first

	function tail_second
	cmp	$1, %rdi		# x R
	je	tail_third		# x R
	ret				# x 0
	finish	tail_second

	function tail_third
	ret				# x R
	finish	tail_third

	.section .data.rel.local, "aw"
	.align	16
forty:	.quad	40, 2
scratch: .quad	0
	.globl	lea_first_to
lea_first_to: .quad 0
address_of_four: .quad four
address_of_five: .quad five
	.section .note.GNU-stack, "", @progbits
