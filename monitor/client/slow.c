/*
 * Watches what monitoring costs: compares the processor time that pmon and the
 * program take with what the program would take alone, and has the user told
 * when that is too much.  slow_text.c has the words.  Changes nothing of how
 * the program is counted.
 */
#include "monitor/client/slow.h"

#include <stdlib.h>
#include <time.h>

#include "util/mem.h"

enum {
	ROUNDS = 64,		/* of the run loop, from look to look at the
				   clock */
	FACTOR = 3,		/* what is said to be slow */
};

/* Processor time, seconds. */
static const double LOOK = 0.1;		/* pmon's, from look to look at the
					   program's */
static const double WINDOW = 2;		/* pmon's and the program's */

/*
 * No stop costs more.  So nothing need be measured for a program that is not
 * slow even at these costs.
 */
static const struct stop_costs most = { 30e-6, 30e-6, 100e-6 };

struct slow {
	unsigned rounds;
	bool begun;
	struct slow_use then;	/* when the window began ... */
	struct slow_use now;	/* ... and at the last look */
	bool measured, failed;	/* the costs */
	struct stop_costs costs;
	char *text;		/* the note, still to be told, or NULL */
	bool told;
};

static double
own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void
slow_open(struct run *run)
{
	if (run->host->native && run->host->native->cpu_time)
		run->slow = mem_alloc(sizeof(*run->slow));
}

void
slow_close(struct run *run)
{
	if (run->slow)
		free(run->slow->text);
	free(run->slow);
	run->slow = NULL;
}

static void
process_look(struct run *run, struct process *process)
{
	double used = run->host->native->cpu_time(process->pid);

	if (used <= process->used)
		return;
	run->slow->now.program += used - process->used;
	process->used = used;
}

void
slow_ending(struct run *run, const struct task *task)
{
	if (run->slow && task->process && task->tid == task->process->pid)
		process_look(run, task->process);
}

void
slow_reset(struct run *run)
{
	if (run->slow)
		run->slow->begun = false;
}

double
slow_factor(const struct slow_use *use, const struct stop_costs *costs)
{
	double total = use->own + use->program, stopping = 0, alone;

	for (int i = 0; i < STOP_CAUSES; i++) {
		double cost = i == STOP_STEP ? costs->step :
			      i >= STOP_CALL_MAPS && i <= STOP_CALL_RESTART ?
					       costs->call :
					       costs->trap;

		stopping += cost * (double)use->stops.n[i];
	}
	alone = use->program - stopping;
	return alone * SLOW_MOST < total ? SLOW_MOST : total / alone;
}

/* What was used since the window began. */
static struct slow_use
window_use(const struct slow *slow)
{
	struct slow_use use = slow->now;

	use.own -= slow->then.own;
	use.program -= slow->then.program;
	for (int i = 0; i < STOP_CAUSES; i++) {
		use.stops.n[i] -= slow->then.stops.n[i];
		use.stops.ns[i] -= slow->then.stops.ns[i];
	}
	return use;
}

/* The factor of the window, as far as it is known; 1 if it is not. */
static double
window_factor(struct run *run, const struct slow_use *use)
{
	struct slow *slow = run->slow;

	if (slow_factor(use, &most) <= FACTOR)
		return 1;
	if (!slow->measured)
		slow->failed = run->host->native->stop_costs(&slow->costs);
	slow->measured = true;
	return slow->failed ? 1 : slow_factor(use, &slow->costs);
}

static void
window_end(struct run *run)
{
	struct slow *slow = run->slow;
	struct slow_use use = window_use(slow);
	double factor;

	if (use.own + use.program < WINDOW)
		return;
	factor = window_factor(run, &use);
	if (factor > FACTOR) {
		slow->text = slow_text(run, factor, &use.stops);
		run_remark(run, "%s", slow->text);
	}
	slow->then = slow->now;
}

static void
look(struct run *run, double own)
{
	struct slow *slow = run->slow;

	for (struct process *p = run->processes; p; p = p->next)
		process_look(run, p);
	slow->now.own = own;
	slow->now.stops = run->stops;
	if (!slow->begun)
		slow->then = slow->now;
	slow->begun = true;
	if (!slow->text)
		window_end(run);
	if (slow->text)
		slow->told = run->tell(slow->text);
}

void
slow_look(struct run *run)
{
	struct slow *slow = run->slow;
	double own;

	if (!slow || slow->told || run->stopping || ++slow->rounds % ROUNDS)
		return;
	own = own_time();
	if (!slow->begun || own >= slow->now.own + LOOK)
		look(run, own);
}
