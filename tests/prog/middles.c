/*
 * Jumps to each of the marked instructions of a function that has one label, as
 * unrolled loops by hand do: most of them are in the middles of blocks.  Each
 * jump is made ROUNDS times.  An instruction runs as often as all jumps to it,
 * and to those before it, are made.
 */
enum { ROUNDS = 3 };

void sled(long from);

__asm__(
	".type sled, @function\n"
	"sled:	.cfi_startproc\n"
	"	test	%rdi, %rdi\n"
	"	je	1f\n"
	"	lea	1f(%rip), %rdx\n"
	"	add	%rdi, %rdx\n"
	"	jmp	*%rdx\n"
	"	nop\n"
	"1:	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	call	sled_leaf\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	sled, . - sled\n"
	".type sled_leaf, @function\n"
	"sled_leaf: ret\n"
	"	.size	sled_leaf, . - sled_leaf\n");

int
main(void)
{
	/* Not to the call, and not to where it returns. */
	for (int round = 0; round < ROUNDS; round++)
		for (long i = 0; i <= 21; i++)
			if (i < 8 || i > 13)
				sled(i);
	return 0;
}
