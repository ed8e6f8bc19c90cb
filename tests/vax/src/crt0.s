# Start of a program as 4.2BSD's, and its system calls: the kernel leaves the
# number of arguments, their addresses, 0, the environment's and 0 on the
# stack, and begins behind the entry mask.
	.file	"crt0.s"
	.text
	.globl	start
	.type	start, @function
start:	.word	0
	movl	(%sp), %r1
	moval	4(%sp), %r2
	moval	4(%r2)[%r1], environ
	clrl	%fp
	pushl	environ
	pushl	%r2
	pushl	%r1
	calls	$3, main
	pushl	%r0
	calls	$1, _exit
	halt
	.size	start, .-start

	.macro	call name, number
	.globl	\name
	.type	\name, @function
\name:	.word	0
	chmk	$\number
	bcs	failed
	ret
	.size	\name, .-\name
	.endm

	# It does not fail, and is too far for a short branch to `failed'.
	.globl	_exit
	.type	_exit, @function
_exit:	.word	0
	chmk	$1
	bcs	1f
1:	ret
	.size	_exit, .-_exit

	call	read, 3
	call	write, 4
	call	open, 5
	call	close, 6
	call	unlink, 10
	call	setbrk, 17
	call	lseek, 19
	call	getpid, 20
	call	kill, 37
	call	ioctl, 54
	call	fstat, 62
	call	getpagesize, 64
	call	sigvec, 108
	call	sigblock, 109
	call	sigsetmask, 110
	call	gettimeofday, 116
	call	nosuch, 150

failed:	movl	%r0, errno
	mnegl	$1, %r0
	ret

	.comm	errno, 4, 4
	.comm	environ, 4, 4
