/*
 * Calls the callbacks of a run's clients, for tasks whose process is counted.
 * Never decides what an event means.
 */
#include "monitor/client/client.h"

static bool
is_counted(const struct task *task)
{
	return task->process && task->process->counted;
}

void
client_began(struct run *run, const struct task *task)
{
	for (size_t i = 0; i < run->nclients && is_counted(task); i++)
		if (run->clients[i]->began)
			run->clients[i]->began(run, task);
}

void
client_ended(struct run *run, const struct task *task, enum task_end how)
{
	for (size_t i = 0; i < run->nclients && is_counted(task); i++)
		if (run->clients[i]->ended)
			run->clients[i]->ended(run, task, how);
}

void
client_execed(struct run *run, const struct task *task)
{
	for (size_t i = 0; i < run->nclients && is_counted(task); i++)
		if (run->clients[i]->execed)
			run->clients[i]->execed(run, task);
}

void
client_at_site(struct run *run, const struct task *task, struct plan *plan,
	       uint32_t site, enum site_event what)
{
	for (size_t i = 0; i < run->nclients && is_counted(task); i++)
		if (run->clients[i]->at_site)
			run->clients[i]->at_site(run, task, plan, site, what);
}

void
client_went(struct run *run, const struct task *task, struct plan *plan,
	    uint32_t site, const struct plan *to, uint64_t addr)
{
	for (size_t i = 0; i < run->nclients && is_counted(task); i++)
		if (run->clients[i]->went)
			run->clients[i]->went(run, task, plan, site, to, addr);
}

void
client_abnormal(struct run *run, const struct task *task, struct plan *plan,
		const struct abnormal_edge *edge)
{
	for (size_t i = 0; i < run->nclients && is_counted(task); i++)
		if (run->clients[i]->abnormal)
			run->clients[i]->abnormal(run, task, plan, edge);
}

void
client_drained(struct run *run, const struct task *task, struct plan *plan,
	       uint32_t first, const uint64_t *counters, size_t n)
{
	for (size_t i = 0; i < run->nclients && (!task || is_counted(task));
	     i++)
		if (run->clients[i]->drained)
			run->clients[i]->drained(run, task, plan, first,
						 counters, n);
}
