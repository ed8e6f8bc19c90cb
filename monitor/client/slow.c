/*
 * Watches what monitoring costs: compares the processor time that pmon and the
 * program take with what the program would take alone, and has the user told
 * when that is too much.  slow_text.c has the words, and drop.c drops counters.
 */
#include "monitor/client/drop.h"

#include <stdlib.h>
#include <time.h>

#include "util/mem.h"

enum {
	ROUNDS = 64,		/* of the run loop, from look to look at the
				   clock */
	FACTOR = 3,		/* what is said to be slow */
	STOPS_MANY = 1000,
};

/* Processor time, seconds. */
static const double LOOK = 0.1;		/* pmon's, from look to look at the
					   program's */
static const double WINDOW = 2;		/* pmon's and the program's */
static const double DROP_WINDOW = 1;	/* the same */

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
	bool noted;		/* that the program is slow */
	char *text;		/* a note still to be told, or NULL */
	struct drop *drop;	/* NULL: nothing is dropped */
	struct slow_use drop_then;	/* when its window began */
	bool dropped;		/* noted, too */
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
	if (run->slow && drop_allowed(run))
		run->slow->drop = drop_open();
}

void
slow_close(struct run *run)
{
	if (!run->slow)
		return;
	free(run->slow->text);
	drop_close(run->slow->drop);
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
stop_cost(const struct stop_costs *costs, int cause)
{
	return cause == STOP_STEP ? costs->step :
	       cause >= STOP_CALL_MAPS && cause <= STOP_CALL_RESTART ?
				    costs->call :
				    costs->trap;
}

double
slow_alone(const struct slow_use *use, const struct stop_costs *costs)
{
	double alone = use->program;

	for (int i = 0; i < STOP_CAUSES; i++)
		alone -= stop_cost(costs, i) * (double)use->stops.n[i];
	return alone > 0 ? alone : 0;
}

double
slow_factor(const struct slow_use *use, const struct stop_costs *costs)
{
	double total = use->own + use->program, alone = slow_alone(use, costs);

	return alone * SLOW_MOST < total ? SLOW_MOST : total / alone;
}

/* What was used since then. */
static struct slow_use
use_since(const struct slow *slow, const struct slow_use *then)
{
	struct slow_use use = slow->now;

	use.own -= then->own;
	use.program -= then->program;
	for (int i = 0; i < STOP_CAUSES; i++) {
		use.stops.n[i] -= then->stops.n[i];
		use.stops.ns[i] -= then->stops.ns[i];
	}
	return use;
}

/* The factor, as far as it is known and above the bound; else 1. */
static double
factor_above(struct run *run, const struct slow_use *use, double bound)
{
	struct slow *slow = run->slow;
	double factor;

	if (slow_factor(use, &most) <= bound)
		return 1;
	if (!slow->measured)
		slow->failed = run->host->native->stop_costs(&slow->costs);
	slow->measured = true;
	factor = slow->failed ? 1 : slow_factor(use, &slow->costs);
	return factor > bound ? factor : 1;
}

static void
window_end(struct run *run)
{
	struct slow *slow = run->slow;
	struct slow_use use = use_since(slow, &slow->then);
	double factor;

	if (use.own + use.program < WINDOW)
		return;
	factor = factor_above(run, &use, FACTOR);
	if (factor > 1) {
		slow->noted = true;
		slow->text = slow_text(run, factor, &use.stops);
		run_remark(run, "%s", slow->text);
	}
	slow->then = slow->now;
}

static uint64_t
stops_of(const struct stops *stops)
{
	uint64_t sum = 0;

	for (int i = 0; i < STOP_CAUSES; i++)
		sum += stops->n[i];
	return sum;
}

static void
drop_end(struct run *run)
{
	struct slow *slow = run->slow;
	struct slow_use use = use_since(slow, &slow->drop_then);
	char *text = NULL;

	if (use.own + use.program < DROP_WINDOW)
		return;
	if (factor_above(run, &use, drop_bound(run)) > 1)
		text = drop_costly(run, slow->drop, &use, &slow->costs);
	if (text && !slow->dropped) {
		slow->dropped = true;
		run_remark(run, "%s", text);
		/* What is slow from now on has other causes. */
		slow->then = slow->now;
		if (!slow->text) {
			slow->text = text;
			text = NULL;
		}
	}
	free(text);
	/* The hits of few stops matter less than the time to look at them. */
	if (stops_of(&use.stops) >= STOPS_MANY)
		drop_begin(run, slow->drop);
	slow->drop_then = slow->now;
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
		slow->then = slow->drop_then = slow->now;
	slow->begun = true;
	if (slow->drop)
		drop_end(run);
	if (!slow->noted && !slow->text)
		window_end(run);
	if (slow->text && run->tell(slow->text)) {
		free(slow->text);
		slow->text = NULL;
	}
}

void
slow_look(struct run *run)
{
	struct slow *slow = run->slow;
	double own;

	if (!slow || run->stopping || ++slow->rounds % ROUNDS)
		return;
	if (slow->noted && !slow->text && !slow->drop)
		return;
	own = own_time();
	if (!slow->begun || own >= slow->now.own + LOOK)
		look(run, own);
}
