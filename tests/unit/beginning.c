/*
 * Which functions are counted at their beginning alone, and which get their
 * whole graph.  Why is said at each function below.
 */
#include "tests/lib/build.h"

#include "probe/plan.h"
#include "relocate/relocate.h"
#include "tests/prog/asm_functions.h"

/* Each function ends with a jump or return, and has room for a jump. */
static const char *const program = ASM_FUNCTIONS
	"	.text\n"
	"	begin	_start\n"
	"	xor	%eax, %eax\n"
	"	mov	$60, %eax\n"
	"	syscall\n"
	"	.ifdef	PROTECTS\n"
	"	call	mprotect@plt\n"
	"	.endif\n"
	"	ret\n"
	"	end	_start\n"

	/* Whatever comes behind the beginning. */
	"	begin	plain\n"
	"	sub	$8, %rsp\n"
	"	xor	%eax, %eax\n"
	"1:	dec	%edi\n"
	"	jnz	1b\n"
	"	call	plain\n"
	"	add	$8, %rsp\n"
	"	jmp	marked\n"
	"	end	plain\n"

	"	begin	marked\n"
	"	endbr64\n"
	"	mov	$1, %eax\n"
	"	test	%eax, %eax\n"
	"	jz	1f\n"
	"	inc	%eax\n"
	"1:	ret\n"
	"	end	marked\n"

	/* The flags are dead behind a call. */
	"	begin	calls\n"
	"	push	%rbx\n"
	"	mov	%rdi, %rbx\n"
	"	mov	$1, %edi\n"
	"	call	marked\n"
	"	pop	%rbx\n"
	"	ret\n"
	"	end	calls\n"

	/* It jumps to its second instruction. */
	"	begin	loops\n"
	"	xor	%eax, %eax\n"
	"1:	inc	%eax\n"
	"	cmp	%edi, %eax\n"
	"	jne	1b\n"
	"	ret\n"
	"	end	loops\n"

	/* Its jump to its entry is no call. */
	"	begin	again\n"
	"	dec	%edi\n"
	"	mov	$1, %eax\n"
	"	test	%edi, %edi\n"
	"	jg	again\n"
	"	ret\n"
	"	end	again\n"

	/* It calls its second instruction. */
	"	begin	within\n"
	"	xor	%eax, %eax\n"
	"1:	dec	%edi\n"
	"	test	%edi, %edi\n"
	"	jle	2f\n"
	"	call	1b\n"
	"2:	ret\n"
	"	end	within\n"

	/* Its jump may go anywhere. */
	"	begin	leaves\n"
	"	xor	%eax, %eax\n"
	"	mov	$1, %ecx\n"
	"	jmp	*%rdi\n"
	"	end	leaves\n"

	/* Its jump goes where data says: behind the beginning. */
	"	begin	switches\n"
	"	xor	%eax, %eax\n"
	"	and	$1, %edi\n"
	"	lea	cases(%rip), %rdx\n"
	"	jmp	*(%rdx,%rdi,8)\n"
	"case1:	inc	%eax\n"
	"case2:	ret\n"
	"	end	switches\n"

	/* ... or to its second instruction. */
	"	begin	turns\n"
	"	xor	%eax, %eax\n"
	"turn:	and	$1, %edi\n"
	"	lea	turned(%rip), %rdx\n"
	"	jmp	*(%rdx,%rdi,8)\n"
	"turn2:	ret\n"
	"	end	turns\n"

	/* ... by a table of its own, which decodes as a constant's bytes. */
	"	begin	tabled\n"
	"	xor	%eax, %eax\n"
	"tturn:	and	$1, %edi\n"
	"	lea	1f(%rip), %rdx\n"
	"	jmp	*(%rdx,%rdi,8)\n"
	"	.byte	0x69, 0xc0\n"
	"1:	.quad	tturn\n"
	"	ret\n"
	"	end	tabled\n"

	/* ... or to its entry, which is no call. */
	"	begin	rounds\n"
	"	xor	%eax, %eax\n"
	"	and	$1, %edi\n"
	"	lea	rounded(%rip), %rdx\n"
	"	jmp	*(%rdx,%rdi,8)\n"
	"round:	ret\n"
	"	end	rounds\n"

	/* It takes the address of its second instruction. */
	"	begin	takes\n"
	"	xor	%eax, %eax\n"
	"1:	mov	$1, %ecx\n"
	"	lea	1b(%rip), %rdx\n"
	"	ret\n"
	"	end	takes\n"

	/* Data has that address. */
	"	begin	labelled\n"
	"	xor	%eax, %eax\n"
	"label:	mov	$1, %ecx\n"
	"	ret\n"
	"	end	labelled\n"

	/* Another jumps to its middle. */
	"	begin	entered\n"
	"	xor	%eax, %eax\n"
	"	mov	$1, %ecx\n"
	"	mov	$2, %edx\n"
	"	ret\n"
	"	end	entered\n"

	/* It jumps to the middle of another. */
	"	begin	enters\n"
	"	xor	%eax, %eax\n"
	"	mov	$1, %ecx\n"
	"	jmp	entered + 7\n"
	"	end	enters\n"

	/* It is in two pieces; `inner`, in between, runs on into the second. */
	"	begin	outer\n"
	"	xor	%eax, %eax\n"
	"	mov	$1, %ecx\n"
	"	nop\n"
	"	.type	inner, @function\n"
	"inner:	xor	%ecx, %ecx\n"
	"	mov	$2, %ecx\n"
	"	.size	inner, . - inner\n"
	"	mov	$3, %ecx\n"
	"	ret\n"
	"	end	outer\n"

	/* Nothing of that is an instruction. */
	"	begin	broken\n"
	"	xor	%eax, %eax\n"
	"	mov	$1, %ecx\n"
	"	ret\n"
	"	.byte	0x06\n"
	"	end	broken\n"

	/* Its counter has to save the zero flag. */
	"	begin	flagged\n"
	"	mov	$1, %eax\n"
	"	setz	%al\n"
	"	ret\n"
	"	end	flagged\n"

	/* There is no room for a jump. */
	"	begin	short\n"
	"	xor	%eax, %eax\n"
	"	ret\n"
	"	end	short\n"
	"	.data\n"
	"	.quad	label\n"
	"cases:	.quad	case1, case2\n"
	"turned: .quad	turn, turn2\n"
	"rounded: .quad	rounds, round\n";

static const char *const begun[] = {
	"_start", "plain", "marked", "calls", "switches", NULL,
};
static const char *const whole[] = {
	"loops",  "again",  "within",	"leaves",  "turns",  "tabled",
	"rounds", "takes",  "labelled", "entered", "enters", "outer",
	"inner",  "broken", "flagged",	"short",   NULL,
};

static struct selection func = { .units = 1U << UNIT_FUNC };
static struct selection block = { .units = 1U << UNIT_FUNC | 1U << UNIT_BLOCK };

/* A program that calls mprotect may write text: no call is redirected. */
#define PROTECTS "-Wa,--defsym,PROTECTS=1"

static struct plan *
plan_make(const struct selection *sel, const char *options)
{
	struct image *image;

	source("begun.s", program);
	run("gcc -nostartfiles -no-pie %s -o begun begun.s", options);
	image = image_open(in_work("begun"), NULL, IMAGE_FLOW, NULL, NULL);
	assert_non_null(image);
	return plan_open(image,
			 &(struct plan_options){
				 .sel = sel,
				 .eager = true,
				 .relocated = true,
			 },
			 NULL, NULL);
}

static void
test_begun(void **state)
{
	struct plan *plan = plan_make(&func, PROTECTS);

	assert_true(plan_rewrites(plan));
	for (size_t i = 0; begun[i]; i++) {
		const struct func_plan *fplan = fplan_named(plan, begun[i]);

		if (!fplan->partial)
			fail_msg("%s", begun[i]);
		assert_non_null(fplan->relocated);
		assert_int_equal(fplan->relocated->nentry_patches, 1);
		assert_int_equal(fplan->relocated->entry_patches->via,
				 VIA_JUMP);
	}
	plan_close(plan);
}

/* No graph is made of what is behind the beginning. */
static void
test_graph(void **state)
{
	struct plan *plan = plan_make(&func, PROTECTS);
	const struct func_plan *fplan = fplan_named(plan, "plain");

	/* sub and xor, which write all flags that a counter does. */
	assert_int_equal(fplan->cfg->ninsns, 2);
	assert_false(plan_graph(plan, (uint32_t)(fplan - plan->fplans)));
	plan_close(plan);
}

static void
test_whole(void **state)
{
	struct plan *plan = plan_make(&func, PROTECTS);

	for (size_t i = 0; whole[i]; i++)
		if (fplan_named(plan, whole[i])->partial)
			fail_msg("%s", whole[i]);
	plan_close(plan);
}

/* With other units, or calls that can be redirected, graphs are whole. */
static void
test_never(void **state)
{
	struct plan *plans[] = {
		plan_make(&block, PROTECTS),
		plan_make(&func, ""),
	};

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; begun[k]; k++)
			assert_false(fplan_named(plans[i], begun[k])->partial);
		plan_close(plans[i]);
	}
}

/* Control that comes to the jump's bytes later still gets to the counter. */
static void
test_entered(void **state)
{
	struct plan *plan = plan_make(&func, PROTECTS);
	const struct func_plan *fplan = fplan_named(plan, "plain");
	uint64_t entry = plan->image->funcs[fplan->func].addr;
	const struct entry_patch *patch = fplan->relocated->entry_patches;

	/* Behind the jump nothing is changed. */
	plan_enter(plan, entry + 8);
	assert_int_equal(patch->via, VIA_JUMP);
	plan_enter(plan, entry + 4);
	assert_int_equal(patch->via, VIA_TRAP);
	assert_true(plan_site(plan, entry)->leads);
	assert_true(plan_site(plan, entry + 4)->leads);
	plan_close(plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begun),	cmocka_unit_test(test_graph),
		cmocka_unit_test(test_whole),	cmocka_unit_test(test_never),
		cmocka_unit_test(test_entered),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("beginnings", tests, work_make,
					   work_remove);
}
