/*
 * Chooses the processors that pmon and its tasks run on.  A trap costs two
 * context switches.  Between two processors each of them wakes up an idle
 * processor, which takes ten times as long as the switch (see bench/ for the
 * figures).  So a task that traps often is pinned, with pmon, to one processor,
 * and gets its own set of processors back when it stops doing so.
 *
 * The program never notices.  Only system calls could show the pinning (those
 * that get or set the affinity, or open a file of /proc that tells it) or
 * inherit it (those that make a thread or process, or exec).  pmon watches the
 * system calls of a pinned task, and restores the task's own set before one of
 * these.
 */
#include "monitor/process/affinity.h"

#include <string.h>

#include "monitor/process/notice.h"
#include "monitor/process/task.h"
#include "monitor/run.h"

enum {
	WINDOW = 8,		/* traps between two looks at the rate */
	HOT_NS = 200 * 1000,	/* pin if traps come closer than this, */
	WARM_NS = 2000 * 1000,	/* or if the task runs shorter in between */
	CALLS = 4 * WINDOW,	/* system calls in a window that are too many */
	COOL_FACTOR = 16,	/* windows to wait after pinning in vain */
};

static cpu_set_t own;		/* pmon's set before it was pinned */
static size_t npinned;
static int cpu;

static void
affinity_pin(struct run *run, struct task *task)
{
	cpu_set_t set;

	if (run->host->affinity_get(task->tid, &task->affinity.own,
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
	task->affinity.syscalls = 0;
	if (!npinned++) {
		sched_setaffinity(0, sizeof(set), &set);
		notice_ticks(true);
	}
}

void
affinity_ended(struct run *run, struct task *task)
{
	if (!task->affinity.pinned)
		return;
	task->affinity.pinned = false;
	if (!--npinned) {
		sched_setaffinity(0, sizeof(own), &own);
		notice_ticks(false);
	}
}

void
affinity_restore(struct run *run, struct task *task)
{
	cpu_set_t set;

	/* Somebody else may have set another meanwhile (taskset -p). */
	if (task->affinity.pinned &&
	    !run->host->affinity_get(task->tid, &set, sizeof(set)) &&
	    CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set))
		run->host->affinity_set(task->tid, &task->affinity.own,
					sizeof(task->affinity.own));
	affinity_ended(run, task);
}

/*
 * Do the task and pmon run by turns, so that one processor is enough for both?
 * Only if the task is alone in its process, and no other is pinned: tasks that
 * share a processor lose more than the switches cost.  Not in a process that was
 * attached to, which outlives a killed pmon and would stay pinned.
 */
static bool
takes_turns(const struct run *run, const struct task *task)
{
	return run->root.tid && !npinned && task->process->ntasks == 1;
}

void
affinity_trap(struct run *run, struct task *task)
{
	struct affinity *affinity = &task->affinity;
	uint64_t all, ran;

	if (++affinity->window_traps < WINDOW)
		return;
	all = task->stop.since - affinity->window_start;
	ran = task->stop.ran - affinity->window_ran;
	affinity->window_start = task->stop.since;
	affinity->window_ran = task->stop.ran;
	affinity->window_traps = 0;
	affinity->idle_ticks = 0;
	if (affinity->pinned) {
		affinity->syscalls = 0;
		return;
	}
	if (affinity->cooling)
		affinity->cooling--;
	else if (all < WINDOW * HOT_NS ||
		 (ran < WINDOW * WARM_NS && takes_turns(run, task)))
		affinity_pin(run, task);
}

/*
 * Does the system call open a file named "status"?  /proc/PID/status tells which
 * processors a task may use.
 */
static bool
opens_status(const struct run *run, const struct task *task,
	     const struct regs *regs, int nr)
{
	static const char name[] = "status";
	const struct abi *abi = run->abi;
	char path[256];
	size_t len, n = sizeof(path);
	uint64_t va;

	if (nr != abi->nr_open && nr != abi->nr_openat && nr != abi->nr_openat2)
		return false;
	va = regs->r[abi->reg_arg[nr == abi->nr_open ? 0 : 1]];
	if (n > PAGE - va % PAGE)
		n = PAGE - va % PAGE;
	if (run->host->data_read(task->tid, va, path, n))
		return false;
	len = strnlen(path, n);
	/* A path that is longer may be any. */
	return len == n || (len >= sizeof(name) - 1 &&
			    !strcmp(path + len - (sizeof(name) - 1), name));
}

/*
 * Watching a system call costs two stops.  A task that makes more system calls
 * than it has traps is not pinned again for a while.
 */
void
affinity_syscall(struct run *run, struct task *task, bool entry)
{
	const struct abi *abi = run->abi;
	struct regs regs;
	int nr;

	if (!task->affinity.pinned || !entry)
		return;
	if (++task->affinity.syscalls > CALLS) {
		task->affinity.cooling = COOL_FACTOR;
		affinity_restore(run, task);
		return;
	}
	if (run->host->regs_get(task->tid, &regs))
		return;
	nr = (int)regs.r[abi->reg_orig];
	if (nr == abi->nr_getaffinity || nr == abi->nr_setaffinity ||
	    nr == abi->nr_clone || nr == abi->nr_clone3 || nr == abi->nr_fork ||
	    nr == abi->nr_vfork || nr == abi->nr_exec || nr == abi->nr_execat)
		affinity_restore(run, task);
	if (opens_status(run, task, &regs, nr)) {
		affinity_restore(run, task);
		/* The file may be read at any time from now on. */
		task->affinity.cooling = UINT16_MAX;
	}
}

static void
task_tick(struct run *run, struct task *task, void *ctx)
{
	/* The task had no whole window of traps in two ticks. */
	if (task->affinity.pinned && ++task->affinity.idle_ticks > 2)
		affinity_restore(run, task);
}

void
affinity_tick(struct run *run)
{
	task_each(run, task_tick, NULL);
}
