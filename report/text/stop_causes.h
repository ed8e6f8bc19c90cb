/*
 * Why the program was stopped, how often and how long.
 */
#ifndef REPORT_TEXT_STOP_CAUSES_H
#define REPORT_TEXT_STOP_CAUSES_H

#include "report/table.h"

/* All there were; 0: not known. */
uint64_t stops_all(const struct report_input *report_input);

/* A table by cause, what took longest first; nothing if none is known. */
void stops_write(const struct report_input *report_input, FILE *out);

#endif
