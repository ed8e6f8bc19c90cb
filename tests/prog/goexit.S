/*
 * As a goroutine ends: work is begun as if goexit had called it, and returns to
 * behind goexit's first byte, to which no code leads.  Only the name that
 * .gopclntab (Go 1.20) has for goexit tells of it.  See tests/gopanics.t.
 */
#define FUNC(name) .globl name; .type name, @function; name
#define END(name) name##_end: .size name, . - name

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

#define ENTRY(f) .long f - text; .long f##_func - entries
#define TOLD(f, name) f##_func: .long f - text, name - names, 0, 0, f##_pcs - names
#define PCS(f) f##_pcs: .uleb128 2, f##_end - f, 0
	.section .gopclntab, "a"
	.p2align 5
table:	.long 0xfffffff1
	.byte 0, 0, 1, 8
	.quad 4, 0, text, names - table, 0, 0, names - table, entries - table
entries:
	ENTRY(work)
	ENTRY(goexit)
	ENTRY(goexit1)
	ENTRY(main)
	.long etext - text
	TOLD(work, name1)
	TOLD(goexit, name2)
	TOLD(goexit1, name3)
	TOLD(main, name4)
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
