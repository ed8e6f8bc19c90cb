/*
 * The tables of a run: address spaces and processes; task_state.h has tasks.
 * task.h has what makes and frees them; doc/theory/monitor.md says how they
 * belong together.
 */
#ifndef MONITOR_PROCESS_RUN_TABLES_H
#define MONITOR_PROCESS_RUN_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/process/modules.h"
#include "monitor/process/task_state.h"

struct stack;			/* see stack.c */
struct text_buffers;		/* see text_edit.c */
struct thread_pages;		/* see thread_pages.c */
struct actions;			/* see actions.c */

/* The state of direct-call redirection: see redirect.c. */
enum redirection { REDIRECTION_NOT_YET, REDIRECTION_MADE, REDIRECTION_NEVER };

enum { OWN_TRAPS = 16 };

/* An address space: one process's, or several that share it (vfork). */
struct space {
	unsigned refs;
	struct stack *stack;	/* made by the first stack walk, or NULL */
	int mem;		/* host's handle */
	struct thread_pages *thread_pages;	/* or NULL */
	char *own_thread_reg;	/* why pmon cannot use the thread register in
				   all tasks, or NULL */
	bool relocates;		/* a module has, or had, memory for relocated
				   functions */
	enum redirection redirection;
	struct text_buffers *text;	/* text being edited; see text_edit.c */
	struct module **modules;
	size_t nmodules;
	struct vacated *vacated;	/* what dropped modules have left */
	size_t nvacated;
	struct range *own;	/* what pmon mapped there to be executed;
				   ascending lo */
	size_t nown;
	struct region switch_scratch;	/* of filters; size 0: none */
	struct range *lasting;	/* text that stays mapped there as long as the
				   program runs, see switches.h */
	size_t nlasting;
	uint64_t call_spot;	/* where tasks make calls for pmon; 0: not yet
				   looked for */
	struct range scratch;	/* memory that is nobody's, chosen together with
				   call_spot; 0 to 0: there is none */
	size_t call_room;	/* bytes that may be written there; 0: for one
				   instruction alone */
	bool watched;		/* its tasks stop at all system calls, because
				   hooks may not see which map code */
	unsigned loading;	/* ... only as long as a file is mapped for its
				   text to be executed beyond that; how often
				   pmon still looks.  0: for ever */
	uint64_t link_debug;	/* the dynamic linker's struct r_debug; 0: not
				   found yet */
	uint64_t own_traps[OWN_TRAPS];	/* vas of the program's own traps that
					   were met last: moved.c ... */
	unsigned nown_traps;	/* ... and how many were met */
	struct range moved;	/* text that moved, and has no traps any more:
				   the last */
	bool unmapping;		/* pmon has begun to unmap its memory */
	bool unmapped;		/* pmon has unmapped its memory, or has given
				   up doing so */
	uint32_t nmended;	/* times that pmon's memory was mended there:
				   see mend.c */
	bool unhooked;		/* a hook could not be planted: see
				   space_unhooked */
	bool stuck;		/* pmon cannot remove its traps there, and so
				   does not let go of the space's tasks */
};

struct process {
	pid_t pid;
	pid_t maker;		/* the process that made it, or 0: not known */
	struct space *space;	/* NULL before the first exec */
	size_t ntasks;
	struct task *pinned;	/* pmon watches its other threads for the sake
				   of this one: affinity.c; or NULL */
	bool counted;		/* false: traps are passed, not counted */
	bool planted;		/* its program has been planted */
	struct actions *actions;	/* NULL before the first exec */
	size_t counter_set;	/* with --separate=process: see
				   run_counter_set */
	double used;		/* processor time, seconds, when slow.c looked
				   last */
	struct process *next;
};

#endif
