/*
 * What compilers make of C: switches of all kinds, function pointers,
 * recursion, floating point, files, memory, the environment.  It says what it
 * found, and exits with the number of arguments.
 */
#include "lib.h"

static int
add(int a, int b)
{
	return a + b;
}

static int
sub(int a, int b)
{
	return a - b;
}

static int
mul(int a, int b)
{
	return a * b;
}

static int
quo(int a, int b)
{
	return b ? a / b : 0;
}

static int (*const operators[])(int, int) = { add, sub, mul, quo };

static int
ackermann(int m, int n)
{
	if (!m)
		return n + 1;
	if (!n)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

/* Each case does something of its own, so that there is a table. */
static int
step(int op, int *acc)
{
	switch (op) {
	case 10:
		++*acc;
		break;
	case 11:
		*acc += ackermann(1, *acc & 3);
		break;
	case 12:
		put(".");
		break;
	case 13:
		*acc ^= 5;
		/* fall through */
	case 14:
		*acc *= 3;
		break;
	case 15:
		return -1;
	case 17:
		*acc -= 7;
		break;
	default:
		*acc = -*acc;
		break;
	}
	return 0;
}

static int
digit(unsigned char c)
{
	switch (c) {
	case '0': case '1': case '2': case '3': case '4':
	case '5': case '6': case '7': case '8': case '9':
		return c - '0';
	case 'a': case 'b': case 'c': case 'd': case 'e': case 'f':
		return c - 'a' + 10;
	case ' ':
	case '\n':
		return -2;
	default:
		return -1;
	}
}

struct counts {
	int lines, words, bytes, digits;
};

static int
file_count(const char *path, struct counts *counts)
{
	char buf[37];
	int fd = open(path, 0, 0), n, inside = 0;

	if (fd < 0)
		return -1;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (int i = 0; i < n; i++) {
			counts->bytes++;
			counts->lines += buf[i] == '\n';
			counts->digits += digit((unsigned char)buf[i]) >= 0;
			if (digit((unsigned char)buf[i]) == -2) {
				inside = 0;
			} else if (!inside) {
				inside = 1;
				counts->words++;
			}
		}
	return close(fd);
}

static double
root(double x)
{
	double y = x;

	for (int i = 0; i < 20; i++)
		y = (y + x / y) / 2;
	return y;
}

static long long
fibonacci(int n)
{
	long long a = 0, b = 1;

	while (n--) {
		long long c = a + b;

		a = b;
		b = c;
	}
	return a;
}

struct tree {
	struct tree *left, *right;
	int key;
};

static struct tree *
tree_put(struct tree *tree, int key)
{
	if (!tree) {
		tree = malloc(sizeof(*tree));
		tree->left = tree->right = NULL;
		tree->key = key;
	} else if (key < tree->key) {
		tree->left = tree_put(tree->left, key);
	} else {
		tree->right = tree_put(tree->right, key);
	}
	return tree;
}

static int
tree_depth(const struct tree *tree)
{
	int left, right;

	if (!tree)
		return 0;
	left = tree_depth(tree->left);
	right = tree_depth(tree->right);
	return 1 + (left > right ? left : right);
}

/* The processor status, in which nothing is to be seen of a monitor. */
static unsigned
status_get(void)
{
	unsigned psl;

	__asm__ volatile ("movpsl %0" : "=r" (psl));
	return psl;
}

static void
say(const char *what, long value)
{
	put(what);
	put(" ");
	put_number(value);
	put("\n");
}

int
main(int argc, char **argv)
{
	struct counts counts = { 0, 0, 0, 0 };
	struct tree *tree = NULL;
	int acc = 1, ops = 0;

	for (int i = 0; i < 4; i++)
		say("operator", operators[i](84, i * 2));
	while (!step(9 + ops * 7 % 10, &acc) && ops < 100)
		ops++;
	say("\nacc", acc);
	say("ops", ops);
	say("ackermann", ackermann(2, 3));
	say("root", (long)(root(2) * 1e6));
	say("fibonacci", (long)(fibonacci(60) % 1000003));
	for (int i = 1; i < 200; i++)
		tree = tree_put(tree, i * 7919 % 211);
	say("depth", tree_depth(tree));
	if (argc > 1 && !file_count(argv[1], &counts)) {
		say("lines", counts.lines);
		say("words", counts.words);
		say("bytes", counts.bytes);
		say("digits", counts.digits);
	} else {
		say("no file", errno);
	}
	say("trace", status_get() >> 4 & 1);
	for (char **env = environ; *env; env++)
		if ((*env)[0] == 'V' && (*env)[1] == 'A' && (*env)[2] == 'X')
			say(*env, (long)strlen(*env));
	return argc;
}
