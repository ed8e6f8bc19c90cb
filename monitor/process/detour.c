/*
 * Runs stopped tasks for pmon's sake, past whatever else may stop them
 * meanwhile.  Never decides where a detour ends: its callers do.
 */
#include "monitor/process/detour.h"

#include <signal.h>

#include "monitor/process/events.h"
#include "monitor/process/sigtrap.h"

static int
detour_resume(struct run *run, struct task *task, enum resume how,
	      struct detour *detour, struct event *event)
{
	/* A task that stands in a group stop leaves it. */
	detour->stopped |= task->group_stopped;
	if (task_resume(run, task, how, detour->signal))
		return HOST_GONE;
	run_wait_task(run, task, event);
	if (task->state == TASK_DEAD || event->kind == EVENT_EXEC) {
		run_requeue(run, event);
		return event->kind == EVENT_EXEC ? DETOUR_TAKEN : HOST_GONE;
	}
	detour->signal = event->kind == EVENT_SIGNAL &&
					 event->value == SIGSTOP ?
				 SIGSTOP :
				 0;
	detour->stopped |= event->kind == EVENT_STOPPED;
	return HOST_OK;
}

/*
 * How well the signal serves; 0: not at all.  Best is one that the program cannot
 * miss if it becomes one with a signal of the same number that others send
 * meanwhile: one that it neither handles nor waits for, which takes blocking it.
 */
static int
signal_serves(const struct signal_state *state, int signal)
{
	/* Ignored by default. */
	bool harmless = signal == SIGURG || signal == SIGWINCH ||
			signal == SIGCHLD;
	uint64_t bit = UINT64_C(1) << (signal - 1);

	if (state->pending & bit)
		return 0;
	if (state->caught & bit)
		return harmless ? 1 : 0;
	if (!harmless && !(state->ignored & bit))
		return 0;
	return state->blocked & bit ? 2 : 3;
}

int
detour_spare(struct run *run, const struct task *task)
{
	/* Faults and job control are the kernel's. */
	static const int signals[] = {
		SIGURG,	 SIGWINCH, SIGCHLD, SIGPWR,  SIGIO,	SIGPROF,
		SIGUSR2, SIGUSR1,  SIGPIPE, SIGALRM, SIGVTALRM, SIGHUP,
	};
	struct signal_state state;
	int spare = 0, best = 0;

	if (run->host->signals(task->tid, &state))
		state = (struct signal_state){ 0 };
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		int serves = signal_serves(&state, signals[i]);

		if (serves > best) {
			best = serves;
			spare = signals[i];
		}
	}
	/* Then pmon must not be killed just now. */
	for (int signal = SIGPWR; !spare && signal > SIGURG; signal--)
		if (!(state.pending >> (signal - 1) & 1))
			spare = signal;
	return spare ? spare : SIGPWR;
}

int
detour_meet(struct run *run, struct task *task, struct detour *detour,
	    int signal, uint64_t spot)
{
	struct event event;
	uint64_t pc;
	int err;

	if (run->host->native->send(task->tid, signal))
		return HOST_GONE;
	do {
		err = detour_resume(run, task, RESUME_RUN, detour, &event);
		if (err)
			return err;
		if (event.kind == EVENT_SIGNAL && event.value == signal)
			return HOST_OK;
	} while (!spot || event.kind != EVENT_SIGNAL || detour->signal ||
		 run->host->reg_get(task->tid, run->arch->reg_pc, &pc) ||
		 pc != spot);
	return HOST_ERROR;
}

int
detour_halt(struct run *run, struct task *task, struct detour *detour)
{
	int spare = detour_spare(run, task);

	if (run->host->mask_set(task->tid, ~(UINT64_C(1) << (spare - 1)), NULL))
		return HOST_GONE;
	return detour_meet(run, task, detour, spare, 0);
}

/*
 * The task is stopped for a SIGTRAP that was sent to it.  Have that wait until
 * the detour has ended: the kernel makes a signal pending again, with all that
 * it tells, when the task is given it and blocks it.
 */
static int
trap_defer(struct run *run, struct task *task, struct detour *detour)
{
	int err;

	detour->signal = SIGTRAP;
	detour->blocked = true;
	err = detour_halt(run, task, detour);
	if (!err)
		stop_is(run, task, STOP_SIGTRAP);
	return err;
}

int
detour_defer(struct run *run, struct task *task)
{
	struct detour detour = { 0 };
	int err = trap_defer(run, task, &detour);

	if (!err && detour.stopped)
		task_interrupt(run, task, STOP_GROUP);
	return err;
}

int
detour_go(struct run *run, struct task *task, enum resume how,
	  struct detour *detour, struct event *event)
{
	bool blocked = detour->blocked;
	int err;

	/* The task's own trap has unblocked SIGTRAP. */
	if (blocked && run->host->mask_set(task->tid, ~UINT64_C(0), NULL))
		return HOST_GONE;
	err = detour_resume(run, task, how, detour, event);
	if (err || event->kind != EVENT_TRAP || !run->host->native ||
	    run->host->trap_cause(task->tid) != TRAP_SENT)
		return err;
	/* One that waited is told of in place of the task's own trap. */
	if (!blocked)
		event->kind = EVENT_PAUSED;
	return trap_defer(run, task, detour);
}

int
detour_end(struct run *run, struct task *task, struct detour *detour)
{
	int err = sigtrap_stepped(run, task);

	if (detour->stopped)
		task_interrupt(run, task, STOP_GROUP);
	return err;
}
