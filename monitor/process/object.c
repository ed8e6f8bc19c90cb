/*
 * The objects of a run: reads each file that a process executes or maps once,
 * and keeps its plan for all processes.  Knows no process.
 */
#include "monitor/process/object.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/process/client.h"
#include "monitor/process/kept_hooks.h"
#include "monitor/process/ran.h"
#include "monitor/process/signals.h"
#include "monitor/process/thread_pages.h"
#include "monitor/run.h"
#include "report/progress.h"
#include "report/profile/profile_plan.h"
#include "util/fail.h"
#include "util/mem.h"

enum { EAGER_TEXT_MAX = 1 << 24 };

/* Reading a file, which may take long. */
struct object_reading {
	struct run *run;
	struct progress progress;
};

/* Whether pmon uses, and keeps, what it found in files. */
static bool
run_keeps(const struct run *run)
{
	return !run->opts->no_cache && run->host->native;
}

static bool
reading_step(void *arg)
{
	struct object_reading *reading = arg;

	progress_step(&reading->progress);
	return !run_interrupted(reading->run);
}

/*
 * Whether it is musl that loads the program.  musl's dynamic linker is its C
 * library, too, and has no unwind table, so the stack of every program that
 * ends there is truncated.
 */
static bool
image_musl(const struct image *image)
{
	const char *name = image->interp ? strrchr(image->interp, '/') : NULL;

	return name && !strncmp(name, "/ld-musl-", strlen("/ld-musl-"));
}

/*
 * Whether stacks of the image's program cannot be relied on.  What may set the
 * thread register makes code or stacks of its own: an emulator.  Once a walk of
 * its stacks was truncated, every block would have a shared counter, also where
 * flags are in use.
 */
static bool
image_leaks(const struct image *image)
{
	return image->untabled || image->ocaml || image_musl(image) ||
	       thread_pages_doubtful(image);
}

static struct weights *
probes_weigh(void *ctx, const struct plan *plan, const struct func_plan *fplan)
{
	struct run *run = ctx;

	return run->earlier ? profile_weigh(run->earlier, plan, fplan) : NULL;
}

static uint64_t
text_size(const struct image *image)
{
	uint64_t size = 0;

	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].flags & PF_X)
			size += image->segments[i].filesz;
	return size;
}

/*
 * Whether to look at all functions of the image before pmon attaches, although
 * graphs are made.  Then no entry needs a trap: were pmon killed, the process
 * would die of it.  Not of more text than takes some seconds.
 */
static bool
attach_is_eager(const struct run *run, const struct image *image)
{
	uint64_t size = text_size(image);

	if (!run->opts->npids || run->started || !run->host->native ||
	    run->opts->patch != PATCH_AUTO || run->opts->once)
		return false;
	for (size_t i = 0; i < run->nobjects; i++)
		if (run->objects[i].counted && run->objects[i].plan)
			size += text_size(run->objects[i].plan->image);
	return size <= EAGER_TEXT_MAX;
}

static void
probes_choose(void *run, struct plan *plan, struct probe_list *list)
{
	client_choose(run, plan, list);
}

static struct plan_options
options_make(struct run *run, const struct image *image)
{
	const struct options *opts = run->opts;

	return (struct plan_options){
		.sel = &opts->selection,
		.method = opts->once ? PLACE_ONCE : opts->placement,
		.no_traps = opts->no_traps,
		/* A host that counts needs all sites at the start. */
		.eager = opts->eager || attach_is_eager(run, image) ||
			 run->eager || opts->no_traps ||
			 (opts->once && opts->npids),
		/* While the process to attach to still runs. */
		.early = opts->npids && !run->started,
		.weigh = probes_weigh,
		.choose = probes_choose,
		.ctx = run,
		.whole = client_others_choose(run),
		.bare = opts->per_alone,
		.relocated = opts->patch == PATCH_AUTO && !opts->once &&
			     run->host->native,
		/* Children that pmon cannot see count, too. */
		.shared = opts->no_traps,
		.springs = !opts->no_traps,
		.leaks = !run->host->native || image_leaks(image),
		/*
		 * An attached process may switch to frames that nobody has
		 * seen.
		 */
		.unswitched = image_leaks(image) && !opts->npids &&
			      !opts->selection.objects.n,
		.unhooked = !run->host->native,
		.maps = run_maps_hooked(run),
	};
}

/*
 * Whether pmon uses, and keeps, lists of the functions that ran.  An attached
 * process may be in the middle of any function.
 */
static bool
run_remembers(const struct run *run)
{
	const struct options *opts = run->opts;

	return run_keeps(run) && opts->argv && opts->patch == PATCH_AUTO &&
	       !opts->once;
}

static struct plan *
object_read(struct run *run, const char *path, const char *open_path)
{
	struct object_reading reading = {
		.run = run,
		.progress = progress_begin(STDERR_FILENO,
					   run->opts->report.quiet,
					   "pmon: reading symbols of ", path),
	};
	struct plan_options options;
	struct ran ran = { 0 };
	struct image *image;
	struct plan *plan = NULL;

	image = image_open(path, open_path,
			   plan_wants(&run->opts->selection) | IMAGE_FLOW,
			   reading_step, &reading);
	if (image && run->earlier &&
	    profile_rebuilt(run->earlier->profile, image))
		run_remark(run,
			   "%s: not used to place the counters of %s: it "
			   "is of another build",
			   run->opts->weights, path);
	if (image) {
		options = options_make(run, image);
		if (run_remembers(run))
			ran = ran_read(run->cache, image);
		options.likely = ran.addrs;
		options.nlikely = ran.n;
		plan = plan_open(image, &options, reading_step, &reading);
		free(ran.addrs);
	}
	progress_end(&reading.progress);
	return plan;
}

/*
 * A file may be one process's program, which is counted, and another's library,
 * which has only hooks: then it has a plan for each.
 */
static struct object *
object_find(struct run *run, const struct stat *st, bool counted)
{
	for (size_t i = 0; i < run->nobjects; i++) {
		struct object *object = &run->objects[i];

		if (object->counted == counted && object->dev == st->st_dev &&
		    object->ino == st->st_ino &&
		    object->size == (uint64_t)st->st_size &&
		    object->mtime == (uint64_t)st->st_mtime)
			return object;
	}
	return NULL;
}

/*
 * Why reading the file has failed, owned by the caller.  NULL if it is no ELF
 * file: then it has no code that could be hooked.
 */
static char *
file_unread(const char *open_path)
{
	char magic[SELFMAG] = ELFMAG;
	char *why = mem_strdup(fail_message());
	FILE *f = fopen(open_path, "re");

	if (f && fread(magic, 1, SELFMAG, f) == SELFMAG &&
	    memcmp(magic, ELFMAG, SELFMAG)) {
		free(why);
		why = NULL;
	}
	if (f)
		fclose(f);
	return why;
}

/* The search for a file's hooks. */
struct hooks_reading {
	struct run *run;
	struct kept_hooks kept;
};

static bool
hooks_kept(void *arg, const struct image *image)
{
	struct hooks_reading *reading = arg;
	const struct run *run = reading->run;

	return run_keeps(run) && !run->opts->no_traps &&
	       kept_hooks_read(run->cache, image, run_maps_hooked(run),
			       &reading->kept);
}

static struct plan *
hooks_read(struct run *run, const char *path, const char *open_path,
	   char **unread)
{
	/* Reports of calls name the functions that are called. */
	bool names = run->opts->selection.units & 1U << UNIT_CALL;
	struct hooks_reading reading = { .run = run };
	struct image *image = image_open_with(path, open_path,
					      names ? IMAGE_BARE : IMAGE_SPARSE,
					      &(struct image_calls){
						      .unsearched = hooks_kept,
						      .arg = &reading,
					      });
	struct plan *plan;

	if (!image) {
		*unread = file_unread(open_path);
		free(reading.kept.hooks);
		return NULL;
	}
	plan = plan_open(image,
			 &(struct plan_options){
				 .no_traps = run->opts->no_traps,
				 .maps = run_maps_hooked(run),
			 },
			 NULL, NULL);
	if (image->unsearched)
		plan_know_hooks(plan, reading.kept.hooks, reading.kept.n,
				reading.kept.maps_unseen);
	return plan;
}

/* The plan of a file, which is read if it is new to the run as this. */
static struct plan *
object_get(struct run *run, const char *path, const char *open_path,
	   bool counted, const char **unread)
{
	struct object *object, new;
	struct stat st;

	if (stat(open_path, &st)) {
		if (counted)
			run_remark(run, "%s: not counted: %s", path,
				   strerror(errno));
		return NULL;
	}
	object = object_find(run, &st, counted);
	if (object) {
		if (unread)
			*unread = object->unread;
		return object->plan;
	}
	new = (struct object){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtime,
		.counted = counted,
	};
	new.plan = counted ? object_read(run, path, open_path) :
			     hooks_read(run, path, open_path, &new.unread);
	if (unread)
		*unread = new.unread;
	if (!new.plan && counted)
		run_remark(run, "not counted: %s", fail_message());
	*vec_push(run->objects, run->nobjects) = new;
	return new.plan;
}

struct plan *
object_plan(struct run *run, const char *path, const char *open_path,
	    bool main_object)
{
	if (!select_object(&run->opts->selection, path, main_object))
		return NULL;
	return object_get(run, path, open_path, true, NULL);
}

struct plan *
object_hooks(struct run *run, const char *path, const char *open_path,
	     const char **unread)
{
	*unread = NULL;
	return object_get(run, path, open_path, false, unread);
}

/*
 * Whether some image may set the thread register: then no function must be
 * relocated before that is known, as those in a list are.
 */
static bool
run_doubtful(const struct run *run)
{
	for (size_t i = 0; i < run->nobjects; i++) {
		const struct plan *plan = run->objects[i].plan;

		if (plan && thread_pages_doubtful(plan->image))
			return true;
	}
	return false;
}

void
objects_remember(const struct run *run)
{
	/* What was kept may be the reason for it. */
	bool fault = signal_is_fault(run->root.signal);
	bool forgets = fault || run_doubtful(run);

	for (size_t i = 0; run_keeps(run) && i < run->nobjects; i++) {
		const struct object *object = &run->objects[i];
		struct plan *plan = object->plan;

		if (!plan)
			continue;
		if (!object->counted && fault)
			kept_hooks_forget(run->cache, plan->image);
		else if (!object->counted)
			kept_hooks_write(run->cache, plan);
		else if (run_remembers(run) && forgets)
			ran_forget(run->cache, plan->image);
		else if (run_remembers(run))
			ran_write(run->cache, plan);
	}
}

void
objects_free(struct run *run)
{
	for (size_t i = 0; i < run->nobjects; i++) {
		plan_close(run->objects[i].plan);
		free(run->objects[i].unread);
	}
	free(run->objects);
}
