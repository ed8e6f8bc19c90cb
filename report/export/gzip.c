/*
 * Compresses in the format of gzip (RFC 1952), with zlib.
 */
#include "report/export/gzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "util/fail.h"
#include "util/mem.h"

enum { WINDOW_GZIP = 15 + 16, MEMORY_USUAL = 8, PIECE = 1 << 16 };

struct gzip {
	z_stream z;
	FILE *out;
};

static void
gzip_put(struct gzip *gzip, int flush)
{
	uint8_t piece[PIECE];

	do {
		gzip->z.next_out = piece;
		gzip->z.avail_out = sizeof(piece);
		must(deflate(&gzip->z, flush) != Z_STREAM_ERROR);
		fwrite(piece, 1, sizeof(piece) - gzip->z.avail_out, gzip->out);
	} while (!gzip->z.avail_out);
}

static ssize_t
gzip_take(void *cookie, const char *buf, size_t size)
{
	struct gzip *gzip = cookie;

	gzip->z.next_in = (Bytef *)buf;
	gzip->z.avail_in = (uInt)size;
	gzip_put(gzip, Z_NO_FLUSH);
	return (ssize_t)size;
}

static int
gzip_end(void *cookie)
{
	struct gzip *gzip = cookie;

	gzip_put(gzip, Z_FINISH);
	deflateEnd(&gzip->z);
	free(gzip);
	return 0;
}

FILE *
gzip_open(FILE *out)
{
	struct gzip *gzip = mem_alloc(sizeof(*gzip));
	FILE *in;

	gzip->out = out;
	must(deflateInit2(&gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			  WINDOW_GZIP, MEMORY_USUAL,
			  Z_DEFAULT_STRATEGY) == Z_OK);
	in = fopencookie(gzip, "w",
			 (cookie_io_functions_t){
				 .write = gzip_take,
				 .close = gzip_end,
			 });
	must(in);
	return in;
}
