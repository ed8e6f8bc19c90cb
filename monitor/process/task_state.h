/*
 * A task as pmon knows it.  Each group of members belongs to the file that its
 * comment names; account.c makes and frees tasks.
 */
#ifndef MONITOR_PROCESS_TASK_STATE_H
#define MONITOR_PROCESS_TASK_STATE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/host.h"
#include "monitor/process/stops.h"

struct restart;			/* see restart.c */
struct entries;			/* see stack_switch.h */
struct leaving;			/* see abnormal.c */
struct moved_pc;		/* see relocated_signal.c */
struct plan;
struct process;
struct stack_switch;		/* see stack_switch.h */

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

struct redo {
	enum redo_state state;
	uint64_t va, sp;	/* of the instruction, and the stack pointer
				   there */
};

/* The site that was counted last. */
struct last_hit {
	uint64_t va;
	uint64_t sp;		/* if its instruction is as short as a trap, the
				   stack pointer there */
	bool open;		/* its instruction may not be done yet ... */
	bool stepping;		/* ... and is being stepped */
	bool slotted;		/* the task went into the site's slot and has
				   not stopped since */
};

/* --once: a site whose trap goes when its instruction has begun. */
struct once {
	struct plan *plan;	/* or NULL: there is none */
	uint32_t site;
};

/* Which processors the task may use: see affinity.c. */
struct affinity {
	bool pinned;		/* on pmon's processor */
	bool opening;		/* ... and in a system call that opens a file */
	bool first;		/* a trap of the window was a first entry */
	cpu_set_t own;		/* its own, while pinned */
	uint16_t window_traps, syscalls, idle_ticks, cooling;
	uint16_t hot;		/* windows in a row that were hot */
	uint64_t window_start, window_ran;	/* stop.since, stop.ran */
};

/* The task's system call that makes an untraced child: see clones.c. */
struct untraced {
	int nr;			/* 0: it is in none */
	uint64_t arg, sp;
};

/* The task's system call that may map code: see maps.c. */
struct map_call {
	int nr;			/* 0: it is in none */
	uint64_t sp;
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
				   have interrupted a system call */
	struct restart *restart;	/* the system call that it makes for the
					   rest: see restart.c; or NULL */
	uint64_t scratch;	/* va of what that call is told by memory of
				   pmon's, or 0: see timeout.c */
	uint64_t ready_va;	/* of the system call that it is set to repeat
				   (restart_ready), or 0 */
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
	struct affinity affinity;
	struct redo redo;
	uint64_t fault_va;	/* of the instruction that faulted last */
	uint64_t sprung_va;	/* where trap_spring had it go on last */
	struct fault *faults;	/* see faults.c */
	size_t nfaults;
	struct last_hit hit;
	struct once once;
	bool blocks_trap;	/* the program blocks SIGTRAP in it: see
				   trap_mask.c */
	bool suspect;		/* its trap may have unblocked SIGTRAP */
	bool unblocked;		/* its trap has, and has not been handled yet */
	int signal;		/* delivered last, its effect not known yet, or
				   0; see shallow.c ... */
	uint64_t signal_va;	/* ... and where */
	struct event first_event;	/* of an unannounced task */
	bool has_first_event;
	pid_t parent;		/* the process it seems to be a child of */
	size_t counter_set;	/* with --separate=thread */
	uint32_t thread_page;	/* number, from 1; 0: it has none, or uses its
				   maker's */
	uint64_t generation;	/* of that page: see thread_pages_renew */
	uint32_t records_told;	/* clients know so many of the records that are
				   in that page now */
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
	struct untraced untraced;
	struct map_call mapping;
	uint64_t extended;	/* extensions made before it last ran: a child
				   that it makes has them in its memory */
	struct task *hash_next;
};

#endif
