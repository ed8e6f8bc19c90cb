/*
 * One monitoring run: the tasks, processes and address spaces followed, the
 * objects they run, and the events of the host.  doc/theory/monitor.md
 * says how these belong together.
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
	PATCH_UNPLANTED, /* could not be; the site is lost there */
	PATCH_STEPPED, /* lift the trap, step, plant it again */
	PATCH_SLOTTED, /* run the instruction out of line */
	PATCH_EMULATED, /* do in the monitor what it does */
	PATCH_SKIPPED, /* it does nothing but go on elsewhere */
	PATCH_OWN, /* the program's own trap instruction */
	PATCH_LEADS, /* a trap that leads into a relocated function */
	PATCH_WAITING, /* to be chosen at the first hit */
	PATCH_HOST, /* counted by the host, see host_counters.c */
	PATCH_RETIRED, /* the trap is gone, but hits of it may still
				   be on their way */
};

struct patched {
	struct emul emul;	/* PATCH_EMULATED */
	uint32_t slot; /* PATCH_SLOTTED: number in module's thread page */
	uint8_t after;		/* its way back, see struct slot_code */
	uint8_t patch;		/* enum patch */
	uint8_t saved[4];	/* the bytes under the trap */
};

/*
 * An image planted in an address space.  A forked copy of the space shares
 * it: what is planted later is planted in all of them.
 */
struct module {
	unsigned refs;		/* by spaces and extensions ... */
	unsigned logged;	/* ... of those so many */
	struct plan *plan;
	uint64_t bias;		/* va = addr + bias */
	uint64_t lo, hi;	/* va range of its executable segments */
	uint64_t map_lo;	/* start of a mapping by which it is known */
	uint64_t dev, ino;
	struct patched *patched;	/* one per site of the plan ... */
	size_t nsites, room;	/* ... when it was last looked at */
	uint64_t slots;		/* va of the slot thread page, 0 if none */
	uint64_t slots_size;
	uint32_t *slot_site;	/* slot number -> site index */
	size_t nslots;
	uint64_t relocated;	/* va of the relocated functions' thread page, 0
				   if none */
	uint64_t relocated_size;
	uint64_t thread_page;		/* where in tasks' thread pages its
					   counters are */
	size_t nguards;		/* of the plan's that are in all these */
	size_t nrelocated;		/* of the plan's that are planted ... */
	size_t nreopened;	/* ... and reopened */
};

struct earlier;			/* see report/profile/profile_plan.h */
struct simh_site;		/* see host/simh.h */
struct stack;			/* see stack.h */
struct text;			/* see text_edit.c */
struct stack_switch;		/* see stack switch.h */
struct thread_pages;			/* see thread pages.c */
struct client;			/* see client.h */
struct autosave;		/* see autosave.c */
struct control;			/* see control.c */
struct cut;			/* see cut.c */
struct entries;
struct leaving;			/* see abnormal edges.c */
struct sigtrap;			/* see sigtrap.h */

/* Whether calls lead to relocated functions at once: see redirect.c. */
enum redirection { REDIRECTION_NOT_YET, REDIRECTION_MADE, REDIRECTION_NEVER };

/* An address space: one process's, or several that share it (vfork). */
struct space {
	unsigned refs;
	struct stack *stack;	/* once one of its tasks' was walked */
	int mem;		/* host's handle */
	struct thread_pages *thread_pages; /* memory for counters, or NULL */
	char *own_thread_reg;		/* why not all tasks have that register
					   for pmon's use, or NULL */
	enum redirection redirection;
	struct text *text;	/* what of it is being edited; see text_edit.c */
	struct module **modules;
	size_t nmodules;
	bool unmapped;		/* pmon's memory is gone from it, or stays */
};

/*
 * What was planted in a module while programs ran: sites planted, traps taken
 * out, and slots from number `first` to `last`.
 */
struct extension {
	uint64_t number;
	struct module *module;	/* held */
	uint32_t *planted, *retired;	/* ascending by address */
	size_t nplanted, nretired;
	size_t first, last;
	size_t relocated_fplans, nrelocated;	/* and relocated functions, of
						   the plan's, so many */
};

struct process {
	pid_t pid;
	struct space *space;	/* NULL before the first exec */
	size_t ntasks;
	bool counted;		/* false: traps are passed, not counted */
	bool watched;		/* system calls that map text are */
	bool planted;		/* with all that its program has */
	struct sigtrap *sigtrap;	/* NULL before the first exec */
	size_t counter_set;		/* where its counts go, see
					   run_counter_set */
	struct process *next;
};

/* Who is counted by a counter set, with --separate. */
struct counter_owner {
	pid_t pid, tid;		/* pid 0: nobody, nothing was counted; tid 0:
				   a process */
	size_t parent;		/* the counter set of the one that made it, or
				   COUNTER_SET_NONE */
	double start;		/* monotonic seconds */
	char *program;		/* that it executed last, or NULL */
};

static const size_t COUNTER_SET_NONE = SIZE_MAX;

enum task_state {
	TASK_RUNNING,
	TASK_STOPPED,		/* its event is queued or being handled */
	TASK_DEAD,		/* its end is queued */
};

/*
 * An instruction that was counted but did not complete, because it faulted
 * and a handler of the program's was called.  When that returns to it, it
 * runs again, and is not to be counted again.
 */
enum redo_state {
	REDO_NONE,
	REDO_HANDLER,		/* the handler has not returned yet */
	REDO_RETURNED,		/* it has, to va */
};

/* The last return of a handler to where relocated_signal.c sent the task. */
struct sigreturn {
	uint64_t hook;		/* va of what does it; 0: none */
	uint64_t context;	/* the stack pointer there */
	uint64_t pc, sp;	/* of the context, as it was */
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
	bool paused;		/* since it ran last, which may have cut a
				   system call short ... */
	struct cut *cut;	/* ... that goes on now; see cut.c, or NULL */
	bool last;		/* goes on when those paused for it have */
	bool released;		/* not traced any more, its end is awaited */
	bool born;		/* its first stop is still to be handled: it
				   begins in the middle of functions */
	bool walked;		/* its last frames are entered */
	uint64_t maker_sp;	/* the stack pointer of the one that made it;
				   0 if that was gone: its own is the same */
	struct stack_switch *exec; /* what it leaves if its exec succeeds */
	struct leaving *leaving; /* what it leaves if it gets to do that */
	struct entries *entries;	/* see stack switch.h; or NULL */
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
	bool hit_open;		/* ... which may still be to be done */
	bool stepping;		/* ... by a step of that alone */
	bool hit_slotted;	/* ... or was let into its slot, and the task
				   has not stopped since */
	struct plan *once;	/* --once: the plan of that site, if its trap
				   is to go when this has begun, or NULL */
	uint32_t once_site;
	bool suspect;		/* its trap may have unblocked SIGTRAP */
	int signal;		/* delivered last, of which is not known yet
				   what came of it, or 0; see shallow.c ... */
	uint64_t signal_va;	/* ... and where */
	struct event held;	/* first event of an unannounced task */
	bool has_held;
	pid_t parent;		/* the process it seems to be a child of */
	size_t counter_set;
	uint32_t thread_page;		/* its own, from 1; 0: none, or its
					   maker's */
	bool vforked;		/* runs in its maker's place: as its maker */
	bool moved; /* out of a relocated function, to be moved back */
	uint8_t *trapped;	/* what a SIGTRAP told that was sent on; see
				   detour.c; or NULL */
	struct moved_pc *moved_pcs;	/* see relocated_signal.c */
	size_t nmoved_pcs;
	struct sigreturn sigreturn;
	bool unreturned;	/* that has been undone for a walk */
	int untraced;		/* the number of its call that is to make a
				   child untraced, or 0: see clones.c ... */
	uint64_t untraced_arg, untraced_sp;
	uint64_t extended;	/* extensions made before it last ran: they
				   are in the memory of a child it makes */
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
	bool eager;		/* all is to be looked at before the start */
	bool inside;		/* the host can count by itself ... */
	struct simh_site *counted;	/* ... and counts these, */
	uint32_t *counted_site;	/* of the plan these */
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

	struct task *departed;	/* a copy of the task that ended last with its
				   whole process, killed; see account.c */
	struct stops stops;
	double standing;	/* when what stands still began to; 0: nothing
				   does, or it is not measured */
	struct stall stall;
	size_t nprocesses, nthreads;
	struct counter_owner *owners;	/* with --separate: per counter set */
	size_t nowners;
	char **remarks;
	size_t nremarks;
	double started;		/* monotonic seconds */
	uint64_t id;		/* random */
	uint64_t started_utc;	/* nanoseconds since 1970 */
	char *program;		/* the name of the first */
	char *data;		/* -d, the file's name; NULL until taken */
	bool saved;		/* and it has been written ... */
	bool unsaved;		/* ... but could not be the last time */
	struct autosave *autosave;	/* see autosave.c; or NULL */
	struct earlier *earlier;	/* --weights, or NULL */
	struct control *control;	/* its socket, or NULL */
};

/* ---- run.c: events */

/* Say something the user should know, once for each different text. */
void run_remark(struct run *run, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Wait for the next event of this task; others' are queued. */
void run_wait_task(struct run *run, struct task *task, struct event *event);

/* Monotonic seconds. */
double run_clock(void);

/* A signal to pmon waits that will make it stop: what takes long may end. */
bool run_interrupted(struct run *run);

/* Put an event back, to be handled in its turn. */
void run_requeue(struct run *run, const struct event *event);

/* Forget the task's event in the queue. */
void run_unqueue(struct run *run, pid_t tid);

/*
 * Stop every task that could run in this space (all spaces if NULL) but
 * `except`, for this reason.  Their events are queued; handling those lets
 * them go on.
 */
void run_pause(struct run *run, struct space *space, struct task *except,
	       enum stop_cause why);

/* The task's event in the queue, or NULL. */
struct event *run_queued(const struct run *run, const struct task *task);

/*
 * A stopped task of the space, if possible one that stopped for a pause only
 * and so can be made to run a little; or NULL.
 */
struct task *run_stopped_task(struct run *run, const struct space *space);

/*
 * Stop every task, those too that events tell of which are not handled yet;
 * these are accounted for.
 */
void run_pause_all(struct run *run, enum stop_cause why);

/* Let a stopped task go on, delivering signal. */
void run_resume(struct run *run, struct task *task, int signal);

/*
 * All that stood still at attach or detach goes on now, or begins to stand
 * still for another reason: note for how long it did.
 */
void run_standing_end(struct run *run);

/* Run until nothing is left to follow or pmon is told to stop. */
void run_loop(struct run *run);

#endif
