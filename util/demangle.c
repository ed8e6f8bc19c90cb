/*
 * Demangles through libiberty's callbacks.  Never trusts a name: a few bytes
 * can stand for gigabytes of text, so the length of the result is limited.
 */
#include "util/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { DEMANGLED_MAX = 64 << 10, MANGLED_MAX = 16 << 10 };

struct output {
	char *text;
	size_t len, size;
	jmp_buf too_long;
};

/*
 * Append text, or leave the demangler if it gets too long.  libiberty's
 * callback demanglers own no heap memory that this could leak.
 */
static void
output_add(const char *text, size_t len, void *opaque)
{
	struct output *out = opaque;

	if (len >= DEMANGLED_MAX - out->len)
		longjmp(out->too_long, 1);
	if (out->len + len > out->size) {
		out->size = 2 * (out->len + len);
		out->text = mem_grow(out->text, out->size, 1);
	}
	memcpy(out->text + out->len, text, len);
	out->len += len;
}

static int
demangle_into(const char *name, int options, struct output *out)
{
	if (setjmp(out->too_long))
		return 0;
	if (rust_demangle_callback(name, options, output_add, out))
		return 1;
	out->len = 0;
	return cplus_demangle_v3_callback(name, options, output_add, out);
}

static char *
demangle_with(const char *name, int options)
{
	struct output out = { 0 };
	char *text = NULL;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strlen(name) > MANGLED_MAX)
		return NULL;
	if (demangle_into(name, options, &out))
		text = mem_strndup(out.text ? out.text : "", out.len);
	free(out.text);
	return text;
}

char *
demangle(const char *name)
{
	return demangle_with(name, DMGL_PARAMS | DMGL_ANSI);
}

char *
demangle_bare(const char *name)
{
	return demangle_with(name, DMGL_ANSI);
}
