/*
 * Memory that a program and pmon share.  The program is not trusted with it.
 */
#ifndef MONITOR_PROCESS_SHARED_H
#define MONITOR_PROCESS_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"

struct mapping;
struct range;
struct run;
struct task;

struct shared {
	uint64_t va, size;	/* in the program */
	uint64_t open;		/* bytes that it could access from the start */
	uint8_t *bytes;		/* the same memory, here */
	uint64_t dev, ino;	/* as in struct mapping */
};

/*
 * Check that the task can be made to map `size` bytes, as far as its limits and
 * filters tell.  0, or -1 with the message.
 */
int shared_may(struct run *run, struct task *task, uint64_t size);
/*
 * Have the stopped task map new memory, all 0, and map the same memory in
 * pmon, too: shared->size bytes, at shared->va, which must be memory of pmon's
 * in the program, or anywhere if that is 0.  The task may access only the first
 * shared->open bytes until shared_allow.  Nobody can make the memory shorter
 * afterwards.  0; or -1 with the message, and memory at shared->va may be gone.
 */
int shared_open(struct run *run, struct task *task,
		struct shared *shared) MUST_CHECK;
/*
 * Let the tasks of the stopped task's space access n ranges of such memory.  0,
 * or -1 with the message.
 */
int shared_allow(struct run *run, struct task *task, const struct range *ranges,
		 size_t n);
/* Is the program's mapping all of it such memory, at its place? */
bool shared_is(const struct shared *shared, const struct mapping *map);
/* Unmap the memory in pmon; the program keeps its mapping. */
void shared_close(struct shared *shared);

#endif
