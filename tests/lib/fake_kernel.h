/*
 * What the files of the fake host share: its tasks, processes and memory.
 */
#ifndef TESTS_LIB_FAKE_KERNEL_H
#define TESTS_LIB_FAKE_KERNEL_H

#include "arch/emul.h"
#include "arch/x86_64/regs.h"
#include "tests/lib/fake_host.h"

/* What a call returns that is to be made again, and one that nobody knows. */
enum { FAKE_RESTART = 514, FAKE_NO_CALL = 38 };

static const uint64_t FAKE_STACK_TOP = 0x7ffffffff000;

/* Memory behind a mapping; forked processes share it if it is shared. */
struct fake_bytes {
	unsigned refs;
	uint8_t *p;
	size_t size;
	bool mapped;		/* by mmap */
};

struct fake_region {
	struct mapping map;	/* its path is owned */
	struct fake_bytes *bytes;
};

struct fake_mm {
	unsigned refs;		/* processes and handles */
	unsigned users;		/* processes */
	struct fake_region *regions;
	size_t n;
	uint64_t next;		/* where the next mapping goes */
};

struct fake_process {
	pid_t pid, parent;
	struct fake_mm *mm;
	int status;		/* how it ends: a status, or minus a signal */
	bool ends;		/* by exit_group or a signal */
	int stop;		/* the signal that stopped all of it, or 0 */
	bool reaped;
	size_t ntasks;		/* not gone */
};

enum fake_state {
	FAKE_RUNS,
	FAKE_STOPPED,
	FAKE_LISTENS,		/* in a group stop */
	FAKE_DYING,		/* on its way to its last stop */
	FAKE_LAST,		/* at its last stop */
	FAKE_ENDED,
	FAKE_GONE,
};

/* Where in a system call a task is. */
enum fake_phase { FAKE_USER, FAKE_CALL, FAKE_MADE, FAKE_EXIT };

struct fake_task {
	pid_t tid;
	struct fake_process *process;
	struct regs regs;
	enum fake_state state;
	bool traced;
	bool reported;		/* its stop or end has been */
	struct event event;	/* of its stop */
	bool interrupt;		/* it is to stop */
	bool joins;		/* it has still to join its group stop */
	bool stops;		/* it has taken a SIGSTOP, no SIGCONT since */
	bool look;		/* in the kernel: it looks for signals */
	bool step, calls;	/* how it was resumed */
	enum fake_phase phase;
	bool execs;		/* waits for the other threads' ends */
	bool let_go;		/* it ends, as pmon knows */
	bool taken;		/* its id is that of one that was let go, until
				   pmon takes up the exec */
	struct fake_task *vfork;	/* its child, for which it waits */
	uint64_t pending, mask;
	struct dispatch dispatch;
	uint8_t info[SIGINFO_MAX];	/* info[0]: enum trap_cause */
	uint8_t trap_cause;	/* of a SIGTRAP that is pending */
	uint64_t turn;		/* when it last went on */
};

/* All of a run. */
struct fake {
	const struct fake_schedule *schedule;
	struct fake_result result;
	uint8_t choices[FAKE_CHOICES], widths[FAKE_CHOICES];
	size_t nchoices;
	struct fake_task **tasks;
	size_t ntasks;
	struct fake_process **processes;
	size_t nprocesses;
	struct fake_mm **handles;
	size_t nhandles;
	char *program;
	uint64_t entry, phdr, phnum;
	pid_t root, next_tid;
	uint64_t turn;
	bool log;		/* print requests and events */
	unsigned idle;		/* waits in a row in which nothing happened */
};

extern struct fake fake;

/* fake_memory.c */
struct fake_mm *fake_mm_load(const char *path);
struct fake_mm *fake_mm_copy(const struct fake_mm *mm);
void fake_mm_drop(struct fake_mm *mm);
/* Move n bytes; whether all are mapped and, if data, may be accessed so. */
bool fake_mm_move(struct fake_mm *mm, uint64_t va, void *buf, size_t n,
		  bool write, bool data);
int64_t fake_mm_map(struct fake_mm *mm, const uint64_t args[6]);
int64_t fake_mm_unmap(struct fake_mm *mm, uint64_t va, uint64_t size);
int fake_mm_maps(const struct fake_mm *mm, struct mapping **maps, size_t *n);
/* Is there a mapping or a byte of text that the program has not made? */
bool fake_mm_changed(const struct fake_mm *mm);

/* fake_schedule.c */

/* pmon must not have done this. */
void fake_wrong(pid_t tid, const char *what);
/* One of n possibilities, by the schedule. */
unsigned fake_choose(unsigned n);
/*
 * The id of the next process, which a thread of the test has: pmon opens a
 * descriptor of the program's by /proc/ID/fd, and the program's descriptors are
 * the test's.
 */
pid_t fake_process_id(void);
/* Is the task's end to be reported next? */
bool fake_end_ready(const struct fake_task *task);
void fake_wait(struct event *event);

/* fake_kernel.c */

struct fake_task *fake_find(pid_t tid);
struct fake_task *fake_task_new(pid_t tid, struct fake_process *process);
struct fake_process *fake_process_new(pid_t pid, pid_t parent,
				      struct fake_mm *mm);
/* The program's first task, at its start. */
struct fake_task *fake_start(const char *path);
/* Can the task go on, if nobody resumes it? */
bool fake_ready(const struct fake_task *task);
/* Let it go on to its next stop, or to where it waits. */
void fake_advance(struct fake_task *task);
/* Let it do n instructions, if it does not leave the program before. */
void fake_run(struct fake_task *task, unsigned n);
/* Let a task that pmon resumes or detaches go on, with the signal. */
void fake_go(struct fake_task *task, int signal);
void fake_signal(struct fake_process *process, int signal);
/* Is there something for which a call does not wait any longer? */
bool fake_disturbed(const struct fake_task *task);
/* Stop for an event; false if nobody traces the task. */
bool fake_stop(struct fake_task *task, enum event_kind kind, int value);
/* The task goes to its last stop, leaves that, and is gone. */
void fake_die(struct fake_task *task);
void fake_finish(struct fake_task *task);
void fake_gone(struct fake_task *task);
/* All tasks go to their last stops.  status: as in struct fake_process. */
void fake_process_end(struct fake_process *process, int status);
void fake_mm_leave(struct fake_process *process);
/* A vfork child has memory of its own, or none any more. */
void fake_vfork_end(const struct fake_task *child);
void fake_do(enum fake_deed deed);

/* fake_calls.c */

/*
 * Make the system call that the registers tell of.  False if the task waits in
 * it.
 */
bool fake_call(struct fake_task *task);
/* Do other threads of the task's process exist, so that its exec waits? */
bool fake_others_live(const struct fake_task *task);
/* The task becomes the program anew, and the leader of its process. */
void fake_exec(struct fake_task *task);

/* fake_cpu.c */
enum fake_insn {
	FAKE_INSN_DONE,
	FAKE_INSN_CALL,
	FAKE_INSN_TRAP,
	FAKE_INSN_BAD,
};

/* Do the instruction at the task's pc; of a system call or trap only the pc. */
enum fake_insn fake_insn(struct fake_task *task);

#endif
