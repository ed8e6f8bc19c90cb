/*
 * Reads what a descriptor has, be it a file, a pipe or a device.
 */
#ifndef UTIL_BYTES_H
#define UTIL_BYTES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Add to the *n bytes that there are what fd has, up to its end or until there
 * are `max`.  The caller owns *bytes, which is NULL before there are any, also
 * after an error.  0, or -1 with errno set.
 */
int bytes_read(int fd, size_t max, uint8_t **bytes, size_t *n);

#endif
