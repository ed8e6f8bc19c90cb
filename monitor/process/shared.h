/*
 * Memory that a program and pmon share.
 */
#ifndef MONITOR_PROCESS_SHARED_H
#define MONITOR_PROCESS_SHARED_H

#include "monitor/run.h"

struct shared {
	uint64_t va, size;	/* in the program */
	uint8_t *bytes;		/* the same memory, here */
};

/*
 * Have the stopped task map size bytes of new memory, all 0, and map them here
 * too: nobody can make it shorter.  0, or -1 with the message.
 */
int shared_open(struct run *run, struct task *task, uint64_t size,
		struct shared *shared);
/* pmon's own view goes; the program keeps its. */
void shared_close(struct shared *shared);

#endif
