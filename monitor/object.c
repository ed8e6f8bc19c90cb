/*
 * The objects of a run: each file that a process executes or maps is looked
 * at once, and its plan kept for all processes.  Knows no process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "monitor/run.h"
#include "util/fail.h"
#include "util/mem.h"

/* A line on the terminal while reading takes its time. */
struct progress {
	const char *path;
	double started;
	bool shown;
};

static double
clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void
progress_show(void *arg)
{
	struct progress *progress = arg;

	if (progress->shown || clock_now() - progress->started < 0.5)
		return;
	fprintf(stderr, "pmon: reading symbols of %s ...\r", progress->path);
	progress->shown = true;
}

static void
progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}

static struct plan *
object_read(struct run *run, const char *path, const char *open_path)
{
	const struct selection *sel = &run->opts->selection;
	struct progress progress = { path, clock_now(), false };
	void (*show)(void *) = isatty(STDERR_FILENO) ? progress_show : NULL;
	struct image *image;
	struct plan *plan = NULL;

	image = image_open(path, open_path, plan_wants(sel), show, &progress);
	if (image)
		plan = plan_build(image, sel, show, &progress);
	progress_end(&progress);
	return plan;
}

static struct object *
object_find(struct run *run, const struct stat *st)
{
	for (size_t i = 0; i < run->nobjects; i++) {
		struct object *object = &run->objects[i];

		if (object->dev == st->st_dev && object->ino == st->st_ino &&
		    object->size == (uint64_t)st->st_size &&
		    object->mtime == (uint64_t)st->st_mtime)
			return object;
	}
	return NULL;
}

struct plan *
object_plan(struct run *run, const char *path, const char *open_path,
	    bool main_object)
{
	struct object *object;
	struct plan *plan = NULL;
	struct stat st;

	if (!select_object(&run->opts->selection, path, main_object))
		return NULL;
	if (stat(open_path, &st)) {
		run_remark(run, "%s: not counted: %s", path, strerror(errno));
		return NULL;
	}
	object = object_find(run, &st);
	if (object)
		return object->plan;
	plan = object_read(run, path, open_path);
	if (!plan)
		run_remark(run, "not counted: %s", fail_message());
	*vec_push(run->objects, run->nobjects) = (struct object){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtime,
		.plan = plan,
	};
	return plan;
}

void
objects_free(struct run *run)
{
	for (size_t i = 0; i < run->nobjects; i++)
		plan_free(run->objects[i].plan);
	free(run->objects);
}
