/*
 * Turns mangled C++ and Rust names into those that people write.  The only
 * user of libiberty.
 */
#ifndef UTIL_DEMANGLE_H
#define UTIL_DEMANGLE_H

/*
 * The demangled name, owned by the caller: demangle gives it with parameters,
 * "space::f(int)", demangle_bare without, "space::f".  NULL if the name is not
 * mangled, is longer than 16 KiB, or would become longer than 64 KiB.
 */
char *demangle(const char *name);
char *demangle_bare(const char *name);

#endif
