/*
 * Asks debuginfod's servers for files.  Loads the library only when it is needed,
 * so that nobody has to install it, and never without servers that the user has
 * named.
 */
#include "print/debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* libdebuginfod's: debuginfod_find_debuginfo(3). */
typedef int find_file(void *client, const unsigned char *id, int n,
		      char **path);

static struct {
	bool tried;
	void *client;		/* NULL: the library is not there */
	find_file *program, *debug;
} library;

static void
library_load(void)
{
	void *(*begin)(void), *handle;

	library.tried = true;
	handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
	begin = (void *(*)(void))dlsym(handle, "debuginfod_begin");
	library.program = (find_file *)dlsym(handle,
					     "debuginfod_find_executable");
	library.debug = (find_file *)dlsym(handle, "debuginfod_find_debuginfo");
	if (begin && library.program && library.debug)
		library.client = begin();
}

bool
debuginfod_there(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!urls || !*urls)
		return false;
	if (!library.tried)
		library_load();
	return library.client != NULL;
}

static char *
file_find(const uint8_t *id, size_t n, bool debug)
{
	char *path = NULL;
	int fd;

	if (!n || !debuginfod_there())
		return NULL;
	fd = (debug ? library.debug : library.program)(library.client, id,
						       (int)n, &path);
	if (fd < 0)
		return NULL;
	close(fd);
	return path;
}

char *
debuginfod_program(const uint8_t *id, size_t n)
{
	return file_find(id, n, false);
}

char *
debuginfod_debug(const uint8_t *id, size_t n)
{
	return file_find(id, n, true);
}
