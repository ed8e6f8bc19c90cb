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
	bool counted;		/* the plan has more than hooks */
};

/* How one site of a module is patched. */
enum patch {
	PATCH_UNPLANTED,	/* could not be; the site is lost there */
	PATCH_STEPPED,		/* lift the trap, step, plant it again */
	PATCH_SLOTTED,		/* run the instruction out of line */
	PATCH_EMULATED,		/* do in the monitor what it does */
	PATCH_SKIPPED,		/* it does nothing but go on elsewhere */
	PATCH_OWN,		/* the program's own trap instruction */
	PATCH_LEADS,		/* a trap that leads into a copy */
	PATCH_WAITING,		/* to be chosen at the first hit */
	PATCH_INSIDE,		/* counted by the host, see inside.c */
	PATCH_RETIRED,		/* the trap is gone, but hits of it may still
				   be on their way */
};

struct patched {
	struct emul emul;	/* PATCH_EMULATED */
	uint32_t slot;		/* PATCH_SLOTTED: number in module's area */
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
	uint64_t slots;		/* va of the slot area, 0 if none */
	uint64_t slots_size;
	uint32_t *slot_site;	/* slot number -> site index */
	size_t nslots;
	uint64_t copies;	/* va of the copies' area, 0 if none */
	uint64_t copies_size;
	uint64_t area;		/* where in tasks' areas its counters are */
	size_t ncopied;		/* of the plan's that are planted ... */
	size_t nreopened;	/* ... and reopened */
};

struct earlier;			/* see report/profile_plan.h */
struct simh_site;		/* see host/simh.h */
struct stack;			/* see stack.h */
struct transfer;		/* see transfer.h */
struct areas;			/* see areas.c */
struct control;			/* see control.c */
struct entries;
struct leaving;			/* see strays.c */

/* An address space: one process's, or several that share it (vfork). */
struct space {
	unsigned refs;
	struct stack *stack;	/* once one of its tasks' was walked */
	int mem;		/* host's handle */
	struct areas *areas;	/* memory for counters, or NULL */
	char *own_area;		/* why not all tasks have that register for
				   pmon's use, or NULL */
	struct module **modules;
	size_t nmodules;
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
	size_t copied, ncopied;	/* and copies, of the plan's, so many */
};

struct process {
	pid_t pid;
	struct space *space;	/* NULL before the first exec */
	size_t ntasks;
	bool counted;		/* false: traps are passed, not counted */
	bool watched;		/* system calls that map text are */
	bool planted;		/* with all that its program has */
	size_t meter;		/* where its counts go, see run_meter */
	struct process *next;
};

/* Who is counted by a meter, with --separate. */
struct metered {
	pid_t pid, tid;		/* pid 0: nobody, nothing was counted; tid 0:
				   a process */
	size_t parent;		/* the meter of the one that made it, or
				   METER_NONE */
	double start;		/* monotonic seconds */
	char *program;		/* that it executed last, or NULL */
};

static const size_t METER_NONE = SIZE_MAX;

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

/* The last return of a handler to where copies_signal.c sent the task. */
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
	bool vforking;		/* waits in the kernel for its vfork child */
	bool exiting;		/* will not run its own code again */
	bool group_stopped;
	bool released;		/* not traced any more, its end is awaited */
	bool born;		/* its first stop is still to be handled: it
				   begins in the middle of functions */
	bool walked;		/* its last frames are entered */
	uint64_t maker_sp;	/* the stack pointer of the one that made it;
				   0 if that was gone: its own is the same */
	struct transfer *exec;	/* what it leaves if its exec succeeds */
	struct leaving *leaving;	/* what it leaves if it gets to do that */
	struct entries *entries;	/* see transfer.h; or NULL */
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
	bool hit_slotted;	/* ... or was let into its slot, and the task
				   has not stopped since */
	struct plan *once;	/* --once: the plan of that site, if its trap
				   is to go when this has begun, or NULL */
	uint32_t once_site;
	int signal;		/* delivered last, of which is not known yet
				   what came of it, or 0; see inner.c ... */
	uint64_t signal_va;	/* ... and where */
	struct event held;	/* first event of an unannounced task */
	bool has_held;
	pid_t parent;		/* the process it seems to be a child of */
	size_t meter;
	uint32_t area;		/* its own, from 1; 0: none, or its maker's */
	bool vforked;		/* runs in its maker's place: as its maker */
	bool moved;		/* out of a copy, to be moved back */
	struct moved_pc *moved_pcs;	/* see copies_signal.c */
	size_t nmoved_pcs;
	struct sigreturn sigreturn;
	bool unreturned;	/* that has been undone for a walk */
	uint64_t extended;	/* extensions made before it last ran: they
				   are in the memory of a child it makes */
	cpu_set_t affinity;	/* its own, while pinned */
	struct task *hash_next;
};

enum { TASK_BUCKETS = 1024 };

struct run {
	const struct options *opts;
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
	uint64_t events;	/* traps handled */
	size_t nprocesses, nthreads;
	struct metered *owners;	/* with --separate: per meter */
	size_t nowners;
	char **remarks;
	size_t nremarks;
	double started;		/* monotonic seconds */
	uint64_t id;		/* random */
	uint64_t started_utc;	/* nanoseconds since 1970 */
	char *program;		/* the name of the first */
	char *data;		/* -d, the file's name; NULL until taken */
	bool saved;		/* and it has been written */
	struct earlier *earlier;	/* --weights, or NULL */
	struct control *control;	/* its socket, or NULL */
};

/* ---- task.c: tables */

/* The number of the meter that the task's counts go to. */
size_t run_meter(const struct run *run, const struct task *task);

/*
 * It was made by this task, or is the first of an attached process, if that
 * is NULL.  With --separate that is noted of its meter's owner.
 */
void owner_note(struct run *run, const struct task *task,
		const struct task *maker);
/* Its process executes this program. */
void owner_program(struct run *run, const struct task *task,
		   const char *program);
void owners_free(struct run *run);

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

/*
 * A task has stopped of which no event has told.  If what made it is gone
 * before it told, it is that's child; else the event is waited for.
 */
void run_adopt(struct run *run, struct task *task);

/* Forget what is kept of tasks that are gone. */
void account_close(struct run *run);

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
struct event *run_queued(const struct run *run, const struct task *task);

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

/* ---- tally.c */

/* All that was counted up to now; its plans are the run's. */
struct tally *tally_make(struct run *run);
void tally_free(struct tally *tally);

/* ---- save.c */

/* Read --weights; 0, or -1 with the message. */
int earlier_read(struct run *run);
void earlier_free(struct run *run);

/* The run has started now, or its counts begin anew. */
void run_begin(struct run *run);

/* Whether -d can be written, as far as that is known; 0 or -1. */
int save_check(const struct run *run);
/*
 * Write what was counted to the data file; 0, or -1 with the message.  The
 * tally is of the run.
 */
int run_save(struct run *run, const struct tally *tally);
/* The same in memory, owned by the caller. */
uint8_t *run_encode(const struct run *run, const struct tally *tally,
		    size_t *size);

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

/* One for hooks alone, of a file that is not to be counted; NULL if none. */
struct plan *object_hooks(struct run *run, const char *path,
			  const char *open_path);
/* The plan of a program or library, NULL if there is none for it. */
struct plan *object_plan(struct run *run, const char *path,
			 const char *open_path, bool main_object);
void objects_free(struct run *run);

/* ---- plant.c */

/*
 * A process is about to be attached to: look at its files while it still
 * runs.
 */
void process_foresee(struct run *run, pid_t pid);
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

/* ---- module.c */

/* Plant all sites in the task's space; HOST_GONE if that is gone. */
int module_fill(struct run *run, struct task *task, struct module *module);
void module_unplant(struct run *run, struct space *space, pid_t tid,
		    const struct module *module);

/* ---- extend.c */

/* The plan has new sites, and entries that do not wait any more. */
void plan_extended(struct run *run, struct plan *plan);
/* A site has counted once, and does not again: its trap goes. */
void plan_lift(struct run *run, struct plan *plan, uint32_t site);
/* All counts are 0 again: all that are gone come back.  All stands still. */
void plan_again(struct run *run, struct plan *plan);
/*
 * A fork's child has a copy of memory as it was when number `since` was the
 * next extension, or later: bring it up to date.
 */
void space_catch_up(struct run *run, struct space *space, pid_t tid,
		    uint64_t since);
void extensions_free(struct run *run);

/* ---- slots.c */

/*
 * Have the task map code memory of this size within reach of the module's
 * text; its va, or 0 if that cannot be.
 */
uint64_t near_map(struct run *run, struct task *task,
		  const struct module *module, uint64_t size);
/* Map the area of the module's slots, if the task can be made to. */
void slots_map(struct run *run, struct task *task, struct module *module);
/*
 * Write the slots from number `first` up to `last`; sites for which there is
 * none are patched another way.
 */
void slots_write(struct run *run, struct space *space, pid_t tid,
		 struct module *module, size_t first, size_t last);

/* ---- patch.c */

/* The task ran into a trap instruction; the signal is what that raises. */
void patch_trap(struct run *run, struct task *task, int signal);
/*
 * The same, but nothing more is counted: its instruction is yet to be run.
 * false if the trap is not pmon's.
 */
bool patch_forget(struct run *run, struct task *task);
/* A signal is about to be delivered: let no pc be seen that is in a slot. */
void patch_signal(struct run *run, struct task *task, int signal);
/* Was it caused by the instruction at the pc, not sent? */
bool signal_caused(struct run *run, struct task *task, int signal);
/* Has the program a handler for it that will be called? */
bool signal_caught(struct run *run, struct task *task, int signal);
/* The task is let go: its pc must not be in a slot any more. */
void patch_leave(struct run *run, struct task *task);
/* While task->redo is set its system calls are shown to this. */
void patch_syscall(struct run *run, struct task *task, bool entry);

/* ---- faults.c */

/* The signal is about to be delivered: is it the fault of what is at the pc? */
void fault_note(struct run *run, struct task *task, int signal, uint64_t pc);
/* The task is moved out of a copy: so is what faulted there. */
void fault_move(struct run *run, struct task *task, uint64_t pc, uint64_t va);
/* With that pc, and its stack pointer, it goes on, to a handler perhaps. */
void fault_keep(struct run *run, struct task *task);
/* Had the instruction at va, where a frame is left, begun? */
bool fault_left(const struct task *task, uint64_t va, uint64_t sp);
void fault_forget(struct task *task);

/* ---- untold.c */

/*
 * The task, at its last stop or paused, may have run into a trap and not said
 * so, or have been counted there and not gone on: then the pc is put back
 * before that, and it is not counted.
 */
enum untold {
	UNTOLD_NOTHING,
	UNTOLD_TRAP,
	UNTOLD_UNDONE,		/* it was counted */
	UNTOLD_PERHAPS,		/* that cannot be known */
};
enum untold trap_untold(struct run *run, struct task *task);
/*
 * The task has ended, and its last stop was not seen: it has done nothing
 * since it was last resumed.
 */
void hit_unseen(struct run *run, struct task *task);

/* ---- strays.c */

/* Whether anything is derived in what the space runs. */
bool space_infers(const struct space *space);
/* Whether hooks are needed there. */
bool space_hooked(const struct space *space);
/* The task is at its last stop. */
void strays_end(struct run *run, struct task *task);
/* It has ended; that may have been overlooked. */
void strays_unseen(struct run *run, struct task *task);
/* The first stop of a task that may have begun in the middle of functions. */
void strays_birth(struct run *run, struct task *task);
/* All tasks of an attached process stand still, and are counted from here. */
void strays_attach(struct run *run, struct process *process);
/*
 * All tasks stand still: enter their frames as left, for a look at the
 * counts; then take that back, or, when all counts are 0, say that control
 * came there, which is as much.
 */
enum presence { PRESENT, PRESENT_NOT, PRESENT_ANEW };
void strays_present(struct run *run, enum presence how);
/*
 * The task has stopped, with its pc where it would be without pmon: it has
 * done what it was about to do at a hook, unless it is still there.
 */
void strays_passed(struct run *run, struct task *task, uint64_t pc);
/* The task's exec has succeeded; its old space is still known. */
void strays_exec(struct run *run, struct task *task);
/* The task that execs takes the id of another. */
void strays_hand_over(struct task *from, struct task *to);
/* Forget what is kept for the task. */
void strays_forget(struct task *task);
/* It is at a hook of the module, by its number in sites. */
void strays_hook(struct run *run, struct task *task,
		 const struct module *module, uint32_t number);
/* Plant the hooks of what is mapped, and hear of what will be. */
void strays_libraries(struct run *run, struct task *task);

/* The task's passages are what control did. */
void strays_enter(struct run *run, const struct task *task,
		  const struct transfer *transfer);

/* From here on nothing is derived behind calls in what the space runs. */
void space_taint(struct run *run, struct space *space, const char *why);

/* ---- areas.c */

/*
 * Make areas of `need` bytes for the task's space, of which it gets one; 0 or
 * -1 with the message if that cannot be.
 */
int areas_open(struct run *run, struct task *task, uint64_t need);
void areas_close(struct space *space);
/* Set part of all areas aside; 0, or -1 with the message. */
int areas_reserve(struct space *space, uint64_t need, uint64_t *offset);
/* A fork's child shares the memory; its tasks take areas of their own. */
struct areas *areas_copy(const struct areas *areas);
/*
 * The image may use the register that areas are found by: nothing of the
 * space is to be counted in copies, before it does.
 */
void areas_yield(struct run *run, struct space *space,
		 const struct image *image);
/* The task's first stop, or its process was attached to. */
void areas_task(struct run *run, struct task *task);
/* The task stands still: its counts go to the meters. */
void areas_fold(struct run *run, struct task *task);
/*
 * All that was counted up to about now, of all tasks, while they run; owned by
 * the caller.
 */
struct meter *areas_peek(struct run *run, const struct plan *plan);
/* A module is no more: what was counted in it goes to the meters. */
void areas_forget(struct run *run, struct space *space,
		  const struct module *module);
/* It counts no more. */
void areas_end(struct run *run, struct task *task);
/* It is let go. */
void areas_leave(struct run *run, struct task *task);
void areas_unmap(struct run *run, struct task *task,
		 const struct space *space);

/* ---- copies.c */

/* The plan's functions go without copies from now on; the report says why. */
void copies_refuse(struct run *run, struct plan *plan, const char *why);
/* Map what the module needs for copies; else its plan goes without. */
void copies_map(struct run *run, struct task *task, struct module *module);
/* Write a body's copy, and the ways into it; or it is lost. */
void copy_plant(struct run *run, struct space *space, pid_t tid,
		const struct module *module, uint32_t body);
void copies_unplant(struct run *run, struct space *space, pid_t tid,
		    const struct module *module);
/* The copy is not used any more: its original is as it was. */
void copy_revert(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, uint32_t body);

/* Ways into the copy that are traps now: what was there before goes. */
void copy_reopen(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, uint32_t body);

/* ---- copies_pc.c */

/* A task runs into a trap that leads into a copy. */
void copies_arrive(struct run *run, struct task *task,
		   const struct module *module, const struct site *site);
/* Where a trap that leads into a copy leads. */
uint64_t copies_enter(const struct module *module, const struct site *site);
/*
 * If the stopped task is in a copy, move it to where it would be in the
 * original; whether it was.  It may have to run a little for that.
 */
bool copies_leave(struct run *run, struct task *task);
/* A task that is in the middle of a function when it is copied goes there. */
void copies_begin(struct run *run, struct task *task);
/* Where in a copy a task goes on that was moved to va, or va itself. */
uint64_t copies_back(const struct space *space, uint64_t va);
/* Move a task back that copies_leave moved. */
void copies_return(struct run *run, struct task *task);
/*
 * Where a task that is in a copy at pc, or was just led out of it to a call,
 * would be without.
 */
struct position {
	uint64_t va;		/* at this instruction */
	bool during;		/* which has begun */
	bool ahead;		/* or has not; but if it begins a block, that
				   has been counted */
};

/* Find that without running the task.  false if it is in no copy. */
bool copies_position(const struct space *space, uint64_t pc,
		     struct position *position);
/*
 * The task was moved to va out of a copy, or is looked at so: take the count of
 * the block that begins there back, as it has not begun; or add it again, as
 * it goes back to where that has been counted.
 */
void copies_ahead(struct run *run, struct task *task, uint64_t va, bool back);

/* ---- copies_signal.c */

/* Deliver a signal to a task that was moved, whose handler will return. */
void copies_signal(struct run *run, struct task *task, int signal);
/*
 * A handler returns, by the code at va hook: the context that it returns to
 * goes back to the copy.
 */
void copies_sigreturn(struct run *run, struct task *task, uint64_t hook);
/* Undo that if the system call has not been made yet: was it so? */
bool copies_unreturn(struct run *run, struct task *task);
void copies_forget(struct task *task);

/* ---- inner.c */

/* The innermost frame of a stopped task; 0 or HOST_GONE. */
int inner_frame(struct run *run, const struct task *task, bool came,
		struct transfer *transfer);
/* The task is delivered a signal. */
void inner_signal(struct run *run, struct task *task, int signal);
/* Any event of the task: it may tell what came of the signal. */
void inner_event(struct run *run, struct task *task,
		 const struct event *event);

/* ---- inside.c */

/* The module's sites that are PATCH_INSIDE are counted by the host. */
void inside_plant(struct run *run, const struct module *module);
/*
 * Fetch what it has counted, and what it has to say; also after the program's
 * end.  Returns the sum of counts.
 */
uint64_t inside_fetch(struct run *run);
/* The run is over, and its host. */
void inside_close(struct run *run);

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
