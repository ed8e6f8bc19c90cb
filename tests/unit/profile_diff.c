/*
 * What changed between two profiles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "report/profile/profile.h"
#include "util/mem.h"

/* After the others: it makes fail a macro. */
#include <cmocka.h>

static struct profile_object *
object_add(struct profile *profile, const char *path, uint8_t id)
{
	struct profile_object *object = vec_push(profile->objects,
						 profile->nobjects);

	*object = (struct profile_object){
		.path = mem_strdup(path),
		.build_id = { id },
		.build_id_len = 20,
	};
	return object;
}

/* A function of two blocks, of 2 and 3 instructions, that ran so often. */
static struct profile_func *
func_add(struct profile_object *object, uint64_t addr, const char *name,
	 uint64_t first, uint64_t second)
{
	struct profile_func *func = vec_push(object->funcs, object->nfuncs);

	*func = (struct profile_func){
		.addr = addr,
		.part = PART_NONE,
		.state = PROFILE_COUNTED,
		.name = mem_strdup(name),
	};
	*vec_push(func->blocks, func->nblocks) = (struct profile_block){
		addr,
		8,
		2,
		{ first, COUNT_EXACT, 0 },
	};
	*vec_push(func->blocks, func->nblocks) = (struct profile_block){
		addr + 8,
		8,
		3,
		{ second, COUNT_EXACT, 0 },
	};
	*vec_push(func->edges, func->nedges) = (struct profile_edge){
		FLOW_ROOT,
		FLOW_BLOCK,
		BY_NOTHING,
		{ first, COUNT_EXACT, 0 },
	};
	return func;
}

static void
func_is(const struct diff_func *func, const char *name, uint64_t before,
	uint64_t after, size_t nblocks)
{
	assert_string_equal(func->after->name, name);
	assert_int_equal(func->before_n, before);
	assert_int_equal(func->after_n, after);
	assert_int_equal(func->nblocks, nblocks);
}

static void
test_counts(void **state)
{
	struct profile *a = mem_alloc(sizeof(*a)), *b = mem_alloc(sizeof(*b));
	struct profile_object *old = object_add(a, "/bin/x", 1);
	struct profile_object *new = object_add(b, "/bin/x", 1);
	struct profile_diff *diff;

	func_add(old, 0x100, "same", 5, 5);
	func_add(new, 0x100, "same", 5, 5);
	func_add(old, 0x200, "more", 1, 10);
	func_add(new, 0x200, "more", 2, 30);
	func_add(old, 0x300, "less", 1000, 10);
	func_add(new, 0x300, "less", 10, 10);
	/* 2 * 9 and 3 * 4, as many instructions before and after. */
	func_add(old, 0x400, "moved", 9, 4);
	func_add(new, 0x400, "moved", 12, 2);
	func_add(old, 0x500, "old", 1, 1);
	func_add(new, 0x600, "new", 1, 1);
	func_add(old, 0x700, "lost", 1, 1);
	func_add(new, 0x700, "lost", 1, 1)->state = PROFILE_UNKNOWN;
	new->funcs[new->nfuncs - 1].why = mem_strdup("why");
	diff = profile_diff(a, b);
	assert_int_equal(diff->nfuncs, 3);
	func_is(&diff->funcs[0], "less", 2030, 50, 1);
	assert_int_equal(diff->funcs[0].blocks[0].block, 0);
	assert_int_equal(diff->funcs[0].blocks[0].before, 1000);
	assert_int_equal(diff->funcs[0].blocks[0].after, 10);
	func_is(&diff->funcs[1], "more", 32, 94, 2);
	/* The bigger change first. */
	assert_int_equal(diff->funcs[1].blocks[0].block, 1);
	func_is(&diff->funcs[2], "moved", 30, 30, 2);
	assert_int_equal(diff->same, 1);
	assert_int_equal(diff->unknown, 1);
	assert_int_equal(diff->only_before, 1);
	assert_int_equal(diff->only_after, 1);
	assert_int_equal(diff->rebuilt, 0);
	profile_diff_free(diff);
	profile_free(a);
	profile_free(b);
}

static void
func_never(struct profile_func *func, bool graph)
{
	func->state = PROFILE_NEVER;
	for (size_t i = 0; i < 2; i++)
		func->blocks[i].count.n = 0;
	func->edges[0].count.n = 0;
	if (!graph)
		func->nblocks = func->nedges = 0;
}

/* What was never entered ran 0 times, though its blocks are not known. */
static void
test_never(void **state)
{
	struct profile *a = mem_alloc(sizeof(*a)), *b = mem_alloc(sizeof(*b));
	struct profile_object *old = object_add(a, "/bin/x", 1);
	struct profile_object *new = object_add(b, "/bin/x", 1);
	struct profile_diff *diff;

	func_never(func_add(old, 0x100, "f", 0, 0), false);
	func_add(new, 0x100, "f", 4, 1);
	func_add(old, 0x200, "g", 1, 1);
	func_never(func_add(new, 0x200, "g", 0, 0), false);
	diff = profile_diff(a, b);
	assert_int_equal(diff->nfuncs, 2);
	func_is(&diff->funcs[0], "f", 0, 11, 2);
	func_is(&diff->funcs[1], "g", 5, 0, 2);
	assert_ptr_equal(diff->funcs[1].graph, &old->funcs[1]);
	profile_diff_free(diff);
	profile_free(a);
	profile_free(b);
}

/* Built anew: by name, blocks only where the graph is the same. */
static void
test_rebuilt(void **state)
{
	struct profile *a = mem_alloc(sizeof(*a)), *b = mem_alloc(sizeof(*b));
	struct profile_object *old, *new;
	struct profile_diff *diff;

	object_add(a, "/lib/z.so", 9);
	object_add(b, "/lib/y.so", 8);
	old = object_add(a, "/old/x", 1);
	new = object_add(b, "/new/x", 2);
	func_add(old, 0x100, "f", 1, 1);
	func_add(old, 0x200, "g", 1, 1);
	func_add(old, 0x300, "twice", 1, 1);
	func_add(old, 0x400, "twice", 1, 1);
	func_add(new, 0x110, "g", 5, 1);
	func_add(new, 0x210, "f", 2, 1)->blocks[1].size = 9;
	func_add(new, 0x310, "twice", 7, 7);
	diff = profile_diff(a, b);
	assert_int_equal(diff->nfuncs, 2);
	func_is(&diff->funcs[0], "g", 5, 13, 1);
	func_is(&diff->funcs[1], "f", 5, 7, 0);
	assert_null(diff->funcs[1].graph);
	assert_int_equal(diff->only_before, 2);
	assert_int_equal(diff->only_after, 1);
	assert_int_equal(diff->rebuilt, 1);
	profile_diff_free(diff);
	profile_free(a);
	profile_free(b);
}

/* Where blocks are not known, calls are compared. */
static void
test_calls(void **state)
{
	struct profile *a = mem_alloc(sizeof(*a)), *b = mem_alloc(sizeof(*b));
	struct profile_object *old = object_add(a, "/bin/x", 1);
	struct profile_object *new = object_add(b, "/bin/x", 1);
	struct profile_func *func = func_add(old, 0x100, "f", 3, 3);
	struct profile_diff *diff;

	func->nblocks = 0;
	func->edges[0].to = FLOW_EXIT;
	func_add(new, 0x100, "f", 4, 9);
	diff = profile_diff(a, b);
	assert_int_equal(diff->nfuncs, 1);
	func_is(&diff->funcs[0], "f", 3, 4, 0);
	assert_false(diff->funcs[0].insns);
	profile_diff_free(diff);
	profile_free(a);
	profile_free(b);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_rebuilt),
		cmocka_unit_test(test_calls),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
