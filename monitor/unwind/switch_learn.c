/*
 * Decides which stack switches are counted in the program from now on: those
 * that have happened before in the same way, in text that stays mapped.  Plants
 * nothing.
 */
#include "monitor/unwind/switch_learn.h"

#include "monitor/unwind/switch_pattern.h"
#include "util/mem.h"

/* A program that switches in ever new ways is followed by traps for good. */
enum { STOPS_MAX = 4000, STOPS_MORE = 400 };

void
switches_begin(struct run *run, struct task *task)
{
	struct space *space = task->process->space;
	struct mapping *maps;
	size_t n;

	if (!run->arch->switch_make || space->nlasting ||
	    run->host->maps(task->tid, &maps, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (maps[i].exec && !maps[i].write && maps[i].path[0] == '/')
			*vec_push(space->lasting,
				  space->nlasting) = (struct range){
				maps[i].lo,
				maps[i].hi,
			};
	mappings_free(maps, n);
}

/*
 * Whether the same pattern was seen among the last ones, but is not planted: by
 * then other threads may have come to the trap.  Keeps it.
 */
static bool
pattern_new(struct switch_site *sw, const struct switch_pattern *pattern)
{
	uint64_t hash = pattern_hash(pattern);

	for (size_t i = 0; i < sw->n; i++)
		if (pattern_hash(&sw->patterns[i]) == hash)
			return false;
	for (unsigned i = 0; i < SWITCHES_SEEN; i++)
		if (sw->seen[i] == hash)
			return true;
	sw->seen[sw->stops % SWITCHES_SEEN] = hash;
	return false;
}

bool
switch_due(const struct task *task, const struct switch_at *at,
	   struct switch_site *sw, struct switch_pattern *pattern)
{
	const struct space *space = task->process->space;

	if (sw->n == SWITCH_PATTERNS ||
	    sw->stops > STOPS_MAX + STOPS_MORE * sw->n || task->nfaults)
		return false;
	sw->stops++;
	return stack_switch_pattern(space->stack, task->tid, at, pattern) &&
	       pattern_within(pattern, space->lasting, space->nlasting) &&
	       pattern_new(sw, pattern);
}
