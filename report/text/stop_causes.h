/*
 * The causes of the program's stops: how often, and for how long.
 */
#ifndef REPORT_TEXT_STOP_CAUSES_H
#define REPORT_TEXT_STOP_CAUSES_H

#include "report/table.h"

/* The number of all stops; 0: not known. */
uint64_t stops_all(const struct report_input *report_input);

/* Write a table by cause, longest first; nothing if no stop is known. */
void stops_write(const struct report_input *report_input, FILE *out);

#endif
