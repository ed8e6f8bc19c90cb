/*
 * Paths of files that were moved, as OLD=NEW says.
 */
#ifndef UTIL_PATH_MAP_H
#define UTIL_PATH_MAP_H

/*
 * The path under NEW, if it is OLD or is below the directory OLD; owned by the
 * caller.  NULL if not, or if the mapping has no '='.
 */
char *path_map(const char *mapping, const char *path);

#endif
