/*
 * The structures of a monitoring run: the tasks, processes and address spaces
 * that pmon follows, the objects they run, and the queue of host events.  All
 * of monitor/ shares them; doc/theory/monitor.md says how they belong together.
 */
#ifndef MONITOR_RUN_H
#define MONITOR_RUN_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/abi.h"
#include "arch/arch.h"
#include "host/host.h"
#include "monitor/options.h"
#include "monitor/process/stops.h"
#include "plan/plan.h"
#include "report/report.h"

/* A file that was looked at: its plan, or why there is none. */
struct object {
	uint64_t dev, ino, size, mtime;
	struct plan *plan;	/* or NULL */
	bool counted;		/* the plan has more than hooks */
	char *unread;		/* why its hooks are not known, or NULL */
};

/* How one site of a module is patched. */
enum patch {
	PATCH_UNPLANTED,	/* no trap could be planted: the site is lost */
	PATCH_STEPPED,		/* lift the trap, step, plant it again */
	PATCH_SLOTTED,		/* run the instruction out of line */
	PATCH_EMULATED,		/* do the instruction in the monitor */
	PATCH_SKIPPED,		/* only set the pc, to emul.imm */
	PATCH_OWN,		/* the program's own trap instruction */
	PATCH_LEADS,		/* trap that leads into a relocated function */
	PATCH_WAITING,		/* to be chosen at the first hit */
	PATCH_HOST,		/* counted by the host, see host_counters.c */
	PATCH_RETIRED,		/* the trap is gone, but hits of it may still
				   be on their way */
};

struct patched {
	struct emul emul;	/* PATCH_EMULATED, PATCH_SKIPPED */
	uint32_t slot;		/* PATCH_SLOTTED: its number in the module */
	uint8_t after;		/* offset of its jump back: struct slot_code */
	uint8_t patch;		/* enum patch */
	uint8_t saved[4];	/* the bytes under the trap */
};

/*
 * An image planted in an address space.  A fork's child shares its parent's
 * modules: what is planted in one later is planted in every space that has it.
 */
struct module {
	unsigned refs;		/* by spaces and extensions ... */
	unsigned logged;	/* ... of which these are by extensions */
	struct plan *plan;
	uint64_t bias;		/* va = addr + bias */
	uint64_t lo, hi;	/* va range of its executable segments */
	uint64_t map_lo;	/* start of its mapping; with dev and ino this
				   identifies it */
	uint64_t dev, ino;
	struct patched *patched;	/* by the plan's site index ... */
	size_t nsites, room;	/* ... used and allocated elements */
	uint64_t slots;		/* va of the memory for slots, 0 if none */
	uint64_t slots_size;
	uint32_t *slot_site;	/* slot number -> site index */
	size_t nslots;
	uint64_t relocated;	/* va of the memory for relocated functions, 0
				   if none */
	uint64_t relocated_size;
	uint64_t thread_page;	/* offset of its counters in a thread page */
	size_t nguards;		/* guards of the plan in all thread pages */
	size_t nrelocated;	/* relocated functions of the plan, planted */
	size_t nreopened;	/* ... those that were reopened */
};

struct earlier;			/* see report/profile/profile_plan.h */
struct simh_site;		/* see host/simh.h */
struct stack;			/* see stack.h */
struct text;			/* see text_edit.c */
struct stack_switch;		/* see stack_switch.h */
struct thread_pages;		/* see thread_pages.c */
struct client;			/* see client.h */
struct autosave;		/* see autosave.c */
struct control;			/* see control.c */
struct cut;			/* see cut.c */
struct entries;			/* see stack_switch.h */
struct leaving;			/* see abnormal.c */
struct sigtrap;			/* see sigtrap.h */

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
	enum redirection redirection;
	struct text *text;	/* text being edited; see text_edit.c */
	struct module **modules;
	size_t nmodules;
	bool unmapped;		/* pmon has unmapped its memory, or has given
				   up doing so */
};

/*
 * One change to a module while programs run: the sites planted, the traps taken
 * out, and the slots from number `first` up to `last`.
 */
struct extension {
	uint64_t number;
	struct module *module;	/* held */
	uint32_t *planted, *retired;	/* site indices, by address */
	size_t nplanted, nretired;
	size_t first, last;
	/* Relocated functions of the plan, from one number up to another. */
	size_t relocated_fplans, nrelocated;
};

struct process {
	pid_t pid;
	struct space *space;	/* NULL before the first exec */
	size_t ntasks;
	bool counted;		/* false: traps are passed, not counted */
	bool watched;		/* pmon sees its system calls that map text */
	bool planted;		/* its program has been planted */
	struct sigtrap *sigtrap;	/* NULL before the first exec */
	size_t counter_set;	/* with --separate=process: see
				   run_counter_set */
	struct process *next;
};

/* Whose counts a counter set has, with --separate. */
struct counter_owner {
	pid_t pid, tid;		/* pid 0: nobody's, nothing was counted; tid 0:
				   a process's */
	size_t parent;		/* its maker's counter set, or
				   COUNTER_SET_NONE */
	double start;		/* monotonic seconds */
	char *program;		/* executed last, or NULL */
};

static const size_t COUNTER_SET_NONE = SIZE_MAX;

enum task_state {
	TASK_RUNNING,
	TASK_STOPPED,		/* its event is queued or being handled */
	TASK_DEAD,		/* its end is queued */
};

/*
 * An instruction was counted but did not complete: it faulted, and a handler of
 * the program's was called.  When the handler returns to the instruction, the
 * instruction runs again, and must not be counted again.
 */
enum redo_state {
	REDO_NONE,
	REDO_HANDLER,		/* the handler has not returned yet */
	REDO_RETURNED,		/* the handler has returned, to redo_va */
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
	bool paused;		/* pmon paused it since it last ran, which may
				   have cut a system call short */
	struct cut *cut;	/* the cut system call that it continues, or
				   NULL: see cut.c */
	bool last;		/* goes on when those paused for it have */
	bool released;		/* not traced any more, its end is awaited */
	bool born;		/* its first stop is still to be handled: it
				   begins in the middle of functions */
	bool walked;		/* its last frames are entered as left */
	uint64_t maker_sp;	/* its maker's stack pointer; 0 if the maker
				   was gone: its own is the same */
	struct stack_switch *exec;	/* frames left if its exec succeeds */
	struct leaving *leaving;	/* frames left if its stack switch is
					   done */
	struct entries *entries;	/* see stack_switch.h; or NULL */
	/* See affinity.c. */
	bool pinned;		/* on pmon's processor */
	uint16_t window_hits, syscalls, idle_ticks, cooling;
	uint64_t window_start;
	enum redo_state redo;
	uint64_t redo_va, redo_sp;
	uint64_t fault_va;	/* of the instruction that faulted last */
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
	bool suspect;		/* its trap may have unblocked SIGTRAP */
	int signal;		/* delivered last, its effect not known yet, or
				   0; see shallow.c ... */
	uint64_t signal_va;	/* ... and where */
	struct event held;	/* first event of an unannounced task */
	bool has_held;
	pid_t parent;		/* the process it seems to be a child of */
	size_t counter_set;	/* with --separate=thread */
	uint32_t thread_page;	/* number, from 1; 0: it has none, or uses its
				   maker's */
	bool vforked;		/* made by vfork: uses its maker's thread
				   page */
	bool moved;		/* out of a relocated function, to be moved
				   back */
	uint8_t *trapped;	/* the siginfo of a SIGTRAP that pmon sends
				   again, or NULL; see detour.c */
	struct moved_pc *moved_pcs;	/* see relocated_signal.c */
	size_t nmoved_pcs;
	struct sigreturn sigreturn;
	bool unreturned;	/* sigreturn is undone, for a walk */
	int untraced;		/* number of its system call that makes an
				   untraced child, or 0: see clones.c */
	uint64_t untraced_arg, untraced_sp;
	uint64_t extended;	/* extensions made before it last ran: a child
				   that it makes has them in its memory */
	cpu_set_t affinity;	/* its own, while pinned */
	struct task *hash_next;
};

enum { TASK_BUCKETS = 1024 };

enum { CLIENTS_MAX = 4 };

struct run {
	const struct options *opts;
	const struct client *clients[CLIENTS_MAX];	/* see client.h */
	size_t nclients;
	const struct host *host;
	const struct arch *arch;
	const struct abi *abi;	/* or NULL */
	bool eager;		/* look at all functions before the start */
	bool inside;		/* the host can count by itself ... */
	struct simh_site *counted;	/* ... and counts these sites, */
	uint32_t *counted_site;	/* which have these indices in the plan */
	size_t ncounted, ncounted_site;
	struct plan *counted_plan;
	struct task *tasks[TASK_BUCKETS];
	struct process *processes;
	struct event *queue;	/* received, not yet handled */
	size_t queue_head, queue_len;

	struct object *objects;
	size_t nobjects;

	struct extension *extensions;	/* ascending number */
	size_t nextensions, extensions_max, extensions_room;
	uint64_t extended;	/* the next one's number */

	pid_t root;		/* the launched process, or 0 */
	bool root_started;	/* it has become the program */
	bool root_ended;
	int root_status;	/* as exit status of pmon */
	int root_signal;	/* that killed it, or 0 */
	bool stopping;		/* counting is over */
	bool suspending;	/* pmon stops when the program does (^Z) */

	double deadline;	/* monotonic seconds, 0: none */
	/* Print the report so far. */
	void (*report)(struct run *run);

	struct task *departed;	/* copied from the last task that was killed
				   with its whole process; see account.c */
	struct stops stops;
	double standing;	/* when the standstill of an attach or detach
				   began; 0: there is none */
	struct stall stall;
	size_t nprocesses, nthreads;
	struct counter_owner *owners;	/* with --separate: per counter set */
	size_t nowners;
	char **remarks;
	size_t nremarks;
	double started;		/* monotonic seconds */
	uint64_t id;		/* random */
	uint64_t started_utc;	/* nanoseconds since 1970 */
	char *program;		/* the first program's name */
	char *data;		/* the data file's name; NULL until chosen */
	bool saved;		/* the data file has been written ... */
	bool unsaved;		/* ... but could not be the last time */
	struct autosave *autosave;	/* see autosave.c; or NULL */
	struct earlier *earlier;	/* --weights, or NULL */
	struct control *control;	/* its socket, or NULL */
};

/* ---- run.c: events */

/* Keep a remark for the report; the same text is kept once. */
void run_remark(struct run *run, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Wait for the next event of this task, which has been resumed, into *event.
 * Events of other tasks are queued.
 */
void run_wait_task(struct run *run, struct task *task, struct event *event);

/* Monotonic seconds. */
double run_clock(void);

/*
 * Is a signal to pmon pending that will make it stop?  Then lengthy work should
 * be given up.
 */
bool run_interrupted(struct run *run);

/* Append an event to the queue, to be handled in its turn. */
void run_requeue(struct run *run, const struct event *event);

/* Drop all events of the task from the queue. */
void run_unqueue(struct run *run, pid_t tid);

/*
 * Stop every task that could run in this space (in any space if NULL) except
 * `except`, for this reason.  Their events are queued; the tasks go on when the
 * events are handled.
 */
void run_pause(struct run *run, struct space *space, struct task *except,
	       enum stop_cause why);

/* The task's event in the queue, or NULL. */
struct event *run_queued(const struct run *run, const struct task *task);

/*
 * A stopped task of the space, or NULL.  A task that was only paused, and so
 * can be made to run a little, is preferred.
 */
struct task *run_stopped_task(struct run *run, const struct space *space);

/*
 * Stop every task, including those that only queued events tell of: run_account
 * enters these into the tables first.
 */
void run_pause_all(struct run *run, enum stop_cause why);

/*
 * Let a stopped task go on, delivering signal (0: none).  A task that runs or
 * has an event in the queue is left alone.
 */
void run_resume(struct run *run, struct task *task, int signal);

/*
 * All that stood still at attach or detach goes on now, or begins to stand
 * still for another reason: note for how long it did.
 */
void run_standing_end(struct run *run);

/* Run until nothing is left to follow or pmon is told to stop. */
void run_loop(struct run *run);

#endif
