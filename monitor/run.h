/*
 * One monitoring run: the tasks, processes and address spaces followed, the
 * objects they run, and the events of the host.  See HACKING.md, "The
 * monitor", for how these belong together.
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
#include "plan/plan.h"

/* A file that was looked at: its plan, or why there is none. */
struct object {
	uint64_t dev, ino, size, mtime;
	struct plan *plan;	/* or NULL */
};

/* How one site of a module is patched. */
enum patch {
	PATCH_UNPLANTED,	/* could not be; the site is lost there */
	PATCH_STEPPED,		/* lift the trap, step, plant it again */
	PATCH_SLOTTED,		/* run the instruction out of line */
	PATCH_EMULATED,		/* do in the monitor what it does */
	PATCH_SKIPPED,		/* it does nothing but go on elsewhere */
	PATCH_OWN,		/* the program's own trap instruction */
};

struct patched {
	struct emul emul;	/* PATCH_EMULATED */
	uint32_t slot;		/* PATCH_SLOTTED: number in module's area */
	uint8_t after;		/* its way back, see struct slot_code */
	uint8_t patch;		/* enum patch */
	uint8_t saved[4];	/* the bytes under the trap */
};

/*
 * An image planted in an address space.  Immutable once planted, so that a
 * forked copy of the space shares it.
 */
struct module {
	unsigned refs;
	struct plan *plan;
	uint64_t bias;		/* va = addr + bias */
	uint64_t lo, hi;	/* va range of its executable segments */
	uint64_t map_lo;	/* start of a mapping by which it is known */
	uint64_t dev, ino;
	struct patched *patched;	/* one per site of the plan */
	uint64_t slots;		/* va of the slot area, 0 if none */
	uint64_t slots_size;
	uint32_t *slot_site;	/* slot number -> site index */
	size_t nslots;
};

/* An address space: one process's, or several that share it (vfork). */
struct space {
	unsigned refs;
	int mem;		/* host's handle */
	struct module **modules;
	size_t nmodules;
};

struct process {
	pid_t pid;
	struct space *space;	/* NULL before the first exec */
	size_t ntasks;
	bool counted;		/* false: traps are passed, not counted */
	bool watched;		/* system calls that map text are */
	bool planted;		/* with all that its program has */
	struct process *next;
};

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

struct task {
	pid_t tid;
	struct process *process;	/* NULL until announced */
	enum task_state state;
	bool vforking;		/* waits in the kernel for its vfork child */
	bool exiting;		/* will not run its own code again */
	bool group_stopped;
	bool released;		/* not traced any more, its end is awaited */
	/* See affinity.c. */
	bool pinned;		/* on pmon's processor */
	uint16_t window_hits, syscalls, idle_ticks, cooling;
	uint64_t window_start;
	enum redo_state redo;
	uint64_t redo_va, redo_sp;
	struct event held;	/* first event of an unannounced task */
	bool has_held;
	pid_t parent;		/* the process it seems to be a child of */
	cpu_set_t affinity;	/* its own, while pinned */
	struct task *hash_next;
};

enum { TASK_BUCKETS = 1024 };

struct run {
	const struct options *opts;
	const struct host *host;
	const struct arch *arch;
	const struct abi *abi;
	struct task *tasks[TASK_BUCKETS];
	struct process *processes;
	struct event *queue;	/* received, not yet handled */
	size_t queue_head, queue_len;

	struct object *objects;
	size_t nobjects;

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

	uint64_t events;	/* traps handled */
	size_t nprocesses, nthreads;
	char **remarks;
	size_t nremarks;
	double started;		/* monotonic seconds */
};

/* ---- task.c: tables */

struct task *task_find(struct run *run, pid_t tid);
struct task *task_new(struct run *run, pid_t tid, struct process *process);
void task_free(struct run *run, struct task *task);
/* Calls fn for every task; fn may free that one. */
void task_each(struct run *run,
	       void (*fn)(struct run *run, struct task *task, void *ctx),
	       void *ctx);
struct process *process_new(struct run *run, pid_t pid, struct space *space);
/* Forget the process, which has no tasks left. */
void process_free(struct run *run, struct process *process);
struct space *space_new(int mem);
/* The memory of a fork's child, with the same modules planted. */
struct space *space_copy(const struct space *space, int mem);
void space_hold(struct space *space);
void space_drop(struct run *run, struct space *space);
void module_drop(struct module *module);

/* ---- account.c */

/* Make the tables say what the event says: new tasks, exec, ends. */
void run_account(struct run *run, struct task *task,
		 const struct event *event);

/* The task belongs to this process: its first stop may take its course. */
void run_announce(struct run *run, pid_t tid, struct process *process);

/* ---- run.c: events */

/* Say something the user should know, once for each different text. */
void run_remark(struct run *run, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Wait for the next event of this task; others' are queued. */
void run_wait_task(struct run *run, struct task *task, struct event *event);

/* Monotonic seconds. */
double run_clock(void);

/* Put an event back, to be handled in its turn. */
void run_requeue(struct run *run, const struct event *event);

/* Forget the task's event in the queue. */
void run_unqueue(struct run *run, pid_t tid);

/*
 * Stop every task that could run in this space (all spaces if NULL) but
 * `except`.  Their events are queued; handling those lets them go on.
 */
void run_pause(struct run *run, struct space *space, struct task *except);

/* The task's event in the queue, or NULL. */
const struct event *run_queued(const struct run *run,
			       const struct task *task);

/*
 * A stopped task of the space, if possible one that stopped for a pause only
 * and so can be made to run a little; or NULL.
 */
struct task *run_stopped_task(struct run *run, const struct space *space);

/* The task was paused: what that did to its system call is undone. */
void run_call_again(struct run *run, struct task *task);

/*
 * Stop every task, those too that events tell of which are not handled yet;
 * these are accounted for.
 */
void run_pause_all(struct run *run);

/* Let a stopped task go on, delivering signal. */
void run_resume(struct run *run, struct task *task, int signal);

/* Run until nothing is left to follow or pmon is told to stop. */
void run_loop(struct run *run);

/* ---- start.c */

int run_launch(struct run *run);
int run_attach(struct run *run, pid_t pid);

/* ---- stop.c */

/*
 * Counting is over: unplant every space and let every task go; those that
 * cannot be stopped yet are let go by their next event.  The launched
 * program is sent signal; its end is awaited by the loop.
 */
void run_stop(struct run *run, int signal);
/* Let go of a stopped task that is in no planted space, or no more. */
void task_release(struct run *run, struct task *task,
		  const struct event *event);
/* Remove all traps from the space of a stopped task. */
void space_unplant(struct run *run, struct space *space, pid_t tid);

/* ---- object.c */

/* The plan of a program or library, NULL if there is none for it. */
struct plan *object_plan(struct run *run, const char *path,
			 const char *open_path, bool main_object);
void objects_free(struct run *run);

/* ---- plant.c */

/*
 * A process has a new program: find its image and plant it.  Its task is
 * stopped, and all others of its space.
 */
void process_plant(struct run *run, struct task *task);
/*
 * A task of a watched process comes back from a system call: if that mapped
 * or unmapped text, plant what came and forget what went.
 */
void process_mapped(struct run *run, struct task *task);
/* Plant what is mapped, forget what is not. */
void process_rescan(struct run *run, struct task *task);
struct module *space_module(const struct space *space, uint64_t va);
void module_unplant(struct run *run, struct space *space, pid_t tid,
		    const struct module *module);

/* ---- slots.c */

/*
 * Map and fill the area for the sites to be slotted; those for which that
 * fails are patched another way.
 */
void module_slots(struct run *run, struct task *task, struct module *module);

/* ---- patch.c */

/* The task ran into a trap instruction. */
void patch_trap(struct run *run, struct task *task);
/*
 * The same, but nothing more is counted: its instruction is yet to be run.
 * false if the trap is not pmon's.
 */
bool patch_forget(struct run *run, struct task *task);
/* A signal is about to be delivered: let no pc be seen that is in a slot. */
void patch_signal(struct run *run, struct task *task, int signal);
/* The task is let go: its pc must not be in a slot any more. */
void patch_leave(struct run *run, struct task *task);
/* While task->redo is set its system calls are shown to this. */
void patch_syscall(struct run *run, struct task *task, bool entry);

/* ---- inject.c */

/*
 * Make the stopped task do a system call; its state is as before afterwards.
 * HOST_OK and *result, or HOST_GONE.
 */
int inject_syscall(struct run *run, struct task *task, int nr,
		   const uint64_t args[6], int64_t *result);

/* ---- affinity.c */

/* A trap was handled: pmon and its tasks may be better off on one CPU. */
void affinity_hit(struct run *run, struct task *task);
/* A system call of a pinned task. */
void affinity_syscall(struct run *run, struct task *task, bool entry);
void affinity_restore(struct run *run, struct task *task);
/* The task is gone and with it what was to be restored. */
void affinity_forget(struct run *run, struct task *task);
/* To be called every tick. */
void affinity_tick(struct run *run);

#endif
