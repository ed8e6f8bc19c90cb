/*
 * Counting: adds every hit, arrival, abnormal edge and drained counter to the
 * counter set of the task's process or thread (--separate), or to the one of
 * all tasks.  Knows nothing of traps, relocated code and stacks.
 */
#include "monitor/client/count.h"

#include "monitor/process/owners.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_pages.h"
#include "util/mem.h"

static struct counter_set *
task_set(struct run *run, const struct task *task, struct plan *plan)
{
	return plan_counter_set(plan, task ? run_counter_set(run, task) : 0);
}

static void
count_choose(struct run *run, struct plan *plan, struct probe_list *list)
{
	probes_count(list, list->fplan->placement);
}

static void
count_at_site(struct run *run, const struct task *task, struct plan *plan,
	      uint32_t site, enum site_event what)
{
	struct counter *counter = counter_set_site(task_set(run, task, plan),
						   site, plan->nsites);

	switch (what) {
	case SITE_BEGUN:
		counter->hits++;
		break;
	case SITE_UNDONE:
		counter->hits--;
		break;
	case SITE_TAKEN:
		counter->taken++;
		break;
	}
}

static void
count_went(struct run *run, const struct task *task, struct plan *plan,
	   uint32_t site, const struct plan *to, uint64_t addr)
{
	counter_set_arrival(task_set(run, task, plan), site, to, addr, true)
		->n++;
}

static void
count_abnormal(struct run *run, const struct task *task, struct plan *plan,
	       const struct abnormal_edge *edge)
{
	struct abnormal_edge *sum = counter_set_abnormal(
		task_set(run, task, plan), edge->addr, edge->during);

	sum->left += edge->left;
	sum->came += edge->came;
}

static void
count_drained(struct run *run, const struct task *task, struct plan *plan,
	      uint32_t first, const uint64_t *counters, size_t n)
{
	struct counter_set *counter_set = task_set(run, task, plan);

	counter_set_slots(counter_set, first, counters, n);
	plan_switched(plan, counter_set);
}

static void
count_host_counted(struct run *run, struct plan *plan, uint32_t site,
		   uint64_t hits, uint64_t taken)
{
	struct counter *counter = counter_set_site(task_set(run, NULL, plan),
						   site, plan->nsites);

	counter->hits += hits;
	counter->taken += taken;
}

static void
count_host_went(struct run *run, struct plan *plan,
		const struct arrival *arrival)
{
	counter_set_arrival(task_set(run, NULL, plan), arrival->site,
			    arrival->plan, arrival->addr, true)
		->n += arrival->n;
}

static void
count_peeked(void *ctx, const uint64_t *counters, size_t n)
{
	counter_set_slots(ctx, 0, counters, n);
}

struct counter_set *
count_peek(struct run *run, const struct plan *plan)
{
	struct counter_set *sum = mem_alloc(sizeof(*sum));

	for (size_t i = 0; i < plan->ncounter_sets; i++)
		counter_set_add(sum, plan->counter_sets[i], plan->nsites);
	thread_pages_peek(run, plan, count_peeked, sum);
	plan_switched(plan, sum);
	return sum;
}

const struct client client_count = {
	.name = "count",
	.choose = count_choose,
	.at_site = count_at_site,
	.went = count_went,
	.abnormal = count_abnormal,
	.drained = count_drained,
	.host_counted = count_host_counted,
	.host_went = count_host_went,
};
