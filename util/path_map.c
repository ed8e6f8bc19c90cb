/*
 * Finds where a moved file is, by its name alone.  Never looks for the file.
 */
#include "util/path_map.h"

#include <string.h>

#include "util/mem.h"

char *
path_map(const char *mapping, const char *path)
{
	const char *equals = strchr(mapping, '=');
	size_t len, i;

	if (!equals)
		return NULL;
	len = (size_t)(equals - mapping);
	while (len > 1 && mapping[len - 1] == '/')
		len--;
	if (strncmp(path, mapping, len) != 0)
		return NULL;
	if (len && mapping[len - 1] != '/' && path[len] && path[len] != '/')
		return NULL;
	i = len;
	while (path[i] == '/')
		i++;
	return mem_printf("%s%s%s", equals + 1, equals[1] && path[i] ? "/" : "",
			  path + i);
}
