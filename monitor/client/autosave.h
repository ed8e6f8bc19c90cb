/*
 * What was counted so far, kept beside the data file for the case that pmon is
 * killed.
 */
#ifndef MONITOR_CLIENT_AUTOSAVE_H
#define MONITOR_CLIENT_AUTOSAVE_H

#include "monitor/run.h"

/* Begin, if the run has a data file and --save-every is not 0. */
void autosave_open(struct run *run);
/* A tick has passed: save if it is time to. */
void autosave_tick(struct run *run);
/* The run is over.  What was kept goes, unless the data file is not written. */
void autosave_close(struct run *run);

#endif
