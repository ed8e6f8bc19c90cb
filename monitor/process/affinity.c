/*
 * Chooses the processors that pmon and its tasks run on.  A trap costs two
 * context switches.  Between two processors each of them wakes up an idle
 * processor, which takes ten times as long as the switch (see bench/ for the
 * figures).  So a task that traps often is pinned, with pmon, to one processor,
 * and gets its own set of processors back when it stops doing so.
 *
 * The process never notices.  Only system calls could show the pinning (those
 * that get or set the affinity), or a file (/proc/PID/status), or inherit it
 * (those that make a thread or process, or exec).  pmon watches the system calls
 * of a pinned task, and restores the task's own set before one of these, and
 * behind one that has opened such a file; a task that has one open is not pinned.
 * So it does with calls of the process's other threads, unless many traps alone
 * are why the task is pinned.
 */
#include "monitor/process/affinity.h"

#include <string.h>

#include "monitor/process/events.h"
#include "monitor/process/notice.h"
#include "monitor/process/task.h"
#include "monitor/run.h"

enum {
	WINDOW = 8,		/* traps between two looks at the rate */
	HOT_NS = 200 * 1000,	/* a window is hot if its traps come closer than
				   this, and none is a first entry */
	HOT_WINDOWS = 8,	/* pin after so many in a row: a trap that goes
				   on is removed before that, if it can be */
	WARM_NS = 2000 * 1000,	/* or if the task runs shorter between traps */
	CALLS = WINDOW * 3 / 2,	/* system calls in a window that are too many */
	CALLS_OTHERS = WINDOW / 2,	/* ... of a process with more threads */
	COOL_FACTOR = 16,	/* windows to wait after pinning in vain ... */
	COOL_OTHERS = 256,	/* ... because of others' system calls: they
				   are paused each time */
};

/* The file of /proc that tells which processors a task may use. */
static const char status[] = "status";

static cpu_set_t own;		/* pmon's set before it was pinned */
static size_t npinned;
static int cpu;

static void
affinity_pin(struct run *run, struct task *task)
{
	cpu_set_t set;

	/* If in vain, not soon again. */
	task->affinity.cooling = COOL_FACTOR;
	if ((run->host->native &&
	     run->host->native->holds(task->tid, -1, status)) ||
	    run->host->affinity_get(task->tid, &task->affinity.own,
				    sizeof(task->affinity.own)))
		return;
	if (!npinned) {
		sched_getaffinity(0, sizeof(own), &own);
		cpu = sched_getcpu();
	}
	/* The program may have kept the task off pmon's processor. */
	if (!CPU_ISSET(cpu, &task->affinity.own) ||
	    CPU_COUNT(&task->affinity.own) < 2)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (run->host->affinity_set(task->tid, &set, sizeof(set)))
		return;
	task->affinity.pinned = true;
	task->affinity.opening = false;
	task->affinity.syscalls = task->affinity.cooling = 0;
	if (!npinned++) {
		sched_setaffinity(0, sizeof(set), &set);
		notice_ticks(true);
	}
}

/* Another thread of the pinned task's process is to be watched from now on. */
static void
task_watch(struct run *run, struct task *task, void *ctx)
{
	struct process *process = ctx;

	(void)run;
	/* It may be in a call that opens a file. */
	if (task->process == process && task != process->pinned)
		task->affinity.opening = true;
}

static void
others_watch(struct run *run, struct task *task)
{
	if (!task->affinity.pinned || task->process->ntasks == 1)
		return;
	task->process->pinned = task;
	task_each(run, task_watch, task->process);
	/*
	 * Those that run are to stop at the next call.  One may be in a call
	 * that waits for this task, and stops at nothing.
	 */
	if (run_pause_brief(run, task->process->space, task, STOP_PINS))
		return;
	affinity_restore(run, task);
	task->affinity.cooling = COOL_OTHERS;
}

void
affinity_child(void)
{
	if (npinned)
		sched_setaffinity(0, sizeof(own), &own);
}

void
affinity_ended(struct run *run, struct task *task)
{
	if (!task->affinity.pinned)
		return;
	task->affinity.pinned = false;
	if (task->process->pinned == task)
		task->process->pinned = NULL;
	if (!--npinned) {
		sched_setaffinity(0, sizeof(own), &own);
		notice_ticks(false);
	}
}

/*
 * Give the task its own set back, or the one that somebody else has given it
 * meanwhile (taskset -p).  The kernel keeps what it was told: a task that was
 * told pmon's processor would stay there when its cpuset(7) grows.  So it is
 * told all processors, if that makes the same set.
 */
static void
set_restore(struct run *run, const struct task *task)
{
	const struct host *host = run->host;
	cpu_set_t now, all;

	if (host->affinity_get(task->tid, &now, sizeof(now)))
		return;
	if (CPU_COUNT(&now) == 1 && CPU_ISSET(cpu, &now))
		now = task->affinity.own;
	memset(&all, 0xff, sizeof(all));
	if (!host->affinity_set(task->tid, &all, sizeof(all)) &&
	    !host->affinity_get(task->tid, &all, sizeof(all)) &&
	    CPU_EQUAL(&all, &now))
		return;
	host->affinity_set(task->tid, &now, sizeof(now));
}

void
affinity_restore(struct run *run, struct task *task)
{
	if (task->affinity.pinned)
		set_restore(run, task);
	affinity_ended(run, task);
}

/*
 * Do the task and pmon run by turns, so that one processor is enough for both?
 * Only if no other task is pinned: tasks that share a processor lose more than
 * the switches cost.  Not in a process that was attached to, which outlives a
 * killed pmon and would stay pinned, nor if the process has a child, which may ask
 * for the task's set.
 */
static bool
takes_turns(const struct run *run, const struct task *task)
{
	const struct process *process = task->process;

	if (!run->root.tid || npinned || run->opts->follow != FOLLOW_ALL)
		return false;
	for (const struct process *p = run->processes; p; p = p->next)
		if (p->maker == process->pid && p->ntasks)
			return false;
	return true;
}

void
affinity_trap(struct run *run, struct task *task, bool first)
{
	struct affinity *affinity = &task->affinity;
	uint64_t all, ran;

	affinity->first |= first;
	if (++affinity->window_traps < WINDOW)
		return;
	all = task->stop.since - affinity->window_start;
	ran = task->stop.ran - affinity->window_ran;
	affinity->window_start = task->stop.since;
	affinity->window_ran = task->stop.ran;
	affinity->window_traps = 0;
	affinity->idle_ticks = 0;
	if (affinity->first || all >= WINDOW * HOT_NS)
		affinity->hot = 0;
	else if (affinity->hot < HOT_WINDOWS)
		affinity->hot++;
	affinity->first = false;
	if (affinity->pinned) {
		affinity->syscalls = 0;
		return;
	}
	if (affinity->cooling) {
		affinity->cooling--;
	} else if (affinity->hot == HOT_WINDOWS) {
		affinity_pin(run, task);
	} else if (ran < WINDOW * WARM_NS && takes_turns(run, task)) {
		affinity_pin(run, task);
		others_watch(run, task);
	}
}

bool
affinity_watches(const struct task *task)
{
	return task->affinity.pinned ||
	       (task->process && task->process->pinned);
}

static bool
too_many(const struct task *pinned, unsigned calls)
{
	return calls > (pinned->process->ntasks == 1 ? CALLS : CALLS_OTHERS);
}

/*
 * Watching a system call costs two stops, which are worth it if there are not
 * more than three calls to two traps.  With other threads, which may wait for
 * each other in their calls, one call to two traps is the limit.  A task that
 * makes more is not pinned again for a while.
 */
void
affinity_syscall(struct run *run, struct task *task, bool entry)
{
	struct task *pinned = task->affinity.pinned ? task :
						      task->process->pinned;
	const struct abi *abi = run->abi;
	struct regs regs;
	int64_t fd;
	int nr;

	if (!pinned || (!entry && !task->affinity.opening) ||
	    run->host->regs_get(task->tid, &regs))
		return;
	if (!entry) {
		fd = (int64_t)regs.r[abi->reg_result];
		task->affinity.opening = false;
		if (fd < 0 ||
		    !run->host->native->holds(task->tid, (int)fd, status))
			return;
		affinity_restore(run, pinned);
		return;
	}
	nr = (int)regs.r[abi->reg_orig];
	task->affinity.opening = nr == abi->nr_open || nr == abi->nr_openat ||
				 nr == abi->nr_openat2;
	if (too_many(pinned, ++pinned->affinity.syscalls))
		pinned->affinity.cooling = task == pinned ? COOL_FACTOR :
							    COOL_OTHERS;
	if (too_many(pinned, pinned->affinity.syscalls) ||
	    nr == abi->nr_getaffinity || nr == abi->nr_setaffinity ||
	    nr == abi->nr_clone || nr == abi->nr_clone3 || nr == abi->nr_fork ||
	    nr == abi->nr_vfork || nr == abi->nr_exec || nr == abi->nr_execat)
		affinity_restore(run, pinned);
}

static void
task_tick(struct run *run, struct task *task, void *ctx)
{
	/* The task had no whole window of traps in three ticks. */
	if (task->affinity.pinned && ++task->affinity.idle_ticks > 2)
		affinity_restore(run, task);
}

void
affinity_tick(struct run *run)
{
	task_each(run, task_tick, NULL);
}
