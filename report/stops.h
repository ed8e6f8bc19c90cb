/*
 * Why the program was stopped, how often and how long.
 */
#ifndef REPORT_STOPS_H
#define REPORT_STOPS_H

#include "report/table.h"

/* All there were; 0: not known. */
uint64_t stops_all(const struct tally *tally);

/* A table by cause, what took longest first; nothing if none is known. */
void stops_write(const struct tally *tally, FILE *out);

#endif
