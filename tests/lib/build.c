/*
 * The work directory of a unit test, and what runs in it.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

uint64_t
label_in(const char *program, const char *name)
{
	char command[128];
	uint64_t addr;
	FILE *out;

	snprintf(command, sizeof(command),
		 "nm %s | awk '$3 == \"%s\" { print $1 }'", program, name);
	out = output(command);
	assert_int_equal(fscanf(out, "%" SCNx64, &addr), 1);
	pclose(out);
	return addr;
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

size_t
bytes_at(const char *name, const uint8_t *bytes, size_t n)
{
	int fd = open(in_work(name), O_RDONLY | O_CLOEXEC);
	const char *file, *found;
	struct stat st;
	size_t at;

	assert_false(fstat(fd, &st));
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(file != MAP_FAILED);
	close(fd);
	found = memmem(file, (size_t)st.st_size, bytes, n);
	assert_non_null(found);
	at = (size_t)(found - file);
	munmap((void *)file, (size_t)st.st_size);
	return at;
}

void
damage(const char *name, size_t at, size_t n, void (*check)(void))
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	int fd = open(in_work(name), O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t i = at; i < at + n; i++) {
		uint8_t good;

		assert_int_equal(pread(fd, &good, 1, (off_t)i), 1);
		for (size_t k = 0; k < sizeof(values); k++) {
			assert_int_equal(pwrite(fd, &values[k], 1, (off_t)i),
					 1);
			check();
		}
		assert_int_equal(pwrite(fd, &good, 1, (off_t)i), 1);
	}
	close(fd);
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

struct func_plan *
fplan_named(struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->nfplans; i++)
		if (plan->fplans[i].func != FUNC_NONE &&
		    !strcmp(plan->image->funcs[plan->fplans[i].func].name,
			    name))
			return &plan->fplans[i];
	fail_msg("no %s", name);
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
