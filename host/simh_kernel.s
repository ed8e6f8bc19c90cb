# The kernel of the simulated VAX: vectors, counting, stubs, a stack, and a page
# that user mode may run.  Assembled to host/simh_code.c by
# tools/vax-kernel; its addresses are those of host/simh_machine.h.
#
# Every vector leads to a stub of 8 bytes that begins with HALT, which stops
# the simulator with the PC behind it.  Going on drops what the exception has
# pushed and returns.  Two vectors lead to the counting code first.
	.set	TRAP, 0x06		# LDPCTX

	.text
	.globl	start
start:
	.set	v, 0
	.rept	128
	.if	v == 0x10
	.long	privileged
	.else
	.if	v == 0x28
	.long	trace
	.else
	.long	stubs+2*v
	.endif
	.endif
	.set	v, v+4
	.endr

# A privileged instruction.  It is the trap of a site that is counted here,
# unless no site is there, or it is the site's own instruction under the trap.
	.org	0x200
	.balign	4
privileged:
	movq	%r0, -(%sp)
	movl	8(%sp), %r0
	cmpl	%r0, last
	beql	real
	subl3	base, %r0, %r1
	cmpl	%r1, size
	bgequ	real
	movl	*index[%r1], %r1
	beql	real
	incl	*low[%r1]
	bcc	1f
	incl	*high[%r1]
1:	cvtlb	*orig[%r1], (%r0)
	movl	*next[%r1], fall
	movl	%r1, entry
	movl	%r0, last
	movq	(%sp)+, %r0
	bisb2	$0x10, 4(%sp)		# T: trace its instruction
	rei
real:	movq	(%sp)+, %r0
	brw	stubs+2*0x10

# The site's instruction is done: set its trap again.  A branch was taken if it
# has not gone to the next instruction.
	.balign	4
trace:	tstl	last
	beql	1f
	movb	$TRAP, *last
	clrl	last
	bicb2	$0x10, 4(%sp)
	tstl	fall
	bneq	2f
	rei
1:	brw	stubs+2*0x28
2:	cmpl	fall, (%sp)
	beql	3f
	pushl	%r0
	movl	entry, %r0
	incl	*taken[%r0]
	bcc	4f
	incl	*taken_high[%r0]
4:	movl	(%sp)+, %r0
3:	rei

	.org	0x400
stubs:
	.set	v, 0
	.rept	128
	halt
	.if	v == 0x20 || v == 0x24
	addl2	$8, %sp
	.endif
	.if	v == 0x30 || v == 0x34 || (v >= 0x40 && v <= 0x4c)
	addl2	$4, %sp
	.endif
	rei
	.balign	8, 0
	.set	v, v+4
	.endr

# From 0x800 on is the kernel's stack, which ends here.
	.org	0xa00
last:	.long	0		# the site whose trap is lifted
base:	.long	0		# where sites may be
size:	.long	0
index:	.long	0		# -> a longword per byte: 6 * site, or 0
low:	.long	0		# -> in the sites' entries of 24 bytes each:
high:	.long	0		# how often it ran,
taken:	.long	0		# ... and was taken,
taken_high:
	.long	0
orig:	.long	0		# its original byte,
next:	.long	0		# of a branch the next instruction, or 0
fall:	.long	0		# that of the site whose trap is lifted
entry:	.long	0		# and its entry, in longwords

# Calls signal handlers, in user mode.  On the stack are the signal's number,
# its code, the address of the signal context, the handler, and that address
# once more.
	.org	0xc00
	calls	$4, handle
	chmk	$139			# sigcleanup
	halt
	.balign	2
handle:	.word	0x003f			# r0 to r5 are not the handler's
	callg	(%ap), *16(%ap)
	ret
	.org	0xe00
