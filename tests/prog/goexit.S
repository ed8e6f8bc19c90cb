/*
 * As a goroutine ends: work is begun as if goexit had called it, and returns to
 * behind goexit's first byte, to which no code leads.  Only the name that
 * .gopclntab (Go 1.20) has for goexit tells of it.  See tests/gopanics.t.
 */
#include "gopclntab.h"

	.text
	.p2align 5
text:
FUNC(work):
	add $10, %ebp
	ret
	END(work)
	.p2align 5, 0xcc
FUNC(goexit):
	nop
	call goexit1
	nop
	END(goexit)
	.p2align 5, 0xcc
FUNC(goexit1):
	add $8, %rsp
	jmp *%r12
	END(goexit1)
	.p2align 5, 0xcc
/* Ten times 10 is 100. */
FUNC(main):
	xor %ebp, %ebp
	mov $10, %ebx
	lea scheduled(%rip), %r12
1:	lea goexit(%rip), %rax
	inc %rax
	push %rax
	jmp work
scheduled:
	dec %ebx
	jne 1b
	mov %ebp, %edi
	mov $60, %eax		/* exit */
	syscall
	END(main)
	.p2align 5, 0xcc
etext:

	.section .gopclntab, "a"
	.p2align 5
table:	.long MAGIC
	.byte 0, 0, 1, 8
	HEADER
entries:
	ENTRY(work)
	ENTRY(goexit)
	ENTRY(goexit1)
	ENTRY(main)
	ADDRESS(etext)
	TOLD(work, name1, 0)
	TOLD(goexit, name2, 0)
	TOLD(goexit1, name3, 0)
	TOLD(main, name4, 0)
names:	.byte 0
name1:	.asciz "main.work"
name2:	.asciz "runtime.goexit"
name3:	.asciz "runtime.goexit1"
name4:	.asciz "main.main"
	PCS(work)
	PCS(goexit)
	PCS(goexit1)
	PCS(main)
	.section .note.GNU-stack, ""
