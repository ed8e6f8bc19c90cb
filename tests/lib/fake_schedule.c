/*
 * The schedule of a run on the fake host: what happens next.  Owns the run's
 * tables from fake_begin to fake_end.
 */
#include "tests/lib/fake_kernel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/fail.h"

enum {
	IDLE_MAX = 20,		/* waits in a row in which nothing happens */
	TID_FIRST = 1 << 23,	/* no task of this machine has such an id */
	IDS_MAX = 16,
	NEXTS_MAX = 128,	/* tasks of a run */
};

struct fake fake;

void
fake_wrong(pid_t tid, const char *what)
{
	if (fake.result.wrong)
		return;
	fake.result.wrong = what;
	fake.result.wrong_tid = tid;
}

/* ---- the schedule */

unsigned
fake_choose(unsigned n)
{
	size_t i = fake.nchoices;
	unsigned choice = 0;

	if (n < 2 || i == FAKE_CHOICES)
		return 0;
	if (i < fake.schedule->nchoices)
		choice = fake.schedule->choices[i];
	if (choice >= n)
		choice = 0;
	fake.choices[i] = (uint8_t)choice;
	fake.widths[i] = (uint8_t)n;
	fake.nchoices++;
	return choice;
}

bool
fake_next(struct fake_schedule *schedule, unsigned deviations)
{
	unsigned before = 0;

	for (size_t i = 0; i < fake.nchoices; i++)
		before += fake.choices[i] != 0;
	for (size_t i = fake.nchoices; i-- > 0;) {
		before -= fake.choices[i] != 0;
		if (before >= deviations ||
		    fake.choices[i] + 1 >= fake.widths[i])
			continue;
		memcpy(schedule->choices, fake.choices, i);
		schedule->choices[i] = (uint8_t)(fake.choices[i] + 1);
		schedule->nchoices = i + 1;
		return true;
	}
	schedule->nchoices = 0;
	return false;
}

void
fake_print(const struct fake_schedule *schedule)
{
	printf("deed=%d@%lu", schedule->deed,
	       (unsigned long)schedule->at_request);
	for (size_t i = 0; i < schedule->ndeeds; i++)
		printf(" deed=%d", schedule->deeds[i]);
	for (size_t i = 0; i < schedule->nchoices; i++)
		if (schedule->choices[i])
			printf(" %zu=%u", i, schedule->choices[i]);
	printf("\n");
}

void
fake_parse(struct fake_schedule *schedule, const char *text)
{
	unsigned long at;
	unsigned i, what;

	*schedule = (struct fake_schedule){ .nchoices = FAKE_CHOICES };
	for (; text; text = strchr(text, ' ')) {
		text += strspn(text, " ");
		if (sscanf(text, "deed=%u@%lu", &what, &at) == 2) {
			schedule->deed = what;
			schedule->at_request = at;
		} else if (sscanf(text, "deed=%u", &what) == 1) {
			must(schedule->ndeeds < FAKE_DEEDS);
			schedule->deeds[schedule->ndeeds++] = what;
		} else if (sscanf(text, "%u=%u", &i, &what) == 2) {
			must(i < FAKE_CHOICES);
			schedule->choices[i] = (uint8_t)what;
		}
	}
}

/* ---- events */

bool
fake_end_ready(const struct fake_task *task)
{
	const struct fake_process *process = task->process;

	return task->state == FAKE_ENDED &&
	       (task->tid != process->pid || process->ntasks == 1) &&
	       (task->traced || task->tid == fake.root);
}

static bool
may_be_next(const struct fake_task *task)
{
	if (fake_end_ready(task))
		return true;
	if (!task->traced || task->state == FAKE_ENDED)
		return false;
	if (task->state == FAKE_STOPPED || task->state == FAKE_LAST)
		return !task->reported;
	return fake_ready(task);
}

/* Report the task's stop or end. */
static void
task_report(struct fake_task *task, struct event *event)
{
	const struct fake_process *process = task->process;
	int status = process->status;

	task->reported = true;
	task->turn = ++fake.turn;
	*event = task->event;
	if (task->state == FAKE_ENDED) {
		*event = (struct event){
			.kind = status < 0 ? EVENT_KILLED : EVENT_EXITED,
			.tid = task->tid,
			.value = abs(status),
		};
		task->state = FAKE_GONE;
		task->process->ntasks--;
	}
	if (fake.log)
		printf("# event %d of %d: %d, pc %lx\n", event->kind,
		       (int)task->tid, event->value,
		       (unsigned long)task->regs.r[X86_RIP]);
}

/* Tasks that pmon has let go go on when no others do. */
static bool
free_advance(void)
{
	for (size_t i = 0; i < fake.ntasks; i++) {
		struct fake_task *task = fake.tasks[i];

		if (task->traced || task->state == FAKE_GONE)
			continue;
		if (task->state == FAKE_ENDED && !fake_end_ready(task) &&
		    (task->tid != task->process->pid ||
		     task->process->ntasks == 1)) {
			task->state = FAKE_GONE;
			task->process->ntasks--;
			return true;
		}
		if (task->state != FAKE_ENDED && fake_ready(task)) {
			fake_advance(task);
			return true;
		}
	}
	return false;
}

/* What may happen next: the longest idle task first. */
static size_t
nexts_find(struct fake_task **nexts)
{
	size_t n = 0, k;

	for (size_t i = 0; i < fake.ntasks; i++) {
		struct fake_task *task = fake.tasks[i];

		if (!may_be_next(task))
			continue;
		for (k = n++; k && nexts[k - 1]->turn > task->turn; k--)
			nexts[k] = nexts[k - 1];
		nexts[k] = task;
	}
	return n;
}

static size_t
deeds_find(size_t *deeds)
{
	size_t n = 0;

	for (size_t i = 0; i < fake.schedule->ndeeds; i++)
		if (!fake.result.done[i])
			deeds[n++] = i;
	return n;
}

/* Nothing happens: all wait for one another, or pmon has forgotten a task. */
static void
idle(struct event *event)
{
	bool any = false;

	for (size_t i = 0; i < fake.ntasks; i++)
		any |= fake.tasks[i]->state != FAKE_GONE;
	*event = (struct event){ .kind = any ? EVENT_WAKE : EVENT_DONE };
	if (!any || fake.idle++ < IDLE_MAX)
		return;
	/* In the end somebody continues what was stopped. */
	for (size_t i = 0; i < fake.nprocesses; i++)
		if (fake.processes[i]->ntasks && fake.processes[i]->stop) {
			fake_signal(fake.processes[i], SIGCONT);
			fake.idle = 0;
			return;
		}
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->state < FAKE_DYING)
			fake_wrong(fake.tasks[i]->tid, "it goes on no more");
	must(fake.idle < 2 * IDLE_MAX);
	for (size_t i = 0; i < fake.nprocesses; i++)
		fake_signal(fake.processes[i], SIGKILL);
}

void
fake_wait(struct event *event)
{
	struct fake_task *nexts[NEXTS_MAX];
	size_t deeds[FAKE_DEEDS], n, ndeeds, choice;

	must(fake.ntasks <= NEXTS_MAX);
	for (;;) {
		n = nexts_find(nexts);
		if (!n && free_advance())
			continue;
		ndeeds = deeds_find(deeds);
		if (!n) {
			/* What nobody else does is done now. */
			if (ndeeds && fake_find(fake.root)) {
				fake.result.done[deeds[0]] = true;
				fake_do(fake.schedule->deeds[deeds[0]]);
				*event = (struct event){ .kind = EVENT_WAKE };
				return;
			}
			idle(event);
			return;
		}
		fake.idle = 0;
		choice = fake_choose((unsigned)(n + ndeeds));
		if (choice >= n) {
			choice = deeds[choice - n];
			fake.result.done[choice] = true;
			fake_do(fake.schedule->deeds[choice]);
			*event = (struct event){ .kind = EVENT_WAKE };
			return;
		}
		if (nexts[choice]->state < FAKE_LAST &&
		    nexts[choice]->state != FAKE_STOPPED) {
			fake_advance(nexts[choice]);
			/* Its stop may be seen later than another's. */
			if (!may_be_next(nexts[choice]) ||
			    fake_ready(nexts[choice]) || fake_choose(2))
				continue;
		}
		task_report(nexts[choice], event);
		return;
	}
}

/* ---- runs */

static void *
sleeper(void *id)
{
	__atomic_store_n((pid_t *)id, (pid_t)syscall(SYS_gettid),
			 __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

pid_t
fake_process_id(void)
{
	static pid_t ids[IDS_MAX];
	pthread_t thread;
	sigset_t all, old;
	pid_t *id = &ids[fake.nprocesses];

	must(fake.nprocesses < IDS_MAX);
	if (*id)
		return *id;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	must(!pthread_create(&thread, NULL, sleeper, id));
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	while (!__atomic_load_n(id, __ATOMIC_ACQUIRE))
		sched_yield();
	return *id;
}

void
fake_begin(const struct fake_schedule *schedule)
{
	fake = (struct fake){ .schedule = schedule, .next_tid = TID_FIRST };
	fake.root = fake_process_id();
	fake.log = getenv("FAKE_LOG");
}

void
fake_end(struct fake_result *result)
{
	while (free_advance())
		;
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->state < FAKE_DYING && fake.tasks[i]->traced)
			fake_wrong(fake.tasks[i]->tid, "it was forgotten");
	*result = fake.result;
	for (size_t i = 0; i < fake.nhandles; i++)
		if (fake.handles[i])
			fake_mm_drop(fake.handles[i]);
	for (size_t i = 0; i < fake.nprocesses; i++) {
		if (fake.processes[i]->mm)
			fake_mm_drop(fake.processes[i]->mm);
		free(fake.processes[i]);
	}
	for (size_t i = 0; i < fake.ntasks; i++)
		free(fake.tasks[i]);
	free(fake.tasks);
	free(fake.processes);
	free(fake.handles);
	free(fake.program);
}
