/*
 * Runs a fuzz target on mutants: `PROGRAM FIRST COUNT [FILE...]`, each made by
 * its number alone from one of the files or, without any, from nothing.  A
 * mutant that ends the process, or takes 5 seconds of processor time, is told
 * by its number; the others follow.  In the end it prints how many the target
 * accepted, and which one took most processor time.  With FIRST and 1 a mutant
 * is made again, in this process.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/target.h"
#include "util/fail.h"
#include "util/mem.h"

enum { SIZE_MOST = 1 << 16, CHANGES_MOST = 12, SECONDS = 5 };

/* How far the mutants are; the process that tries them shares it. */
struct progress {
	uint64_t next, accepted;
	uint64_t slowest, milliseconds;
};

struct bytes_of {
	uint8_t *bytes;
	size_t n;
};

static uint64_t state;

/* Sebastiano Vigna's splitmix64: any state is as good as another. */
static uint64_t
draw(uint64_t below)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % below;
}

static struct bytes_of
file_read(const char *path)
{
	struct bytes_of file = { mem_alloc(SIZE_MOST), 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, file.bytes, SIZE_MOST);

	if (n < 0) {
		perror(path);
		exit(125);
	}
	close(fd);
	file.n = (size_t)n;
	return file;
}

/* A number of 1, 2, 4 or 8 bytes, often one that is at some limit. */
static void
number_change(uint8_t *bytes, size_t n)
{
	static const uint64_t limits[] = {
		0,	1,	    0x7f,	0x80,	   0xff,       0x7fff,
		0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX,
	};
	size_t width = (size_t)1 << draw(4);
	size_t at = draw(n);
	uint64_t value = 0;

	if (width > n - at)
		width = 1;
	memcpy(&value, bytes + at, width);
	switch (draw(4)) {
	case 0:
		value ^= (uint64_t)1 << draw(8 * width);
		break;
	case 1:
		value += draw(33) - 16;
		break;
	case 2:
		value = limits[draw(sizeof(limits) / sizeof(limits[0]))];
		break;
	default:
		value = draw(UINT64_MAX);
	}
	memcpy(bytes + at, &value, width);
}

static void
change(struct bytes_of *mutant)
{
	size_t from, to, len;

	switch (draw(12)) {
	case 0:
		mutant->n = 1 + draw(mutant->n);
		return;
	case 1:		/* one part over another */
		from = draw(mutant->n);
		to = draw(mutant->n);
		len = 1 + draw(64);
		if (from + len <= mutant->n && to + len <= mutant->n)
			memmove(mutant->bytes + to, mutant->bytes + from, len);
		return;
	case 2:
		to = draw(mutant->n);
		len = 1 + draw(64);
		if (to + len <= mutant->n)
			memset(mutant->bytes + to, (int)draw(256), len);
		return;
	default:
		number_change(mutant->bytes, mutant->n);
	}
}

static void
mutant_try(uint64_t number, const struct bytes_of *files, size_t nfiles)
{
	const struct itimerval limit = { .it_value.tv_sec = SECONDS };
	struct bytes_of mutant = { NULL, 0 };

	state = number * 0x2545f4914f6cdd1d;
	if (nfiles) {
		const struct bytes_of *file = &files[draw(nfiles)];

		mutant.n = file->n;
		mutant.bytes = mem_alloc(mutant.n);
		memcpy(mutant.bytes, file->bytes, mutant.n);
		for (uint64_t i = 1 + draw(CHANGES_MOST); i && mutant.n; i--)
			change(&mutant);
	} else {
		mutant.n = 3 + draw(60);
		mutant.bytes = mem_alloc(mutant.n);
		for (size_t i = 0; i < mutant.n; i++)
			mutant.bytes[i] = (uint8_t)draw(256);
		/* Mostly changes of a good file: see profile.c. */
		if (draw(8))
			mutant.bytes[0] = 0;
	}
	setitimer(ITIMER_PROF, &limit, NULL);
	LLVMFuzzerTestOneInput(mutant.bytes, mutant.n);
	free(mutant.bytes);
}

static uint64_t
milliseconds_used(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Try the mutant that comes next. */
static void
next_try(struct progress *done, const struct bytes_of *files, size_t nfiles)
{
	uint64_t begin = milliseconds_used(), used;

	mutant_try(done->next, files, nfiles);
	used = milliseconds_used() - begin;
	if (used > done->milliseconds) {
		done->milliseconds = used;
		done->slowest = done->next;
	}
	done->accepted += target_accepted;
	target_accepted = false;
	done->next++;
}

/* Go on from the mutant that is next; true if all were tried. */
static bool
mutants_try(struct progress *done, uint64_t end, const struct bytes_of *files,
	    size_t nfiles)
{
	pid_t pid = fork();
	int status;

	must(pid >= 0);
	if (!pid) {
		while (done->next < end)
			next_try(done, files, nfiles);
		_exit(0);
	}
	must(waitpid(pid, &status, 0) == pid);
	if (done->next == end)
		return true;
	printf("mutant %llu: %s %d\n", (unsigned long long)done->next,
	       WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	done->next++;
	return false;
}

int
main(int argc, char **argv)
{
	size_t nfiles = argc > 3 ? (size_t)argc - 3 : 0;
	struct bytes_of *files = mem_alloc((nfiles + 1) * sizeof(*files));
	uint64_t first, count, failed = 0;
	struct progress *done = mmap(NULL, sizeof(*done),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	must(argc >= 3 && done != MAP_FAILED);
	first = strtoull(argv[1], NULL, 0);
	count = strtoull(argv[2], NULL, 0);
	for (size_t i = 0; i < nfiles; i++)
		files[i] = file_read(argv[3 + i]);
	done->next = first;
	if (count == 1) {
		mutant_try(first, files, nfiles);
	} else {
		setvbuf(stdout, NULL, _IOLBF, 0);
		while (!mutants_try(done, first + count, files, nfiles))
			failed++;
		printf("%llu accepted, slowest %llu: %llu ms\n",
		       (unsigned long long)done->accepted,
		       (unsigned long long)done->slowest,
		       (unsigned long long)done->milliseconds);
		printf("%llu mutants, %llu failed\n", (unsigned long long)count,
		       (unsigned long long)failed);
	}
	for (size_t i = 0; i < nfiles; i++)
		free(files[i].bytes);
	free(files);
	return failed != 0;
}
