/*
 * VAX programs on the simulator.  Every way of counting must give what the
 * simulator's own breakpoint counters give, for every instruction; programs
 * must do what they do uncounted; and nothing may be left behind.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/vaxrun.h"

#include "util/fail.h"

#include <cmocka.h>

enum { OUT_MAX = 65536, ARGS_MAX = 8 };

/* One run: what was counted and written. */
struct run {
	struct vaxrun v;
	char out[OUT_MAX];
};

static struct run truth, other;

static bool
simulator_there(void)
{
	return !system("command -v vax780 >/dev/null");
}

#define need_simulator() \
	do { \
		if (!simulator_there()) { \
			print_message("# SKIP: vax780 (package simh) is " \
				      "not here\n"); \
			skip(); \
		} \
	} while (0)

/* What the program writes goes to a file until out_end. */
static int out_saved;

static void
out_begin(void)
{
	int file = memfd_create("out", MFD_CLOEXEC);

	fflush(stdout);
	out_saved = fcntl(1, F_DUPFD_CLOEXEC, 100);
	assert_true(file >= 0 && out_saved >= 0);
	assert_int_equal(dup2(file, 1), 1);
	close(file);
}

static size_t
out_size(void)
{
	struct stat st;

	assert_int_equal(fstat(1, &st), 0);
	return (size_t)st.st_size;
}

static void
out_end(char out[OUT_MAX])
{
	ssize_t n = pread(1, out, OUT_MAX - 1, 0);

	out[n > 0 ? n : 0] = '\0';
	assert_int_equal(dup2(out_saved, 1), 1);
	close(out_saved);
}

/* Run "program arg...", of tests/vax; all of func's instructions or all. */
static void
run(struct run *r, enum vaxrun_how how, const char *line, const char *func)
{
	char copy[512], path[512], *argv[ARGS_MAX + 1] = { NULL }, *save;
	struct image *image;
	int status, n = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *p = strtok_r(copy, " ", &save); p && n < ARGS_MAX;
	     p = strtok_r(NULL, " ", &save))
		argv[n++] = p;
	snprintf(path, sizeof(path), "tests/vax/%s", argv[0]);
	image = image_open(path, NULL, 0, NULL, NULL);
	assert_non_null(image);
	r->v = (struct vaxrun){ .how = how };
	if (how != VAXRUN_PLAIN)
		vaxrun_sites(&r->v, image, func);
	image_close(image);
	out_begin();
	status = vaxrun(&r->v, path, argv);
	out_end(r->out);
	if (status)
		print_message("# %s\n", fail_message());
	assert_int_equal(status, 0);
}

static void
run_end(struct run *r)
{
	host_simh.close();
	vaxrun_free(&r->v);
}

static void
hits_equal(const struct run *a, const struct run *b)
{
	assert_int_equal(a->v.n, b->v.n);
	for (size_t i = 0; i < a->v.n; i++)
		if (a->v.sites[i].hits != b->v.sites[i].hits) {
			print_message("# at %" PRIx64 "\n", a->v.sites[i].va);
			assert_int_equal(a->v.sites[i].hits,
					 b->v.sites[i].hits);
		}
}

static uint64_t
hits_total(const struct run *r)
{
	uint64_t total = 0;

	for (size_t i = 0; i < r->v.n; i++)
		total += r->v.sites[i].hits;
	return total;
}

/* Each of these ways against the breakpoints, and the output of plain. */
static void
compare(const char *line, const char *func, const enum vaxrun_how *hows,
	size_t n)
{
	static struct run plain;

	run(&plain, VAXRUN_PLAIN, line, func);
	run_end(&plain);
	run(&truth, VAXRUN_BREAK, line, func);
	host_simh.close();
	assert_true(hits_total(&truth) > 10);
	for (size_t i = 0; i < n; i++) {
		run(&other, hows[i], line, func);
		print_message("# %s, way %d: %" PRIu64 " counts, %.0f/s\n",
			      line, hows[i], hits_total(&other),
			      (double)hits_total(&other) / other.v.seconds);
		hits_equal(&truth, &other);
		assert_string_equal(plain.out, other.out);
		assert_int_equal(plain.v.end.kind, other.v.end.kind);
		assert_int_equal(plain.v.end.value, other.v.end.value);
		run_end(&other);
	}
	vaxrun_free(&truth.v);
}

static const enum vaxrun_how all_ways[] = {
	VAXRUN_INSIDE,
	VAXRUN_PASS,
	VAXRUN_STEP,
};

static void
test_shell(void **state)
{
	need_simulator();
	compare("shell.O0", "shell", all_ways, 3);
	compare("shell.O2", NULL, all_ways, 2);
	run(&other, VAXRUN_INSIDE, "shell.O0", "rnd");
	/* Called for each of 100 numbers. */
	assert_int_equal(other.v.sites[0].hits, 100);
	assert_non_null(strstr(other.out, "\nsorted\n"));
	run_end(&other);
}

/* How often branches were taken, by where each step led. */
static void
test_taken(void **state)
{
	size_t branches = 0;

	need_simulator();
	run(&truth, VAXRUN_STEP, "shell.O0", "shell");
	host_simh.close();
	run(&other, VAXRUN_INSIDE, "shell.O0", "shell");
	for (size_t i = 0; i < truth.v.n; i++) {
		assert_int_equal(truth.v.sites[i].taken,
				 other.v.sites[i].taken);
		branches += truth.v.sites[i].taken > 0;
	}
	assert_true(branches > 3);
	run_end(&other);
	vaxrun_free(&truth.v);
}

static void
test_lang(void **state)
{
	static const char *const lines[] = {
		"operator 84\noperator 82\noperator 336\noperator 14\n",
		"\nackermann 9\n",
		"\nroot 1414213\n",
		"\nno file 2\n",
		"\ntrace 0\n",
		"\nVAXTEST=yes 11\n",
	};

	need_simulator();
	setenv("VAXTEST", "yes", 1);
	compare("lang.O0 tests/vax/src/stdlib.h", NULL, all_ways, 1);
	compare("lang.O2 tests/vax/src/stdlib.h", NULL, all_ways, 2);
	compare("lang.O2 tests/vax/src/stdlib.h", "main", all_ways, 3);
	run(&other, VAXRUN_PLAIN, "lang.O0 nothing there", NULL);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_non_null(strstr(other.out, lines[i]));
	assert_int_equal(other.v.end.value, 3);
	run_end(&other);
}

/* Four thousand lines of C. */
static void
test_bzip(void **state)
{
	need_simulator();
	compare("bzip.O2 tests/vax/src/crt0.s", NULL, all_ways, 1);
	run(&other, VAXRUN_PLAIN, "bzip.O2 tests/vax/src/lang.c", NULL);
	assert_non_null(strstr(other.out, "\nsame\n"));
	run_end(&other);
}

/* The argument, how it ends, what it writes. */
static const struct {
	const char *what;
	enum event_kind kind;
	int value;
	const char *out;
} deaths[] = {
	{ "k", EVENT_EXITED, 0, "blocked 30 1\nkilled 30 2\n" },
	{ "f", EVENT_EXITED, 0, "divided 8 3\n" },
	{ "s", EVENT_KILLED, SIGSEGV, "storing\n" },
	{ "t", EVENT_KILLED, SIGSEGV, "patching\n" },
	{ "i", EVENT_KILLED, SIGILL, "halting\n" },
	{ "o", EVENT_KILLED, SIGILL, "" },
	{ "T", EVENT_KILLED, SIGTERM, "" },
	{ "n", EVENT_EXITED, 0, "-1 78\n" },
};

static void
test_signals(void **state)
{
	char line[32];

	need_simulator();
	for (size_t i = 0; i < sizeof(deaths) / sizeof(*deaths); i++) {
		snprintf(line, sizeof(line), "signals.O%d %s", i % 2 ? 2 : 0,
			 deaths[i].what);
		compare(line, NULL, all_ways, 3);
		assert_int_equal(other.v.end.kind, deaths[i].kind);
		assert_int_equal(other.v.end.value, deaths[i].value);
		assert_string_equal(other.out, deaths[i].out);
	}
}

/*
 * An instruction that faults and is begun again counts once; the simulator's
 * breakpoints see it twice.
 */
static void
test_begun_again(void **state)
{
	size_t differ = 0;

	need_simulator();
	for (int way = 0; way < 2; way++) {
		differ = 0;
		run(&truth, VAXRUN_BREAK, "signals.O2 m", NULL);
		host_simh.close();
		run(&other, all_ways[way], "signals.O2 m", NULL);
		assert_string_equal(other.out, "4242424242 mended 11 5\n");
		for (size_t i = 0; i < truth.v.n; i++) {
			if (truth.v.sites[i].hits == other.v.sites[i].hits)
				continue;
			assert_int_equal(truth.v.sites[i].hits, 10);
			assert_int_equal(other.v.sites[i].hits, 5);
			differ++;
		}
		assert_int_equal(differ, 1);
		run_end(&other);
		vaxrun_free(&truth.v);
	}
}

static void
test_unknown_call(void **state)
{
	char *const *remarks;
	size_t n;

	need_simulator();
	run(&other, VAXRUN_PLAIN, "signals.O0 n n", NULL);
	remarks = host_simh.remarks(&n);
	assert_int_equal(n, 1);
	assert_non_null(strstr(remarks[0], "signals.O0: system call 150 "));
	run_end(&other);
}

static void
on_alarm(int signal)
{
}

static void
alarm_set(long us)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval timer = { .it_value = { 0, us },
					 .it_interval = { 0, us } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static pid_t
launch_looping(struct host_site *site)
{
	char *argv[] = { "signals.O2", "l", NULL };
	struct image *image = image_open("tests/vax/signals.O2", NULL, 0, NULL,
					 NULL);
	struct vaxrun v = { .how = VAXRUN_INSIDE };
	struct event event;
	pid_t tid;

	assert_non_null(image);
	assert_int_equal(host_simh.launch("tests/vax/signals.O2", argv, &tid),
			 HOST_OK);
	vaxrun_sites(&v, image, "main");
	*site = v.sites[0];
	assert_int_equal(host_simh.counting->plant(site, 1), 0);
	vaxrun_free(&v);
	image_close(image);
	host_simh.resume(tid, RESUME_RUN, 0);
	host_simh.wait(&event);
	assert_int_equal(event.kind, EVENT_EXEC);
	host_simh.resume(tid, RESUME_RUN, 0);
	return tid;
}

/* The next event that is not the timer's. */
static void
event_next(struct event *event)
{
	do
		host_simh.wait(event);
	while (event->kind == EVENT_WAKE);
}

/* A loop without end is looked at, and ended by a signal. */
static void
test_runaway(void **state)
{
	struct host_site site;
	struct event event;
	struct regs regs;
	uint64_t pc;
	char out[OUT_MAX];
	pid_t tid;

	need_simulator();
	out_begin();
	tid = launch_looping(&site);
	alarm_set(20000);
	do {
		host_simh.wait(&event);
		assert_int_equal(event.kind, EVENT_WAKE);
	} while (out_size() < sizeof("looping\n") - 1);
	host_simh.pause(tid);
	event_next(&event);
	assert_int_equal(event.kind, EVENT_PAUSED);
	assert_int_equal(host_simh.regs_get(tid, &regs), HOST_OK);
	assert_int_equal(host_simh.reg_get(tid, arch_vax.reg_pc, &pc), 0);
	assert_int_equal(regs.r[arch_vax.reg_pc], pc);
	assert_true(pc > 0x10000 && pc < 0x20000);
	host_simh.resume(tid, RESUME_RUN, 0);
	host_simh.kill(tid, SIGINT);
	event_next(&event);
	assert_int_equal(event.kind, EVENT_SIGNAL);
	assert_int_equal(event.value, SIGINT);
	host_simh.resume(tid, RESUME_RUN, SIGINT);
	event_next(&event);
	assert_int_equal(event.kind, EVENT_KILLED);
	assert_int_equal(event.value, SIGINT);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	assert_int_equal(host_simh.counting->fetch(&site, 1), HOST_OK);
	assert_int_equal(site.hits, 1);
	host_simh.close();
	out_end(out);
	assert_string_equal(out, "looping\n");
	assert_int_equal(kill(tid, 0), -1);
}

/* The simulator is killed: the counts are lost, and that is said. */
static void
test_simulator_killed(void **state)
{
	struct host_site site;
	struct event event;
	char out[OUT_MAX];
	size_t n;
	pid_t tid;

	need_simulator();
	out_begin();
	tid = launch_looping(&site);
	kill(tid, SIGKILL);
	host_simh.wait(&event);
	out_end(out);
	assert_int_equal(event.kind, EVENT_KILLED);
	assert_int_equal(event.value, SIGKILL);
	assert_int_equal(host_simh.counting->fetch(&site, 1), HOST_GONE);
	host_simh.remarks(&n);
	assert_int_equal(n, 1);
	assert_int_equal(host_simh.resume(tid, RESUME_RUN, 0), HOST_GONE);
	host_simh.close();
}

/* pmon is killed: the simulator, then a child of this process, ends too. */
static void
test_killed(void **state)
{
	struct host_site site;
	int pipes[2], status;
	pid_t pid, tid = 0;

	need_simulator();
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe(pipes), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct event event;

		if (dup2(open("/dev/null", O_WRONLY), 1) < 0)
			_exit(1);
		tid = launch_looping(&site);
		if (write(pipes[1], &tid, sizeof(tid)) < 0)
			_exit(1);
		for (;;)
			host_simh.wait(&event);
	}
	assert_int_equal(read(pipes[0], &tid, sizeof(tid)), sizeof(tid));
	assert_int_equal(kill(tid, 0), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(waitpid(tid, &status, 0), tid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(pipes[0]);
	close(pipes[1]);
}

/* ---- what cannot be run */

static void
refused(const char *path, const char *message)
{
	char *argv[] = { "prog", NULL };
	pid_t tid;

	assert_int_equal(host_simh.launch(path, argv, &tid), HOST_ERROR);
	print_message("# %s\n", fail_message());
	assert_non_null(strstr(fail_message(), message));
}

static void
test_missing(void **state)
{
	char *path = mem_strdup(getenv("PATH"));

	setenv("PATH", "/nowhere", 1);
	refused("tests/vax/shell.O0",
		"vax780: not found: install the package simh");
	setenv("PATH", path, 1);
	free(path);
}

/* A copy of shell.O0 with some bytes changed, cut to size if that is not 0. */
static void
damaged(size_t at, const void *bytes, size_t n, off_t size, const char *message)
{
	char path[] = "/tmp/pmon-vax-XXXXXX", buf[65536];
	int in = open("tests/vax/shell.O0", O_RDONLY), out = mkstemp(path);
	ssize_t got = read(in, buf, sizeof(buf));

	assert_true(got > 0 && at + n <= (size_t)got);
	memcpy(buf + at, bytes, n);
	assert_int_equal(write(out, buf, (size_t)got), got);
	if (size)
		assert_int_equal(ftruncate(out, size), 0);
	close(in);
	close(out);
	refused(path, message);
	unlink(path);
}

static void
test_damaged(void **state)
{
	static const uint32_t far = 0x40000000, odd = 0x100;
	static const uint8_t big = ELFDATA2MSB, dyn = ET_DYN;
	enum { PHDR = sizeof(Elf32_Ehdr) };

	need_simulator();
	refused("tests/vax/none", "No such file");
	damaged(0, "", 0, 40, "truncated");
	damaged(0, "", 0, 300, "truncated");
	damaged(EI_DATA, &big, 1, 0, "not a VAX program");
	damaged(offsetof(Elf32_Ehdr, e_type), &dyn, 1, 0,
		"not statically linked");
	damaged(offsetof(Elf32_Ehdr, e_entry), &far, 4, 0, "its entry");
	damaged(offsetof(Elf32_Ehdr, e_phnum), &far, 2, 0, "its entry");
	damaged(PHDR + offsetof(Elf32_Phdr, p_vaddr), &far, 4, 0,
		"lies beyond the 96 MB");
	damaged(PHDR + offsetof(Elf32_Phdr, p_memsz), &odd, 4, 0,
		"no sensible size");
	damaged(PHDR + offsetof(Elf32_Phdr, p_offset), &far, 4, 0, "truncated");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shell),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_lang),
		cmocka_unit_test(test_bzip),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_begun_again),
		cmocka_unit_test(test_unknown_call),
		cmocka_unit_test(test_runaway),
		cmocka_unit_test(test_simulator_killed),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_damaged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
