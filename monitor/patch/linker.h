/*
 * The hook in the dynamic linker, by which pmon learns of loaded libraries.
 */
#ifndef MONITOR_PATCH_LINKER_H
#define MONITOR_PATCH_LINKER_H

#include "monitor/run.h"

/*
 * Plant what the stopped task's process has mapped, and hook the place where
 * its dynamic linker reports libraries that are loaded later.
 */
void linker_look(struct run *run, struct task *task);

/*
 * The task is where its dynamic linker tells of libraries: look at them, unless
 * the linker will tell once more when they have come or gone, or hooks have seen
 * the calls that have mapped them.
 */
void linker_told(struct run *run, struct task *task);

#endif
