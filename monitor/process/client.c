/*
 * Calls the callbacks of a run's clients, for tasks whose process is counted.
 * Never decides what an event means.
 */
#include "monitor/process/client.h"

static bool
is_counted(const struct task *task)
{
	return task->process && task->process->counted;
}

/* Call the callback of each client that has one, as long as `when` holds. */
#define TELL(run, when, callback, ...) \
	for (size_t i = 0; i < (run)->nclients && (when); i++) \
		if ((run)->clients[i]->callback) \
	(run)->clients[i]->callback(__VA_ARGS__)

bool
client_others_choose(const struct run *run)
{
	for (size_t i = 1; i < run->nclients; i++)
		if (run->clients[i]->choose)
			return true;
	return false;
}

bool
client_records(const struct run *run)
{
	for (size_t i = 1; i < run->nclients; i++)
		if (run->clients[i]->recorded)
			return true;
	return false;
}

bool
client_follows(const struct run *run)
{
	for (size_t i = 1; i < run->nclients; i++)
		if (run->clients[i]->left)
			return true;
	return false;
}

void
client_choose(struct run *run, struct plan *plan, struct probe_list *list)
{
	TELL(run, true, choose, run, plan, list);
}

void
client_began(struct run *run, const struct task *task)
{
	TELL(run, is_counted(task), began, run, task);
}

void
client_ended(struct run *run, const struct task *task, enum task_end how)
{
	TELL(run, is_counted(task), ended, run, task, how);
}

void
client_forked(struct run *run, const struct task *maker,
	      const struct task *child)
{
	TELL(run, is_counted(child), forked, run, maker, child);
}

void
client_execed(struct run *run, const struct task *task)
{
	TELL(run, is_counted(task), execed, run, task);
}

void
client_stood(struct run *run)
{
	TELL(run, true, stood, run);
}

void
client_at_site(struct run *run, const struct task *task, struct plan *plan,
	       uint32_t site, enum site_event what)
{
	TELL(run, is_counted(task), at_site, run, task, plan, site, what);
}

void
client_went(struct run *run, const struct task *task, struct plan *plan,
	    uint32_t site, const struct plan *to, uint64_t addr)
{
	TELL(run, is_counted(task), went, run, task, plan, site, to, addr);
}

void
client_abnormal(struct run *run, const struct task *task, struct plan *plan,
		const struct abnormal_edge *edge)
{
	TELL(run, is_counted(task), abnormal, run, task, plan, edge);
}

void
client_leaves(struct run *run, const struct task *task)
{
	TELL(run, is_counted(task), leaves, run, task);
}

void
client_left(struct run *run, const struct task *task, uint64_t sp)
{
	TELL(run, is_counted(task), left, run, task, sp);
}

void
client_moved(struct run *run, const struct task *task, struct plan *plan,
	     uint32_t fplan, uint32_t element, uint64_t sp, bool back)
{
	TELL(run, is_counted(task), moved, run, task, plan, fplan, element, sp,
	     back);
}

void
client_drained(struct run *run, const struct task *task, struct plan *plan,
	       uint32_t first, const uint64_t *counters, size_t n)
{
	TELL(run, !task || is_counted(task), drained, run, task, plan, first,
	     counters, n);
}

void
client_host_counted(struct run *run, struct plan *plan, uint32_t site,
		    uint64_t hits, uint64_t taken)
{
	TELL(run, true, host_counted, run, plan, site, hits, taken);
}

void
client_stopped(struct run *run, const struct task *task, uint64_t stamp,
	       uint64_t full)
{
	TELL(run, is_counted(task), stopped, run, task, stamp, full);
}

void
client_goes_on(struct run *run, const struct task *task, uint64_t stamp)
{
	TELL(run, is_counted(task), goes_on, run, task, stamp);
}

void
client_recorded(struct run *run, const struct task *task,
		const struct record *records, size_t n)
{
	TELL(run, is_counted(task), recorded, run, task, records, n);
}

void
client_host_went(struct run *run, struct plan *plan,
		 const struct arrival *arrival)
{
	TELL(run, true, host_went, run, plan, arrival);
}
