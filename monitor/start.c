/*
 * Starts a run: launches the program, or attaches to processes that run
 * already.  Never handles events itself; the run loop does.
 */
#include "monitor/start.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "monitor/account.h"
#include "monitor/patch/foreseen.h"
#include "monitor/patch/host_counters.h"
#include "monitor/patch/linker.h"
#include "monitor/patch/plant.h"
#include "monitor/process/client.h"
#include "monitor/process/events.h"
#include "monitor/process/machine.h"
#include "monitor/process/restart.h"
#include "monitor/process/sigtrap.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/process/trap_mask.h"
#include "monitor/run.h"
#include "monitor/unwind/abnormal.h"
#include "symtab/image.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/program_path.h"

/* Is it a script?  Then its interpreter will be the program. */
static bool
is_script(const char *path)
{
	FILE *f = fopen(path, "re");
	bool script = f && fgetc(f) == '#' && fgetc(f) == '!';

	if (f)
		fclose(f);
	return script;
}

/* The file is neither ELF nor has it an interpreter: explain what it may be. */
static int
launch_refuse(const char *path)
{
	FILE *f = fopen(path, "re");
	char text[256];
	size_t n = f ? fread(text, 1, sizeof(text), f) : 0;

	if (f)
		fclose(f);
	if (!n || memchr(text, '\0', n))
		return -1;
	return fail("%s: no program: if it is a script without #!, name its "
		    "interpreter (pmon sh %s)",
		    path, path);
}

struct variable {
	char *text;
	size_t place;		/* where it is */
};

/* Variables of one name stay in order, as programs take the first. */
static int
by_name(const void *va, const void *vb)
{
	const struct variable *a = va, *b = vb;
	size_t na = strcspn(a->text, "="), nb = strcspn(b->text, "=");
	int order = strncmp(a->text, b->text, na < nb ? na : nb);

	if (!order && na != nb)
		return na < nb ? -1 : 1;
	return order ? order : a->place < b->place ? -1 : 1;
}

static void
environment_sort(void)
{
	struct variable *all = NULL;
	size_t n = 0;

	while (environ && environ[n]) {
		struct variable variable = { environ[n], n };

		*vec_push(all, n) = variable;
	}
	if (n)
		qsort(all, n, sizeof(*all), by_name);
	for (size_t i = 0; i < n; i++)
		environ[i] = all[i].text;
	free(all);
}

/*
 * --deterministic: have the program begin with what does not change from run to
 * run.  The variable _ is the shell's, and names pmon.  What pmon sets for
 * itself the program inherits.
 */
static int
launch_pin(const char *path)
{
	/* ~0 only asks. */
	if (personality(personality(~0U) | ADDR_NO_RANDOMIZE) < 0)
		return fail("%s: cannot be started at the same addresses: %s",
			    path, strerror(errno));
	unsetenv("_");
	environment_sort();
	return 0;
}

/* See whether the host counts, which has to know all sites before the start. */
static void
launch_counting(struct run *run)
{
	const struct host_counting *counting = run->host->counting;
	const char *why = NULL;

	run->eager = host_counters_wanted(run);
	if (run->eager || run->opts->patch != PATCH_AUTO || !counting ||
	    counting->able(&why) || !why)
		return;
	run_remark(run, "counted by breakpoints, which is slow: %s", why);
}

/* Check the options that need this machine. */
static int
machine_check(const struct options *opts, const struct machine *machine,
	      const char *path)
{
	if (machine == machine_own || (!opts->time && !opts->trace))
		return 0;
	return fail("%s: %s cannot be used with programs for the host %s: it "
		    "measures programs of this machine",
		    path, opts->trace ? "--trace" : "--time", machine->name);
}

int
run_launch(struct run *run)
{
	char **argv = run->opts->argv;
	char *path = program_path(argv[0]);
	const struct arch *arch = NULL;
	const struct machine *machine = NULL;
	struct process *process;
	pid_t tid;
	int err = 0;

	if (!path)
		return -1;
	if (access(path, X_OK))
		err = fail("%s: %s", path, strerror(errno));
	else if (!is_script(path) && !(arch = image_probe(path)))
		err = launch_refuse(path);
	else if (!(machine = machine_choose(arch ? arch : run->arch,
					    run->opts->host, run->opts->remote,
					    path)))
		err = -1;
	else
		err = machine_check(run->opts, machine, path);
	if (!err && run->opts->deterministic)
		err = launch_pin(path);
	if (!err) {
		run->host = machine->host;
		run->arch = arch ? arch : run->arch;
		run->abi = abi_find(run->arch);
		err = run->host->launch(path, argv, &tid);
	}
	free(path);
	if (err)
		return err;
	launch_counting(run);
	run->root.tid = tid;
	process = process_new(run, tid, NULL);
	run_announce(run, tid, process);
	return 0;
}

/* The interpreter that a script names, owned by the caller, or NULL. */
static char *
interpreter_find(const char *path)
{
	char line[PATH_MAX];
	FILE *f = fopen(path, "re");
	char *start = f ? fgets(line, sizeof(line), f) : NULL;

	if (f)
		fclose(f);
	if (!start || strncmp(start, "#!", 2) != 0)
		return NULL;
	start += 2;
	start += strspn(start, " \t");
	return mem_strndup(start, strcspn(start, " \t\n"));
}

void
run_launch_explain(const struct run *run, int err)
{
	const char *name = run->opts->argv[0];
	char *path = program_path(name);
	char *interpreter = path ? interpreter_find(path) : NULL;

	if (interpreter && access(interpreter, X_OK))
		fail("%s: interpreter %s: %s", name, interpreter,
		     strerror(errno));
	else
		fail("%s: %s", name, strerror(err));
	free(interpreter);
	free(path);
}

static struct process *
process_find(struct run *run, pid_t pid)
{
	struct process *process = run->processes;

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

/* The task's pause may have made its system call fail. */
static void
task_ready(struct run *run, struct task *task, void *process)
{
	const struct event *queued = run_queued(run, task);

	if (task->process == process && task->state == TASK_STOPPED)
		trap_mask_look(run, task);
	if (task->process == process && task->state == TASK_STOPPED && queued &&
	    queued->kind == EVENT_PAUSED)
		restart_ready(run, task);
}

/*
 * Does a task with this event run on by itself, to its pause?  Not one that pmon
 * must answer first: a trap, or a group stop.
 */
static bool
event_passes(const struct event *event)
{
	switch (event->kind) {
	case EVENT_SIGNAL:
	case EVENT_FORK:
	case EVENT_VFORK_DONE:
	case EVENT_EXEC:
		return true;
	default:
		return false;
	}
}

/*
 * A task that stopped for something else than its pause cannot be made to map
 * memory.  Nothing is planted yet, so take the task on to its pause, before it
 * runs anything: with its signal, to the first instruction of the handler.
 */
static void
stop_pass(struct run *run, struct task *task, void *process)
{
	const struct event *queued = run_queued(run, task);
	struct event event;
	int signal;

	if (task->process != process || task->state != TASK_STOPPED ||
	    !queued || !event_passes(queued))
		return;
	signal = queued->kind == EVENT_SIGNAL ? queued->value : 0;
	run_unqueue(run, task->tid);
	task->paused = true;
	if (task_interrupt(run, task, STOP_ATTACH) ||
	    task_resume(run, task, RESUME_RUN, signal))
		return;
	run_wait_task(run, task, &event);
	run_requeue(run, &event);
}

/*
 * The process may be stopped in the middle of anything.  A fork, an exec or its
 * end must be entered into the tables first; its memory is opened last, when
 * all its tasks stand still.
 */
static int
process_attach(struct run *run, pid_t pid)
{
	struct process *process;
	struct task *task;
	pid_t *tids = NULL;
	size_t n = 0;
	int err;

	if (!run->standing)
		run->standing = clock_seconds();
	err = run->host->native->attach(pid, &tids, &n);
	/* After a failure the tasks traced so far are still to be let go. */
	process = n ? process_new(run, pid, space_new(-1)) : NULL;
	for (size_t i = 0; i < n; i++)
		run_announce(run, tids[i], process);
	free(tids);
	if (err)
		return -1;
	/* The tasks' stops stay in the queue, for the run loop. */
	run_pause_all(run, STOP_ATTACH);
	task_each(run, stop_pass, process_find(run, pid));
	run_pause_all(run, STOP_ATTACH);
	process = process_find(run, pid);
	task_each(run, task_ready, process);
	task = process ? run_stopped_task(run, process->space) : NULL;
	if (!task)
		return fail("process %d: has ended", (int)pid);
	if (process->space->mem < 0)
		process->space->mem = run->host->mem_open(task->tid);
	sigtrap_ask(run, task);
	process_plant_begun(run, task);
	if (space_hooked(process->space))
		linker_look(run, task);
	abnormal_attach(run, process);
	return 0;
}

/*
 * Tasks go into relocated functions only after all processes are attached to:
 * until then, one process may give up relocated functions that another shares.
 */
int
run_attach(struct run *run, const pid_t *pids, size_t n)
{
	struct process *process;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = process_attach(run, pids[i]);
	foreseen_end(run);
	if (err)
		return -1;
	for (size_t i = 0; i < n; i++) {
		process = process_find(run, pids[i]);
		if (process)
			abnormal_begin(run, process);
	}
	client_stood(run);
	return 0;
}
