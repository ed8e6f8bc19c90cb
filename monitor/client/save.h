/*
 * The counts up to now, as input of a report and as a data file.
 */
#ifndef MONITOR_CLIENT_SAVE_H
#define MONITOR_CLIENT_SAVE_H

#include "monitor/run.h"
#include "util/fail.h"

/*
 * The report input of the run as it is now; owned by the caller:
 * report_input_free.  The plans and remarks in it stay the run's.
 */
struct report_input *report_input_make(struct run *run);
void report_input_free(struct report_input *report_input);

/* Read the data file of --weights.  0, or -1 with the message. */
int earlier_read(struct run *run) MUST_CHECK;
void earlier_free(struct run *run);

/*
 * Start the run's clock and give the run a new id: counting begins, or begins
 * anew after a reset.
 */
void run_begin(struct run *run);
/* Free what run_begin made. */
void recording_free(struct run *run);

/* Can --data be written, as far as pmon knows?  0, or -1 with the message. */
int save_check(const struct run *run) MUST_CHECK;
/* Write the data file of the run.  0, or -1 with the message. */
int run_save(struct run *run, const struct report_input *report_input);
/* Whether run_save failed the last time. */
bool run_unsaved(const struct run *run);
/* The data file's name, chosen at the first call; the run owns it. */
const char *run_data(struct run *run);
/* Write a data file to another path.  0, or -1 with the message. */
int run_write(const struct run *run, const struct report_input *report_input,
	      const char *path) MUST_CHECK;
/* The bytes of a data file, *size of them, owned by the caller. */
uint8_t *run_encode(const struct run *run,
		    const struct report_input *report_input, size_t *size);

#endif
