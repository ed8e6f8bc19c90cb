/*
 * A process to attach to: N threads (8 by default) that call work() in rounds, each of a
 * fixed number of calls.  Commands come on stdin, one letter a line, and
 * each is answered with a line:
 *
 *	g	a round of CALLS calls in each thread: "done TOTAL"
 *	r	run without end: "running"
 *	s	stop running: "stopped TOTAL"
 *	t	verify that text is as in the file: "same" or "differs at N"
 *	c	calls so far by all threads: "calls TOTAL"
 *	f	a child that calls work() CALLS times and ends: "child STATUS"
 *	q	quit
 *
 * Every call's result is verified, the program aborts if one is wrong.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { THREADS_MAX = 64 };

static int nthreads = 8;
static int calls = 100;
static _Atomic long counts[THREADS_MAX][8];
static pthread_barrier_t begin, end;
static atomic_int endless;

NOINLINE long
work(long n)
{
	long twice = 2 * n;

	if (n & 1)
		twice++;
	__asm__ volatile("");
	return twice;
}

NOINLINE static void
verified(int id, long i)
{
	if (work(i) != 2 * i + (i & 1))
		abort();
	counts[id][0]++;
}

static void *
thread(void *arg)
{
	int id = (int)(long)arg;
	long i;

	/* A thread begins with its signals blocked, by the C library. */
	pthread_barrier_wait(&end);
	for (;;) {
		pthread_barrier_wait(&begin);
		for (i = 0; i < calls || endless; i++)
			verified(id, i);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static long
total(void)
{
	long sum = 0;
	int i;

	for (i = 0; i < nthreads; i++)
		sum += counts[i][0];
	return sum;
}

static long bias;

static int
first_object(struct dl_phdr_info *info, size_t size, void *data)
{
	bias = info->dlpi_addr;
	return 1;
}

/* Compare executable segments with the file. */
static void
verify_text(void)
{
	int fd = open("/proc/self/exe", O_RDONLY), i;
	struct stat st;
	const char *file;
	const Elf64_Ehdr *ehdr;
	const Elf64_Phdr *phdr;
	size_t k;

	if (fd < 0 || fstat(fd, &st))
		abort();
	file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		abort();
	ehdr = (const Elf64_Ehdr *)file;
	phdr = (const Elf64_Phdr *)(file + ehdr->e_phoff);
	for (i = 0; i < ehdr->e_phnum; i++) {
		const volatile char *mem = (char *)bias + phdr[i].p_vaddr;

		if (phdr[i].p_type != PT_LOAD || !(phdr[i].p_flags & PF_X))
			continue;
		for (k = 0; k < phdr[i].p_filesz; k++)
			if (mem[k] != file[phdr[i].p_offset + k]) {
				printf("differs at %lx\n",
				       (long)phdr[i].p_vaddr + (long)k);
				munmap((void *)file, st.st_size);
				return;
			}
	}
	munmap((void *)file, st.st_size);
	printf("same\n");
}

NOINLINE static void
child(void)
{
	int i, status;
	pid_t pid = fork();

	if (!pid) {
		for (i = 0; i < calls; i++)
			work(i);
		_exit(33);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void
command(char c)
{
	switch (c) {
	case 'g':
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		printf("done %ld\n", total());
		break;
	case 'r':
		endless = 1;
		pthread_barrier_wait(&begin);
		printf("running\n");
		break;
	case 's':
		endless = 0;
		pthread_barrier_wait(&end);
		printf("stopped %ld\n", total());
		break;
	case 't':
		verify_text();
		break;
	case 'c':
		printf("calls %ld\n", total());
		break;
	case 'f':
		child();
		break;
	}
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	pthread_t id;
	char line[16];
	long i;

	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		calls = atoi(argv[2]);
	dl_iterate_phdr(first_object, NULL);
	pthread_barrier_init(&begin, NULL, nthreads + 1);
	pthread_barrier_init(&end, NULL, nthreads + 1);
	for (i = 0; i < nthreads; i++)
		if (pthread_create(&id, NULL, thread, (void *)i))
			abort();
	pthread_barrier_wait(&end);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && line[0] != 'q')
		command(line[0]);
	return 21;
}
