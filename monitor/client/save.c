/*
 * The data file of a run: chooses its name and describes the run, with the
 * processes or threads that are counted apart.  The counts themselves are
 * encoded and written by report/profile/.
 */
#include "monitor/client/save.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "monitor/process/owners.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "report/profile/profile_plan.h"
#include "report/target.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/mem.h"

enum { SECOND = 1000000000 };

struct recording {
	uint64_t id;		/* of the run, random */
	uint64_t started;	/* nanoseconds since 1970 */
	char *data;		/* the data file's name; NULL until chosen */
	bool saved;		/* the data file has been written ... */
	bool unsaved;		/* ... but could not be the last time */
};

/* To be called when the run begins: later the process may be gone. */
static char *
program_name(const struct run *run)
{
	const struct options *opts = run->opts;
	char *path = NULL, *open_path = NULL, *name;
	const char *whole;

	if (!opts->argv)
		path = run->host->exe(opts->pids[0], &open_path);
	whole = opts->argv ? opts->argv[0] : path ? path : "unknown";
	name = mem_strdup(strrchr(whole, '/') ? strrchr(whole, '/') + 1 :
						whole);
	free(path);
	free(open_path);
	return name;
}

void
run_begin(struct run *run)
{
	struct recording *recording = run->recording;
	struct timespec now;

	if (!recording)
		recording = run->recording = mem_alloc(sizeof(*recording));
	run->started = clock_seconds();
	clock_gettime(CLOCK_REALTIME, &now);
	recording->started = (uint64_t)now.tv_sec * SECOND +
			     (uint64_t)now.tv_nsec;
	if (!run->program)
		run->program = program_name(run);
	must(getrandom(&recording->id, sizeof(recording->id), 0) ==
	     sizeof(recording->id));
}

void
recording_free(struct run *run)
{
	if (run->recording)
		free(run->recording->data);
	free(run->recording);
}

/* ---- weights */

int
earlier_read(struct run *run)
{
	struct profile *profile;

	if (!run->opts->weights)
		return 0;
	profile = profile_read(run->opts->weights);
	if (!profile)
		return -1;
	profile_join_parts(profile);
	run->earlier = mem_alloc(sizeof(*run->earlier));
	run->earlier->profile = profile;
	return 0;
}

void
earlier_free(struct run *run)
{
	if (run->earlier)
		profile_free(run->earlier->profile);
	free(run->earlier);
}

/* ---- the file's name */

/* This process's rank in a parallel job, from the environment, or NULL. */
static const char *
rank_find(void)
{
	static const char *const names[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
		"MV2_COMM_WORLD_RANK",	"PALS_RANKID", "FLUX_TASK_RANK",
		"SLURM_PROCID",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *rank = getenv(names[i]);

		if (rank && *rank && !rank[strspn(rank, "0123456789")])
			return rank;
	}
	return NULL;
}

static pid_t
first_process(const struct run *run)
{
	return run->root.tid	? run->root.tid :
	       run->opts->npids ? run->opts->pids[0] :
				  getpid();
}

/* The text for %letter, owned by the caller; NULL if it is no pattern. */
static char *
pattern_text(const struct run *run, char letter, unsigned try)
{
	const char *rank = rank_find();

	switch (letter) {
	case 'p':
		if (try > 1)
			return mem_printf("%d-%u", (int)first_process(run),
					  try);
		return mem_printf("%d", (int)first_process(run));
	case 'n':
		return mem_strdup(run->program ? run->program : "");
	case 'r':
		return mem_strdup(rank ? rank : "");
	case '%':
		return mem_strdup("%");
	default:
		return NULL;
	}
}

/* Does the name have a pattern with this letter? */
static bool
pattern_has(const char *s, char letter)
{
	for (s = strchr(s, '%'); s && s[1]; s = strchr(s + 2, '%'))
		if (s[1] == letter)
			return true;
	return false;
}

/* The file's name, owned by the caller; number `try` makes %p differ. */
static char *
save_path(const struct run *run, unsigned try)
{
	const char *s = run->opts->data;
	char *path = mem_strdup(""), *longer, *text;

	while (*s) {
		size_t len = strcspn(s, "%");

		text = s[len] ? pattern_text(run, s[len + 1], try) : NULL;
		/* A % that begins no pattern stands for itself. */
		longer = mem_printf("%s%.*s%s", path, (int)len, s,
				    text   ? text :
				    s[len] ? "%" :
					     "");
		s += len + (text ? 2 : s[len] ? 1 : 0);
		free(text);
		free(path);
		path = longer;
	}
	return path;
}

/*
 * A name with %p is meant for this run alone.  If there is such a file already,
 * another run made it, whose process had the same id (perhaps at the same time
 * on another machine): take another name.
 */
static char *
save_path_take(const struct run *run)
{
	enum { TRIES = 10000 };
	bool alone = pattern_has(run->opts->data, 'p');

	for (unsigned try = 1;; try++) {
		char *path = save_path(run, try);
		int fd;

		if (!alone || try == TRIES)
			return path;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0) {
			close(fd);
			return path;
		}
		/* Any other error will be told when the file is written. */
		if (errno != EEXIST)
			return path;
		free(path);
	}
}

/* Only a data file or an empty file may be replaced. */
static int
replace_check(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size ||
	    profile_is(path))
		return 0;
	return fail("%s: not a data file: pmon does not replace it", path);
}

int
save_check(const struct run *run)
{
	char *path;
	int err;

	if (!run->opts->data)
		return 0;
	if (pattern_has(run->opts->data, 'r') && !rank_find())
		return fail("--data: %s: no environment variable gives the "
			    "rank (%%r)",
			    run->opts->data);
	path = save_path(run, 1);
	err = target_check(path) || replace_check(path) ? -1 : 0;
	free(path);
	return err;
}

/* ---- parts */

/* The program that the owner's process executed last, or "". */
static const char *
owner_program_of(const struct run *run, const struct counter_owner *owner)
{
	size_t n;
	const struct counter_owner *owners = run_owners(run, &n);

	if (owner->program)
		return owner->program;
	for (size_t i = 0; i < n; i++)
		if (owners[i].pid == owner->pid && owners[i].program)
			return owners[i].program;
	return "";
}

static uint64_t
owner_start(const struct run *run, const struct counter_owner *owner)
{
	if (owner->start < run->started)
		return 0;
	return (uint64_t)((owner->start - run->started) * SECOND);
}

/*
 * Make a part of the profile for each counter set that has an owner.  Returns
 * the parts' counter set numbers, owned by the caller.
 */
static size_t *
parts_make(const struct run *run, struct profile *profile)
{
	size_t n, *counter_sets = NULL, ncounter_sets = 0;
	const struct counter_owner *owners = run_owners(run, &n);
	uint32_t *part = mem_alloc(n * sizeof(*part));

	for (size_t i = 0; i < n; i++) {
		const struct counter_owner *owner = &owners[i];

		part[i] = (uint32_t)profile->nparts;
		if (!owner->pid)
			continue;
		*vec_push(profile->parts,
			  profile->nparts) = (struct profile_part){
			.parent = owner->parent < i &&
						  owners[owner->parent].pid ?
					  part[owner->parent] :
					  PART_NONE,
			.pid = (uint32_t)owner->pid,
			.tid = (uint32_t)owner->tid,
			.start = owner_start(run, owner),
			.program = mem_strdup(owner_program_of(run, owner)),
		};
		*vec_push(counter_sets, ncounter_sets) = i;
	}
	free(part);
	return counter_sets;
}

/* ---- the run */

static struct profile_death
death_describe(const struct report_input *report_input)
{
	const struct death *death = &report_input->death;

	for (size_t i = 0; i < report_input->nplans; i++)
		if (report_input->plans[i] == death->plan)
			return (struct profile_death){ (uint32_t)i + 1,
						       death->addr,
						       (uint8_t)death->how };
	return (struct profile_death){ 0 };
}

static void
run_describe(const struct run *run, const struct report_input *report_input,
	     struct profile *profile)
{
	struct profile_run *of = vec_push(profile->runs, profile->nruns);

	*of = (struct profile_run){
		.id = run->recording->id,
		.start = run->recording->started,
		.elapsed = (uint64_t)(report_input->seconds * SECOND),
		.processes = report_input->nprocesses,
		.threads = report_input->nthreads,
		.events = report_input->events,
		.command = mem_strdup(report_input->command),
		.outcome = mem_strdup(
			report_input->outcome ? report_input->outcome : ""),
		.death = death_describe(report_input),
		.version = mem_strdup(PMON_VERSION),
	};
	for (size_t i = 0; i < report_input->nstops; i++)
		*vec_push(of->stops, of->nstops) = (struct profile_stop){
			mem_strdup(report_input->stops[i].cause),
			report_input->stops[i].n,
			report_input->stops[i].ns,
		};
	for (size_t i = 0; i < report_input->nremarks; i++)
		*vec_push(of->remarks,
			  of->nremarks) = mem_strdup(report_input->remarks[i]);
}

static struct profile *
run_profile(const struct run *run, const struct report_input *report_input)
{
	struct profile *profile = mem_alloc(sizeof(*profile));
	size_t *counter_sets = NULL;

	run_describe(run, report_input, profile);
	if (run->opts->separate != SEPARATE_NONE)
		counter_sets = parts_make(run, profile);
	profile_save(profile, report_input->plans, report_input->nplans,
		     counter_sets);
	must(!profile_fault(profile));
	free(counter_sets);
	return profile;
}

const char *
run_data(struct run *run)
{
	if (!run->recording->data)
		run->recording->data = save_path_take(run);
	return run->recording->data;
}

int
run_write(const struct run *run, const struct report_input *report_input,
	  const char *path)
{
	struct profile *profile = run_profile(run, report_input);
	int err = profile_write(profile, path);

	profile_free(profile);
	return err;
}

int
run_save(struct run *run, const struct report_input *report_input)
{
	int err = run_write(run, report_input, run_data(run));
	struct recording *recording = run->recording;

	if (err && pattern_has(run->opts->data, 'p') && !recording->saved)
		unlink(recording->data);
	recording->saved |= !err;
	recording->unsaved = err;
	return err;
}

bool
run_unsaved(const struct run *run)
{
	return run->recording && run->recording->unsaved;
}

uint8_t *
run_encode(const struct run *run, const struct report_input *report_input,
	   size_t *size)
{
	struct profile *profile = run_profile(run, report_input);
	uint8_t *bytes = profile_encode(profile, size);

	profile_free(profile);
	return bytes;
}
