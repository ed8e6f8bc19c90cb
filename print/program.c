/*
 * Finds and opens the programs that profiles are of: where they were, and where
 * --program-path says.  Another build is refused: its lines and instructions
 * are not those that were counted.  The paths are a data file's, which anyone
 * may have written: --program-path alone says in which directories pmprint
 * looks.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print/debuginfod.h"
#include "print/pages.h"
#include "util/build_id.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/path_map.h"

/* Where systems keep programs, or links to them, beside debug files. */
static const char debug_root[] = "/usr/lib/debug";

struct search {
	const struct profile_object *object;
	unsigned want;
	struct progress *progress;
	const char **dirs;	/* those of --program-path */
	size_t ndirs;
	struct image *image;	/* what was found, or NULL */
	char *faults;		/* why files are not used */
	char *names;		/* what was looked for beside object->path */
};

static void
rebuilt_say(const struct profile_object *object,
	    const struct profile_object *now, const char *path)
{
	char *old_id = build_id_text(object->build_id, object->build_id_len);
	char *new_id = build_id_text(now->build_id, now->build_id_len);

	if (object->build_id_len && now->build_id_len)
		fail("%s: rebuilt since the run: its build-id is %s, not %s",
		     path, new_id, old_id);
	else
		fail("%s: rebuilt since the run", path);
	free(old_id);
	free(new_id);
}

static bool
reading_step(void *progress)
{
	progress_step(progress);
	return true;
}

/*
 * Not for what only gives names to calls, nor only to see whether a program is
 * there.
 */
static bool
asks_servers(const struct search *search)
{
	return search->want && !(search->want & IMAGE_BARE);
}

/* Use the file if it is the build that ran; else add why it is not. */
static void
file_use(struct search *search, const char *path)
{
	struct profile_object now = { 0 };
	struct image_calls calls = {
		.progress = search->progress ? reading_step : NULL,
		.arg = search->progress,
		.debug_dirs = search->dirs,
		.ndebug_dirs = search->ndirs,
		.debug_find = asks_servers(search) ? debuginfod_debug : NULL,
	};
	struct image *image = image_open_with(path, NULL, search->want, &calls);
	char *faults;

	if (image) {
		/* Of files without build-ids the path is compared, too. */
		image_rename(image, search->object->path);
		profile_identify(&now, image);
		if (!profile_object_compare(search->object, &now))
			search->image = image;
	}
	if (image && !search->image) {
		rebuilt_say(search->object, &now, path);
		image_close(image);
	}
	free(now.path);
	if (search->image)
		return;
	faults = mem_printf("%s%s%s", search->faults,
			    *search->faults ? "; " : "", fail_message());
	free(search->faults);
	search->faults = faults;
}

/* Use the file if it is there.  Frees path; NULL: there is nothing to try. */
static void
file_try(struct search *search, char *path)
{
	if (path && !search->image && !access(path, F_OK))
		file_use(search, path);
	free(path);
}

/* The same with a file of the program's name, which messages tell of. */
static void
name_try(struct search *search, char *path)
{
	if (path)
		search->names = mem_join(search->names, path);
	file_try(search, path);
}

/*
 * May the object's path be looked for elsewhere?  pmon writes full paths: one
 * that leads upwards would leave the directories that the user has named.
 */
static bool
path_plain(const char *path)
{
	const char *name = path;

	while (name) {
		size_t len = strcspn(name, "/");

		if (len == 2 && !strncmp(name, "..", len))
			return false;
		name = name[len] ? name + len + 1 : NULL;
	}
	return true;
}

static void
by_path(struct search *search, const struct options *opts)
{
	const char *path = search->object->path;

	for (size_t i = 0; path_plain(path) && i < opts->nprogram_paths; i++)
		name_try(search, path_map(opts->program_paths[i], path));
	if (!search->image)
		file_use(search, path);
}

/* Look in a directory, for executables first: debug files lack the code. */
static void
by_build_id(struct search *search, const char *dir)
{
	const struct profile_object *object = search->object;

	file_try(search, build_id_path(dir, object->build_id,
				       object->build_id_len, ""));
	if (dir != debug_root)
		file_try(search, build_id_path(dir, object->build_id,
					       object->build_id_len, ".debug"));
}

/* Add to the names that the build-id was looked for in these directories. */
static void
id_name(struct search *search, const char *dirs)
{
	char *id = build_id_text(search->object->build_id,
				 search->object->build_id_len);
	char *text = mem_printf("build-id %s in %s", id, dirs);

	search->names = mem_join(search->names, text);
	free(text);
	free(id);
}

static void
in_directories(struct search *search)
{
	const struct profile_object *object = search->object;
	const char *name = object_name(object);
	bool named = path_plain(object->path) && *name && strcmp(name, ".");
	char *dirs = mem_strdup("");

	for (size_t i = 0; i < search->ndirs; i++) {
		by_build_id(search, search->dirs[i]);
		if (named)
			name_try(search,
				 mem_printf("%s/%s", search->dirs[i], name));
		dirs = mem_join(dirs, search->dirs[i]);
	}
	by_build_id(search, debug_root);
	dirs = mem_join(dirs, debug_root);
	if (!search->image && asks_servers(search) && debuginfod_there()) {
		file_try(search, debuginfod_program(object->build_id,
						    object->build_id_len));
		dirs = mem_join(dirs, "debuginfod");
	}
	if (object->build_id_len > 1)
		id_name(search, dirs);
	free(dirs);
}

struct image *
program_open(const struct options *opts, const struct profile_object *object,
	     unsigned want, struct progress *progress)
{
	struct search search = {
		.object = object,
		.want = want,
		.progress = progress,
		.faults = mem_strdup(""),
		.names = mem_strdup(""),
	};

	for (size_t i = 0; i < opts->nprogram_paths; i++)
		if (!strchr(opts->program_paths[i], '='))
			*vec_push(search.dirs,
				  search.ndirs) = opts->program_paths[i];
	by_path(&search, opts);
	if (!search.image)
		in_directories(&search);
	if (!search.image)
		fail("%s%s%s", search.faults,
		     *search.names ? "; looked for " : "", search.names);
	free(search.dirs);
	free(search.faults);
	free(search.names);
	return search.image;
}

char *
program_fault(const struct options *opts, const struct profile_object *object)
{
	struct image *image = program_open(opts, object, 0, NULL);

	if (!image)
		return mem_strdup(fail_message());
	image_close(image);
	return NULL;
}
