/*
 * The client library of debuginfod, by which servers give programs and debug
 * files by their build-ids, where the library is installed.
 */
#ifndef PRINT_DEBUGINFOD_H
#define PRINT_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether the user has named servers ($DEBUGINFOD_URLS) and there is the
 * library.
 */
bool debuginfod_there(void);

/*
 * Have the servers asked for the program, or for the debug file, of a build-id.
 * The path of a file in the library's cache, owned by the caller; NULL if no
 * server has it, or if debuginfod_there is false.
 */
char *debuginfod_program(const uint8_t *id, size_t n);
char *debuginfod_debug(const uint8_t *id, size_t n);

#endif
