/*
 * Streams that compress in the format of gzip.
 */
#ifndef REPORT_EXPORT_GZIP_H
#define REPORT_EXPORT_GZIP_H

#include <stdio.h>

/*
 * Open a stream that writes its text, compressed, to `out`.  fclose ends the
 * gzip member and leaves `out` open.  Write errors are errors of `out`.
 */
FILE *gzip_open(FILE *out);

#endif
