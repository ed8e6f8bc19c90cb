/*
 * Switches and other indirect jumps of all kinds.  Between the two
 * breakpoints every case of each is gone through, so that who looks on sees
 * all their targets.  In functions named open_ nothing bounds the index but
 * what the compiler was told; those named leave_ only jump to others.
 */
#define FUNC __attribute__((noinline))
#ifdef __x86_64__
#define STOP __asm__ volatile("int3")
#else
#define STOP
#endif

static volatile int sink;
static int (*volatile pointer)(int);

FUNC static int
dense(int x)
{
	switch (x) {
	case 0: sink += 3; break;
	case 1: sink -= 8; break;
	case 2: sink *= 5; break;
	case 3: sink ^= 77; break;
	case 4: sink |= 9; break;
	case 5: sink = sink / 3; break;
	case 6: sink = -sink; break;
	case 7: sink &= 0xff; break;
	default: sink = 1; break;
	}
	return sink;
}

/* Holes, a bias, and cases that fall into the next. */
FUNC static int
holes(long x)
{
	int sum = 0;

	switch (x) {
	case -7: sum += sink;	/* fallthrough */
	case -5: sum += 2 * sink;	/* fallthrough */
	case -4: sum -= 9; break;
	case -1: sink = sum; break;
	case 0: sum = 5; sink--; break;
	case 2: case 3: sink += 2; break;
	case 6: return sink;
	case 8: sum = sink * 11; break;
	}
	return sum + sink;
}

FUNC static int
small(unsigned char c)
{
	switch (c) {
	case 'a': sink += 1; return 1;
	case 'b': sink *= 3; return 2;
	case 'c': sink -= 3; return 4;
	case 'd': sink ^= 3; return 9;
	case 'e': sink |= 3; return 16;
	case 'g': sink &= ~4; return 25;
	case 'h': sink <<= 1; return 36;
	}
	return 0;
}

struct thing {
	int other;
	short kind;
	struct thing *next;
};

FUNC static int
member(struct thing *t)
{
	int n = 0;

	for (; t; t = t->next)
		switch (t->kind) {
		case 10: n += 3; sink++; break;
		case 11: n *= 3; sink--; break;
		case 12: n ^= 3; sink += 5; break;
		case 13: n |= 8; sink += n; break;
		case 14: n -= 1; sink = n; break;
		case 15: sink ^= t->other; break;
		}
	return n;
}

/* A machine: the table's address is likely to stay in a register. */
FUNC static int
machine(const unsigned char *code)
{
	int a = 1, b = 2, c = 3, d = 4, acc = 0;

	for (;;)
		switch (*code++) {
		case 0: acc += a; break;
		case 1: acc -= b; break;
		case 2: acc *= c; break;
		case 3: acc ^= d; break;
		case 4: a = acc; b++; break;
		case 5: b = acc; c--; break;
		case 6: c = acc + sink; break;
		case 7: d = dense(acc & 7); break;
		case 8: sink = acc; break;
		case 9: return acc + a + b + c + d;
		}
}

FUNC static int
nested(int x, int y)
{
	switch (x) {
	case 0: sink += y; break;
	case 1: sink -= y; break;
	case 2:
		switch (y) {
		case 3: sink = 1; break;
		case 4: sink *= 2; break;
		case 5: sink |= 3; break;
		case 6: sink ^= 4; break;
		case 7: sink = ~sink; break;
		case 8: sink /= 6; break;
		}
		break;
	case 3: sink ^= y; break;
	case 4: sink = y * 5; break;
	case 5: sink |= y; break;
	}
	return sink;
}

FUNC static int
open_mask(unsigned x)
{
	switch (x & 7) {
	case 0: sink += 4; break;
	case 1: sink *= 7; break;
	case 2: sink ^= 12; break;
	case 3: sink -= 33; break;
	case 4: sink |= 64; break;
	case 5: sink = -sink; break;
	case 6: sink /= 2; break;
	case 7: sink = 8; break;
	}
	return sink;
}

FUNC static int
open_told(int x)
{
	switch (x) {
	case 0: sink += 4; break;
	case 1: sink *= 7; break;
	case 2: sink ^= 13; break;
	case 3: sink -= 31; break;
	case 4: sink |= 32; break;
	case 5: sink = ~sink; break;
	default: __builtin_unreachable();
	}
	return sink;
}

FUNC static int
open_labels(const unsigned char *code)
{
	static const void *const labels[] = {
		&&add, &&sub, &&neg, &&mul, &&end,
	};
	int acc = sink;

	goto *labels[*code++];
add:
	acc += 5;
	goto *labels[*code++];
sub:
	acc -= sink;
	goto *labels[*code++];
neg:
	acc = -acc;
	sink = acc;
	goto *labels[*code++];
mul:
	acc *= 3;
	goto *labels[*code++];
end:
	return acc;
}

FUNC static int
leave_pointer(int x)
{
	int (*f)(int) = pointer;

	return f(x + 1);
}

static int (*const functions[])(int) = { dense, leave_pointer };

FUNC static int
leave_table(int x)
{
	return functions[x & 1](x);
}

int
main(int argc, char **argv)
{
	static const unsigned char program[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 200, 3, 0, 255, 9,
	};
	static const unsigned char labels[] = { 0, 1, 2, 3, 2, 1, 0, 4 };
	struct thing thing = { 1, 9, (struct thing *)0 };

	pointer = dense;
	STOP;
	for (int i = -12; i < 20; i++) {
		dense(i);
		holes(i);
		small((unsigned char)(i + 98));
		thing.kind = (short)i;
		member(&thing);
		open_mask((unsigned)i);
		for (int k = 0; i >= -1 && i < 8 && k < 10; k++)
			nested(i, k);
		if (i >= 0 && i < 6)
			open_told(i);
	}
	machine(program);
	open_labels(labels);
	leave_pointer(3);
	leave_table(0);
	leave_table(1);
	STOP;
	return 0;
}
