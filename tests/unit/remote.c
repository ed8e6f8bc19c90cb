/*
 * The remote host: programs of other CPUs in qemu, and gdbserver's.  Traps
 * at every instruction must count what the simulator's own trace has; what
 * the program does and how it ends must be as without them.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/image_graphs.h"
#include "symtab/image.h"
#include "tests/lib/remotes.h"

#include <cmocka.h>

static const struct fixture {
	const char *path, *qemu;
	/* Which ways; the rest with PMON_SLOW only. */
	enum { STEP = 1, SLOT = 2, STEP_SLOWLY = 4, SLOT_SLOWLY = 8 } ways;
} fixtures[] = {
	{ "tests/m68k/shell-O2.m68k", "qemu-m68k", STEP | SLOT_SLOWLY },
	{ "tests/m68k/shell-O0.m68000", "qemu-m68k -cpu m68000", SLOT_SLOWLY },
	{ "tests/m68k/many-O0.m68k", "qemu-m68k", SLOT_SLOWLY },
	{ "tests/m68k/many-O2.m68000", "qemu-m68k -cpu m68000",
	  STEP_SLOWLY | SLOT },
	{ "tests/m68k/shell-O2.aarch64", "qemu-aarch64", STEP | SLOT_SLOWLY },
	{ "tests/m68k/many-O2.aarch64", "qemu-aarch64", SLOT },
};

static const char input[] = "tests/m68k/rt.h";

static bool
slow(void)
{
	return getenv("PMON_SLOW") != NULL;
}

static bool
qemu_there(void)
{
	if (!system("qemu-m68k --version >/dev/null 2>&1") &&
	    !system("qemu-aarch64 --version >/dev/null 2>&1"))
		return true;
	print_message("# no qemu-m68k and qemu-aarch64 (package "
		      "qemu-user)\n");
	return false;
}

/* Every instruction of the image's functions, or of one of them. */
static struct counted
image_spots(const char *path, const char *name, enum how how)
{
	struct image *image = image_open(path, NULL, IMAGE_FLOW, NULL, NULL);
	struct counted c = { .how = how };
	struct graphs *graphs;

	assert_non_null(image);
	graphs = graphs_open(image);
	for (size_t i = 0; i < image->nfuncs; i++) {
		const struct func *func = &image->funcs[i];
		struct cfg *cfg;

		if (name && strcmp(func->name, name))
			continue;
		cfg = graph_make(graphs, &(struct graph_input){
						 .ranges = func->ranges,
						 .n = func->nranges,
						 .entry = true,
					 });
		assert_int_equal(cfg->bad, 0);
		for (size_t k = 0; k < cfg->ninsns; k++)
			*vec_push(c.spots, c.n) = (struct spot){
				.va = cfg->insns[k].addr,
			};
		cfg_free(cfg);
	}
	graphs_close(graphs);
	image_close(image);
	assert_true(c.n > 0);
	return c;
}

/* argv[0] is the program; its output goes to the file `out`. */
static void
count(struct counted *c, const char **argv, const char *out)
{
	const struct arch *arch = image_probe(argv[0]);
	int was = dup(STDOUT_FILENO);
	pid_t tid;

	assert_non_null(arch);
	remote_use(arch, NULL);
	fflush(stdout);
	assert_non_null(freopen(out, "w", stdout));
	if (far->launch(argv[0], (char **)argv, &tid))
		fail_msg("%s", fail_message());
	count_on(arch, c, tid);
	fflush(stdout);
	dup2(was, STDOUT_FILENO);
	close(was);
	print_message("# %s %s: %zu places, %" PRIu64 " traps, %.0f/s\n",
		      argv[0], c->how == HOW_STEP ? "step" : "slot", c->n,
		      c->traps, (double)c->traps / c->seconds);
}

/*
 * What the simulator says without any trap: how often each instruction was
 * translated and run alone.
 */
static int
truth(const struct fixture *fixture, const char *dir, uint64_t *total,
      struct counted *c)
{
	/* The option has another name from qemu 8.1 on. */
	char *cmd = mem_printf("o=-singlestep; %s -help | grep -q -e "
			       "-one-insn-per-tb && o=-one-insn-per-tb; "
			       "%s $o -d exec,nochain -D %s/trace "
			       "%s %s >%s/truth",
			       fixture->qemu, fixture->qemu, dir, fixture->path,
			       input, dir);
	char *log = mem_printf("%s/trace", dir), line[512];
	int status = system(cmd);
	FILE *f = fopen(log, "r");

	assert_non_null(f);
	*total = 0;
	/* "Trace 0: 0x7f... [flags/pc/flags/flags] name" */
	while (fgets(line, sizeof(line), f)) {
		char *p = strchr(line, '[');
		struct spot *spot;

		if (strncmp(line, "Trace ", 6) || !p || !(p = strchr(p, '/')))
			continue;
		spot = spot_find(c, strtoull(p + 1, NULL, 16));
		++*total;
		if (spot)
			spot->hits--;
		else
			print_message("# not decoded: %s", line);
	}
	fclose(f);
	free(log);
	free(cmd);
	return status;
}

static char *
work_dir(void)
{
	char *dir = mem_strdup("/tmp/remote-test-XXXXXX");

	assert_non_null(mkdtemp(dir));
	return dir;
}

static void
work_remove(char *dir)
{
	char *cmd = mem_printf("rm -rf %s", dir);

	assert_int_equal(system(cmd), 0);
	free(cmd);
	free(dir);
}

static void
same_output(const char *dir)
{
	char *cmd = mem_printf("cmp %s/out %s/truth", dir, dir);

	assert_int_equal(system(cmd), 0);
	free(cmd);
}

static void
fixture_count(const struct fixture *fixture, enum how how)
{
	const char *argv[] = { fixture->path, input, NULL };
	struct counted c = image_spots(fixture->path, NULL, how);
	char *dir = work_dir(), *out = mem_printf("%s/out", dir);
	uint64_t total;
	int status;

	count(&c, argv, out);
	status = truth(fixture, dir, &total, &c);
	assert_int_equal(c.end.kind, EVENT_EXITED);
	assert_int_equal(c.end.value, WEXITSTATUS(status));
	assert_int_equal(c.traps, total);
	for (size_t i = 0; i < c.n; i++)
		if (c.spots[i].hits)
			fail_msg("%" PRIx64 ": %" PRId64 " too many",
				 c.spots[i].va, (int64_t)c.spots[i].hits);
	same_output(dir);
	work_remove(dir);
	free(out);
	free(c.spots);
}

static void
test_step(void **state)
{
	if (!qemu_there())
		skip();
	for (size_t i = 0; i < sizeof(fixtures) / sizeof(*fixtures); i++)
		if (fixtures[i].ways & (STEP | (slow() ? STEP_SLOWLY : 0)))
			fixture_count(&fixtures[i], HOW_STEP);
}

static void
test_slot(void **state)
{
	if (!qemu_there())
		skip();
	for (size_t i = 0; i < sizeof(fixtures) / sizeof(*fixtures); i++)
		if (fixtures[i].ways & (SLOT | (slow() ? SLOT_SLOWLY : 0)))
			fixture_count(&fixtures[i], HOW_SLOT);
}

/* fib(12) calls itself 465 times: calls(n) = 2 fib(n + 1) - 1. */
static void
test_ends(void **state)
{
	static const struct {
		const char *arg;
		int signal;
		uint64_t calls;
	} cases[] = {
		{ "-crash", SIGSEGV, 0 },
		{ "-raise", SIGTERM, 0 },
		{ NULL, 0, 465 },
	};

	if (!qemu_there())
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *argv[] = { "tests/m68k/many-O0.m68k", cases[i].arg,
				       NULL };
		struct counted c = image_spots(argv[0], "fib", HOW_SLOT);

		assert_non_null(freopen("/dev/null", "r", stdin));
		count(&c, argv, "/dev/null");
		assert_int_equal(c.end.kind,
				 cases[i].signal ? EVENT_KILLED : EVENT_EXITED);
		assert_int_equal(c.end.value, cases[i].signal);
		assert_int_equal(c.spots[0].hits, cases[i].calls);
		free(c.spots);
	}
}

/* An endless loop is paused, goes on, and is killed. */
static void
test_pause(void **state)
{
	const char *argv[] = { "tests/m68k/many-O0.m68k", "-loop", NULL };
	struct counted c;

	if (!qemu_there())
		skip();
	c = image_spots(argv[0], "same", HOW_STEP);
	c.pause = true;
	c.stop_after = 1000;
	count(&c, argv, "/dev/null");
	assert_int_equal(c.end.kind, EVENT_KILLED);
	assert_int_equal(c.end.value, SIGKILL);
	assert_true(c.traps >= 1000);
	free(c.spots);
}

/* The simulator dies with who started it, however that dies. */
static void
test_left_behind(void **state)
{
	const char *argv[] = { "tests/m68k/many-O0.m68k", "-loop", NULL };
	int report[2];
	pid_t pid, simulator = 0;
	char c;

	if (!qemu_there())
		skip();
	assert_int_equal(pipe(report), 0);
	pid = fork();
	if (!pid) {
		remote_use(&arch_m68k, NULL);
		close(report[0]);
		if (far->launch(argv[0], (char **)argv, &simulator))
			_exit(1);
		/* The simulator keeps the other end of this open. */
		if (write(report[1], &simulator, sizeof(simulator)) < 0)
			_exit(1);
		raise(SIGKILL);
	}
	close(report[1]);
	assert_int_equal(read(report[0], &simulator, sizeof(simulator)),
			 sizeof(simulator));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* Its end is seen by the pipe. */
	assert_int_equal(read(report[0], &c, 1), 0);
	assert_true(simulator > 0);
	close(report[0]);
}

static void
test_errors(void **state)
{
	char *const argv[] = { "tests/m68k/shell-O0.m68k", NULL };
	char *path = mem_strdup(getenv("PATH"));
	pid_t tid;

	setenv("PATH", "/nonexistent", 1);
	remote_use(&arch_m68k, NULL);
	assert_int_equal(far->launch(argv[0], (char **)argv, &tid), HOST_ERROR);
	assert_string_equal(fail_message(), "qemu-m68k is not installed: "
					    "install the package qemu-user");
	setenv("PATH", path, 1);
	remote_use(&arch_m68k, "/nonexistent/stub");
	assert_int_equal(far->launch(argv[0], (char **)argv, &tid), HOST_ERROR);
	assert_string_equal(fail_message(),
			    "/nonexistent/stub: cannot "
			    "connect: No such file or directory");
	remote_use(&arch_x86_64, NULL);
	assert_int_equal(far->launch(argv[0], (char **)argv, &tid), HOST_ERROR);
	free(path);
}

/* Starts gdbserver with the program; where to connect to, owned. */
static char *
gdbserver_start(const char *exe, FILE **f)
{
	char *cmd = mem_printf("exec gdbserver --once 127.0.0.1:0 %s 2>&1",
			       exe),
	     *where = NULL, line[256];
	unsigned port;

	*f = popen(cmd, "r");
	assert_non_null(*f);
	while (!where && fgets(line, sizeof(line), *f))
		if (sscanf(line, "Listening on port %u", &port) == 1)
			where = mem_printf("127.0.0.1:%u", port);
	assert_non_null(where);
	free(cmd);
	return where;
}

static struct counted
gdbserver_count(const char *exe, enum how how)
{
	struct counted c = image_spots(exe, "shell", how);
	const char *argv[] = { exe, NULL };
	char *where;
	pid_t tid;
	FILE *f;

	where = gdbserver_start(exe, &f);
	remote_use(&arch_x86_64, where);
	if (far->launch(exe, (char **)argv, &tid))
		fail_msg("%s", fail_message());
	count_on(&arch_x86_64, &c, tid);
	assert_int_equal(c.end.kind, EVENT_EXITED);
	print_message("# gdbserver %s: %" PRIu64 " traps, %.0f/s\n",
		      how == HOW_STEP ? "step" : "slot", c.traps,
		      (double)c.traps / c.seconds);
	pclose(f);
	free(where);
	return c;
}

/*
 * A Shell sort of 40 numbers has passes with gaps 20, 10, 5, 2 and 1, each of
 * which begins 40 - gap inner loops: 162 in all.
 */
static void
test_gdbserver(void **state)
{
	char *dir, *exe, *cmd;
	struct counted step = { 0 }, slot;
	size_t n162 = 0;

	if (system("gdbserver --version >/dev/null 2>&1")) {
		print_message("# no gdbserver (package gdbserver)\n");
		skip();
	}
	dir = work_dir();
	exe = mem_printf("%s/shell", dir);
	cmd = mem_printf("sed 's/MAX 100/MAX 40/' demo/shell.c | "
			 "${CC:-cc} -O0 -static -no-pie -o %s -x c -",
			 exe);
	assert_int_equal(system(cmd), 0);
	slot = gdbserver_count(exe, HOW_SLOT);
	assert_int_equal(slot.spots[0].hits, 1);
	for (size_t i = 0; i < slot.n; i++)
		n162 += slot.spots[i].hits == 162;
	if (slow())
		step = gdbserver_count(exe, HOW_STEP);
	for (size_t i = 0; i < step.n; i++)
		assert_int_equal(step.spots[i].hits, slot.spots[i].hits);
	assert_true(n162 > 0);
	work_remove(dir);
	free(step.spots);
	free(slot.spots);
	free(exe);
	free(cmd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_slot),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_gdbserver),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
