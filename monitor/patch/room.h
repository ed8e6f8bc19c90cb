/*
 * Room for code near a module's text, in a program that stands still or, to
 * foresee where the room will be, in one that runs.
 */
#ifndef MONITOR_PATCH_ROOM_H
#define MONITOR_PATCH_ROOM_H

#include "monitor/run.h"

struct room {
	struct run *run;
	struct task *task;	/* maps the room; or NULL: it is foreseen */
	struct mapping *maps;	/* without a task, or between room_begin and
				   room_end: what the process has mapped, and
				   what is foreseen; ascending */
	size_t n;
	struct range *planned;	/* between these two: what the task will map */
	size_t nplanned;
	bool planning;		/* it is between them */
	uint64_t counters;	/* without a task: bytes of a thread counter
				   page that are reserved */
};

/*
 * Map `size` bytes for code within reach of the module's text.  Returns the va,
 * or 0 if that cannot be done.
 */
uint64_t near_map(struct room *room, const struct module *module,
		  uint64_t size);
/*
 * Map `size` bytes for code at `place`.  Returns place, or 0 if something is
 * there, or the task cannot map that now.
 */
uint64_t place_map(struct room *room, uint64_t place, uint64_t size);
/* Unmap what near_map has returned, if the room has a task. */
void near_unmap(struct room *room, uint64_t va, uint64_t size);

/*
 * From here on near_map and place_map only choose places, clear of the n maps,
 * which are ascending; the room has a task.
 */
void room_begin(struct room *room, const struct mapping *maps, size_t n);
/*
 * Have the task map all that was chosen since room_begin, at one stop.  Whether
 * that was done; if not, nothing of it is mapped.
 */
bool room_end(struct room *room);

#endif
