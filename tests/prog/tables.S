/*
 * Jump tables whose length is not what it seems.  All cases of a function run
 * into one another, so that control comes to each over another edge, too.  n is
 * in rdi, m in rsi.
 */
	.text
	.globl	tables_text
tables_text:

	.pushsection .bss
	.balign	8
	.globl	tables_passed
tables_passed:
	.popsection
	.pushsection .rodata.places, "a"
	.balign	4
	.globl	tables_places
tables_places:
	.popsection
	.pushsection .data.rel.ro.calls, "aw"
	.balign	8
	.globl	tables_calls
tables_calls:
	.popsection

/* Control passes here, and the program says how often. */
	.macro	place
.Lplace\@:
	incq	.Lpassed\@(%rip)
	.pushsection .bss
.Lpassed\@:
	.zero	8
	.popsection
	.pushsection .rodata.places
	.long	.Lplace\@ - tables_text, .Lpassed\@ - tables_passed
	.popsection
	.endm

/* A function that is called with n in [from, below) and m in [0, most]. */
	.macro	function name, from, below, most=0
	.balign	16
	.globl	\name
	.type	\name, @function
	.pushsection .data.rel.ro.calls
	.quad	\name, \from, \below, \most
	.popsection
\name:
	.cfi_startproc
	.endm

	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/* Jump to entry \index of the table. */
	.macro	go table, index=%rdi
	lea	\table(%rip), %rdx
	movslq	(%rdx, \index, 4), %rax
	add	%rdx, %rax
	jmp	*%rax
	.endm

/* A jump table of offsets; nothing else is in its section. */
	.macro	table name, cases:vararg
	.pushsection .rodata.\name, "a"
	.balign	4
\name:
	.irp	case, \cases
	.ifc	\case, none
	.long	0
	.else
	.long	\case - \name
	.endif
	.endr
	.popsection
	.endm

/* The same of four cases, with `between` more entries of the first. */
	.macro	long_table name, between
	.pushsection .rodata.\name, "a"
	.balign	4
\name:
	.long	1b - \name, 2b - \name
	.rept	\between
	.long	1b - \name
	.endr
	.long	3b - \name, 4b - \name
	.popsection
	.endm

/* Four cases that run into one another, and the end. */
	.macro	cases
1:	place
2:	place
3:	place
4:	place
	ret
	.endm

/* What is plain: all is known. */
function plain, 0, 6
	cmp	$3, %rdi
	ja	9f
	go	plain_table
	cases
9:	place
	ret
end plain
table plain_table, 1b, 2b, 3b, 4b

/* On one of the two ways that meet n is not a byte. */
function cut, 256, 258, 1
	place
	test	%rsi, %rsi
	jnz	8f
	nop
9:	go	cut_table
8:	movzbl	%dil, %edi
	jmp	9b
	cases
end cut
long_table cut_table, 254

/* The byte wraps: n - 2 is 254 and 255, too. */
function wrapped, 0, 4
	cmp	$3, %rdi
	ja	9f
	sub	$2, %dil
	movzbl	%dil, %edi
	go	wrapped_table
	cases
9:	ret
end wrapped
long_table wrapped_table, 252

/* Extended, and moved on: 8 is added to 248 and what is behind it. */
function moved, 0, 4
	and	$3, %edi
	sub	$4, %edi
	movzbl	%dil, %edi
	add	$4, %edi
	go	moved_table
	cases
end moved
	.pushsection .rodata.moved_table, "a"
	.balign	4
moved_table:
	.rept	256
	.long	1b - moved_table
	.endr
	.long	1b - moved_table, 2b - moved_table, 3b - moved_table
	.long	4b - moved_table
	.popsection

/* The compare looks at the lowest byte alone. */
function narrow, 0, 2, 1
	mov	%rsi, %rax
	shl	$8, %rax
	add	%rax, %rdi
	cmp	$1, %dil
	ja	9f
	go	narrow_table
	cases
9:	ret
end narrow
long_table narrow_table, 254

/* The index is below the table's address, too. */
function below, 0, 4
	cmp	$3, %rdi
	ja	9f
	sub	$2, %rdi
	go	below_table
1:	place
2:	place
3:	place
4:	place
9:	ret
end below
	.pushsection .rodata.below_table, "a"
	.balign	4
	.long	1b - below_table, 2b - below_table
below_table:
	.long	3b - below_table, 4b - below_table
	.popsection

/* Nothing bounds n, and there is a hole in the table. */
function holes, 0, 2
	go	holes_table
	cases
end holes
table holes_table, 1b, 2b, none, 3b, 4b
	.pushsection .data.rel.ro.calls
	.quad	holes, 3, 5, 0
	.popsection

/* The third entry is another function. */
function leaves, 0, 4
	go	leaves_table
	cases
end leaves
table leaves_table, 1b, 2b, plain, 3b

/* The third entry is in the middle of another function. */
function middle, 0, 5
	go	middle_table
	cases
end middle
function other, 0, 3
	place
	nop
11:	place
	ret
end other
table middle_table, 1b, 2b, 11b, 3b, 4b

/* The same if all entries are; and the target is a constant. */
function all_middle, 0, 2
	cmp	$1, %rdi
	ja	9f
	go	all_middle_table
9:	ret
end all_middle
function another, 0, 3
	place
	nop
11:	place
12:	place
	ret
end another
table all_middle_table, 11b, 12b

function constant, 0, 2
	lea	11f(%rip), %rax
	jmp	*%rax
end constant
function third, 0, 3
	place
	nop
11:	place
	ret
end third

/* Two cases are in a part that only the unwind table tells of. */
function split, 0, 4
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	cmp	$3, %rdi
	ja	.Lsplit_end
	go	split_table
.Lsplit_1:
	place
	jmp	.Lsplit_end
.Lsplit_4:
	place
.Lsplit_end:
	place
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
end split
	.pushsection .text.unlikely, "ax"
	.cfi_startproc
	.cfi_def_cfa_offset 16
.Lsplit_2:
	nop
	jmp	.Lsplit_1
.Lsplit_3:
	nop
	jmp	.Lsplit_4
	.cfi_endproc
	.popsection
table split_table, .Lsplit_1, .Lsplit_2, .Lsplit_3, .Lsplit_4

/* A table that another jump begins in the midst of. */
function shared, 0, 4, 1
	test	%rsi, %rsi
	jz	9f
	cmp	$2, %rdi
	jb	9f
	sub	$2, %rdi
	lea	shared_table(%rip), %rdx
	movslq	8(%rdx, %rdi, 4), %rax
	lea	shared_table(%rip), %rdx
	add	%rdx, %rax
	jmp	*%rax
9:	lea	shared_table(%rip), %rdx
	movslq	(%rdx, %rdi, 4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	lea	shared_table + 8(%rip), %rdx
end shared
table shared_table, 1b, 2b, 3b, 4b

/* What is in front of the third case ends like an instruction that goes on. */
function swallowed, 0, 4
	go	swallowed_table
1:	place
2:	place
	jmp	5f
	.byte	0x48, 0xb8
3:	place
	jmp	5f
	.byte	0x48, 0xb8
4:	place
5:	place
	ret
end swallowed
table swallowed_table, 1b, 2b, 3b, 4b

/* The compare is with a byte of a constant. */
function constant_byte, 0, 3
	mov	$0x101, %ecx
	cmp	%cl, %dil
	ja	9f
	movzbl	%dil, %edi
	go	constant_byte_table
	cases
9:	ret
end constant_byte
table constant_byte_table, 1b, 2b
	.pushsection .rodata.constant_byte_table, "a"
	.long	3b - constant_byte_table, 4b - constant_byte_table
	.rept	260
	.long	1b - constant_byte_table
	.endr
	.popsection

/* The compare looks at the lowest byte, extended. */
function narrow_extended, 0, 2, 1
	mov	%rsi, %rax
	shl	$8, %rax
	add	%rax, %rdi
	movzbl	%dil, %eax
	cmp	$1, %eax
	ja	9f
	go	narrow_extended_table
	cases
9:	ret
end narrow_extended
long_table narrow_extended_table, 254

/* A byte below 128 is compared as it is, and extended by its sign. */
function signed_byte, 126, 130
	movsbq	%dil, %rax
	cmp	$200, %dil
	ja	9f
	go	signed_byte_table, %rax
	cases
9:	ret
end signed_byte
	.pushsection .rodata.signed_byte_table, "a"
	.balign	4
	.long	3b - signed_byte_table, 4b - signed_byte_table
	.rept	126
	.long	1b - signed_byte_table
	.endr
signed_byte_table:
	.rept	127
	.long	1b - signed_byte_table
	.endr
	.long	2b - signed_byte_table
	.rept	73
	.long	1b - signed_byte_table
	.endr
	.popsection

/* The compare has signs, the index none. */
function unsigned_byte, 254, 258
	movzbl	%dil, %eax
	cmp	$3, %dil
	jg	9f
	go	unsigned_byte_table, %rax
	cases
9:	ret
end unsigned_byte
long_table unsigned_byte_table, 252

/* The same of the compare of a sum. */
function signed_sum, 254, 258
	movzbl	%dil, %eax
	movsbl	%dil, %ecx
	add	$100, %ecx
	cmp	$120, %ecx
	ja	9f
	go	signed_sum_table, %rax
	cases
9:	ret
end signed_sum
long_table signed_sum_table, 252

/* A byte that wraps before the compare. */
function wrapped_before, 0, 4
	mov	%edi, %eax
	sub	$2, %al
	movzbl	%al, %eax
	cmp	$3, %rdi
	ja	9f
	go	wrapped_before_table, %rax
	cases
9:	ret
end wrapped_before
long_table wrapped_before_table, 252

/* A mask makes 7 of -1, so the index is 12, 5 and 6. */
function masked, 0, 3
	cmp	$2, %rdi
	ja	9f
	sub	$1, %rdi
	and	$7, %edi
	add	$5, %rdi
	go	masked_table
	cases
9:	ret
end masked
table masked_table, 1b, 1b, 1b, 1b, 1b, 2b, 3b, 1b, 1b, 1b, 1b, 1b, 4b

/* A mask makes 0 of 8, so the index is -1, too. */
function masked_below, 0, 8
	cmp	$7, %rdi
	ja	9f
	add	$2, %rdi
	and	$7, %edi
	sub	$1, %rdi
	go	masked_below_table
	cases
9:	ret
end masked_below
	.pushsection .rodata.masked_below_table, "a"
	.balign	4
	.long	4b - masked_below_table
masked_below_table:
	.long	1b - masked_below_table, 2b - masked_below_table
	.rept	7
	.long	3b - masked_below_table
	.endr
	.popsection

/* A sum that wraps as a byte, and one that does not. */
function sums, 11, 16
	mov	%edi, %ecx
	add	$-6, %cl
	movzbl	%cl, %ecx
	movzbl	%dil, %eax
	add	$250, %rax
	sub	$5, %ecx
	cmp	$8, %ecx
	ja	9f
	go	sums_table, %rax
	cases
9:	ret
end sums
	.pushsection .rodata.sums_table, "a"
	.balign	4
sums_table:
	.rept	261
	.long	1b - sums_table
	.endr
	.long	2b - sums_table, 3b - sums_table, 4b - sums_table
	.rept	20
	.long	1b - sums_table
	.endr
	.popsection

/* There is a hole in front of the table. */
function below_hole, 0, 1
	cmp	$3, %rdi
	ja	9f
	sub	$2, %rdi
	go	below_hole_table
	cases
9:	ret
end below_hole
	.pushsection .rodata.below_hole_table, "a"
	.balign	4
	.long	2b - below_hole_table, 0
below_hole_table:
	.long	3b - below_hole_table, 4b - below_hole_table
	.popsection
	.pushsection .data.rel.ro.calls
	.quad	below_hole, 2, 4, 0
	.popsection

/* More entries than pmon reads. */
function huge, 69998, 70002
	test	%rdi, %rdi
	js	2f
	jz	3f
	jo	4f
	go	huge_table
	cases
end huge
	.pushsection .rodata.huge_table, "a"
	.balign	4
huge_table:
	.rept	69998
	.long	1b - huge_table
	.endr
	.long	1b - huge_table, 2b - huge_table
	.long	3b - huge_table, 4b - huge_table
	.popsection

/* An entry's function mentions the entry, but the compare is to be believed. */
function compared, 0, 5
	cmp	$4, %rdi
	ja	9f
	go	compared_table
	cases
9:	ret
end compared
function mentions, 0, 3
	place
	lea	compared_table + 8(%rip), %rax
	nop
11:	place
	.fill	8, 1, 0x90
	ret
end mentions
table compared_table, 1b, 2b, 11b, 3b, 4b

/* The compare allows an entry behind the table's section. */
function section, 0, 6
	test	%rdi, %rdi
	js	3f
	jo	4f
	cmp	$4, %rdi
	ja	9f
	go	section_table
	cases
9:	ret
end section
	.pushsection section_table_a, "a"
	.balign	4
section_table:
	.long	1b - section_table, 2b - section_table, 2b - section_table
	.popsection
	.pushsection section_table_b, "a"
	.balign	4
	.long	3b - . + 12
	.long	4b - . + 16
	.popsection

	.pushsection .rodata.places, "a"
	.globl	tables_places_end
tables_places_end:
	.popsection
	.pushsection .data.rel.ro.calls, "aw"
	.globl	tables_calls_end
tables_calls_end:
	.popsection
	.section .note.GNU-stack, "", @progbits
