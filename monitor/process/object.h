/*
 * The plans of files: one for each, made when it is first met.
 */
#ifndef MONITOR_PROCESS_OBJECT_H
#define MONITOR_PROCESS_OBJECT_H

#include "monitor/run.h"

/*
 * One for hooks alone, of a file that is not to be counted; NULL if none.
 * *unread is why it may have hooks that are not known, or NULL.
 */
struct plan *object_hooks(struct run *run, const char *path,
			  const char *open_path, const char **unread);
/* The plan of a program or library, NULL if there is none for it. */
struct plan *object_plan(struct run *run, const char *path,
			 const char *open_path, bool main_object);
void objects_free(struct run *run);

#endif
