/*
 * The work directory of a unit test, and what runs in it.
 */
#include "tests/lib/build.h"

char work[] = "/tmp/pmon-image-XXXXXX";

int
try(const char *fmt, ...)
{
	char command[4096], whole[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	snprintf(whole, sizeof(whole), "cd %s && export LC_ALL=C && { %s; }",
		 work, command);
	return system(whole);
}

FILE *
output(const char *command)
{
	char whole[4096];
	FILE *out;

	snprintf(whole, sizeof(whole), "cd %s && export LC_ALL=C && %s", work,
		 command);
	out = popen(whole, "r");
	assert_non_null(out);
	return out;
}

const char *
in_work(const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", work, name);
	return path;
}

void
source(const char *name, const char *text)
{
	FILE *out = fopen(in_work(name), "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

struct image *
opened(const char *name, unsigned want)
{
	struct image *image = image_open(in_work(name), NULL, want, NULL, NULL);

	if (!image)
		fail_msg("%s", fail_message());
	return image;
}

const struct func *
func_named(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->nfuncs; i++)
		if (strcmp(image->funcs[i].name, name) == 0)
			return &image->funcs[i];
	return NULL;
}

int
work_make(void **state)
{
	return mkdtemp(work) ? 0 : -1;
}

int
work_remove(void **state)
{
	return try("rm -rf \"$PWD\"");
}
