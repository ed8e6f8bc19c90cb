/*
 * Linked into a program, which then may set the gs register for all that pmon
 * knows.  With SET_GS it does, before main; else it never does.
 */
#include <asm/prctl.h>
#include <sys/syscall.h>

	.text
	.globl	may_gs
	.type	may_gs, @function
may_gs:
	wrgsbase %rax
	ret
	.size	may_gs, . - may_gs

#ifdef SET_GS
	.type	set_gs, @function
set_gs:
	mov	$SYS_arch_prctl, %eax
	mov	$ARCH_SET_GS, %edi
	lea	block(%rip), %rsi
	syscall
	ret
	.size	set_gs, . - set_gs

	.section .init_array, "aw"
	.quad	set_gs

	.bss
	.balign	4096
block:	.zero	4096
#endif
	.section .note.GNU-stack, "", @progbits
