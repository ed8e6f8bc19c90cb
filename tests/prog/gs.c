/*
 * Uses gs for a block of its own, set in one of the ways there are.  Says what
 * it read there and how many words of the block it did not write.
 *
 * The instruction is for kernels that say so in AT_HWCAP2.  Where another leaves
 * it on, it forgets what the instruction has set when it switches tasks: there it
 * is SIGILL, as where it is off.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KERNEL_HAS_FSGSBASE = 1 << 1 };	/* HWCAP2_FSGSBASE */

static unsigned long block[1 << 20];

__attribute__((noinline)) static long
get(void)
{
	long v;

	__asm__ volatile("mov %%gs:8,%0" : "=r"(v));
	return v;
}

__attribute__((noinline)) static void
set(void)
{
#if defined(BY_INSN)
	if (!(getauxval(AT_HWCAP2) & KERNEL_HAS_FSGSBASE))
		raise(SIGILL);
	__asm__ volatile("wrgsbase %0" :: "r"(block));
#elif defined(BY_INLINE)
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(SYS_arch_prctl),
			 "D"(ARCH_SET_GS), "S"(block) : "rcx", "r11", "memory");
#elif defined(BY_LIBRARY)
	extern int arch_prctl(int code, unsigned long va);

	arch_prctl(ARCH_SET_GS, (unsigned long)block);
#else
	syscall(SYS_arch_prctl, ARCH_SET_GS, block);
#endif
}

int
main(void)
{
	long sum = 0, strange = 0;

	set();
	block[1] = 42;
	for (int i = 0; i < 1000; i++)
		sum += get();
	for (size_t i = 0; i < sizeof(block) / sizeof(*block); i++)
		strange += i != 1 && block[i];
	printf("%ld %ld\n", sum, strange);
	return 0;
}
