/*
 * Saving the counts so far beside the data file, in case pmon is killed.
 */
#ifndef MONITOR_CLIENT_AUTOSAVE_H
#define MONITOR_CLIENT_AUTOSAVE_H

#include "monitor/run.h"

/* Start saving, if the run has a data file and --save-every is not 0. */
void autosave_open(struct run *run);
/* A tick has passed: save if a save is due. */
void autosave_tick(struct run *run);
/*
 * The run is over: wait for the last save, and remove the saved file unless the
 * data file could not be written.
 */
void autosave_close(struct run *run);

#endif
