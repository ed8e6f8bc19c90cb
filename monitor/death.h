/*
 * Where the launched process was when a signal came that ended it.
 */
#ifndef MONITOR_DEATH_H
#define MONITOR_DEATH_H

#include "monitor/run.h"

/* The task has survived the signal that was noted last, if that was its. */
void death_forget(struct run *run, const struct task *task);
/*
 * The task, which has a space and is on this machine, is about to get the
 * signal, which it does not catch.  If its process is the launched one, and
 * the signal is not ignored, note the place in run->root.
 */
void death_note(struct run *run, struct task *task, int signal);

#endif
