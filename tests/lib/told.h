/*
 * A client that logs what it is told, and runs of pmon with that client and the
 * one that counts.
 */
#ifndef TESTS_LIB_TOLD_H
#define TESTS_LIB_TOLD_H

#include "monitor/process/client.h"

enum { TOLD_TASKS = 128 };

struct told {
	struct logged {
		pid_t tid;
		bool ended;
		enum task_end how;
	} tasks[TOLD_TASKS];
	size_t ntasks;
	size_t forks, stood;	/* processes made; times when all stood still */
	size_t execs, late;	/* late: told of a task that has ended, or has
				   not begun */
	uint64_t begun, left, came;
	uint64_t host_hits, host_taken;	/* counted by the host */
	const char *object;	/* whose abnormal edges are added up, or NULL */
	bool probing;		/* client_probing is a client, too */
	bool doubt;		/* a plan is underivable */
};

extern struct told told;
extern const struct client client_log;

/*
 * Make a run of pmon with this command line, which ends with NULL, and tell
 * both clients.  `launch` launches the program or attaches to processes: 0, or
 * -1 with the message.  `look`, if not NULL, is called when the run has ended.
 * Returns the status of the program that was launched, or 128 and its signal; 0
 * if there was none; -1 with the message if nothing was started.
 */
int told_run(char **argv, int (*launch)(struct run *run),
	     void (*look)(struct run *run));

#endif
