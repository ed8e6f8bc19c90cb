#include "rt.h"

#ifdef __mc68000__
enum { NR_EXIT = 1, NR_READ = 3, NR_WRITE = 4, NR_OPEN = 5, NR_GETPID = 20,
       NR_KILL = 37 };

static long
call(long nr, long a, long b, long c)
{
	register long d0 __asm__("d0") = nr, d1 __asm__("d1") = a;
	register long d2 __asm__("d2") = b, d3 __asm__("d3") = c;

	__asm__ volatile("trap #0" : "+d"(d0) : "d"(d1), "d"(d2), "d"(d3) :
			 "memory");
	return d0;
}

__asm__(".text; .globl _start; .type _start, @function\n"
	"_start: move.l (%sp), %d0; lea 4(%sp), %a0\n"
	"	move.l %a0, -(%sp); move.l %d0, -(%sp); jsr rt_main\n"
	".size _start, . - _start\n");

long
rt_open(const char *path)
{
	return call(NR_OPEN, (long)path, 0, 0);
}
#else
enum { NR_EXIT = 93, NR_READ = 63, NR_WRITE = 64, NR_OPENAT = 56,
       NR_GETPID = 172, NR_KILL = 129 };

static long
call4(long nr, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2),
			 "r"(x3) : "memory");
	return x0;
}

static long
call(long nr, long a, long b, long c)
{
	return call4(nr, a, b, c, 0);
}

__asm__(".text; .globl _start; .type _start, %function\n"
	"_start: ldr x0, [sp]; add x1, sp, 8; bl rt_main\n"
	".size _start, . - _start\n");

long
rt_open(const char *path)
{
	return call4(NR_OPENAT, -100, (long)path, 0, 0);
}
#endif

int main(int argc, char **argv);

long
rt_read(int fd, void *buf, unsigned long n)
{
	return call(NR_READ, fd, (long)buf, (long)n);
}

long
rt_write(int fd, const void *buf, unsigned long n)
{
	return call(NR_WRITE, fd, (long)buf, (long)n);
}

long
rt_getpid(void)
{
	return call(NR_GETPID, 0, 0, 0);
}

long
rt_kill(long pid, int signal)
{
	return call(NR_KILL, pid, signal, 0);
}

void
rt_puts(const char *s)
{
	unsigned long n = 0;

	while (s[n])
		n++;
	rt_write(STDOUT, s, n);
}

/* Without division, which the 68000 has not. */
void
rt_number(long n)
{
	static const long powers[] = {
		1000000000, 100000000, 10000000, 1000000, 100000, 10000,
		1000, 100, 10, 1,
	};
	char buf[12], *p = buf;
	int begun = 0;

	if (n < 0) {
		*p++ = '-';
		n = -n;
	}
	for (int i = 0; i < 10; i++) {
		char c = '0';

		while (n >= powers[i]) {
			n -= powers[i];
			c++;
		}
		begun |= c != '0' || i == 9;
		if (begun)
			*p++ = c;
	}
	rt_write(STDOUT, buf, (unsigned long)(p - buf));
}

__attribute__((noreturn)) void
rt_main(int argc, char **argv)
{
	long status = main(argc, argv);

	for (;;)
		call(NR_EXIT, status, 0, 0);
}
