/*
 * Where the launched process was when a signal came that ended it.
 */
#ifndef MONITOR_DEATH_H
#define MONITOR_DEATH_H

#include "monitor/run.h"

/*
 * The task is about to get the signal, at this place in the original code or in
 * a relocated function.  If the process is the launched one, and the signal is
 * neither caught nor ignored, note the place in run->root.
 */
void death_note(struct run *run, struct task *task, int signal);

#endif
