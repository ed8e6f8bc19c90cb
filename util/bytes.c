/*
 * Reads descriptors to their ends.  Asks nothing about them beforehand: the
 * sizes of pipes and devices are not known.
 */
#include "util/bytes.h"

#include <errno.h>
#include <unistd.h>

#include "util/mem.h"

enum { PIECE = 1 << 16 };

int
bytes_read(int fd, size_t max, uint8_t **bytes, size_t *n)
{
	size_t room = *n;

	while (*n < max) {
		ssize_t got;

		if (*n == room) {
			room = 2 * room + PIECE;
			if (room > max)
				room = max;
			*bytes = mem_grow(*bytes, room, 1);
		}
		got = read(fd, *bytes + *n, room - *n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		*n += (size_t)got;
	}
	return 0;
}
