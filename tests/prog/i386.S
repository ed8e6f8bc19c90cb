# A whole program for the 32-bit architecture: writes a line, exits with 17.
	.globl	_start
	.type	_start, @function
_start:
	mov	$4, %eax
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$end - text, %edx
	int	$0x80
	mov	$1, %eax
	mov	$17, %ebx
	int	$0x80
	.size	_start, . - _start
text:	.ascii	"thirty-two bits\n"
end:
	.section .note.GNU-stack, "", @progbits
