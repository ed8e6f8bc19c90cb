/*
 * How the program ended, and the position at which a signal ended it.
 */
#ifndef REPORT_OUTCOME_H
#define REPORT_OUTCOME_H

#include "report/table.h"

/*
 * "exited with status 1", or "killed by signal 11 (...) at x.c:9 (f+2d#17)": the
 * instruction at f+2d was in its 17th run or about to begin it; without "#17"
 * if death_times is 0.  "" if it is not known how the program ended.  Owned by
 * the caller.
 */
char *outcome_text(const struct table *table);

/*
 * How often the instruction where a signal came had begun by then, or would
 * have; 0 if that is not known, or if there was more than one thread.
 */
uint64_t death_times(const struct report_input *report_input);

#endif
