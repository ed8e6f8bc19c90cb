/*
 * Clients: one that logs all it is told is told everything, once and in order,
 * beside the client that counts.
 */
#include "tests/lib/told.h"

#include <signal.h>
#include <unistd.h>

#include "monitor/client/save.h"
#include "monitor/process/object.h"
#include "monitor/start.h"

#include "tests/lib/build.h"
#include "tests/lib/probing.h"

/* ---- runs */

/* What the run that is being made sees after the launch. */
static const struct host *after_launch;

static int
launch(struct run *run)
{
	if (run_launch(run))
		return -1;
	run->host = after_launch;
	return 0;
}

/* The program's status, or 128 and its signal. */
static int
monitored(const char *path, const char *way, const char *patch,
	  const struct host *host)
{
	char *argv[] = { "pmon", "--no-config", "--units=edge", (char *)patch,
			 "--",	 (char *)path,	(char *)way,	NULL };

	told.object = path;
	after_launch = host;
	return told_run(argv, launch, NULL);
}

enum { ANY = -1 };

/*
 * What the programs do at -O0, see stack_switch.c: frames of the program left
 * and come to over abnormal edges; tasks that begin; processes made; programs
 * executed, pmon's first included.
 */
static const struct way {
	const char *source, *name;
	int status, left, came, tasks, forks, execs;
} ways[] = {
	{ "leave.c", "longjmp", 0, 40 + 1, 5, 1, 0, 1 },
	{ "leave.c", "exit", 0, 23 + 1, 0, 1, 0, 1 },
	{ "leave.c", "kill", 128 + SIGKILL, 22 + 1, 0, 1, 0, 1 },
	{ "leave.c", "exec", 0, 23 + 1, 0, 1, 0, 2 },
	/* A child; its child and its vfork's exec, another vfork's ends. */
	{ "leave.c", "forks", 0, ANY, ANY, 5, 4, 3 },
	/* Two threads rest, and a third does exec. */
	{ "leave.c", "exec_thread", 0, ANY, 0, 4, 0, 2 },
	{ "leave.c", "abandon", 0, 24 + 1 + 18, 0, 3, 0, 1 },
	{ "leave.c", "spawn", 0, ANY, ANY, ANY, ANY, ANY },
	{ "leave.c", "pthread_exit", 0, ANY, ANY, ANY, 0, 1 },
	{ "leave.c", "cancel", 0, ANY, ANY, ANY, 0, 1 },
	{ "throw.cc", "plain", 0, 5 * (2 + 3 + 4 + 12 + 52) + 1, ANY, 1, 0, 1 },
};

static void
way_check(const struct way *way, const char *path, const char *patch,
	  const struct host *host)
{
	int status;

	/* What fails is this one. */
	printf("# %s %s\n", way->name, patch);
	status = monitored(path, way->name, patch, host);
	assert_int_equal(status, way->status);
	assert_true(told.begun > 0);
	assert_int_equal(told.late, 0);
	for (size_t i = 0; i < told.ntasks; i++)
		assert_true(told.tasks[i].ended);
	if (way->tasks != ANY)
		assert_int_equal(told.ntasks, way->tasks);
	if (way->forks != ANY)
		assert_int_equal(told.forks, way->forks);
	if (way->execs != ANY)
		assert_int_equal(told.execs, way->execs);
	if (way->left != ANY)
		assert_int_equal(told.left, way->left);
	if (way->came != ANY)
		assert_int_equal(told.came, way->came);
}

static void
test_ways(void **state)
{
	char cwd[1024];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	run("gcc -w -g -O0 -o leave.c.x %s/tests/prog/leave.c", cwd);
	run("g++ -w -g -O0 -o throw.cc.x %s/tests/prog/throw.cc", cwd);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s.x", ways[i].source);
		way_check(&ways[i], in_work(name), "--patch=auto",
			  &host_ptrace);
		way_check(&ways[i], in_work(name), "--patch=trap",
			  &host_ptrace);
	}
}

/* ---- a client with probes of its own */

/*
 * What each element's own probe says is what counting derives, while counting
 * has few probes.
 */
static void
probes_check(const char *path, const char *way, const char *units,
	     const char *patch)
{
	char *argv[] = { "pmon", "--no-config", (char *)units, (char *)patch,
			 "--",	 (char *)path,	(char *)way,   NULL };

	probing_begin();
	after_launch = &host_ptrace;
	told.probing = true;
	told_run(argv, launch, probing_compare);
	assert_int_equal(probing.unequal, 0);
	assert_true(probing.asked > 0 && probing.shared > 0);
	/* The edges from ROOT, among others. */
	assert_true(probing.refused > 0);
	if (!strcmp(patch, "--patch=auto")) {
		assert_true(probing.relocated > 10);
		assert_true(probing.tripled > 0);
	} else {
		assert_true(probing.in_place > 10);
		assert_int_equal(probing.relocated, 0);
	}
}

static void
test_probes(void **state)
{
	static const char *const units[] = { "--units=edge", "--units=block",
					     "--units=line" };

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		for (size_t u = 0; u < sizeof(units) / sizeof(*units); u++) {
			char name[64];

			snprintf(name, sizeof(name), "%s.x", ways[i].source);
			probes_check(in_work(name), ways[i].name, units[u],
				     "--patch=auto");
			probes_check(in_work(name), ways[i].name, units[u],
				     "--patch=trap");
		}
}

/* ---- ends before announcements */

/*
 * A host that tells of a new task only after that task has been killed and all
 * has been told of it.  What its maker does meanwhile is told afterwards.
 */
enum { LATER_MAX = 8 };

static struct {
	pid_t maker, child;
	bool ended;		/* the child's end has been told */
	struct event later[LATER_MAX];
	size_t nlater, next;
} killing;

static bool
child_made(const struct event *event)
{
	return event->kind == EVENT_CLONE || event->kind == EVENT_FORK;
}

static bool
is_end(const struct event *event)
{
	return event->kind == EVENT_EXITED || event->kind == EVENT_KILLED;
}

static void
killing_wait(struct event *event)
{
	if (killing.ended && killing.next < killing.nlater) {
		*event = killing.later[killing.next++];
		return;
	}
	for (;;) {
		host_ptrace.wait(event);
		if (!killing.child && child_made(event)) {
			killing.maker = event->tid;
			killing.child = event->value;
			kill(killing.child, SIGKILL);
		}
		if (killing.ended || !killing.child ||
		    event->tid != killing.maker)
			break;
		assert_true(killing.nlater < LATER_MAX);
		killing.later[killing.nlater++] = *event;
	}
	killing.ended |= killing.child && event->tid == killing.child &&
			 is_end(event);
}

/* Every task that began has ended, and none was told of otherwise. */
static void
all_ended(size_t ntasks)
{
	assert_int_equal(told.late, 0);
	assert_int_equal(told.ntasks, ntasks);
	for (size_t i = 0; i < told.ntasks; i++)
		assert_true(told.tasks[i].ended);
}

static const struct {
	const char *name;
	int status;
} early[] = {
	{ "fork", 0 },
	{ "thread", 128 + SIGKILL },
};

static void
test_early_ends(void **state)
{
	struct host host = host_ptrace;
	char cwd[1024];

	host.wait = killing_wait;
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	run("gcc -w -g -O0 -pthread -o orders.x %s/tests/prog/orders.c", cwd);
	for (size_t i = 0; i < sizeof(early) / sizeof(*early); i++) {
		memset(&killing, 0, sizeof(killing));
		assert_int_equal(monitored(in_work("orders.x"), early[i].name,
					   "--patch=auto", &host),
				 early[i].status);
		assert_true(killing.ended);
		all_ended(2);
		assert_false(told.doubt);
	}
}

/* ---- births at a group stop */

/*
 * A host whose tasks are born at a group stop, that ends when it is listened
 * for; or it ends before, as for a task that was run in between.
 */
static struct {
	bool early;		/* it ends before */
	pid_t tids[TOLD_TASKS];	/* of which the first stop was told */
	size_t n;
	size_t listened;
} stopping;

static bool
stopping_new(pid_t tid)
{
	for (size_t i = 0; i < stopping.n; i++)
		if (stopping.tids[i] == tid)
			return false;
	assert_true(stopping.n < TOLD_TASKS);
	stopping.tids[stopping.n++] = tid;
	return true;
}

static void
stopping_wait(struct event *event)
{
	host_ptrace.wait(event);
	if (event->kind == EVENT_PAUSED && stopping_new(event->tid))
		event->kind = EVENT_STOPPED;
}

static int
stopping_resume(pid_t tid, enum resume how, int signal)
{
	int err;

	if (how != RESUME_LISTEN)
		return host_ptrace.resume(tid, how, signal);
	stopping.listened++;
	if (stopping.early)
		return HOST_ERROR;
	err = host_ptrace.resume(tid, how, signal);
	return err ? err : host_ptrace.native->send(tid, SIGCONT);
}

static void
test_stopped_births(void **state)
{
	const struct way *way = ways;
	struct host host = host_ptrace;

	host.wait = stopping_wait;
	host.resume = stopping_resume;
	while (strcmp(way->name, "abandon") != 0)
		way++;
	for (int i = 0; i < 2; i++) {
		memset(&stopping, 0, sizeof(stopping));
		stopping.early = i;
		way_check(way, in_work("leave.c.x"), "--patch=auto", &host);
		/* Each of its threads, at least. */
		assert_true(stopping.listened >= (size_t)way->tasks - 1);
	}
}

/* ---- a leader that was gone before pmon came */

static int leaderless_in[2];	/* a pipe, from which the program reads */

/* The leader's thread does exec when it has read a byte. */
static int
leaderless_attach(struct run *run)
{
	if (run_attach(run, run->opts->pids, run->opts->npids))
		return -1;
	assert_int_equal(write(leaderless_in[1], "x", 1), 1);
	return 0;
}

static void
test_leaderless(void **state)
{
	char *argv[] = { "pmon", "--no-config", "-p", NULL, NULL };
	char pid[16], c;
	int *in = leaderless_in, out[2];
	pid_t target;

	assert_false(pipe(in) || pipe(out));
	target = fork();
	if (!target) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execl(in_work("orders.x"), "orders.x", "leaderless",
		      (char *)NULL);
		_exit(127);
	}
	assert_int_equal(read(out[0], &c, 1), 1);
	snprintf(pid, sizeof(pid), "%d", (int)target);
	argv[3] = pid;
	told.object = in_work("orders.x");
	assert_int_equal(told_run(argv, leaderless_attach, NULL), 0);
	/* Its thread, and that again with the leader's id. */
	all_ended(2);
	assert_int_equal(told.tasks[1].tid, target);
	assert_int_equal(told.execs, 1);
	assert_int_equal(told.stood, 1);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
}

/* ---- a host that counts by itself */

static size_t nplanted;

static int
counting_plant(const struct host_site *sites, size_t n)
{
	nplanted = n;
	return 0;
}

/* Each fetch finds seven hits more, of which three took the branch. */
static int
counting_fetch(struct host_site *sites, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sites[i].hits += 7;
		sites[i].taken += 3;
	}
	return HOST_OK;
}

static uint64_t
hits_counted(const struct run *run)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->nobjects; i++) {
		const struct plan *plan = run->objects[i].plan;

		for (size_t k = 0; plan && k < plan->ncounter_sets; k++)
			for (uint32_t s = 0; s < plan->nsites; s++)
				sum += counter_set_site(plan->counter_sets[k],
							s, plan->nsites)
					       ->hits;
	}
	return sum;
}

/* However often reports are made, clients are told only what is new. */
static void
counting_look(struct run *run)
{
	assert_true(nplanted > 0);
	assert_int_equal(told.host_hits, 0);
	for (unsigned i = 1; i <= 3; i++) {
		report_input_free(report_input_make(run));
		assert_int_equal(told.host_hits, 7 * i * nplanted);
		assert_int_equal(told.host_taken, 3 * i * nplanted);
		assert_int_equal(hits_counted(run), told.host_hits);
	}
}

static void
test_host_counted(void **state)
{
	const struct host_counting counting = {
		.traps = true,
		.plant = counting_plant,
		.fetch = counting_fetch,
	};
	struct host host = host_ptrace;
	char *argv[] = { "pmon",    "--no-config",  "--units=func",
			 "--eager", "--patch=trap", (char *)in_work("host.x"),
			 NULL };

	source("host.c", "int main(void) { return 0; }\n");
	run("gcc -w -static -o host.x host.c");
	host.counting = &counting;
	after_launch = &host;
	assert_int_equal(told_run(argv, launch, counting_look), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_early_ends),
		cmocka_unit_test(test_leaderless),
		cmocka_unit_test(test_stopped_births),
		cmocka_unit_test(test_host_counted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("client", tests, work_make,
					   work_remove);
}
