#include "lib.h"

size_t
strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int
strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a - *b;
}

void *
memcpy(void *to, const void *from, size_t n)
{
	char *p = to;
	const char *q = from;

	while (n--)
		*p++ = *q++;
	return to;
}

void *
memset(void *to, int c, size_t n)
{
	char *p = to;

	while (n--)
		*p++ = (char)c;
	return to;
}

extern char end[];

void *
malloc(size_t n)
{
	static char *brk = end;
	char *p = brk;

	n = (n + 7) & ~(size_t)7;
	if (setbrk(brk + n))
		return NULL;
	brk += n;
	return p;
}

void
free(void *p)
{
}

void
put(const char *s)
{
	write(1, s, (int)strlen(s));
}

void
put_number(long value)
{
	char buf[16];
	int i = 15;
	unsigned long u = (unsigned long)value;

	if (value < 0)
		u = -u;
	buf[i] = '\0';
	do
		buf[--i] = (char)('0' + u % 10);
	while (u /= 10);
	if (value < 0)
		buf[--i] = '-';
	put(&buf[i]);
}
