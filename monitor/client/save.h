/*
 * What was counted up to now, for reports and for data files.
 */
#ifndef MONITOR_CLIENT_SAVE_H
#define MONITOR_CLIENT_SAVE_H

#include "monitor/run.h"

/* All that was counted up to now; its plans are the run's. */
struct report_input *report_input_make(struct run *run);
void report_input_free(struct report_input *report_input);

/* Read --weights; 0, or -1 with the message. */
int earlier_read(struct run *run);
void earlier_free(struct run *run);

/* The run has started now, or its counts begin anew. */
void run_begin(struct run *run);

/* Whether -d can be written, as far as that is known; 0 or -1. */
int save_check(const struct run *run);
/*
 * Write what was counted to the data file; 0, or -1 with the message.  The
 * report input is of the run.
 */
int run_save(struct run *run, const struct report_input *report_input);
/* The data file's name, which is chosen when it is first asked for. */
const char *run_data(struct run *run);
/* Write what was counted to another file; 0, or -1 with the message. */
int run_write(const struct run *run, const struct report_input *report_input,
	      const char *path);
/* The same in memory, owned by the caller. */
uint8_t *run_encode(const struct run *run,
		    const struct report_input *report_input, size_t *size);

#endif
