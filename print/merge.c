/*
 * Merges data files, several at a time in processes of their own.  Holds few
 * profiles at once, however many files there are.
 */
#include "print/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/progress.h"
#include "util/bytes.h"
#include "util/fail.h"
#include "util/mem.h"

/* ---- in one process */

/*
 * Profiles, each merged from at least as many files as the next one.  Two that
 * have as many files are merged, so that each file takes part in few large
 * merges.
 */
struct piles {
	struct pile {
		struct profile *profile;
		size_t nfiles;
	} piles[64];
	size_t n;
};

/* Merge the last two. */
static void
piles_join(struct piles *piles)
{
	struct pile *last = &piles->piles[--piles->n];
	struct pile *into = last - 1;

	/* piles_add has checked that no run is in both. */
	must(!profile_merge(into->profile, last->profile));
	into->nfiles += last->nfiles;
	profile_free(last->profile);
}

static int
piles_add(struct piles *piles, const char *path)
{
	struct profile *profile = profile_read(path);

	if (!profile)
		return -1;
	for (size_t i = 0; i < piles->n; i++) {
		if (!profile_runs_check(piles->piles[i].profile, profile))
			continue;
		profile_free(profile);
		return fail("%s: %s", path, fail_message());
	}
	piles->piles[piles->n++] = (struct pile){ profile, 1 };
	while (piles->n > 1 && piles->piles[piles->n - 2].nfiles ==
				       piles->piles[piles->n - 1].nfiles)
		piles_join(piles);
	return 0;
}

/* What became of some files. */
struct slice {
	struct profile *profile;	/* or NULL: none could be read */
	char **skipped;		/* messages: why files were left out */
	size_t nskipped;
	bool failed;		/* with the message set: a file is at fault */
};

static void
slice_skip(struct slice *slice, const char *why)
{
	*vec_push(slice->skipped, slice->nskipped) = mem_strdup(why);
}

/* Merge the files [from, to). */
static struct slice
slice_merge(const struct merge *merge, size_t from, size_t to,
	    struct progress *progress)
{
	struct piles piles = { .n = 0 };
	struct slice slice = { 0 };

	for (size_t i = from; i < to && !slice.failed; i++) {
		if (piles_add(&piles, merge->files[i])) {
			slice.failed = !merge->skip;
			slice_skip(&slice, fail_message());
		}
		progress_step(progress);
	}
	while (piles.n > 1)
		piles_join(&piles);
	if (piles.n)
		slice.profile = piles.piles[0].profile;
	return slice;
}

static void
slice_free(struct slice *slice)
{
	profile_free(slice->profile);
	for (size_t i = 0; i < slice->nskipped; i++)
		free(slice->skipped[i]);
	free(slice->skipped);
}

/*
 * Add another slice, which this empties.  -1 if that fails, or if a run is in
 * both.
 */
static int
slice_join(struct slice *into, struct slice *from)
{
	if (into->failed || from->failed)
		return -1;
	for (size_t i = 0; i < from->nskipped; i++)
		slice_skip(into, from->skipped[i]);
	if (into->profile && from->profile)
		return profile_merge(into->profile, from->profile);
	if (from->profile) {
		into->profile = from->profile;
		from->profile = NULL;
	}
	return 0;
}

/* ---- in several processes */

enum { SLICE_MIN = 16 };	/* files that are worth a process */

/* A process that merges some of the files, and writes the profile to a pipe. */
struct worker {
	pid_t pid;
	int from;		/* the pipe's end, or -1 */
};

static void
bytes_write(int fd, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		bytes += n;
		size -= (size_t)n;
	}
}

/*
 * Write the number of messages, each message with its end, and the profile as
 * in a file; nothing if a file is at fault.
 */
static void
worker_run(const struct merge *merge, size_t from, size_t to, int out)
{
	struct progress none = { .fd = -1 };
	struct slice slice = slice_merge(merge, from, to, &none);
	uint8_t *bytes;
	size_t size;

	if (slice.failed)
		_exit(1);
	bytes_write(out, &slice.nskipped, sizeof(slice.nskipped));
	for (size_t i = 0; i < slice.nskipped; i++)
		bytes_write(out, slice.skipped[i],
			    strlen(slice.skipped[i]) + 1);
	if (slice.profile) {
		bytes = profile_encode(slice.profile, &size);
		bytes_write(out, bytes, size);
	}
	_exit(0);
}

static struct worker
worker_open(const struct merge *merge, size_t from, size_t to)
{
	struct worker worker = { .from = -1 };
	int ends[2];

	if (pipe(ends))
		return worker;
	worker.pid = fork();
	if (!worker.pid) {
		close(ends[0]);
		worker_run(merge, from, to, ends[1]);
	}
	close(ends[1]);
	if (worker.pid > 0)
		worker.from = ends[0];
	else
		close(ends[0]);
	return worker;
}

/* What worker_run wrote. */
static struct slice
slice_decode(const uint8_t *bytes, size_t size)
{
	struct slice slice = { 0 };
	size_t left = size, n;

	slice.failed = left < sizeof(n);
	if (slice.failed)
		return slice;
	memcpy(&n, bytes, sizeof(n));
	bytes += sizeof(n);
	left -= sizeof(n);
	while (n-- && !slice.failed) {
		size_t len = strnlen((const char *)bytes, left);

		slice.failed = len == left;
		if (slice.failed)
			break;
		slice_skip(&slice, (const char *)bytes);
		bytes += len + 1;
		left -= len + 1;
	}
	if (left && !slice.failed) {
		slice.profile = profile_decode("merged files", bytes, left);
		slice.failed = !slice.profile;
	}
	return slice;
}

/* What became of a worker's files: it has ended, or a file is at fault. */
static struct slice
worker_close(struct worker *worker)
{
	struct slice slice = { .failed = true };
	int status;
	pid_t pid;
	uint8_t *bytes = NULL;
	size_t size = 0;
	int err;

	if (worker->from < 0)
		return slice;
	err = bytes_read(worker->from, SIZE_MAX, &bytes, &size);
	close(worker->from);
	do {
		pid = waitpid(worker->pid, &status, 0);
	} while (pid < 0 && errno == EINTR);
	/* Without its status it may have been killed half-way. */
	if (!err && pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		slice = slice_decode(bytes, size);
	free(bytes);
	return slice;
}

/* Pipes can be read only once, and so not again to find what is at fault. */
static bool
files_regular(const struct merge *merge)
{
	struct stat st;

	for (size_t i = 0; i < merge->n; i++)
		if (!stat(merge->files[i], &st) && !S_ISREG(st.st_mode))
			return false;
	return true;
}

static size_t
jobs_choose(const struct merge *merge)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t jobs = merge->jobs    ? merge->jobs :
		      processors > 0 ? (size_t)processors :
				       1;

	if (!files_regular(merge))
		return 1;
	return jobs < merge->n / SLICE_MIN ? jobs : merge->n / SLICE_MIN;
}

/* Merge in so many processes, this one among them. */
static struct slice
slices_merge(const struct merge *merge, size_t jobs, struct progress *progress)
{
	struct worker *workers = mem_alloc(jobs * sizeof(*workers));
	struct slice all, more;

	for (size_t i = 1; i < jobs; i++)
		workers[i] = worker_open(merge, merge->n * i / jobs,
					 merge->n * (i + 1) / jobs);
	all = slice_merge(merge, 0, merge->n / jobs, progress);
	for (size_t i = 1; i < jobs; i++) {
		more = worker_close(&workers[i]);
		all.failed |= slice_join(&all, &more) != 0;
		slice_free(&more);
	}
	free(workers);
	return all;
}

struct profile *
files_merge(const struct merge *merge)
{
	size_t jobs = jobs_choose(merge);
	struct slice slice = { .failed = true };
	struct progress progress = progress_begin(STDERR_FILENO, merge->quiet,
						  "pmprint: merging files",
						  NULL);

	if (jobs > 1)
		slice = slices_merge(merge, jobs, &progress);
	/* One after the other, which finds the first file that is at fault. */
	if (slice.failed) {
		slice_free(&slice);
		slice = slice_merge(merge, 0, merge->n, &progress);
	}
	progress_end(&progress);
	if (slice.failed) {
		slice_free(&slice);
		return NULL;
	}
	for (size_t i = 0; i < slice.nskipped; i++) {
		merge->warn(slice.skipped[i]);
		free(slice.skipped[i]);
	}
	free(slice.skipped);
	return slice.profile ? slice.profile :
			       fail_null("none of the files can be read");
}
