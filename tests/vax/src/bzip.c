/*
 * bzip2's library, on a file: compresses it, says how long that came to, and
 * expands it again, which must give the same.  BZ_NO_STDIO, so all it needs
 * is memory.
 */
#include "lib.h"
#include "bzlib.h"

void
bz_internal_error(int errcode)
{
	put("bzip2: internal error\n");
	_exit(3);
}

static void *
block(void *opaque, int n, int size)
{
	return malloc((size_t)n * (size_t)size);
}

static void
release(void *opaque, void *p)
{
}

static unsigned
compress_all(const char *from, unsigned n, char *to, unsigned size)
{
	bz_stream s = { .bzalloc = block, .bzfree = release };

	s.next_in = (char *)from;
	s.avail_in = n;
	s.next_out = to;
	s.avail_out = size;
	if (BZ2_bzCompressInit(&s, 1, 0, 30) != BZ_OK ||
	    BZ2_bzCompress(&s, BZ_FINISH) != BZ_STREAM_END)
		return 0;
	BZ2_bzCompressEnd(&s);
	return size - s.avail_out;
}

static unsigned
expand_all(const char *from, unsigned n, char *to, unsigned size)
{
	bz_stream s = { .bzalloc = block, .bzfree = release };

	s.next_in = (char *)from;
	s.avail_in = n;
	s.next_out = to;
	s.avail_out = size;
	if (BZ2_bzDecompressInit(&s, 0, 0) != BZ_OK ||
	    BZ2_bzDecompress(&s) != BZ_STREAM_END)
		return 0;
	BZ2_bzDecompressEnd(&s);
	return size - s.avail_out;
}

int
main(int argc, char **argv)
{
	static char text[100000], packed[101000], back[100000];
	unsigned n = 0, m;
	int fd = argc > 1 ? open(argv[1], 0, 0) : 0, got;

	while (n < sizeof(text) &&
	       (got = read(fd, text + n, (int)(sizeof(text) - n))) > 0)
		n += (unsigned)got;
	m = compress_all(text, n, packed, sizeof(packed));
	put_number((long)n);
	put(" ");
	put_number((long)m);
	put("\n");
	if (expand_all(packed, m, back, sizeof(back)) != n)
		return 1;
	for (unsigned i = 0; i < n; i++)
		if (text[i] != back[i])
			return 2;
	put("same\n");
	return 0;
}
