/*
 * Macros for functions in assembly: "begin NAME", "end NAME".
 */
#ifndef ASM_FUNCTIONS_H
#define ASM_FUNCTIONS_H

#define ASM_FUNCTIONS \
	"	.macro	begin name\n" \
	"	.p2align 4\n" \
	"	.globl	\\name\n" \
	"	.type	\\name, @function\n" \
	"\\name:\n" \
	"	.endm\n" \
	"	.macro	end name\n" \
	"	.size	\\name, . - \\name\n" \
	"	.endm\n"

#endif
