/*
 * For tests that compile small programs and ask other tools about them: a work
 * directory, commands that run in it, images of files in it.
 */
#ifndef TESTS_BUILD_H
#define TESTS_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before cmocka.h, which makes fail() a macro. */
#include "symtab/image.h"
#include "util/fail.h"

#include <cmocka.h>

static char work[] = "/tmp/pmon-image-XXXXXX";

/* Run a shell command in the work directory; returns system()'s status. */
static int
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

#define run(...) assert_int_equal(try(__VA_ARGS__), 0)

__attribute__((unused)) static FILE *
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

/* The path of a file in the work directory; valid for three more calls. */
static const char *
in_work(const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", work, name);
	return path;
}

__attribute__((unused)) static void
source(const char *name, const char *text)
{
	FILE *out = fopen(in_work(name), "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

__attribute__((unused)) static struct image *
opened(const char *name, unsigned want)
{
	struct image *image = image_open(in_work(name), NULL, want, NULL,
					 NULL);

	if (!image)
		fail_msg("%s", fail_message());
	return image;
}

__attribute__((unused)) static const struct func *
func_named(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->nfuncs; i++)
		if (strcmp(image->funcs[i].name, name) == 0)
			return &image->funcs[i];
	return NULL;
}

__attribute__((unused)) static int
work_make(void **state)
{
	return mkdtemp(work) ? 0 : -1;
}

__attribute__((unused)) static int
work_remove(void **state)
{
	return try("rm -rf \"$PWD\"");
}

#endif
