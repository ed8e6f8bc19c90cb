/*
 * Opens the programs that profiles are of.  A program that was rebuilt since is
 * refused: its lines and instructions are no longer those that were counted.
 */
#include <stdlib.h>

#include "print/pages.h"
#include "util/build_id.h"
#include "util/fail.h"
#include "util/mem.h"

static void
rebuilt_say(const struct profile_object *object,
	    const struct profile_object *now)
{
	char *old_id = build_id_text(object->build_id, object->build_id_len);
	char *new_id = build_id_text(now->build_id, now->build_id_len);

	if (object->build_id_len && now->build_id_len)
		fail("%s: rebuilt since the run: its build-id is %s, not %s",
		     object->path, new_id, old_id);
	else
		fail("%s: rebuilt since the run", object->path);
	free(old_id);
	free(new_id);
}

static bool
reading_step(void *progress)
{
	progress_step(progress);
	return true;
}

struct image *
program_open(const struct profile_object *object, unsigned want,
	     struct progress *progress)
{
	struct profile_object now = { 0 };
	struct image *image;

	image = image_open(object->path, NULL, want,
			   progress ? reading_step : NULL, progress);
	if (!image)
		return NULL;
	profile_identify(&now, image);
	if (profile_object_compare(object, &now)) {
		rebuilt_say(object, &now);
		image_close(image);
		image = NULL;
	}
	free(now.path);
	return image;
}

char *
program_fault(const struct profile_object *object)
{
	struct image *image = program_open(object, 0, NULL);

	if (!image)
		return mem_strdup(fail_message());
	image_close(image);
	return NULL;
}
