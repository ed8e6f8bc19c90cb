/*
 * Hooks kept from run to run are those of a search of the text, and no list is
 * used that is not of the same file, or damaged.
 */
#include <dirent.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/process/kept_hooks.h"
#include "monitor/process/thread_pages.h"
#include "tests/lib/build.h"
#include "util/mem.h"

static char *libc;
static struct cache *cache;

/* The path of the C library that this test itself has. */
static int
find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (info->dlpi_name && strstr(info->dlpi_name, "/libc.so"))
		libc = mem_strdup(info->dlpi_name);
	return libc != NULL;
}

/* The tests' own libraries are as settled as others. */
static bool settle;

struct reading {
	bool maps;
	struct kept_hooks kept;
};

static bool
hooks_read(void *arg, const struct image *image)
{
	struct reading *reading = arg;
	struct image settled = *image;

	settled.file.settled |= settle;
	return kept_hooks_read(cache, &settled, reading->maps, &reading->kept);
}

/* A plan of the file's hooks, those that are kept if that is allowed. */
static struct plan *
plan_of(const char *path, bool maps, bool kept)
{
	struct reading reading = { .maps = maps };
	struct image *image = image_open_with(
		path, NULL, IMAGE_SPARSE,
		&(struct image_calls){
			.unsearched = kept ? hooks_read : NULL,
			.arg = &reading,
		});
	struct plan *plan;

	assert_non_null(image);
	plan = plan_open(image, &(struct plan_options){ .maps = maps }, NULL,
			 NULL);
	if (image->unsearched)
		plan_know_hooks(plan, reading.kept.hooks, reading.kept.n,
				reading.kept.maps_unseen);
	return plan;
}

static int
hook_compare(const void *a, const void *b)
{
	const struct hook *x = a, *y = b;

	return x->addr != y->addr ? (x->addr > y->addr) - (x->addr < y->addr) :
				    x->kind - y->kind;
}

/* The plan's hooks after a search; they may be in any order. */
static void
hooks_equal(struct plan *a, struct plan *b, unsigned follows)
{
	plan_hooks(a, follows);
	plan_hooks(b, follows);
	assert_int_equal(a->nhooks, b->nhooks);
	assert_int_equal(a->maps_unseen, b->maps_unseen);
	qsort(a->hooks, a->nhooks, sizeof(*a->hooks), hook_compare);
	qsort(b->hooks, b->nhooks, sizeof(*b->hooks), hook_compare);
	for (size_t i = 0; i < a->nhooks; i++) {
		const struct hook *x = &a->hooks[i], *y = &b->hooks[i];

		assert_int_equal(x->addr, y->addr);
		assert_int_equal(x->end, y->end);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->func, y->func);
		assert_int_equal(x->filter, y->filter);
		assert_int_equal(x->depth, y->depth);
		assert_int_equal(x->changed, y->changed);
	}
}

/* Keep what is found in the file; whether it is used then. */
static bool
keeps(const char *path, bool maps)
{
	struct plan *plan = plan_of(path, maps, false);
	struct hook own = { .kind = HOOK_LOADED };
	bool known;

	/* One of the monitor's own, which is not kept. */
	plan_hooks(plan, 0);
	own.addr = plan->nhooks ? plan->hooks[0].addr : 0;
	plan_hook(plan, &own);
	plan->image->file.settled |= settle;
	kept_hooks_write(cache, plan);
	plan_close(plan);
	plan = plan_of(path, maps, true);
	known = plan->image->unsearched;
	plan_close(plan);
	return known;
}

/* A search for all that is kept, or for one part of it and then another. */
static void
test_hooks(void **state)
{
	static const unsigned searches[][2] = {
		{ 0, 0 },
		{ HOOKS_EXECS | HOOKS_SWITCHES, 0 },
		{ 0, HOOKS_EXECS },
		{ HOOKS_SWITCHES, HOOKS_EXECS | HOOKS_SWITCHES },
	};

	for (int maps = 0; maps < 2; maps++) {
		assert_true(keeps(libc, maps));
		for (size_t i = 0; i < 4; i++) {
			struct plan *plan = plan_of(libc, maps, false);
			struct plan *kept = plan_of(libc, maps, true);

			assert_true(kept->image->unsearched);
			assert_int_equal(kept->image->nfuncs, 0);
			for (int k = 0; k < 2; k++)
				hooks_equal(plan, kept, searches[i][k]);
			assert_true(kept->nhooks > (i ? 10 : 5));
			plan_close(plan);
			plan_close(kept);
		}
	}
}

/* The path of the only file of its kind. */
static char *
list_path(void)
{
	char *dir = mem_strdup(in_work("cache/pmon")), *path = NULL;
	DIR *entries = opendir(dir);
	struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		if (strstr(entry->d_name, ".hooks")) {
			assert_null(path);
			path = mem_printf("%s/%s", dir, entry->d_name);
		}
	assert_non_null(path);
	closedir(entries);
	free(dir);
	return path;
}

/* Whether the list is used with a byte changed, or with its end cut off. */
static bool
used_damaged(const char *path, const char *text, size_t n, size_t at)
{
	FILE *out = fopen(path, "w");
	struct plan *plan;
	bool known;

	assert_non_null(out);
	for (size_t i = 0; i < n; i++)
		if (i != at)
			putc(text[i], out);
		else if (at % 2)
			putc(text[i] == '1' ? '2' : '1', out);
		else
			break;
	fclose(out);
	plan = plan_of(libc, false, true);
	known = plan->image->unsearched;
	/* Whatever the list says, nothing is missed. */
	plan_hooks(plan, HOOKS_EXECS | HOOKS_SWITCHES);
	assert_true(plan->nhooks > 10);
	plan_close(plan);
	return known;
}

static void
test_damaged(void **state)
{
	static char text[1 << 16];
	char *path;
	FILE *in;
	size_t n;

	assert_true(keeps(libc, false));
	path = list_path();
	in = fopen(path, "r");
	assert_non_null(in);
	n = fread(text, 1, sizeof(text), in);
	fclose(in);
	assert_true(n > 500 && n < sizeof(text));
	assert_true(used_damaged(path, text, n, n));
	/* But for the end of the last line. */
	for (size_t at = 0; at < n - 1; at += 1 + at / 40)
		assert_false(used_damaged(path, text, n, at));
	free(path);
}

/* A list of the same build-id, but of another file. */
static void
test_others(void **state)
{
	const char *copy = in_work("copy");
	struct stat st;

	assert_true(keeps(libc, false));
	run("cp %s copy", libc);
	assert_int_equal(stat(copy, &st), 0);
	/* It was changed just now, and might be once more. */
	assert_false(keeps(copy, false));
	assert_true(keeps(libc, false));
}

/*
 * A library that may set gs, as only a symbol far from its hints tells, or, with
 * -Darch_prctl=other, one that is like it.
 */
static void
library(const char *option)
{
	run("gcc -shared -nostdlib -Wl,--build-id %s -o far.so "
	    "\"$OLDPWD/tests/prog/far_gs.S\"",
	    option);
}

static void
test_thread_reg(void **state)
{
	struct plan *plan;

	settle = true;
	library("-Darch_prctl=other");
	assert_true(keeps(in_work("far.so"), false));
	library("");
	assert_false(keeps(in_work("far.so"), false));
	plan = plan_of(in_work("far.so"), false, true);
	assert_true(thread_pages_doubtful(plan->image));
	plan_close(plan);
	settle = false;
}

/* A file that cannot be read any more when its text is needed. */
static void
test_lost(void **state)
{
	struct kept_hooks kept;
	struct plan *plan;

	library("-Darch_prctl=other");
	plan = plan_of(in_work("far.so"), false, false);
	plan->image->file.settled = true;
	kept_hooks_forget(cache, plan->image);
	assert_int_equal(truncate(in_work("far.so"), SPARSE_TEXT), 0);
	kept_hooks_write(cache, plan);
	assert_true(image_lost(plan->image));
	assert_false(kept_hooks_read(cache, plan->image, false, &kept));
	plan_close(plan);
}

static int
begin(void **state)
{
	dl_iterate_phdr(find_libc, NULL);
	if (!libc || work_make(NULL) || try("mkdir -m 700 cache"))
		return -1;
	cache = cache_open();
	return setenv("XDG_CACHE_HOME", in_work("cache"), 1);
}

static int
end(void **state)
{
	cache_close(cache);
	return work_remove(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hooks),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_thread_reg),
		cmocka_unit_test(test_lost),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("kept hooks", tests, begin, end);
}
