/*
 * The objects of a run: one plan for each file, made when pmon first meets the
 * file.
 */
#ifndef MONITOR_PROCESS_OBJECT_H
#define MONITOR_PROCESS_OBJECT_H

#include "monitor/run.h"

/* A file that was looked at: its plan, or why there is none. */
struct object {
	uint64_t dev, ino, size, mtime;
	struct plan *plan;	/* or NULL */
	bool counted;		/* the plan has more than hooks */
	char *unread;		/* why its hooks are not known, or NULL */
};

/*
 * The plan of a file that is not to be counted, for its hooks alone; NULL if
 * the file cannot be read.  *unread is why the file may have hooks that pmon
 * does not know, or NULL; both are the run's.
 */
struct plan *object_hooks(struct run *run, const char *path,
			  const char *open_path, const char **unread);
/*
 * The plan of a program (main_object) or library, which is the run's.  NULL if
 * the user did not choose the file, or, with a remark, if it cannot be read.
 * open_path leads to the file that the process calls path.
 */
struct plan *object_plan(struct run *run, const char *path,
			 const char *open_path, bool main_object);
/*
 * Note for later runs which functions ran, if the user wants that.  The counts
 * of all plans have been derived.
 */
void objects_remember(const struct run *run);
/* Close all plans. */
void objects_free(struct run *run);

#endif
