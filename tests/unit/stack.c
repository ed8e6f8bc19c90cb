/*
 * Walks.  The oracle is the processor: from one instruction to the next a
 * call adds one frame and a return takes one away; no other changes what is
 * outside the innermost one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/build.h"

#include "monitor/unwind/stack.h"
#include "util/mem.h"

static const struct host *const host = &host_ptrace;
static const struct arch *const arch = &arch_x86_64;

enum { ALL_STEPS = 1000000 };

/* ---- programs */

/* Compile tests/prog/SOURCE with these flags; its path. */
static const char *
compile(const char *source, const char *name, const char *cc, const char *flags)
{
	char cwd[1024];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	run("%s -w -g %s -o %s %s/tests/prog/%s", cc, flags, name, cwd, source);
	return in_work(name);
}

/* Wait for an event of this task; others go on. */
static void
await(pid_t tid, struct event *event)
{
	for (;;) {
		host->wait(event);
		if (event->tid == tid || event->kind == EVENT_DONE)
			return;
		if (event->kind != EVENT_WAKE)
			host->resume(event->tid,
				     event->kind == EVENT_EXITING ? RESUME_END :
								    RESUME_RUN,
				     event->kind == EVENT_SIGNAL ?
					     event->value :
					     0);
	}
}

/* Start a program: it has come to its exec, and run nothing yet. */
static pid_t
begin(char **argv)
{
	int out = dup(1), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct event event;
	pid_t tid;

	/* Its output is none of this test's. */
	assert_int_equal(dup2(null, 1), 1);
	assert_int_equal(host->launch(argv[0], argv, &tid), 0);
	assert_int_equal(dup2(out, 1), 1);
	close(out);
	close(null);
	for (;;) {
		await(tid, &event);
		if (event.kind == EVENT_EXEC)
			return tid;
		assert_int_not_equal(event.kind, EVENT_KILLED);
		host->resume(tid, RESUME_RUN, 0);
	}
}

/* It may be at its last stop already. */
static void
finish(pid_t tid)
{
	struct event event;

	host->kill(tid, SIGKILL);
	host->resume(tid, RESUME_END, 0);
	do {
		host->wait(&event);
		if (event.kind != EVENT_DONE && event.kind != EVENT_WAKE &&
		    event.kind != EVENT_EXITED && event.kind != EVENT_KILLED)
			host->resume(event.tid, RESUME_END, 0);
	} while (event.kind != EVENT_DONE);
}

/* ---- one instruction after the other */

static bool
frames_equal(const struct walk *a, size_t i, const struct walk *b, size_t j)
{
	if (a->n - i != b->n - j)
		return false;
	for (; i < a->n; i++, j++)
		if (a->frames[i].pc != b->frames[j].pc ||
		    a->frames[i].sp != b->frames[j].sp ||
		    a->frames[i].begins != b->frames[j].begins)
			return false;
	return true;
}

/* Does `after` follow from `before` by the instruction between them? */
static bool
walks_follow(const struct walk *before, const struct insn *insn,
	     const struct walk *after)
{
	uint64_t ret = insn->addr + insn->len;

	if (insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT)
		return after->n > 1 && after->frames[1].pc == ret &&
		       after->frames[1].sp == before->frames[0].sp &&
		       !after->frames[1].exact &&
		       frames_equal(before, 1, after, 2);
	/* The first return comes from where nobody called. */
	if (insn->kind == INSN_RETURN && before->n > 1)
		return after->frames[0].pc == before->frames[1].pc &&
		       after->frames[0].sp == before->frames[1].sp &&
		       before->frames[0].cfa == before->frames[1].sp &&
		       frames_equal(before, 2, after, 1);
	return frames_equal(before, 1, after, 1);
}

static void
walk_print(const char *what, const struct walk *walk)
{
	print_message("# %s: %d %s\n", what, walk->end, walk->why);
	for (size_t i = 0; i < walk->n && i < 12; i++)
		print_message("#  %" PRIx64 " sp %" PRIx64 " %d %d\n",
			      walk->frames[i].pc, walk->frames[i].sp,
			      walk->frames[i].exact, walk->frames[i].begins);
}

static void
walk_now(struct stack *stack, pid_t tid, struct walk *walk)
{
	struct walk_start start;

	assert_int_equal(walk_start(host, tid, &start), 0);
	assert_int_equal(stack_walk(stack, tid, &start, NULL, walk), 0);
	assert_true(walk->n > 0);
}

struct stepping {
	size_t steps, calls, returns, signals, deepest, begins, lost;
	bool ended;
};

/* Step through the program, with a walk at each instruction. */
static void
step_through(struct stack *stack, pid_t tid, size_t steps, struct stepping *s)
{
	struct walk before = { 0 }, after;
	struct event event = { .kind = EVENT_DONE };
	struct insn insn = { 0 };
	uint8_t code[INSN_MAX];
	int signal;

	*s = (struct stepping){ 0 };
	while (s->steps++ < steps && !s->ended) {
		walk_now(stack, tid, &after);
		/* The kernel's own getrandom has no tables. */
		if (after.end != WALK_OUTERMOST &&
		    !strstr(after.why, "[vdso]")) {
			s->lost++;
			if (!strstr(after.why, "(no unwind table)") ||
			    strstr(after.why, "/lib"))
				fail_msg("lost: %s", after.why);
		}
		if (before.n && before.end == after.end &&
		    after.end == WALK_OUTERMOST && event.kind == EVENT_TRAP &&
		    insn.kind != INSN_SYSCALL &&
		    !walks_follow(&before, &insn, &after)) {
			walk_print("before", &before);
			walk_print("after", &after);
			fail_msg("after an instruction of kind %d", insn.kind);
		}
		if (after.n > s->deepest)
			s->deepest = after.n;
		for (size_t i = 0; i < after.n; i++)
			s->begins += after.frames[i].begins;
		walk_free(&before);
		before = after;
		for (size_t n = sizeof(code); n; n--)
			if (!host->data_read(tid, before.frames[0].pc, code, n))
				break;
		assert_int_equal(arch->decode(code, sizeof(code),
					      before.frames[0].pc, &insn),
				 0);
		s->calls += insn.kind == INSN_CALL;
		s->returns += insn.kind == INSN_RETURN;
		signal = event.kind == EVENT_SIGNAL ? event.value : 0;
		host->resume(tid, RESUME_STEP, signal);
		await(tid, &event);
		/* A step into a handler is no instruction. */
		if (signal)
			event.kind = EVENT_STOPPED;
		s->signals += event.kind == EVENT_SIGNAL;
		s->ended = event.kind == EVENT_EXITING ||
			   event.kind == EVENT_EXITED;
	}
	walk_free(&before);
}

/* Let it run to its function of this name. */
static void
run_to(pid_t tid, const char *path, const char *name)
{
	struct image *image = image_open(path, NULL, 0, NULL, NULL);
	struct event event;
	uint64_t va = 0, pc, base = host->auxv(tid, 9 /* AT_ENTRY */);
	uint8_t byte, trap = 0xcc;
	int mem;

	assert_non_null(image);
	for (size_t i = 0; i < image->nfuncs; i++)
		if (!strcmp(image->funcs[i].name, name))
			va = image->funcs[i].addr + base - image->entry;
	assert_true(va != 0);
	mem = host->mem_open(tid);
	assert_int_equal(host->mem_read(mem, tid, va, &byte, 1), 0);
	assert_int_equal(host->mem_write(mem, tid, va, &trap, 1), 0);
	do {
		host->resume(tid, RESUME_RUN, 0);
		await(tid, &event);
	} while (event.kind != EVENT_TRAP);
	assert_int_equal(host->mem_write(mem, tid, va, &byte, 1), 0);
	assert_int_equal(host->reg_get(tid, arch->reg_pc, &pc), 0);
	assert_int_equal(pc, va + 1);
	host->reg_set(tid, arch->reg_pc, va);
	host->mem_close(mem);
	image_close(image);
}

/* Compile what is said here; its path. */
static const char *
build(const char *name, const char *flags, const char *text)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.c", name);
	source(file, text);
	run("gcc -w %s -o %s %s", flags, name, file);
	return in_work(name);
}

/* Run a program until it is stopped by a signal, which is not delivered. */
static pid_t
begin_to_signal(const char *path, const char *arg)
{
	char *argv[] = { (char *)path, (char *)arg, NULL };
	pid_t tid = begin(argv);
	struct event event;

	do {
		host->resume(tid, RESUME_RUN, 0);
		await(tid, &event);
	} while (event.kind != EVENT_SIGNAL);
	return tid;
}

static void
test_steps(void **state)
{
	static const struct {
		const char *name, *cc, *flags;
	} kinds[] = {
		{ "lazy", "gcc", "-O2 -Wl,-z,lazy" },
		{ "O0", "gcc", "-O0" },
		{ "nopie", "gcc", "-O2 -no-pie -fomit-frame-pointer" },
		{ "stripped", "gcc", "-O2 -s -fomit-frame-pointer" },
		{ "static", "gcc", "-O2 -static" },
		{ "staticpie", "gcc", "-O1 -static-pie" },
		{ "clang", "clang", "-O2" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *path = compile("walk.c", kinds[i].name, kinds[i].cc,
					   kinds[i].flags);
		bool stripped = strstr(kinds[i].flags, "-s ");
		char *argv[] = { (char *)path, NULL };
		struct stack *stack = stack_open(host, arch);
		pid_t tid = begin(argv);
		struct stepping s;

		/* From the first instruction of the dynamic linker on. */
		step_through(stack, tid, stripped ? ALL_STEPS : 3000, &s);
		if (!stripped) {
			run_to(tid, path, "main");
			step_through(stack, tid, ALL_STEPS, &s);
		}
		assert_true(s.ended);
		assert_true(s.calls > 100 && s.returns > s.calls);
		assert_int_equal(s.signals, 2);
		assert_true(s.begins > 0);
		/* What gcc's crtbegin.o adds has no tables. */
		assert_true(s.lost <= 150);
		stack_close(stack);
		finish(tid);
	}
}

static size_t nreads;

static int
read_counted(pid_t tid, uint64_t va, void *buf, size_t n)
{
	nreads++;
	return host->data_read(tid, va, buf, n);
}

/* While it is held nothing is read twice; then all is read again. */
static void
test_held(void **state)
{
	const char *path = compile("walk.c", "held", "gcc", "-O0");
	struct host counted = *host;
	char *argv[] = { (char *)path, NULL };
	struct walk walk;
	struct stack *stack;
	uint64_t sp, words[2];
	pid_t tid = begin(argv);
	size_t first;

	counted.data_read = read_counted;
	stack = stack_open(&counted, arch);
	run_to(tid, path, "main");
	assert_int_equal(host->reg_get(tid, arch->reg_sp, &sp), 0);
	walk_now(stack, tid, &walk);
	walk_free(&walk);
	nreads = 0;
	stack_cache(stack);
	walk_now(stack, tid, &walk);
	walk_free(&walk);
	first = nreads;
	assert_true(first > 0);
	walk_now(stack, tid, &walk);
	walk_free(&walk);
	assert_int_equal(stack_read(stack, tid, sp, words, sizeof(words)), 0);
	assert_int_equal(nreads, first);
	stack_uncache(stack);
	walk_now(stack, tid, &walk);
	assert_int_equal(walk.end, WALK_OUTERMOST);
	/* Its caller is where the word on top of the stack says. */
	assert_true(walk.n > 1 && walk.frames[1].pc == words[0]);
	walk_free(&walk);
	assert_int_equal(nreads, 2 * first);
	stack_close(stack);
	finish(tid);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* As many frames as calls, and no more time for each than is reasonable. */
static void
test_depth(void **state)
{
	static const int depths[] = { 3, 93, 1000, 100000 };
	const char *path = build(
		"depth", "-O1 -fno-optimize-sibling-calls",
		"#include <signal.h>\n#include <stdlib.h>\n"
		"volatile int x;\n"
		"__attribute__((noinline)) int f(int n) { int r = n ?"
		" f(n - 1) : raise(SIGUSR1); return r + x; }\n"
		"int main(int argc, char **argv)"
		"{ return f(atoi(argv[1])); }\n");

	for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
		struct stack *stack = stack_open(host, arch);
		struct walk walk;
		char arg[16];
		size_t same = 0, first;
		double first_time, start;
		int n = depths[i] < 10000 ? 1000 : 3;
		pid_t tid;

		snprintf(arg, sizeof(arg), "%d", depths[i]);
		tid = begin_to_signal(path, arg);
		start = now();
		walk_now(stack, tid, &walk);
		first_time = now() - start;
		assert_int_equal(walk.end, WALK_OUTERMOST);
		for (size_t k = 1; k < walk.n; k++)
			same += walk.frames[k].pc == walk.frames[k - 1].pc;
		/* f(n - 1) returns to the same place but for the last. */
		assert_int_equal(same, depths[i] - 1);
		first = walk.n;
		walk_free(&walk);
		start = now();
		for (int k = 0; k < n; k++) {
			walk_now(stack, tid, &walk);
			assert_int_equal(walk.n, first);
			walk_free(&walk);
		}
		print_message("# %zu frames: %.1f us, the first time %.1f\n",
			      first, (now() - start) / n, first_time);
		stack_close(stack);
		finish(tid);
	}
}

/* Walk at the signal: how it ends and how many frames of the program. */
static void
end_check(const char *path, enum walk_end end, const char *why, size_t frames)
{
	struct stack *stack = stack_open(host, arch);
	pid_t tid = begin_to_signal(path, NULL);
	struct walk walk;

	walk_now(stack, tid, &walk);
	stack_close(stack);
	finish(tid);
	if (walk.end != end || !strstr(walk.why, why) || walk.n != frames) {
		walk_print(path, &walk);
		fail_msg("not %zu frames and \"%s\"", frames, why);
	}
	walk_free(&walk);
}

static const char tree[] =
	"volatile int x;\n"
	"__attribute__((noinline)) int h(int n) { __asm__ volatile(\"ud2\");"
	" return n + x; }\n"
	"__attribute__((noinline)) int g(int n) { return h(n) + x; }\n"
	"int main(void) { return g(1) + x; }\n";

/*
 * Without tables: by frame pointers if the code keeps them, and not beyond
 * where it does not.  h, g, main, __libc_start_call_main,
 * __libc_start_main and _start.
 */
static void
test_no_tables(void **state)
{
	end_check(build("tables", "-O1", tree), WALK_OUTERMOST, "", 6);
	end_check(build("pointers",
			"-O0 -fno-omit-frame-pointer "
			"-fno-asynchronous-unwind-tables -fno-unwind-tables",
			tree),
		  WALK_OUTERMOST, "", 6);
	end_check(build("nothing",
			"-O1 -fomit-frame-pointer "
			"-fno-asynchronous-unwind-tables -fno-unwind-tables",
			tree),
		  WALK_TRUNCATED, "h in ", 1);
	end_check(build("unnamed",
			"-O0 -s -fno-omit-frame-pointer "
			"-fno-asynchronous-unwind-tables -fno-unwind-tables",
			tree),
		  WALK_TRUNCATED, "no unwind table", 1);
}

/* Stacks that are no stacks any more. */
static void
test_overwritten(void **state)
{
	static const char text[] =
		"#include <string.h>\n"
		"__attribute__((noinline)) int g(int n) {"
		" long a[4]; __builtin_memset(a, n, 4096 / 32 * 8);"
		" __asm__ volatile(\"ud2\" :: \"r\"(a) : \"memory\");"
		" return a[2]; }\n"
		"int main(void) { char room[4096]; return g(%s) + room[9]; }\n";
	char program[512];

	snprintf(program, sizeof(program), text, "0");
	end_check(build("zeros", "-O1 -fno-stack-protector", program),
		  WALK_TRUNCATED, "the return address is 0", 1);
	snprintf(program, sizeof(program), text, "0x41");
	end_check(build("ones", "-O1 -fno-stack-protector", program),
		  WALK_TRUNCATED, "there is no file", 2);
	/* A return address and frame pointer that lead to themselves. */
	end_check(
		build("circle", "-O0",
		      "int main(void) { void **f = __builtin_frame_address(0);"
		      " f[0] = f; f[1] = &&here; here:"
		      " __asm__ volatile(\"ud2\"); return 0; }\n"),
		WALK_TRUNCATED, "the stack goes backwards", 2);
}

/* The program is renamed, and others take its place, while it runs. */
static void
test_renamed(void **state)
{
	struct stack *stack = stack_open(host, arch);
	const char *path = build("renamed", "-O1", tree);
	pid_t tid = begin_to_signal(path, NULL);
	struct walk walk;

	run("mv renamed elsewhere && cp /bin/true renamed");
	walk_now(stack, tid, &walk);
	assert_int_equal(walk.end, WALK_OUTERMOST);
	assert_int_equal(walk.n, 6);
	walk_free(&walk);
	run("rm elsewhere");
	stack_close(stack);
	stack = stack_open(host, arch);
	walk_now(stack, tid, &walk);
	assert_int_equal(walk.n, 6);
	walk_free(&walk);
	stack_close(stack);
	finish(tid);
}

/*
 * One library takes another's place: the same code calls back from another
 * depth, so that the tables of the first are wrong.
 */
static void
test_reloaded(void **state)
{
	static const char plugin[] =
		"int run(int (*f)(void)) { volatile char room[%s];"
		" room[0] = 1; return f() + room[0]; }\n";
	static const char loader[] =
		"#include <dlfcn.h>\n#include <signal.h>\n"
		"static int stop(void) { return raise(SIGUSR1) + 1; }\n"
		"static void once(const char *path) {"
		" void *dl = dlopen(path, RTLD_NOW);"
		" int (*run)(int (*)(void)) = dlsym(dl, \"run\");"
		" run(stop); dlclose(dl); }\n"
		"int main(void) {"
		" for (;;) { once(\"./one.so\"); once(\"./two.so\"); } }\n";
	struct stack *stack = stack_open(host, arch);
	char text[256], cwd[1024], *argv[] = { NULL, NULL };
	struct event event;
	struct walk walk;
	pid_t tid;

	snprintf(text, sizeof(text), plugin, "100");
	build("one.so", "-O1 -shared -fPIC", text);
	snprintf(text, sizeof(text), plugin, "5000");
	build("two.so", "-O1 -shared -fPIC", text);
	argv[0] = (char *)build("loader", "-O1", loader);
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(work), 0);
	tid = begin(argv);
	assert_int_equal(chdir(cwd), 0);
	for (int i = 0; i < 20; i++) {
		do {
			host->resume(tid, RESUME_RUN, 0);
			await(tid, &event);
		} while (event.kind != EVENT_SIGNAL);
		walk_now(stack, tid, &walk);
		if (walk.end != WALK_OUTERMOST)
			fail_msg("time %d: %s", i, walk.why);
		walk_free(&walk);
	}
	stack_close(stack);
	finish(tid);
}

/* Real programs, stepped a little after each of their system calls. */
static void
test_programs(void **state)
{
	static char *commands[][5] = {
		{ "/bin/bash", "-c",
		  "for i in 1 2 3; do x=$(echo $i); done;"
		  " [[ $x =~ [0-9]+ ]] && echo ${x/3/4}" },
		{ "/usr/bin/perl", "-e",
		  "my %h = map { $_ => $_ ** 2 } 1..50;"
		  "print join ' ', sort { $a <=> $b } values %h;"
		  "eval { die 1 }; system 'true'" },
		{ "/usr/bin/python3", "-c",
		  "import json\n"
		  "print(json.dumps(sorted({str(i): i for i in range(50)})))\n"
		  "try:\n 1/0\nexcept ZeroDivisionError: pass\n" },
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct stack *stack = stack_open(host, arch);
		pid_t tid = begin(commands[i]);
		struct event event = { .kind = EVENT_EXEC };
		struct stepping s;
		size_t walks = 0;
		int signal;

		for (;;) {
			signal = event.kind == EVENT_SIGNAL ? event.value : 0;
			host->resume(tid,
				     event.kind == EVENT_EXITING ?
					     RESUME_END :
					     RESUME_SYSCALL,
				     signal);
			await(tid, &event);
			if (event.kind == EVENT_EXITED)
				break;
			if (event.kind != EVENT_SYSCALL_EXIT)
				continue;
			step_through(stack, tid, 40, &s);
			walks += s.steps;
			assert_int_equal(s.lost, 0);
			event.kind = EVENT_STOPPED;
			if (s.ended)
				break;
		}
		print_message("# %s: %zu walks\n", commands[i][0], walks);
		assert_true(walks > 1000);
		stack_close(stack);
		finish(tid);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_no_tables),
		cmocka_unit_test(test_overwritten),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_reloaded),
		cmocka_unit_test(test_programs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stack", tests, work_make,
					   work_remove);
}
