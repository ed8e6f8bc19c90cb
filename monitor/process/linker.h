/*
 * Libraries that the program loads.
 */
#ifndef MONITOR_PROCESS_LINKER_H
#define MONITOR_PROCESS_LINKER_H

#include "monitor/run.h"

/* Plant the hooks of what is mapped, and hear of what will be. */
void linker_look(struct run *run, struct task *task);

#endif
