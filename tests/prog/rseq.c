/*
 * N additions in each of T threads to counters of the processors, by a
 * restartable sequence (rseq(2)): "ok CALLS" with the calls of add, which is
 * called again when the kernel aborts the sequence, or "lost" with how many
 * additions are missing.  Ends with 77 where there is no rseq.
 */
#define _GNU_SOURCE
#include <linux/rseq.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/rseq.h>

enum { CPUS = 1024, LINE = 128, THREADS_MAX = 16 };

static struct {
	int64_t n;
	char room[LINE - sizeof(int64_t)];
} counters[CPUS];
static long rounds;

static struct rseq *
area(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() +
			       __rseq_offset);
}

/* Whether the addition was made.  The loop makes an abort likely. */
__attribute__((noinline, noclone)) static int
add(struct rseq *rseq)
{
	uint32_t cpu = *(volatile uint32_t *)&rseq->cpu_id_start;

	__asm__ goto volatile(
		".pushsection __rseq_cs, \"aw\"\n"
		".balign 32\n"
		"3: .long 0, 0\n"
		".quad 1f, 2f - 1f, 4f\n"
		".popsection\n"
		"lea 3b(%%rip), %%rax\n"
		"mov %%rax, %[cs]\n"
		"1: cmp %[cpu], %[id]\n"
		"jne 4f\n"
		"mov %[n], %%rcx\n"
		"mov $100, %%eax\n"
		"5: dec %%eax\n"
		"jnz 5b\n"
		"inc %%rcx\n"
		"mov %%rcx, %[n]\n"
		"2:\n"
		".pushsection __rseq_failure, \"ax\"\n"
		".byte 0x0f, 0xb9, 0x3d\n"
		".long 0x53053053\n"
		"4: jmp %l[aborted]\n"
		".popsection\n"
		:
		: [cs] "m"(rseq->rseq_cs), [cpu] "r"(cpu),
		  [id] "m"(rseq->cpu_id), [n] "m"(counters[cpu].n)
		: "memory", "cc", "rax", "rcx"
		: aborted);
	return 1;
aborted:
	return 0;
}

static void *
thread(void *calls)
{
	long n = 0;

	for (long i = 0; i < rounds; i++)
		do
			n++;
		while (!add(area()));
	*(long *)calls = n;
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	long calls[THREADS_MAX], all = 0;
	int64_t sum = 0;
	int n = argc > 2 ? atoi(argv[2]) : 1;

	rounds = argc > 1 ? atol(argv[1]) : 1;
	if (!__rseq_size)
		return 77;
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, thread, &calls[i]);
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		all += calls[i];
	}
	for (int i = 0; i < CPUS; i++)
		sum += counters[i].n;
	printf("%s %ld\n", sum == n * rounds ? "ok" : "lost",
	       sum == n * rounds ? all : (long)(n * rounds - sum));
	return sum != n * rounds;
}
