/*
 * C++ and Rust names as people write them.  The only user of libiberty.
 */
#ifndef UTIL_DEMANGLE_H
#define UTIL_DEMANGLE_H

/*
 * The name with its parameters, "space::f(int)", or without them,
 * "space::f"; owned by the caller.  NULL if it is no mangled name (or one
 * that would come to more than 64 KiB).
 */
char *demangle(const char *name);
char *demangle_bare(const char *name);

#endif
