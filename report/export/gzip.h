/*
 * Writing through gzip.
 */
#ifndef REPORT_EXPORT_GZIP_H
#define REPORT_EXPORT_GZIP_H

#include <stdio.h>

/*
 * A stream whose text goes to `out`, compressed; closing it ends the member,
 * and leaves `out` open.  What cannot be written is an error of `out`.
 */
FILE *gzip_open(FILE *out);

#endif
