/*
 * Makes and frees a run, and is its loop: takes events from the queue or from
 * the host (events.c), hands each to the part of the monitor that the event is
 * for, and acts on notices and on signals to pmon itself.  Never prints
 * anything: a report on SIGUSR1 goes through run->report.
 */
#include "monitor/run.h"

#include <signal.h>
#include <stdlib.h>

#include "monitor/account.h"
#include "monitor/client/autosave.h"
#include "monitor/client/count.h"
#include "monitor/client/save.h"
#include "monitor/client/slow.h"
#include "monitor/client/times.h"
#include "monitor/client/tracing.h"
#include "monitor/control.h"
#include "monitor/deliver.h"
#include "monitor/patch/extend.h"
#include "monitor/patch/extensions.h"
#include "monitor/patch/foreseen.h"
#include "monitor/patch/host_counters.h"
#include "monitor/patch/maps.h"
#include "monitor/patch/plant.h"
#include "monitor/patch/refuse.h"
#include "monitor/patch/tamper.h"
#include "monitor/process/affinity.h"
#include "monitor/process/cache.h"
#include "monitor/process/clones.h"
#include "monitor/process/events.h"
#include "monitor/process/machine.h"
#include "monitor/process/notice.h"
#include "monitor/process/object.h"
#include "monitor/process/owners.h"
#include "monitor/process/restart.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_pages.h"
#include "monitor/process/trap_mask.h"
#include "monitor/stop.h"
#include "monitor/trap.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/unwind/shallow.h"
#include "monitor/unwind/sigreturn.h"
#include "util/clock.h"

/* ---- a run's beginning and end */

static const struct event_keeper keeper = {
	.receive = event_receive,
	.enter = run_account,
};

void
run_init(struct run *run, const struct options *opts)
{
	*run = (struct run){
		.opts = opts,
		.host = machine_own->host,
		.arch = machine_own->arch,
		.abi = abi_find(machine_own->arch),
		.clients = { &client_count },
		.nclients = 1,
		.keeper = &keeper,
		.cache = cache_open(),
	};
	if (opts->time || opts->trace || opts->per.funcs.n) {
		run->clients[run->nclients++] = opts->per.funcs.n ?
							&client_events :
							&client_times;
		times_open(run);
	}
}

void
run_free(struct run *run)
{
	tasks_free(run);
	task_table_free(run);
	host_counters_close(run);
	extensions_free(run);
	account_close(run);
	slow_close(run);
	tracing_close(run);
	times_close(run);
	owners_free(run);
	earlier_free(run);
	objects_free(run);
	cache_close(run->cache);
	remarks_free(run);
	queue_free(run);
	foreseen_end(run);
	free(run->program);
	recording_free(run);
}

/* ---- events */

/*
 * Plant the task's program.  On other hosts it may have begun already, and has
 * not been attached to.
 */
static void
program_plant(struct run *run, struct task *task)
{
	process_plant(run, task);
	if (!run->host->native)
		abnormal_attach(run, task->process);
}

/*
 * Release a child that is not to be followed, as soon as it has memory of its
 * own; whether it was.
 */
static bool
unfollowed(struct run *run, struct task *task, const struct event *event)
{
	struct space *space = task->process->space;

	if (task->process->counted || space->refs > 1 || space->stuck)
		return false;
	return !space_leave(run, task, event);
}

static void
on_clone(struct run *run, struct task *task, const struct event *event)
{
	if (run->host->native) {
		run_resume(run, task, 0);
		return;
	}
	/*
	 * The host cannot stop the new thread: counting ends, and shallow_event
	 * has said why.
	 */
	run_requeue(run, event);
	run_stop(run, 0);
}

static void
on_exec(struct run *run, struct task *task, const struct event *event)
{
	struct event done;

	if (unfollowed(run, task, event))
		return;
	if (!run->host->native) {
		program_plant(run, task);
		run_resume(run, task, 0);
		return;
	}
	/*
	 * The exec has still to return, and the kernel will set a register
	 * then: it is too early to inject a system call.
	 */
	if (task_resume(run, task, RESUME_SYSCALL, 0))
		return;
	run_wait_task(run, task, &done);
	if (done.kind != EVENT_SYSCALL_EXIT) {
		run_requeue(run, &done);
		return;
	}
	program_plant(run, task);
	/* If pmon is to stop, the task must not run on. */
	if (run_interrupted(run))
		run_requeue(run, &done);
	else
		run_resume(run, task, 0);
}

static void
on_syscall(struct run *run, struct task *task, bool entry)
{
	affinity_syscall(run, task, entry);
	trap_syscall(run, task, entry);
	if (entry)
		sigreturn_syscall(run, task);
	if (!entry)
		clones_syscall(run, task);
	if (!entry && task->restart)
		restart_exit(run, task);
	else if (!entry && task->paused)
		restart_call(run, task, true);
	if (!entry)
		maps_syscall(run, task);
	run_resume(run, task, 0);
}

static void
on_pause(struct run *run, struct task *task, const struct event *event)
{
	if (task->born) {
		clones_birth(run, task);
		trap_mask_look(run, task);
	}
	if (unfollowed(run, task, event))
		return;
	if (task->process->space && !task->process->planted)
		program_plant(run, task);
	if (task->born) {
		if (thread_pages_task(run, task))
			relocated_refuse_space(run, task->process->space);
		abnormal_birth(run, task);
	}
	restart_call(run, task, true);
	run_resume(run, task, 0);
}

static void
run_suspend(struct run *run)
{
	run->suspending = false;
	run_pause(run, NULL, NULL, STOP_SUSPEND);
	notice_suspended();
}

/*
 * The task waits for the end of the group stop.  The kernel stops it again then,
 * before it runs on: on_pause does what is left to do, as at a birth.  A task
 * that has run for pmon since it stopped is on its way to another group stop.
 */
static void
on_group_stop(struct run *run, struct task *task, const struct event *event)
{
	restart_stopped(run, task);
	if (!task->group_stopped) {
		run_resume(run, task, 0);
		return;
	}
	task->state = TASK_RUNNING;
	if (task_resume(run, task, RESUME_LISTEN, 0) == HOST_ERROR) {
		task->state = TASK_STOPPED;
		on_pause(run, task, event);
		return;
	}
	if (run->suspending && task->process->pid == run->root.tid)
		run_suspend(run);
}

/*
 * Is the event void, as its task is no longer stopped for it?  The end of the
 * process, or another thread's exec, may kill the task while its event waits in
 * the queue.  After an exec the id may be the other thread's, which must not be
 * mistaken for the task.
 */
static bool
event_stale(struct run *run, const struct task *task, const struct event *event)
{
	return task->process && task->process->ntasks > 1 &&
	       (event->kind == EVENT_TRAP || event->kind == EVENT_SIGNAL ||
		event->kind == EVENT_PAUSED) &&
	       task_changed(run, task);
}

static void
event_handle(struct run *run, const struct event *event)
{
	struct task *task = task_find(run, event->tid);

	if (!task)
		return;
	if (event_stale(run, task, event)) {
		task->state = TASK_RUNNING;
		return;
	}
	if (task->process)
		shallow_event(run, task, event);
	if (!event->accounted)
		run_account(run, task, event);
	if (event->kind == EVENT_EXITED || event->kind == EVENT_KILLED ||
	    task->exiting)
		return;
	if (run->stopping && !task_stuck(task)) {
		task_release(run, task, event);
		return;
	}
	if (run->host->native && tamper_event(run, task, event))
		return;
	switch (event->kind) {
	case EVENT_CLONE:
		on_clone(run, task, event);
		break;
	case EVENT_TRAP:
		trap_handle(run, task, event->value ? event->value : SIGTRAP);
		break;
	case EVENT_SIGNAL:
		trap_mask_look(run, task);
		if (event->value == SIGILL && trap_spring(run, task, SIGILL))
			break;
		restart_signal(run, task, event->value);
		task_deliver(run, task, event->value);
		break;
	case EVENT_STOPPED:
		on_group_stop(run, task, event);
		break;
	case EVENT_EXEC:
		on_exec(run, task, event);
		break;
	case EVENT_SYSCALL_ENTRY:
	case EVENT_SYSCALL_EXIT:
		on_syscall(run, task, event->kind == EVENT_SYSCALL_ENTRY);
		break;
	case EVENT_PAUSED:
		if (event->delayed)
			run_resume(run, task, 0);
		else
			on_pause(run, task, event);
		break;
	default:
		run_resume(run, task, 0);
	}
}

static void
listening_look(struct run *run, struct task *task, void *listening)
{
	if (task->process && task->process->pid == run->root.tid &&
	    task->state == TASK_RUNNING && task->stop.how == RESUME_LISTEN &&
	    !run_queued(run, task))
		*(bool *)listening = true;
}

/*
 * Does the program wait for the end of a group stop (on_group_stop), of which no
 * event is left to handle?
 */
static bool
root_listens(struct run *run)
{
	bool listening = false;

	task_each(run, listening_look, &listening);
	return listening;
}

/*
 * ^Z: the program gets it, too, and need not stop on it.  So pmon waits until
 * the program stops (on_group_stop), unless that was seen before pmon's own
 * signal, and then stops itself.  Without a launched program pmon ignores ^Z: an
 * attached process must not stand still because pmon does.
 */
static void
suspend_handle(struct run *run)
{
	pid_t sender;
	enum suspension suspend = notice_suspend(&sender);

	if (suspend == SUSPEND_NONE || !run->root.tid || run->root.ended)
		return;
	if (root_listens(run)) {
		run_suspend(run);
		return;
	}
	run->suspending = true;
	if (suspend == SUSPEND_SENT && !run_signal_shared(run, sender))
		run->host->kill(run->root.tid, SIGTSTP);
}

/* Act on the notices that came meanwhile. */
static void
notices_handle(struct run *run)
{
	pid_t sender;
	int signal = notice_stop(&sender);

	if (run_signal_shared(run, sender))
		signal = 0;
	if (notice_tick()) {
		affinity_tick(run);
		autosave_tick(run);
		tracing_look(run);
		if (!signal && run->deadline && !run->stopping &&
		    clock_seconds() >= run->deadline)
			signal = SIGTERM;
	}
	if (signal && run->stopping && run->root.tid)
		run->host->kill(run->root.tid, SIGKILL);
	else if (signal && run->stopping)
		run_stop_stuck(run);
	else if (signal)
		run_stop(run, signal);
	if (notice_report())
		run->report(run);
	if (notice_asked())
		control_serve(run);
	suspend_handle(run);
}

void
run_standing_end(struct run *run)
{
	double *longest = run->stopping ? &run->stall.detach :
					  &run->stall.attach;
	double now = clock_seconds();

	if (run->standing && now - run->standing > *longest)
		*longest = now - run->standing;
	run->standing = 0;
}

void
run_goes_on(struct run *run)
{
	run_standing_end(run);
	if (!run->stopping)
		thread_pages_guard_late(run);
	foreseen_end(run);
}

void
run_loop(struct run *run)
{
	struct event event;

	for (;;) {
		notices_handle(run);
		slow_look(run);
		if (queue_take(run, &event)) {
			event_handle(run, &event);
			continue;
		}
		if (run->standing > 0)
			run_goes_on(run);
		if (host_event(run, &event))
			event_handle(run, &event);
		else if (event.kind == EVENT_DONE)
			return;
	}
}
