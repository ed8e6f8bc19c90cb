/*
 * The tables of a run: address spaces, processes and tasks.  task.h has what
 * makes and frees them; doc/theory/monitor.md says how they belong together.
 */
#ifndef MONITOR_PROCESS_RUN_TABLES_H
#define MONITOR_PROCESS_RUN_TABLES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/host.h"
#include "monitor/process/modules.h"
#include "monitor/process/stops.h"

struct stack;			/* see stack.c */
struct held_text;		/* see text_edit.c */
struct stack_switch;		/* see stack_switch.h */
struct thread_pages;		/* see thread_pages.c */
struct cut;			/* see cut.c */
struct entries;			/* see stack_switch.h */
struct leaving;			/* see abnormal.c */
struct sigtrap;			/* see sigtrap.c */

/* The state of direct-call redirection: see redirect.c. */
enum redirection { REDIRECTION_NOT_YET, REDIRECTION_MADE, REDIRECTION_NEVER };

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
	struct held_text *text;	/* text being edited; see text_edit.c */
	struct module **modules;
	size_t nmodules;
	struct range *own;	/* what pmon mapped there to be executed;
				   ascending lo */
	size_t nown;
	uint64_t call_spot;	/* where tasks make calls for pmon; 0: not yet
				   looked for */
	bool call_restores;	/* there is room for a restorer behind it */
	bool watched;		/* its tasks stop at all system calls, because
				   hooks may not see which map code */
	bool unmapped;		/* pmon has unmapped its memory, or has given
				   up doing so */
	uint32_t nmended;	/* times that pmon's memory was mended there:
				   see mend.c */
	bool kept;		/* pmon cannot remove its traps there, and so
				   does not let go of the space's tasks */
};

struct process {
	pid_t pid;
	struct space *space;	/* NULL before the first exec */
	size_t ntasks;
	bool counted;		/* false: traps are passed, not counted */
	bool planted;		/* its program has been planted */
	struct sigtrap *sigtrap;	/* NULL before the first exec */
	size_t counter_set;	/* with --separate=process: see
				   run_counter_set */
	double used;		/* processor time, seconds, when slow.c looked
				   last */
	struct process *next;
};

enum task_state {
	TASK_RUNNING,
	TASK_STOPPED,		/* its event is queued or being handled */
	TASK_DEAD,		/* its end is queued */
};

/*
 * An instruction was counted but did not complete: it faulted, and a handler of
 * the program's was called.  When the handler returns to the instruction, the
 * instruction runs again, and must not be counted again.  The same holds for a
 * system call in which the task was when pmon attached: the call is made again.
 */
enum redo_state {
	REDO_NONE,
	REDO_HANDLER,		/* the handler has not returned yet */
	REDO_RETURNED,		/* the task is about to begin the instruction at
				   redo_va again */
};

/*
 * The last return of a signal handler whose context relocated_signal.c changed,
 * so that the task goes back into its relocated function.
 */
struct sigreturn {
	uint64_t hook;		/* va of the code that returns; 0: none */
	uint64_t context;	/* the stack pointer there */
	uint64_t pc, sp;	/* in the context, before the change */
	bool taken_back;	/* see struct moved_pc */
};

struct task {
	pid_t tid;
	struct process *process;	/* NULL until announced */
	enum task_state state;
	struct stop stop;	/* see stops.h */
	bool vforking;		/* waits in the kernel for its vfork child */
	bool exiting;		/* will not run its own code again */
	bool group_stopped;
	bool entering;		/* stopped where it enters a system call */
	bool paused;		/* pmon paused it since it last ran, which may
				   have cut a system call short */
	struct cut *cut;	/* the cut system call that it continues, or
				   NULL: see cut.c */
	uint64_t ready_va;	/* of the system call that it is set to repeat
				   (cut_ready), or 0 */
	bool released;		/* not traced any more, its end is awaited */
	bool born;		/* its first stop is still to be handled: it
				   begins in the middle of functions */
	bool walked;		/* its last frames are entered as left */
	bool present;		/* its frames are, though it lives: counts are
				   being looked at, or counting has stopped */
	uint64_t maker_sp;	/* its maker's stack pointer; 0 if the maker
				   was gone: its own is the same */
	struct stack_switch *exec;	/* frames left if its exec succeeds */
	struct leaving *leaving;	/* frames left if its stack switch is
					   done */
	struct stack_switch *waits;	/* its frames while it waits for its
					   vfork child, or NULL */
	struct entries *entries;	/* see stack_switch.h; or NULL */
	/* See affinity.c. */
	bool pinned;		/* on pmon's processor */
	uint16_t window_hits, syscalls, idle_ticks, cooling;
	uint64_t window_start;
	enum redo_state redo;
	uint64_t redo_va, redo_sp;
	uint64_t fault_va;	/* of the instruction that faulted last */
	uint64_t sprung_va;	/* where trap_spring had it go on last */
	struct fault *faults;	/* see faults.c */
	size_t nfaults;
	uint64_t hit_va;	/* of the site that was counted last ... */
	uint64_t hit_sp;	/* ... and, if its instruction is as short as
				   a trap, the stack pointer there */
	bool hit_open;		/* its instruction may not be done yet ... */
	bool stepping;		/* ... and is being stepped */
	bool hit_slotted;	/* the task went into the site's slot and has
				   not stopped since */
	struct plan *once;	/* --once: the plan of a site whose trap goes
				   when its instruction has begun, or NULL */
	uint32_t once_site;
	bool blocks_trap;	/* the program blocks SIGTRAP in it: see
				   trap_mask.c */
	bool suspect;		/* its trap may have unblocked SIGTRAP */
	bool unblocked;		/* its trap has, and has not been handled yet */
	int signal;		/* delivered last, its effect not known yet, or
				   0; see shallow.c ... */
	uint64_t signal_va;	/* ... and where */
	struct event held;	/* first event of an unannounced task */
	bool has_held;
	pid_t parent;		/* the process it seems to be a child of */
	size_t counter_set;	/* with --separate=thread */
	uint32_t thread_page;	/* number, from 1; 0: it has none, or uses its
				   maker's */
	uint64_t generation;	/* of that page: see thread_pages_renew */
	bool vforked;		/* made by vfork: uses its maker's thread
				   page */
	bool moved;		/* out of a relocated function, to be moved
				   back */
	struct moved_pc *moved_pcs;	/* see relocated_signal.c */
	size_t nmoved_pcs;
	bool follows;		/* a handler that runs with SIGTRAP blocked
				   will return: see sigreturn.c ... */
	uint16_t followed;	/* ... system calls since */
	struct sigreturn sigreturn;
	bool unreturned;	/* sigreturn is undone, for a walk */
	int untraced;		/* number of its system call that makes an
				   untraced child, or 0: see clones.c */
	uint64_t untraced_arg, untraced_sp;
	int mapping;		/* number of its system call that may map code,
				   or 0: see maps.c */
	uint64_t mapping_sp;
	uint64_t extended;	/* extensions made before it last ran: a child
				   that it makes has them in its memory */
	cpu_set_t affinity;	/* its own, while pinned */
	struct task *hash_next;
};

#endif
