/*
 * A process that is killed if anything makes it map memory for itself by a
 * file, then works in THREADS threads at one time and in CHILDREN children,
 * one after another.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000 };

static pthread_barrier_t barrier;

__attribute__((noinline, noclone)) static long
step(long i)
{
	__asm__ volatile("" : "+r"(i));
	return i + 1;
}

static void *
work(void *arg)
{
	long sum = 0;

	if (arg)
		pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++)
		sum = step(sum);
	/* All are there at the same time. */
	if (arg)
		pthread_barrier_wait(&barrier);
	return (void *)sum;
}

static void
filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(77);
}

int
main(int argc, char **argv)
{
	int nthreads = atoi(argv[1]), nchildren = atoi(argv[2]), status;
	pthread_t threads[256];
	long sum = 0, bad = 0;
	void *result;

	filter();
	pthread_barrier_init(&barrier, NULL, (unsigned)nthreads + 1);
	for (int i = 0; i < nthreads; i++)
		pthread_create(&threads[i], NULL, work, &barrier);
	work(&barrier);
	for (int i = 0; i < nthreads; i++) {
		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	for (int i = 0; i < nchildren; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(work(NULL) == (void *)ROUNDS ? 0 : 1);
		waitpid(pid, &status, 0);
		bad += status != 0;
	}
	printf("%ld %ld\n", sum, bad);
	return 0;
}
