/*
 * Modules that are rendered before their process is stopped: written as they are
 * if the process is still as it was, and made anew if it is not.  Either way the
 * counts are right.
 */
#include "monitor/process/notice.h"
#include "tests/lib/told.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/patch/foreseen.h"
#include "monitor/patch/module.h"
#include "monitor/patch/plant.h"
#include "monitor/process/object.h"
#include "monitor/start.h"
#include "monitor/stop.h"
#include "probe/counts.h"

#include "tests/lib/build.h"

enum { FUNCS = 8, PROCESSES = 2, CALLS = 3 };

/*
 * Writes its id when it is ready, and does what it reads: w calls a function in
 * each page of its text; m maps a page where it is told.  Ends with its input.
 */
static const char program[] =
	"#include <stdint.h>\n#include <unistd.h>\n#include <sys/mman.h>\n"
	"int sum;\n"
	"#define F(n) __attribute__((noinline, aligned(4096))) "
	"void f##n(int a) { for (; a; a--) sum += n + 1; }\n"
	"F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)\n"
	"int main(void)\n{\n"
	"	char c;\n	int pid;\n	uintptr_t at;\n\n"
	"	pid = getpid();\n	write(1, &pid, sizeof(pid));\n"
	"	while (read(0, &c, 1) == 1) {\n"
	"		if (c == 'w') {\n"
	"			f0(2); f1(2); f2(2); f3(2);\n"
	"			f4(2); f5(2); f6(2); f7(2);\n"
	"		} else if (read(0, &at, sizeof(at)) == sizeof(at)) {\n"
	"			mmap((void *)at, 4096, PROT_NONE,\n"
	"			    MAP_FIXED_NOREPLACE | MAP_PRIVATE |\n"
	"			    MAP_ANONYMOUS, -1, 0);\n"
	"		}\n"
	"		write(1, &c, 1);\n"
	"	}\n	return 0;\n}\n";

static struct target {
	pid_t pid;
	int in, out;
	struct range text;	/* of the program */
} targets[PROCESSES];

static size_t ntargets;

static void
target_ask(const struct target *target, char what, uint64_t at)
{
	char answer;

	assert_int_equal(write(target->in, &what, 1), 1);
	if (what == 'm')
		assert_int_equal(write(target->in, &at, sizeof(at)),
				 sizeof(at));
	assert_int_equal(read(target->out, &answer, 1), 1);
	assert_int_equal(answer, what);
}

/*
 * Start it; as an orphan, if pmon is to let it go, since pmon would wait for a
 * child of this process.
 */
static void
target_start(struct target *target, bool orphan)
{
	int in[2], out[2];
	pid_t maker;

	assert_false(pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC));
	maker = fork();
	if (!maker) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		if (!orphan || !fork())
			execl(in_work("p"), "p", (char *)NULL);
		_exit(0);
	}
	if (orphan)
		waitpid(maker, NULL, 0);
	close(in[0]);
	close(out[1]);
	target->in = in[1];
	target->out = out[0];
	assert_int_equal(read(target->out, &target->pid, sizeof(target->pid)),
			 sizeof(target->pid));
}

static void
input_end(struct target *target)
{
	if (target->in >= 0)
		close(target->in);
	target->in = -1;
}

static void
target_end(struct target *target)
{
	input_end(target);
	close(target->out);
	waitpid(target->pid, NULL, 0);	/* unless it is an orphan */
}

/* ---- what is done between pmon's look and the stop */

enum way { NOTHING, TAKES_PLACE, CHANGES_TEXT, ENDS };

static enum way way;

static bool
is_program(const struct plan *plan)
{
	return plan && !strcmp(plan->image->path, in_work("p"));
}

static const struct foreseen *
foreseen_of(const struct run *run, const struct target *target)
{
	for (size_t i = 0; i < run->nforeseen; i++)
		if (run->foreseen[i]->pid == target->pid &&
		    is_program(run->foreseen[i]->module.plan))
			return run->foreseen[i];
	fail_msg("nothing was foreseen");
	return NULL;
}

static void
target_change(const struct run *run, struct target *target)
{
	const struct module *module = &foreseen_of(run, target)->module;
	const struct func *func = func_named(module->plan->image, "f7");
	char path[64];
	int mem;

	target->text = (struct range){ module->lo, module->hi };
	switch (way) {
	case NOTHING:
		break;
	case TAKES_PLACE:
		target_ask(target, 'm',
			   module->relocated ? module->relocated :
					       module->slots);
		break;
	case CHANGES_TEXT:
		/* Instructions that do nothing instead of others. */
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)target->pid);
		mem = open(path, O_WRONLY | O_CLOEXEC);
		assert_int_equal(pwrite(mem, "\xc3\x90\x90\x90\x90\x90\x90", 7,
					(off_t)(func->addr + module->bias)),
				 7);
		close(mem);
		break;
	case ENDS:
		input_end(target);
		/* It is a zombie. */
		assert_false(waitid(P_PID, (id_t)target->pid, NULL,
				    WEXITED | WNOWAIT));
	}
}

/* ---- a host whose reads of several pages at once are noted */

static struct host noting;
static const struct host *noted;
static bool read_at_once;

static int
noting_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n)
{
	for (size_t i = 0; i < ntargets && n > PAGE; i++)
		read_at_once |= va - targets[i].text.lo <
				targets[i].text.hi - targets[i].text.lo;
	return noted->mem_read(mem, tid, va, buf, n);
}

static int
attach(struct run *run)
{
	int err;

	read_at_once = false;
	for (size_t i = 0; i < ntargets; i++)
		process_foresee(run, targets[i].pid);
	for (size_t i = 0; i < ntargets; i++)
		target_change(run, &targets[i]);
	noted = run->host;
	noting = *run->host;
	noting.mem_read = noting_mem_read;
	run->host = &noting;
	err = run_attach(run, run->opts->pids, run->opts->npids);
	assert_null(run->foreseen);
	if (err)
		return -1;
	for (size_t i = 0; i < ntargets; i++) {
		for (int k = 0; k < CALLS; k++)
			assert_int_equal(write(targets[i].in, "w", 1), 1);
		input_end(&targets[i]);
	}
	return 0;
}

static void
counts_check(struct run *run)
{
	for (size_t i = 0; i < run->nobjects; i++) {
		struct plan *plan = run->objects[i].plan;

		if (!is_program(plan))
			continue;
		plan_propagate(plan, NULL);
		for (int f = 0; f < FUNCS; f++) {
			char name[] = { 'f', (char)('0' + f), 0 };
			const struct count *calls =
				&fplan_named(plan, name)->calls;

			if (way == CHANGES_TEXT && f == 7) {
				assert_int_equal(calls->state, COUNT_UNKNOWN);
				continue;
			}
			assert_int_equal(calls->n, ntargets * CALLS);
			assert_int_not_equal(calls->state, COUNT_UNKNOWN);
		}
	}
}

static void
attached(enum way then, const char *units, const char *option)
{
	char pids[PROCESSES][16];
	char *argv[] = { "pmon",	 "--no-config", (char *)units,
			 (char *)option, "-p",		pids[0],
			 NULL,		 NULL,		NULL };

	way = then;
	for (size_t i = 0; i < ntargets; i++) {
		target_start(&targets[i], false);
		snprintf(pids[i], sizeof(pids[i]), "%d", (int)targets[i].pid);
	}
	if (ntargets > 1) {
		argv[6] = "-p";
		argv[7] = pids[1];
	}
	assert_int_equal(told_run(argv, attach,
				  then == ENDS ? NULL : counts_check),
			 then == ENDS ? -1 : 0);
	assert_int_equal(read_at_once, then != TAKES_PLACE && then != ENDS);
	for (size_t i = 0; i < ntargets; i++)
		target_end(&targets[i]);
}

/* ---- letting go */

enum { TEXT_MAX = 16 * PAGE };

/* The program's text before pmon came. */
static uint8_t text_before[TEXT_MAX];
/* The byte that changes just before pmon compares what it read early, if any
 * does. */
static uint64_t changed_va;
static bool changing, changes;

static void
text_access(const struct target *target, uint64_t va, uint8_t *bytes, size_t n,
	    bool write)
{
	char path[64];
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)target->pid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(write ? pwrite(mem, bytes, n, (off_t)va) :
				 pread(mem, bytes, n, (off_t)va),
			 n);
	close(mem);
}

static int
changing_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n)
{
	uint8_t byte = 0xcc;

	if (changing && n > PAGE &&
	    va - targets[0].text.lo < targets[0].text.hi - targets[0].text.lo) {
		text_access(&targets[0], changed_va, &byte, 1, true);
		changing = false;
	}
	return noting_mem_read(mem, tid, va, buf, n);
}

/* Has the process a page of its own at va, instead of the file's? */
static bool
page_own(pid_t pid, uint64_t va)
{
	char path[32];
	uint64_t page;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, &page, sizeof(page),
			       (off_t)(va / PAGE * sizeof(page))),
			 sizeof(page));
	close(fd);
	/* Present, and no page of a file (Documentation/admin-guide/mm). */
	return page >> 63 && !(page >> 61 & 1);
}

/* What is to be changed is the process's own before it is stopped, and as was. */
static void
touched(const struct module *module)
{
	const struct image *image = module->plan->image;
	uint64_t addr = func_named(image, "f1")->addr, at;
	size_t n;
	const uint8_t *text = image_text(image, addr / PAGE * PAGE, &n);

	assert_true(page_own(targets[0].pid, addr + module->bias));
	at = addr / PAGE * PAGE + module->bias - targets[0].text.lo;
	assert_true(n >= PAGE);
	assert_memory_equal(text_before + at, text, PAGE);
}

/* Attach and let go, before any of the program is run. */
static int
leave(struct run *run)
{
	const struct module *module;
	size_t size;

	process_foresee(run, targets[0].pid);
	module = &foreseen_of(run, &targets[0])->module;
	targets[0].text = (struct range){ module->lo, module->hi };
	noted = run->host;
	noting = *run->host;
	noting.mem_read = changing_mem_read;
	run->host = &noting;
	size = module->hi - module->lo;
	assert_true(size <= TEXT_MAX);
	text_access(&targets[0], module->lo, text_before, size, false);
	touched(module);
	/* The last byte of f6's page: nothing is there. */
	changed_va = func_named(module->plan->image, "f7")->addr +
		     module->bias - 1;
	if (run_attach(run, run->opts->pids, run->opts->npids))
		return -1;
	/* As if it had run since. */
	run_goes_on(run);
	module = run->processes->space->modules[0];
	assert_true(!module->relocated || module->nguards);
	assert_int_equal(module->nguards, module->plan->nguards);
	read_at_once = false;
	changing = changes;
	run_stop(run, 0);
	assert_false(changing);
	assert_true(read_at_once);
	foreseen_end(run);
	return 0;
}

static void
left(bool changed, const char *units, const char *option)
{
	char pid[16];
	char *argv[] = { "pmon", "--no-config", (char *)units, (char *)option,
			 "-p",	 pid,		NULL };
	struct target *target = &targets[0];
	uint8_t after[TEXT_MAX];
	size_t size;

	ntargets = 1;
	changes = changed;
	target_start(target, true);
	snprintf(pid, sizeof(pid), "%d", (int)target->pid);
	assert_int_equal(told_run(argv, leave, NULL), 0);
	size = target->text.hi - target->text.lo;
	text_access(target, target->text.lo, after, size, false);
	if (changed)
		text_before[changed_va - target->text.lo] = 0xcc;
	assert_memory_equal(text_before, after, size);
	target_ask(target, 'w', 0);
	target_end(target);
}

/* ---- tests */

static void
each_left(bool changed)
{
	left(changed, "--units=func", "--patch=auto");
	left(changed, "--units=func", "--no-traps");
	left(changed, "--units=func,edge", "--patch=auto");
	left(changed, "--units=func", "--patch=trap");
	left(changed, "--units=func", "--object=*");
}

static void
each(enum way then)
{
	for (ntargets = 1; ntargets <= PROCESSES; ntargets++) {
		attached(then, "--units=func", "--patch=auto");
		attached(then, "--units=func", "--no-traps");
		attached(then, "--units=func,edge", "--patch=auto");
		attached(then, "--units=func,edge", "--patch=slot");
		attached(then, "--units=func", "--object=*");
	}
}

static void
foreseen(void **state)
{
	(void)state;
	each(NOTHING);
}

static void
place_taken(void **state)
{
	(void)state;
	each(TAKES_PLACE);
}

static void
text_changed(void **state)
{
	(void)state;
	each(CHANGES_TEXT);
}

static void
undone(void **state)
{
	(void)state;
	each_left(false);
}

static void
undone_changed(void **state)
{
	(void)state;
	each_left(true);
}

static void
ended(void **state)
{
	(void)state;
	ntargets = 1;
	attached(ENDS, "--units=func", "--patch=auto");
}

static int
make(void **state)
{
	int err = work_make(state);

	source("p.c", program);
	run("gcc -O1 -w -o p p.c");
	return err;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreseen),
		cmocka_unit_test(place_taken),
		cmocka_unit_test(text_changed),
		cmocka_unit_test(ended),
		cmocka_unit_test(undone),
		cmocka_unit_test(undone_changed),
	};

	/* The ticks of a pause that takes long are caught. */
	notice_init(false);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("foreseen", tests, make,
					   work_remove);
}
