/*
 * The program's stops by cause: names, counts and measures them, and tells
 * clients of them; never decides anything.  A stop begins when the host tells of
 * it and ends when pmon resumes the task.  The time that the kernel takes before
 * and after is not included.
 */
#include <string.h>

#include "monitor/process/affinity.h"
#include "monitor/process/client.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/stamp.h"

static const char *const causes[STOP_CAUSES] = {
	[STOP_LEADS] = "trap that leads into a relocated function",
	[STOP_SLOTTED] = "trap, instruction executed in a slot",
	[STOP_EMULATED] = "trap, instruction emulated",
	[STOP_SKIPPED] = "trap, instruction skipped",
	[STOP_STEPPED] = "trap, instruction stepped",
	[STOP_ENTERED] = "trap, first entry of a function",
	[STOP_SWITCH] = "trap, stack switched (longjmp, swapcontext)",
	[STOP_UNWINDER] = "trap, unwinder entered (exceptions)",
	[STOP_UNWOUND] = "trap, unwinder jumps to a frame (exceptions)",
	[STOP_EXECS] = "trap, may execute another program",
	[STOP_MAPS] = "trap, may map or unmap code",
	[STOP_COMPUTED] = "trap, makes a system call of any number",
	[STOP_CLONES] = "trap, makes a thread or process",
	[STOP_SIGACTION] = "trap, sets the action of a signal",
	[STOP_SIGPROCMASK] = "trap, sets which signals are blocked",
	[STOP_SIGRETURN] = "trap, signal handler returns",
	[STOP_STARTS] = "trap, program starts",
	[STOP_LOADED] = "trap, libraries loaded or unloaded",
	[STOP_RECORDS] = "trap, no room for more times",
	[STOP_VOID] = "trap already removed, or thread killed at it",
	[STOP_STEP] = "single step",
	[STOP_CALLED] = "system call that pmon makes in the program",
	[STOP_ATTACH] = stop_attaching,
	[STOP_PLANT] = "pause, counters planted",
	[STOP_OTHER_STEPS] = "pause, another thread steps",
	[STOP_MENDS] = "pause, another thread's SIGTRAP restored",
	[STOP_PINS] = "pause, another thread kept on one processor",
	[STOP_WATCH] = "pause, system calls watched from now on",
	[STOP_ASKED] = "pause, counts requested",
	[STOP_STOPPING] = "pause, counting stops",
	[STOP_SUSPEND] = "pause, pmon is suspended",
	[STOP_CALL_MAPS] = "system call, maps or unmaps code",
	[STOP_CALL_WATCHED] = "system call, may map or unmap code",
	[STOP_CALL_REDO] = "system call, in a fault handler",
	[STOP_CALL_PINNED] = "system call, while kept on one processor",
	[STOP_CALL_UNTRACED] = "system call, makes an untraced child",
	[STOP_CALL_FOLLOWED] = "system call, in a handler with SIGTRAP blocked",
	[STOP_CALL_RESTART] = "system call, may be cut short by a pause",
	[STOP_SIGNAL] = "signal",
	[STOP_SIGTRAP] = "signal, SIGTRAP of the program's own",
	[STOP_DAMAGE] = "fault, the program has changed pmon's memory",
	[STOP_GROUP] = "stopped by a signal, or continued",
	[STOP_CLONE] = "thread created",
	[STOP_FORK] = "process created",
	[STOP_EXEC] = "program executed",
	[STOP_BIRTH] = "thread or process begins",
	[STOP_END] = "thread or process ends",
};

const char *
stop_cause_text(enum stop_cause cause)
{
	return causes[cause];
}

/* A new task's first stop is no pause, though a pause may be waiting for it. */
static enum stop_cause
pause_cause(const struct task *task, const struct stop *stop)
{
	if (stop->how == RESUME_LISTEN)
		return STOP_GROUP;
	return stop->asked && !(task && task->born) ? stop->asked : STOP_BIRTH;
}

/* The cause as far as the event tells; stop_is may correct it. */
static enum stop_cause
event_cause(const struct task *task, const struct stop *stop,
	    const struct event *event)
{
	switch (event->kind) {
	case EVENT_TRAP:
		return stop->how == RESUME_STEP ? STOP_STEP : STOP_VOID;
	case EVENT_SIGNAL:
		return STOP_SIGNAL;
	case EVENT_STOPPED:
		return STOP_GROUP;
	case EVENT_SYSCALL_ENTRY:
	case EVENT_SYSCALL_EXIT:
		return stop->call;
	case EVENT_CLONE:
		return STOP_CLONE;
	case EVENT_FORK:
	case EVENT_VFORK:
	case EVENT_VFORK_DONE:
		return STOP_FORK;
	case EVENT_EXEC:
		return STOP_EXEC;
	case EVENT_EXITING:
		return STOP_END;
	default:
		return pause_cause(task, stop);
	}
}

void
stop_begin(struct run *run, struct task *task, const struct event *event)
{
	struct stop none = { 0 }, *stop = task ? &task->stop : &none;

	stop->cause = event_cause(task, stop, event);
	stop->since = clock_ns();
	if (stop->resumed)
		stop->ran += stop->since - stop->resumed;
	run->stops.n[stop->cause]++;
}

void
stop_is(struct run *run, struct task *task, enum stop_cause cause)
{
	struct stop *stop = &task->stop;

	if (!stop->since)
		return;
	run->stops.n[stop->cause]--;
	run->stops.n[cause]++;
	stop->cause = cause;
}

static void
stop_end_at(struct run *run, struct task *task, uint64_t now)
{
	struct stop *stop = &task->stop;

	if (stop->since)
		run->stops.ns[stop->cause] += now - stop->since;
	stop->since = 0;
	stop->resumed = now;
}

void
stop_end(struct run *run, struct task *task)
{
	stop_end_at(run, task, clock_ns());
}

/*
 * Why pmon sees the task's system calls: of several reasons the one that lasts
 * longest.
 */
static enum stop_cause
call_cause(const struct task *task)
{
	if (task_watched(task))
		return STOP_CALL_WATCHED;
	if (task->mapping.nr)
		return STOP_CALL_MAPS;
	if (task->redo.state != REDO_NONE)
		return STOP_CALL_REDO;
	if (affinity_watches(task))
		return STOP_CALL_PINNED;
	if (task->untraced.nr)
		return STOP_CALL_UNTRACED;
	if (task->follows)
		return STOP_CALL_FOLLOWED;
	return task->restart || task->paused ? STOP_CALL_RESTART : STOP_EXEC;
}

int
task_resume(struct run *run, struct task *task, enum resume how, int signal)
{
	/* Taken first: the task may run at once, on this very processor. */
	uint64_t now = clock_ns();
	int err;

	task->stop.how = how;
	task->stop.call = call_cause(task);
	if (client_records(run))
		client_goes_on(run, task, stamp_now());
	err = run->host->resume(task->tid, how, signal);
	if (err != HOST_ERROR)
		stop_end_at(run, task, now);
	return err;
}

int
task_interrupt(struct run *run, struct task *task, enum stop_cause why)
{
	task->stop.asked = why;
	return run->host->pause(task->tid);
}

uint64_t
stops_traps(const struct run *run)
{
	uint64_t sum = 0;

	for (int i = 0; i < STOP_TRAPS; i++)
		sum += run->stops.n[i];
	return sum;
}

struct stop_sum *
stops_sums(const struct run *run, size_t *n)
{
	struct stop_sum *sums = NULL;

	*n = 0;
	for (int i = 0; i < STOP_CAUSES; i++)
		if (run->stops.n[i])
			*vec_push(sums, *n) = (struct stop_sum){
				causes[i],
				run->stops.n[i],
				run->stops.ns[i],
			};
	return sums;
}

static void
stop_void(struct run *run, struct task *task, void *ctx)
{
	task->stop.since = 0;
}

void
stops_reset(struct run *run)
{
	run->stops = (struct stops){ 0 };
	task_each(run, stop_void, NULL);
}
