/*
 * Compresses data of the page, with zlib; the browser unpacks them.  Z85,
 * base 85 without quotes and backslashes (ZeroMQ RFC 32), makes them part of a
 * script, in a sixteenth less than base64.
 */
#include "report/html/html_pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "util/fail.h"
#include "util/mem.h"

static const char DIGITS[] =
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	".-:+=^!/*?&<>()[]{}@%$#";

/* Write five digits for each four bytes; what lacks of the last four is 0. */
static void
z85_write(const uint8_t *bytes, size_t n, FILE *out)
{
	enum { BASE = 85, HIGHEST = BASE * BASE * BASE * BASE };

	for (size_t i = 0; i < n; i += 4) {
		uint32_t four = 0;

		for (size_t k = i; k < i + 4; k++)
			four = four << 8 | (k < n ? bytes[k] : 0);
		for (uint32_t place = HIGHEST; place; place /= BASE)
			putc(DIGITS[four / place % BASE], out);
	}
}

void
html_pack(const char *text, size_t size, FILE *out)
{
	uLongf n = compressBound(size);
	uint8_t *packed = mem_alloc(n);

	must(compress2(packed, &n, (const Bytef *)text, size,
		       Z_BEST_COMPRESSION) == Z_OK);
	fprintf(out, "%lu,\"", n);
	z85_write(packed, n, out);
	putc('"', out);
	free(packed);
}
