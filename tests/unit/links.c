/*
 * Which calls may lead to copies at once.  What a call instruction encodes is
 * worked out by hand here.
 */
#include "tests/unit/build.h"

#include "copy/copy.h"
#include "monitor/links.h"
#include "plan/plan.h"
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

	source("links.s", program);
	run("gcc -nostdlib -o links links.s");
	image = image_open(in_work("links"), NULL, IMAGE_FLOW, NULL, NULL);
	assert_non_null(image);
	return plan_open(image, &(struct plan_wish){
		.sel = &sel, .eager = true, .copies = true,
	}, NULL, NULL);
}

static struct body *
body_named(struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->nbodies; i++)
		if (plan->bodies[i].func != FUNC_NONE &&
		    !strcmp(plan->image->funcs[plan->bodies[i].func].name,
			    name))
			return &plan->bodies[i];
	fail_msg("no %s", name);
	return NULL;
}

/* Direct calls of five bytes. */
static void
test_calls(void **state)
{
	struct plan *plan = plan_make();
	const struct body *start = body_named(plan, "_start");
	uint64_t at = plan->image->funcs[start->func].addr;
	static const uint64_t offsets[] = { 5, 16, 21, 28, 33 };

	assert_non_null(start->copy);
	assert_int_equal(start->copy->ncalls, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(start->copy->calls[i].addr, at + offsets[i]);
	assert_int_equal(start->copy->calls[0].target,
			 body_named(plan, "marked")->copy->entry);
	assert_int_equal(body_named(plan, "marked")->ncallers, 1);
	plan_close(plan);
}

static void
test_patch(void **state)
{
	struct plan *plan = plan_make();
	const struct copy *start = body_named(plan, "_start")->copy;
	const struct body *marked = body_named(plan, "marked");
	struct copy_place place = { .va = 0x100000, .bias = 0x200000 };
	struct copy_patch patch;
	const struct point *entry = copy_entry(marked->copy);
	int32_t rel;

	/* What marks the entry stays where it is, and is not jumped to. */
	assert_int_equal(entry->addr, marked->copy->entry + 4);
	assert_int_equal(copy_link(marked->copy, &place, &start->calls[0],
				   &patch), 0);
	assert_int_equal(patch.va, 0x200000 + start->calls[0].addr);
	assert_int_equal(patch.len, 5);
	assert_int_equal(patch.bytes[0], 0xe8);
	memcpy(&rel, patch.bytes + 1, 4);
	assert_int_equal(patch.va + 5 + (uint64_t)(int64_t)rel,
			 0x100000 + entry->offset);
	/* It calls another, or the middle of one. */
	assert_int_equal(copy_link(marked->copy, &place, &start->calls[1],
				   &patch), -1);
	assert_int_equal(copy_link(body_named(plan, "plain")->copy, &place,
				   &start->calls[2], &patch), -1);
	/* Farther than a call goes. */
	place.bias = UINT64_C(1) << 40;
	assert_int_equal(copy_link(marked->copy, &place, &start->calls[0],
				   &patch), -1);
	plan_close(plan);
}

/* Past no trap: neither the copy's own, nor one that comes to an entry. */
static void
test_traps(void **state)
{
	static const char *const names[] = { "marked", "_start" };
	struct plan *plan = plan_make();
	struct body *body;
	size_t n;

	/* Its own: no room, or a call of its middle. */
	assert_false(links_lead(plan, body_named(plan, "plain")));
	body = body_named(plan, "empty");
	assert_non_null(body->copy);
	assert_int_equal(copy_entry(body->copy)->via, VIA_TRAP);
	assert_false(links_lead(plan, body));
	for (size_t i = 0; i < 2; i++) {
		body = body_named(plan, names[i]);
		n = plan->nreopened;
		assert_true(links_lead(plan, body));
		body->lost = true;
		assert_false(links_lead(plan, body));
		body->lost = false;
		plan_hook(plan, &(struct hook){
			.kind = HOOK_LOADED, .addr = body->copy->entry,
		});
		assert_false(links_lead(plan, body));
		/* The monitor is told. */
		assert_true(plan->nreopened > n);
		assert_ptr_equal(&plan->bodies[plan->reopened[n]], body);
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
	return cmocka_run_group_tests_name("links", tests, work_make,
					   work_remove);
}
