/*
 * A program that writes, reads and makes code: functions that are counted
 * are overwritten where traps may be, called, and put back.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

/* Eight bytes each, alone in their pages: see padding below. */
extern int victim(void);
extern int plain(void);
extern char victim_page[];
__asm__(
"	.text\n"
"	.balign 4096\n"
"	.globl victim_page\n"
"victim_page:\n"
"	.globl victim\n"
"	.type victim, @function\n"
"victim:\n"
"	mov $1, %eax\n"
"	ret\n"
"	.size victim, . - victim\n"
"	.balign 64\n"
"	.globl plain\n"
"	.type plain, @function\n"
"plain:\n"
"	mov $9, %eax\n"
"	ret\n"
"	.size plain, . - plain\n"
"	.balign 4096\n"
);

static volatile int sink;

NOINLINE void
before(void)
{
	sink++;
}

NOINLINE void
after(void)
{
	sink++;
}

static void
writable(int on)
{
	if (mprotect(victim_page, 4096, PROT_READ | PROT_EXEC |
		     (on ? PROT_WRITE : 0))) {
		perror("mprotect");
		exit(99);
	}
}

static int
calls(int n)
{
	int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += victim();
	return sum;
}

/* mov $value, %eax; ret */
static void
code_make(uint8_t *to, int32_t value)
{
	uint8_t code[8] = { 0xb8, 0, 0, 0, 0, 0xc3, 0x90, 0x90 };

	memcpy(code + 1, &value, 4);
	memcpy(to, code, sizeof(code));
}

/* Written in whole: other instructions where the trap was. */
static void
overwrite(int n)
{
	uint8_t push_pop[8] = { 0x6a, 7, 0x58, 0xc3, 0x90, 0x90, 0x90, 0x90 };

	before();
	printf("%d\n", calls(n));
	writable(1);
	memcpy((void *)victim, push_pop, 8);
	printf("%d\n", calls(n));
	code_make((uint8_t *)victim, 3);
	writable(0);
	printf("%d\n", calls(n));
	printf("%d\n", plain());
	after();
}

/* Only the operand is written, not the byte where a trap is. */
static void
operand(int n)
{
	int32_t value = 100;

	writable(1);
	memcpy((uint8_t *)victim + 1, &value, 4);
	printf("%d\n", calls(n));
	writable(0);
	printf("%d\n", calls(n));
}

/* Written in a child only. */
static void
in_child(int n)
{
	printf("%d\n", calls(n));
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		writable(1);
		code_make((uint8_t *)victim, 4);
		printf("%d\n", calls(n));
		fflush(stdout);
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) != pid)
		;
	printf("%d\n", calls(n));
}

/* Another page of code is mapped in the place of the function's. */
static void
remap(int n)
{
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("%d\n", calls(n));
	memset(page, 0xcc, 4096);
	code_make(page + ((uint8_t *)victim - (uint8_t *)victim_page), 5);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	if (mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED,
		   victim_page) == MAP_FAILED)
		abort();
	printf("%d\n", calls(n));
}

/* Code made at run time, again and again at one place. */
static void
jit(int n)
{
	int i, sum = 0;

	for (i = 0; i < n; i++) {
		uint8_t *page = mmap((void *)0x10000000, 4096,
				     PROT_READ | PROT_WRITE | PROT_EXEC,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		code_make(page, i);
		sum += ((int (*)(void))page)();
		code_make(page, 2 * i);
		sum += ((int (*)(void))page)();
		munmap(page, 4096);
		before();
	}
	printf("%d\n", sum);
}

/* A program that copies its own code, and reads all of it. */
static void
read_text(int n)
{
	extern char etext[];
	volatile unsigned char *text = (unsigned char *)before;
	unsigned long sum = 0;
	int i;

	for (i = 0; i < n; i++)
		before();
	for (; (char *)text < etext; text++)
		sum += *text;
	printf("%s\n", sum ? "read" : "nothing");
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "read";
	int n = argc > 2 ? atoi(argv[2]) : 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(mode, "overwrite"))
		overwrite(n);
	else if (!strcmp(mode, "operand"))
		operand(n);
	else if (!strcmp(mode, "child"))
		in_child(n);
	else if (!strcmp(mode, "remap"))
		remap(n);
	else if (!strcmp(mode, "jit"))
		jit(n);
	else
		read_text(n);
	return 2;
}
