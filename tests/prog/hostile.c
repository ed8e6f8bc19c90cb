/*
 * A process whose helper, another process that shares its descriptors, changes
 * what a descriptor is while pmon looks at it: tests/prog/swap_at.c says when.
 * hostile SHARED swap FILE: it is FILE then; swap "": a memfd of its own.
 * hostile SHARED keep: the helper keeps it.
 * Does what it is told on its standard input: w works, and what it does with
 * what was kept: t makes it shorter, g longer, p punches a hole.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static char stack[65536];
static volatile int *shared;
static int victim, *kept;	/* -1: the descriptor itself is kept */

static int
helper(void *arg)
{
	int fd = -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int what = shared[0];

		if (!what || shared[1]) {
			sched_yield();
			continue;
		}
		if (what > 0) {
			fd = what - 1;
			*kept = dup(fd);
			if (victim >= 0)
				dup3(victim, fd, O_CLOEXEC);
		} else if (victim >= 0) {
			dup3(*kept, fd, O_CLOEXEC);
		}
		shared[0] = 0;
		shared[1] = 1;
	}
	return 0;
}

__attribute__((noinline)) static int
work(int n)
{
	return n * 3 + 1;
}

static int
victim_open(const char *path)
{
	int fd;

	if (*path)
		return open(path, O_PATH | O_CLOEXEC);
	fd = memfd_create("own", MFD_ALLOW_SEALING);
	return ftruncate(fd, INT64_C(1) << 40) ? -1 : fd;
}

static void
outcome(int failed)
{
	puts(failed ? strerrorname_np(errno) : "done");
}

int
main(int argc, char **argv)
{
	volatile int sum = 0;
	char line[64];
	int fd = open(argv[1], O_RDWR);
	struct stat st;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	kept = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*kept = -1;
	victim = argc > 3 ? victim_open(argv[3]) : -1;
	clone(helper, stack + sizeof(stack), CLONE_FILES | SIGCHLD, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin))
		switch (*line) {
		case 'w':
			for (int i = 0; i < 1000; i++)
				sum = work(sum & 1);
			puts("done");
			break;
		case 't':
			outcome(ftruncate(*kept, 0));
			break;
		case 'g':
			fstat(*kept, &st);
			outcome(ftruncate(*kept, st.st_size + 4096));
			break;
		case 'p':
			fstat(*kept, &st);
			outcome(fallocate(*kept, FALLOC_FL_PUNCH_HOLE |
					  FALLOC_FL_KEEP_SIZE, 0, st.st_size));
			break;
		default:
			return 0;
		}
	return 0;
}
