/*
 * Finds programs in $PATH.  Runs none.
 */
#include "util/program_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"

char *
program_path(const char *name)
{
	const char *dirs = getenv("PATH"), *end;
	char *path;

	if (strchr(name, '/'))
		return mem_strdup(name);
	for (; dirs; dirs = *end ? end + 1 : NULL) {
		end = strchrnul(dirs, ':');
		path = mem_printf("%.*s%s%s", (int)(end - dirs), dirs,
				  end == dirs ? "" : "/", name);
		if (!access(path, X_OK))
			return path;
		free(path);
	}
	return fail_null("%s: not found in PATH", name);
}
