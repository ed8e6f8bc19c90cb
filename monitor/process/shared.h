/*
 * Memory that a program and pmon share.  The program is not trusted with it.
 */
#ifndef MONITOR_PROCESS_SHARED_H
#define MONITOR_PROCESS_SHARED_H

#include "monitor/run.h"

struct shared {
	uint64_t va, size;	/* in the program */
	uint8_t *bytes;		/* the same memory, here */
};

/*
 * Have the stopped task map `size` bytes of new memory, all 0, and map them in
 * pmon, too.  The task may access only the first `open` bytes until
 * shared_allow.  Nobody can make the memory shorter afterwards.  0 and *shared,
 * or -1 with the message.
 */
int shared_open(struct run *run, struct task *task, uint64_t size,
		uint64_t open, struct shared *shared);
/*
 * Let the tasks of the stopped task's space access `size` bytes at `va` of such
 * memory.  0, or -1 with the message.
 */
int shared_allow(struct run *run, struct task *task, uint64_t va,
		 uint64_t size);
/* Unmap the memory in pmon; the program keeps its mapping. */
void shared_close(struct shared *shared);

#endif
