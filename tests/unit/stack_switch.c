/*
 * Stack switches: for programs that leave frames in every way, each call was made,
 * and come to, as often as it was returned from and left.
 */
#include "tests/lib/watcher.h"

#include "tests/lib/build.h"

#include <unistd.h>

enum { ANY = -1 };

/*
 * How often frames of the program are left and come to is known for some, at
 * -O0; _start's, that the end of a process leaves, is one more.
 */
static const struct way {
	const char *name;
	int left, came, exact, status;
} c_ways[] = {
	/* For i = 0..4: 3 i + 1 of t_jump and one of t_longjmp. */
	{ "longjmp", 40 + 1, 5, 0 },
	{ "nested", ANY, ANY, 0 },
	{ "loop", 9 + 1, 9, 0 },
	{ "raise", ANY, 5, 0 },
	{ "fault", ANY, 5, 5 },
	{ "altstack", ANY, 5, 0 },
	{ "altfault", ANY, 5, 5 },
	{ "twice", ANY, 5, 0 },
	{ "swapcontext", ANY, ANY, 0 },
	{ "link", ANY, ANY, 0 },
	{ "get", ANY, 5, 0 },
	{ "escape", ANY, ANY, 0 },
	/* main, t_exit and 21 of t_exit_deep. */
	{ "exit", 23 + 1, 0, 0 },
	{ "kill", 22 + 1, 0, 0, -SIGKILL },
	{ "exec", 23 + 1, 0, 0 },
	{ "forks", ANY, ANY, 0 },
	{ "spawn", ANY, ANY, 0 },
	{ "pthread_exit", ANY, ANY, 0 },
	{ "cancel", ANY, ANY, 0 },
	/* Where the signal comes is chance. */
	{ "asynchronous", ANY, ANY, ANY },
	/*
	 * As exit, and t_abandon; of two threads t_body and 8 of t_rest_deep,
	 * the last of which is in a system call.
	 */
	{ "abandon", 24 + 1 + 18, 0, 0 },
	{ NULL },
}, cxx_ways[] = {
	/* Five times, for each depth d: d + 1 of t_plain and t_through's. */
	{ "plain", 5 * (2 + 3 + 4 + 12 + 52) + 1, 0, 0 },
	{ "cleanups", ANY, 0, 0 },
	{ "busy", ANY, 0, 0 },
	{ "same", 2 + 1, 0, 0 },
	{ "rethrow", ANY, 0, 0 },
	{ "saved", ANY, 0, 0 },
	{ "uncaught", ANY, 0, 0 },
	{ "noexcept", ANY, 0, 0 },
	{ "cancel", ANY, 0, 0 },
	{ "pthread_exit", ANY, 0, 0 },
	{ NULL },
};

static void
balances_check(const struct watcher *watcher, const char *what)
{
	unsigned long calls = 0;

	for (size_t i = 0; i < watcher->nimages; i++)
		for (size_t k = 0; k < watcher->images[i].nbalances; k++) {
			const struct balance *b =
				&watcher->images[i].balances[k];

			calls += b->called;
			if (b->called + b->came == b->returned + b->left)
				continue;
			fail_msg("%s: call at %" PRIx64 ": called %lu, came "
				 "%lu, returned %lu, left %lu",
				 what, b->call, b->called, b->came, b->returned,
				 b->left);
		}
	assert_true(calls > 0);
}

static void
way_check(struct watcher *watcher, const char *path, const struct way *way,
	  bool exactly)
{
	char *argv[] = { (char *)path, (char *)way->name, NULL };

	watch_again(watcher);
	watch(watcher, argv);
	if (watcher->unknown)
		fail_msg("%s %s: unknown: %s", path, way->name, watcher->why);
	assert_int_equal(watcher->status, way->status);
	balances_check(watcher, way->name);
	assert_true(watcher->left > 0);
	if (way->left != ANY && exactly)
		assert_int_equal(watcher->left, way->left);
	if (way->came != ANY && exactly)
		assert_int_equal(watcher->came, way->came);
	if (way->exact != ANY && exactly)
		assert_int_equal(watcher->exact, way->exact);
}

/*
 * All ways where their numbers are known; elsewhere, but for PMON_SLOW, every
 * other one, by turns.
 */
static void
ways_check(struct watcher *watcher, const struct way *ways, const char *source,
	   const char *cc, const char *flags, bool exactly)
{
	static unsigned serial;
	const char *path;
	char cwd[1024], name[32];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	snprintf(name, sizeof(name), "leave%u", serial++);
	run("%s -w -g %s -o %s %s/tests/prog/%s", cc, flags, name, cwd, source);
	path = in_work(name);
	for (size_t i = 0; ways[i].name; i++)
		if (exactly || getenv("PMON_SLOW") || (serial + i) % 2)
			way_check(watcher, path, &ways[i], exactly);
}

static struct watcher watcher;

static void
test_c(void **state)
{
	ways_check(&watcher, c_ways, "leave.c", "gcc", "-O0", true);
	ways_check(&watcher, c_ways, "leave.c", "gcc", "-O2", false);
	ways_check(&watcher, c_ways, "leave.c", "gcc",
		   "-O1 -no-pie -fomit-frame-pointer", false);
	ways_check(&watcher, c_ways, "leave.c", "gcc",
		   "-O2 -D_FORTIFY_SOURCE=2", false);
	ways_check(&watcher, c_ways, "leave.c", "clang", "-O2", false);
}

static void
test_cxx(void **state)
{
	ways_check(&watcher, cxx_ways, "throw.cc", "g++", "-O0", true);
	ways_check(&watcher, cxx_ways, "throw.cc", "g++", "-O2", false);
	ways_check(&watcher, cxx_ways, "throw.cc", "clang++", "-O1", false);
}

static void
test_static(void **state)
{
	ways_check(&watcher, c_ways, "leave.c", "gcc", "-O2 -static", false);
	ways_check(&watcher, cxx_ways, "throw.cc", "g++", "-O0 -static", false);
	ways_check(&watcher, cxx_ways, "throw.cc", "g++", "-O2 -static-pie",
		   false);
}

/* Frames of all sizes left at random, on stacks that are overwritten. */
static void
test_random(void **state)
{
	struct way way = { NULL, ANY, ANY, ANY };
	const char *path;
	char cwd[1024], seed[16];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	run("gcc -w -g -O1 -o wander %s/tests/prog/wander.c", cwd);
	path = in_work("wander");
	for (int i = 1; i <= 20; i++) {
		snprintf(seed, sizeof(seed), "%d", i);
		way.name = seed;
		way_check(&watcher, path, &way, false);
	}
}

/*
 * Two libraries take each other's place: the same addresses have code that
 * switches stacks by other words, and frames of another size.
 */
static void
test_replaced(void **state)
{
	char *argv[4] = { NULL };
	char cwd[1024];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	run("gcc -w -O1 -shared -fPIC -DSP=8 -DPC=16 -DFP=24 -DROOM=100"
	    " -o hop1.so %s/tests/prog/hop.c",
	    cwd);
	run("gcc -w -O1 -shared -fPIC -DSP=48 -DPC=40 -DFP=32 -DROOM=5000"
	    " -o hop2.so %s/tests/prog/hop.c",
	    cwd);
	run("gcc -w -O0 -o hopper %s/tests/prog/hopper.c", cwd);
	argv[0] = (char *)in_work("hopper");
	argv[1] = (char *)in_work("hop1.so");
	argv[2] = (char *)in_work("hop2.so");
	watch_again(&watcher);
	watch(&watcher, argv);
	assert_int_equal(watcher.unknown, 0);
	assert_int_equal(watcher.status, 0);
	balances_check(&watcher, "hopper");
	/*
	 * For i = 0..3 and n = i..i + 2, twice: n + 1 of t_down, t_go and
	 * t_once are left, and t_once is come to; at the end _start is left.
	 */
	assert_int_equal(watcher.left, 2 * (42 + 2 * 4 * 3) + 1);
	assert_int_equal(watcher.came, 2 * 4 * 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c),	 cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_static),	 cmocka_unit_test(test_random),
		cmocka_unit_test(test_replaced),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests_name("transfer", tests, work_make,
					     work_remove);
	watch_close(&watcher);
	return failed;
}
