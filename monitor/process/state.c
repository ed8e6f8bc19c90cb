/*
 * What every part of the monitor asks of a run: to keep a remark, the time, and
 * whether pmon is to stop.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "monitor/process/notice.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "util/mem.h"

void
run_remark(struct run *run, const char *fmt, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < run->nremarks; i++)
		if (!strcmp(run->remarks[i], buf))
			return;
	*vec_push(run->remarks, run->nremarks) = mem_strdup(buf);
}

double
run_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

bool
run_signal_shared(struct run *run, pid_t sender)
{
	return run->root && sender && task_find(run, sender) &&
	       getpgid(sender) == getpgrp();
}

bool
run_interrupted(struct run *run)
{
	pid_t sender;

	return notice_stopping(&sender) && !run_signal_shared(run, sender);
}

bool
run_maps_wanted(const struct run *run)
{
	return run->host->native && run->abi &&
	       run->opts->selection.objects.n > 0;
}

bool
run_maps_hooked(const struct run *run)
{
	return run_maps_wanted(run) && !run->opts->no_traps;
}
