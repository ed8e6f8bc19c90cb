/*
 * Reads and writes data files as wholes.  What is in them profile_read.c decodes
 * and profile_write.c encodes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/profile/profile.h"
#include "report/profile/sections.h"
#include "report/target.h"
#include "util/bytes.h"
#include "util/fail.h"

int
profile_write(const struct profile *profile, const char *path)
{
	struct target *target = target_open(path);
	uint8_t *bytes;
	size_t size;

	if (!target)
		return -1;
	bytes = profile_encode(profile, &size);
	/* target_close reports write errors. */
	fwrite(bytes, 1, size, target->out);
	free(bytes);
	return target_close(target);
}

/*
 * Read the whole file, which may be a pipe.  Reads no more than its beginning of
 * what is no data file: a device may have no end.  0, or -1 with the message.
 */
static int
file_get(int fd, const char *path, struct sink *file)
{
	if (bytes_read(fd, FRAME_HEADER, &file->bytes, &file->n))
		return fail("%s: %s", path, strerror(errno));
	if (frame_check(path, file->bytes, file->n))
		return -1;
	if (bytes_read(fd, FRAME_MAX + 1, &file->bytes, &file->n))
		return fail("%s: %s", path, strerror(errno));
	if (file->n > FRAME_MAX)
		return fail("%s: larger than data files of pmon are (%d MiB)",
			    path, FRAME_MAX >> 20);
	return 0;
}

bool
profile_is(const char *path)
{
	uint8_t bytes[16];
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

	if (file)
		fclose(file);
	return frame_is(bytes, n);
}

struct profile *
profile_read(const char *path)
{
	struct profile *profile = NULL;
	struct sink file = { 0 };
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_null("%s: %s", path, strerror(errno));
	if (!file_get(fd, path, &file))
		profile = profile_decode(path, file.bytes, file.n);
	close(fd);
	free(file.bytes);
	return profile;
}
