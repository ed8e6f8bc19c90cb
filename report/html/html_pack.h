/*
 * Compressed text in a script.
 */
#ifndef REPORT_HTML_HTML_PACK_H
#define REPORT_HTML_HTML_PACK_H

#include <stdio.h>

/*
 * Write the text in the format of zlib (RFC 1950): its size, a comma, and it as
 * a string of Z85 (RFC 32 of ZeroMQ), filled up to four bytes.
 */
void html_pack(const char *text, size_t size, FILE *out);

#endif
