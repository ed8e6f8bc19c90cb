/*
 * As Go recovers from a panic: half the calls of work panic, and go on at its
 * call of deferreturn, a byte behind the panic's return address.  Only
 * .gopclntab (Go 1.20) tells of it; FORMAT and STRIPPED are for tests of its
 * reader.
 */
#include "gopclntab.h"

	.text
	.p2align 5
text:
FUNC(gopanic):
	add $8, %rsp
	mov where(%rip), %rax
	add $away, %rax
	add %rsp, %rax		/* so that nobody sees where it leads */
	sub %rsp, %rax
	jmp *%rax
	END(gopanic)
	.p2align 5, 0xcc
FUNC(deferreturn):
	incl deferred(%rip)
	ret
	END(deferreturn)
	.p2align 5, 0xcc
FUNC(work):
	sub $8, %rsp
	test $1, %dil
	jne 1f
	call gopanic
	nop
recovered:
	call deferreturn
	mov $7, %eax
	add $8, %rsp
	ret
1:	call deferreturn
	mov $1, %eax
	add $8, %rsp
	ret
	END(work)
	.p2align 5, 0xcc
/* Twenty calls: 10 * 7 + 10 * 1 + 20 deferred is 100. */
FUNC(main):
	xor %ebp, %ebp
	mov $20, %ebx
2:	mov %ebx, %edi
	call work
	add %eax, %ebp
	dec %ebx
	jne 2b
	add deferred(%rip), %ebp
	mov %ebp, %edi
	mov $60, %eax		/* exit */
	syscall
	END(main)
	.p2align 5, 0xcc
etext:
	.data
	away = 0x10000000
where:	.quad recovered - away
deferred: .long 0

#ifdef SECTION
	.section SECTION, "aw"
#else
	.section .gopclntab, "a"
#endif
	.p2align 5
table:	.long MAGIC
	.byte 0, 0, 1, 8
	HEADER
entries:
	ENTRY(gopanic)
	ENTRY(deferreturn)
	ENTRY(work)
	ENTRY(main)
	ADDRESS(etext)
	.long 0			/* Go 1.2: the file table's offset */
	TOLD(gopanic, name1, 0)
	TOLD(deferreturn, name2, 0)
	TOLD(work, name3, recovered - work)
	TOLD(main, name4, 2)	/* no call */
names:	.byte 0
name1:	.asciz "runtime.gopanic"
name2:	.asciz "runtime.deferreturn"
name3:	.asciz "main.work"
name4:	.asciz "main.main"
	PCS(gopanic)
	PCS(deferreturn)
	PCS(work)
	PCS(main)
	.section .note.GNU-stack, ""
