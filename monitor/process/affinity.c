/*
 * Chooses the processors that pmon and its tasks run on.  A trap costs two
 * context switches.  Between two processors each of them wakes up an idle
 * processor, which takes ten times as long as the switch (see bench/ for the
 * figures).  So a task that traps often is pinned, with pmon, to one processor,
 * and gets its own set of processors back when it stops doing so.
 *
 * The program never notices.  Only system calls could show the pinning (those
 * that get or set the affinity) or inherit it (those that make a thread or
 * process, or exec).  pmon watches the system calls of a pinned task, and
 * restores the task's own set before one of these.
 */
#include "monitor/process/affinity.h"

#include <time.h>

#include "monitor/process/notice.h"
#include "monitor/process/task.h"
#include "monitor/run.h"

enum {
	WINDOW = 8,		/* hits between two looks at the rate */
	HOT_US = 200,		/* pin if hits come closer than this */
	COOL_FACTOR = 128,	/* windows to wait after pinning in vain */
};

static cpu_set_t own;		/* pmon's set before it was pinned */
static size_t npinned;
static int cpu;

static uint64_t
clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

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
	if (task->affinity.pinned)
		run->host->affinity_set(task->tid, &task->affinity.own,
					sizeof(task->affinity.own));
	affinity_ended(run, task);
}

void
affinity_hit(struct run *run, struct task *task)
{
	uint64_t now, since;

	if (++task->affinity.window_hits < WINDOW)
		return;
	now = clock_us();
	since = now - task->affinity.window_start;
	task->affinity.window_start = now;
	task->affinity.window_hits = 0;
	task->affinity.idle_ticks = 0;
	if (task->affinity.pinned) {
		task->affinity.syscalls = 0;
		return;
	}
	if (task->affinity.cooling)
		task->affinity.cooling--;
	else if (since < WINDOW * HOT_US)
		affinity_pin(run, task);
}

/*
 * Watching a system call costs two stops.  A task that makes more system calls
 * than it has hits is not pinned again for a while.
 */
void
affinity_syscall(struct run *run, struct task *task, bool entry)
{
	const struct abi *abi = run->abi;
	struct regs regs;
	int nr;

	if (!task->affinity.pinned || !entry)
		return;
	if (++task->affinity.syscalls > WINDOW) {
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
}

static void
task_tick(struct run *run, struct task *task, void *ctx)
{
	/* The task had no whole window of hits in two ticks. */
	if (task->affinity.pinned && ++task->affinity.idle_ticks > 2)
		affinity_restore(run, task);
}

void
affinity_tick(struct run *run)
{
	task_each(run, task_tick, NULL);
}
