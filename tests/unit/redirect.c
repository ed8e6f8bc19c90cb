/*
 * Which calls may lead to relocated functions at once.  What a call instruction
 * encodes is worked out by hand here.
 */
#include "tests/lib/build.h"

#include "monitor/patch/redirect.h"
#include "probe/plan.h"
#include "relocate/patch_bytes.h"
#include "relocate/relocate.h"
#include "util/mem.h"

static const char *const program =
	"	.text\n"
	"	.globl	_start, marked, plain, empty\n"
	"	.type	_start, @function\n"
	"_start:	lea	1(%rdi), %rdi\n"
	"	push	%rbx\n"
	"	call	marked\n"
	"	.byte	0x67\n"
	"	call	plain\n"
	"	call	plain\n"
	"	call	plain + 1\n"
	"	call	*%rbx\n"
	"	call	empty\n"
	"	call	plain\n"
	"	pop	%rbx\n"
	"	ret\n"
	"	.size	_start, . - _start\n"
	"	.p2align 4\n"
	"	.type	marked, @function\n"
	"marked: endbr64\n"
	"	lea	1(%rdi), %rax\n"
	"	lea	1(%rax), %rax\n"
	"	ret\n"
	"	.size	marked, . - marked\n"
	"	.p2align 4\n"
	"	.type	plain, @function\n"
	"plain:	nop\n"
	"	lea	1(%rdi), %rax\n"
	"	lea	1(%rax), %rax\n"
	"	ret\n"
	"	.size	plain, . - plain\n"
	"	.type	empty, @function\n"
	"empty:	ret\n"
	"	.size	empty, . - empty\n"
	"	.type	after, @function\n"
	"after:	ret\n"
	"	.size	after, . - after\n";

static struct selection sel = { .units = 1U << UNIT_FUNC };

static struct plan *
plan_make(void)
{
	struct image *image;

	source("redirect.s", program);
	run("gcc -nostdlib -o redirect redirect.s");
	image = image_open(in_work("redirect"), NULL, IMAGE_FLOW, NULL, NULL);
	assert_non_null(image);
	return plan_open(image,
			 &(struct plan_options){
				 .sel = &sel,
				 .eager = true,
				 .relocated = true,
			 },
			 NULL, NULL);
}

/* Direct calls of five bytes. */
static void
test_calls(void **state)
{
	struct plan *plan = plan_make();
	const struct func_plan *start = fplan_named(plan, "_start");
	uint64_t at = plan->image->funcs[start->func].addr;
	static const uint64_t offsets[] = { 5, 16, 21, 28, 33 };

	assert_non_null(start->relocated);
	assert_int_equal(start->relocated->ncalls, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(start->relocated->calls[i].addr,
				 at + offsets[i]);
	assert_int_equal(start->relocated->calls[0].target,
			 fplan_named(plan, "marked")->relocated->entry);
	assert_int_equal(fplan_named(plan, "marked")->ncallers, 1);
	plan_close(plan);
}

static void
test_patch(void **state)
{
	struct plan *plan = plan_make();
	const struct relocated *start = fplan_named(plan, "_start")->relocated;
	const struct func_plan *marked = fplan_named(plan, "marked");
	struct relocated_place place = { .va = 0x100000, .bias = 0x200000 };
	struct code_patch patch;
	const struct entry_patch *entry = relocated_entry(marked->relocated);
	int32_t rel;

	/* What marks the entry stays where it is, and is not jumped to. */
	assert_int_equal(entry->addr, marked->relocated->entry + 4);
	assert_int_equal(relocated_redirect(marked->relocated, &place,
					    &start->calls[0], &patch),
			 0);
	assert_int_equal(patch.va, 0x200000 + start->calls[0].addr);
	assert_int_equal(patch.len, 5);
	assert_int_equal(patch.bytes[0], 0xe8);
	memcpy(&rel, patch.bytes + 1, 4);
	assert_int_equal(patch.va + 5 + (uint64_t)(int64_t)rel,
			 0x100000 + entry->offset);
	/* It calls another, or the middle of one. */
	assert_int_equal(relocated_redirect(marked->relocated, &place,
					    &start->calls[1], &patch),
			 -1);
	assert_int_equal(
		relocated_redirect(fplan_named(plan, "plain")->relocated,
				   &place, &start->calls[2], &patch),
		-1);
	/* Farther than a call goes. */
	place.bias = UINT64_C(1) << 40;
	assert_int_equal(relocated_redirect(marked->relocated, &place,
					    &start->calls[0], &patch),
			 -1);
	plan_close(plan);
}

/*
 * Past the trap of a function that has no room for a jump, but past none that
 * does more, or comes to an entry later.
 */
static void
test_traps(void **state)
{
	/* Of plain the middle is called, too; both of the last have no room. */
	static const char *const names[] = { "marked", "_start", "empty",
					     "plain" };
	struct plan *plan = plan_make();
	struct func_plan *fplan;
	uint64_t entry;
	size_t n;

	for (size_t i = 0; i < 4; i++) {
		fplan = fplan_named(plan, names[i]);
		entry = fplan->relocated->entry;
		assert_int_equal(relocated_entry(fplan->relocated)->via,
				 i < 2 ? VIA_JUMP : VIA_TRAP);
		n = plan->nreopened;
		assert_true(redirect_allowed(plan, fplan, entry));
		fplan->lost = true;
		assert_false(redirect_allowed(plan, fplan, entry));
		fplan->lost = false;
		plan_hook(plan, &(struct hook){
					.kind = HOOK_LOADED,
					.addr = fplan->relocated->entry,
				});
		assert_false(redirect_allowed(plan, fplan, entry));
		/* The monitor is told. */
		assert_true(plan->nreopened > n);
		assert_ptr_equal(&plan->fplans[plan->reopened[n]], fplan);
	}
	plan_close(plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_patch),
		cmocka_unit_test(test_traps),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("redirect", tests, work_make,
					   work_remove);
}
