/*
 * Room for patches where the first block is too short: padding at a function's
 * end, the block behind, and a block in reach.  By whom it is run, and what else
 * leads to it, decides.
 */
#include "tests/lib/build.h"

#include "probe/plan.h"
#include "relocate/relocate.h"
#include "util/mem.h"

#define FUNC(name, code) \
	"	.type	" name ", @function\n" name ":\n" code \
	"	.size	" name ", . - " name "\n	.p2align 4\n"

static const char *const program =
	"	.text\n	.globl	_start\n	.p2align 4\n" FUNC(
		"_start", "	call	tiny\n	call	falls\n"
			  "	call	nears\n	call	chained\n	ret\n")
		FUNC("tiny", "	xor	%eax, %eax\n	ret\n")
	/* Goes on behind the padding. */
	FUNC("falls", "	xor	%eax, %eax\n")
		FUNC("next", "	mov	$1, %eax\n	ret\n")
	/* Three bytes of padding, which with its own are not enough. */
	"	.type	nears, @function\nnears:	ret\n"
	"	.size	nears, . - nears\n	nop\n	nop\n	nop\n"
	"	.type	after, @function\nafter:	mov	$2, %eax\n	ret\n"
	"	.size	after, . - after\n	.p2align 4\n"
	/* There is no room for a jump but in the padding. */
	FUNC("chained", "	xor	%eax, %eax\n	call	tiny\n	ret\n")
		FUNC("last", "	xor	%eax, %eax\n	ret\n")
	/* Nothing but the branch leads to the block behind it. */
	FUNC("trailed", "	test	%esi, %esi\n	je	1f\n"
			"	lea	3(%rsi), %edi\n"
			"1:	lea	9(%rdi), %eax\n	ret\n")
	/* Another branch does; the loop's block has room for the long jump. */
	FUNC("shared", "	test	%esi, %esi\n	je	2f\n"
		       "1:	add	$0x1234, %edi\n	dec	%esi\n"
		       "	cmp	$3, %esi\n	jg	1b\n"
		       "2:	lea	9(%rdi), %eax\n	ret\n")
	/* So may who has its address. */
	FUNC("given",
	     "	test	%esi, %esi\n	je	2f\n"
	     "1:	lea	1b(%rip), %rax\n	add	%rsi, %rax\n"
	     "2:	mov	%rax, %rdx\n	ret\n")
	/* So may what nothing is known to lead to. */
	FUNC("haunted", "	test	%esi, %esi\n	je	2f\n"
			"1:	lea	3(%rsi), %edi\n	dec	%edi\n"
			"2:	lea	9(%rdi), %eax\n	ret\n"
			"	cmp	$7, %eax\n	jne	1b\n	ret\n");

static struct selection sel = { .units = 1U << UNIT_FUNC };

static const struct entry_patch *
entry_of(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->nfplans; i++) {
		const struct func_plan *fplan = &plan->fplans[i];

		if (fplan->func == FUNC_NONE ||
		    strcmp(plan->image->funcs[fplan->func].name, name))
			continue;
		assert_non_null(fplan->relocated);
		assert_non_null(relocated_entry(fplan->relocated));
		return relocated_entry(fplan->relocated);
	}
	fail_msg("no %s", name);
	return NULL;
}

static void
test_entries(void **state)
{
	struct image *image;
	struct plan *plan;
	const struct entry_patch *chains;

	source("spares.s", program);
	run("gcc -nostdlib -o spares spares.s");
	image = image_open(in_work("spares"), NULL, IMAGE_FLOW, NULL, NULL);
	assert_non_null(image);
	plan = plan_open(image,
			 &(struct plan_options){
				 .sel = &sel,
				 .eager = true,
				 .relocated = true,
			 },
			 NULL, NULL);
	assert_int_equal(entry_of(plan, "tiny")->via, VIA_JUMP);
	/* No more than it takes. */
	assert_in_range(entry_of(plan, "tiny")->room, 5, 7);
	assert_int_equal(entry_of(plan, "falls")->via, VIA_TRAP);
	assert_int_equal(entry_of(plan, "next")->via, VIA_JUMP);
	assert_int_equal(entry_of(plan, "nears")->via, VIA_TRAP);
	/* A task at its jump has to be in the function. */
	chains = entry_of(plan, "chained");
	assert_true(chains->via != VIA_CHAIN ||
		    chains->landing <= chains->addr + 7);
	assert_int_equal(entry_of(plan, "trailed")->via, VIA_JUMP);
	assert_int_equal(entry_of(plan, "shared")->via, VIA_CHAIN);
	/* Behind the guard of the loop's head. */
	assert_int_equal(entry_of(plan, "shared")->landing,
			 entry_of(plan, "shared")->addr + 5);
	assert_int_not_equal(entry_of(plan, "given")->via, VIA_JUMP);
	assert_int_not_equal(entry_of(plan, "haunted")->via, VIA_JUMP);
	plan_close(plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("spares", tests, work_make,
					   work_remove);
}
