/*
 * Hooks: found in libraries where their manuals say, in code made up for it
 * where its labels say, and nowhere else.
 */
#include <inttypes.h>
#include <unistd.h>

#include "probe/plan.h"
#include "tests/lib/build.h"

#include "tests/lib/hooks.h"

struct found {
	struct image *image;
	struct hook *hooks;
	size_t n;
};

static struct found
find(const char *path)
{
	struct found found = { .image = image_open(path, NULL, 0, NULL, NULL) };

	if (!found.image)
		fail_msg("%s", fail_message());
	for (size_t i = 0; i < found.image->nfuncs; i++)
		hook_find(found.image, &found.image->funcs[i],
			  HOOKS_EXECS | HOOKS_SWITCHES | HOOKS_CALLS,
			  &found.hooks, &found.n);
	for (size_t i = 0; i < found.n; i++)
		assert_ptr_equal(hook_at(found.hooks, found.n,
					 found.hooks[i].addr),
				 &found.hooks[i]);
	return found;
}

static void
drop(struct found *found)
{
	image_close(found->image);
	free(found->hooks);
}

/* Where the C compiler finds a library or object of this name. */
static const char *
library(const char *name)
{
	static char path[1024];
	char command[256];
	FILE *out;

	snprintf(command, sizeof(command), "gcc -print-file-name=%s", name);
	out = output(command);
	assert_non_null(fgets(path, sizeof(path), out));
	pclose(out);
	path[strcspn(path, "\n")] = '\0';
	return path;
}

static bool
has_name(const struct func *func, const char *name)
{
	if (!strcmp(func->name, name))
		return true;
	for (size_t i = 0; i < func->naliases; i++)
		if (!strcmp(func->aliases[i], name))
			return true;
	return false;
}

/* Hooks of this kind in the function of this name. */
static size_t
count(const struct found *found, const char *name, enum hook_kind kind)
{
	const struct func *func;
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++) {
		func = image_func(found->image, found->hooks[i].addr);
		assert_non_null(func);
		n += found->hooks[i].kind == kind && has_name(func, name);
	}
	return n;
}

static void
in_libc(void **state)
{
	struct found found = find(library("libc.so.6"));
	size_t transfers = 0, masks = 0, named;

	assert_int_equal(count(&found, "setcontext", HOOK_STACK_SWITCH), 1);
	assert_int_equal(count(&found, "swapcontext", HOOK_STACK_SWITCH), 1);
	assert_int_equal(count(&found, "execve", HOOK_EXEC), 1);
	assert_int_equal(count(&found, "execveat", HOOK_EXEC), 1);
	assert_int_equal(count(&found, "fexecve", HOOK_EXEC), 1);
	assert_int_equal(count(&found, "syscall", HOOK_CALL), 1);
	/*
	 * These, and __longjmp, __longjmp_cancel and ____longjmp_chk, which
	 * only debug information names.
	 */
	for (size_t i = 0; i < found.n; i++) {
		masks += found.hooks[i].kind == HOOK_SIGPROCMASK;
		transfers += found.hooks[i].kind == HOOK_STACK_SWITCH;
		if (found.hooks[i].kind == HOOK_STACK_SWITCH)
			assert_int_equal(found.hooks[i].depth, 0);
	}
	assert_int_equal(transfers, 5);
	assert_int_equal(count(&found, "clone", HOOK_CLONE), 1);
	assert_int_equal(count(&found, "_Fork", HOOK_CLONE), 0);
	assert_int_equal(count(&found, "pthread_sigmask", HOOK_SIGPROCMASK), 1);
	assert_int_equal(count(&found, "swapcontext", HOOK_SIGPROCMASK), 1);
	/* setuid's and its like: where these functions have names. */
	named = count(&found, "__nptl_setxid", HOOK_CALL) +
		count(&found, "__nptl_setxid_sighandler", HOOK_CALL);
	/* And clone3, and what sigaction calls, which have no names. */
	assert_int_equal(found.n - masks, 9 + 1 + 2 + named);
	drop(&found);
}

static void
in_libgcc(void **state)
{
	static const char *const names[] = {
		"_Unwind_RaiseException",
		"_Unwind_ForcedUnwind",
		"_Unwind_Resume",
		"_Unwind_Resume_or_Rethrow",
	};
	struct found found = find(library("libgcc_s.so.1"));

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(count(&found, names[i], HOOK_STACK_SWITCH), 1);
		assert_int_equal(count(&found, names[i], HOOK_ENTRY), 1);
	}
	for (size_t i = 0; i < found.n; i++)
		if (found.hooks[i].kind == HOOK_STACK_SWITCH)
			assert_true(found.hooks[i].depth > 0);
	assert_int_equal(found.n, 8);
	drop(&found);
}

static void
in_musl(void **state)
{
	struct found found;

	if (access("/lib/ld-musl-x86_64.so.1", R_OK)) {
		print_message("# SKIP no musl\n");
		skip();
	}
	found = find("/lib/ld-musl-x86_64.so.1");
	assert_int_equal(count(&found, "longjmp", HOOK_STACK_SWITCH), 1);
	assert_int_equal(count(&found, "execve", HOOK_EXEC), 1);
	drop(&found);
}

/* Ordinary code takes down its own frames in many ways, and no others. */
static void
in_programs(void **state)
{
	static const char *const programs[] = {
		"/bin/bash",
		"/usr/bin/perl",
		"/usr/bin/python3",
		"/bin/ls",
	};
	struct found found;

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		found = find(programs[i]);
		assert_int_equal(found.n, 0);
		drop(&found);
	}
	source("rooms.c",
	       "void g(void *);\n"
	       "int f(int n) { for (int i = 0; i < n; i++) {"
	       " char a[i + 1]; g(a); } char b[n]; g(b); return n; }\n"
	       "int h(int n) { _Alignas(64) char a[64]; g(a);"
	       " g(__builtin_alloca(n)); return a[0]; }\n"
	       "void g(void *p) { *(volatile char *)p = 1; }\n"
	       "int main(int n, char **v) { return f(n) + h(n); }\n");
	for (int level = 0; level < 4; level++) {
		run("gcc -O%d rooms.c -o rooms && clang -O%d rooms.c -o rooms2",
		    level, level);
		found = find(in_work("rooms"));
		assert_int_equal(found.n, 0);
		drop(&found);
		found = find(in_work("rooms2"));
		assert_int_equal(found.n, 0);
		drop(&found);
	}
}

static const char made_up[] =
	".text\n.type main, @function\n.globl main\n"
	"main: ret\n.size main, .-main\n"
	/* Switches stacks as boost's contexts do; all of it is modelled. */
	".type switch, @function\n"
	"switch:\n"
	"switch_hook: push %rbp; push %rbx; mov %rsp, (%rdi); ldmxcsr (%rsi)\n"
	"	mov %rsi, %rsp; pop %rbx; pop %rbp; pop %r8\n"
	"switch_end: jmp *%r8\n.size switch, .-switch\n"
	/* The same with its frame made and left by lea. */
	".type lea, @function\n"
	"lea:\n"
	"lea_hook: lea -16(%rsp), %rsp; mov %rsp, (%rdi); lea (%rsi), %rsp\n"
	"	mov 8(%rsp), %r8; lea 16(%rsp), %rsp\n"
	"lea_end: jmp *%r8\n.size lea, .-lea\n"
	/* Nothing computes an exchange, or a branch behind the switch. */
	".type exchange, @function\n"
	"exchange: push %rbx\n"
	"exchange_hook: xchg %rsp, (%rdi); pop %rbx; ret\n"
	".size exchange, .-exchange\n"
	".type exchange2, @function\n"
	"exchange2:\n"
	"exchange2_hook: xchg %rax, %rsp; ret\n"
	".size exchange2, .-exchange2\n"
	".type branch, @function\n"
	"branch: push %rbx\n"
	"branch_hook: mov %rsi, %rsp; test %rdx, %rdx; jz 1f; inc %rax\n"
	"1:	pop %rbx; ret\n.size branch, .-branch\n"
	/* Not before the last thing that cannot be modelled; rbx is lost. */
	".type late, @function\n"
	"late: mov %rdi, %rbx; sub $8, %rsp; call main; add $8, %rsp\n"
	"	cpuid\n"
	"late_hook: nop; mov 16(%rdi), %rsp\n"
	"late_end: ret\n.size late, .-late\n"
	/* A branch comes in between. */
	".type joined, @function\n"
	"joined: test %rdi, %rdi; jz 1f; mov %rsi, %rdi\n"
	"1:\njoined_hook: mov (%rdi), %rsp\n"
	"joined_end: jmp *8(%rdi)\n.size joined, .-joined\n"
	/* OCaml's raise, and one that has its handlers in a variable. */
	".type raise, @function\n"
	"raise:\nraise_hook: mov 16(%r14), %rsp; pop 16(%r14)\n"
	"raise_end: ret\n.size raise, .-raise\n"
	".type global, @function\n"
	"global:\nglobal_hook: mov made(%rip), %rsp; pop made(%rip)\n"
	"global_end: ret\n.size global, .-global\n"
	".local made\n.comm made, 8\n"
	/* Its own frame, by a register and by the frame pointer. */
	".type own, @function\n"
	"own: push %rbx; mov %rsp, %rbx; and $-64, %rsp; call main\n"
	"	mov %rbx, %rsp; pop %rbx; ret\n.size own, .-own\n"
	".type framed, @function\n"
	"framed: push %rbp; mov %rsp, %rbp; mov (%rdi), %rsp; call main\n"
	"	mov %rsi, %rsp; leave; ret\n.size framed, .-framed\n"
	/* By a copy of the stack pointer in it, as in OpenSSL. */
	".type kept, @function\n"
	"kept: mov %rsp, %rax; sub $64, %rsp; mov %rax, 32(%rsp)\n"
	"	mov 32(%rsp), %rsi; lea (%rsi), %rsp; ret\n"
	".size kept, .-kept\n"
	".type kept2, @function\n"
	"kept2: mov %rsp, %rax; sub $64, %rsp; mov %rsp, %rbx\n"
	"	mov %rax, 32(%rbx); mov 32(%rbx), %rsi; mov (%rsi), %rbx\n"
	"	lea 8(%rsi), %rsp; ret\n.size kept2, .-kept2\n"
	/* exec by number, and calls whose numbers others choose. */
	".type calls, @function\n"
	"calls: mov $1, %eax; syscall; mov $59, %eax; mov %rdx, %rsi\n"
	"exec_hook: syscall; mov $322, %eax\n"
	"exec_hook2: syscall; mov %edi, %eax\n"
	"argument_hook: syscall; mov %edx, %eax\n"
	"copied_hook: syscall; mov 8(%rsp), %rax\n"
	"loaded_hook: syscall; mov $202, %ebp; mov %ebp, %eax; syscall\n"
	"	mov %ebp, %eax; syscall; ret\n"
	".size calls, .-calls\n"
	/* Through which a C library makes other calls than those. */
	".type __syscall_cancel_arch, @function\n"
	"__syscall_cancel_arch: mov %rsi, %rax; syscall; ret\n"
	".size __syscall_cancel_arch, .-__syscall_cancel_arch\n"
	/* exec by a number that is pushed, as gcc -Oz does; others are not. */
	".type pushes, @function\n"
	"pushes: push $59; push $1; pop %rdx; pop %rax\n"
	"push_hook: syscall; push $59; pop %rcx; push $39; pop %rax; syscall\n"
	"	push $59; push %rdi; pop %rax; syscall; pop %rax\n"
	"	push $59; mov %rdi, (%rsp); pop %rax; syscall; ret\n"
	".size pushes, .-pushes\n"
	/* A system call behind a switch. */
	".type both, @function\n"
	"both: test %rsi, %rsi; jz 1f\n"
	"both_hook: nop; mov (%rdi), %rsp\n"
	"both_end: jmp *8(%rdi)\n"
	"1:	mov $59, %eax\n"
	"both_exec: syscall; ret\n.size both, .-both\n"
	/* Two switches of which the second alone has a frame. */
	".type twice, @function\n"
	"twice: test %rsi, %rsi; jz 1f\n"
	"twice_hook: mov (%rdi), %rsp\n"
	"twice_end: jmp *8(%rdi)\n"
	"1:	push %rbx; rdtsc\n"
	"twice_hook2: mov (%rdi), %rsp\n"
	"twice_end2: jmp *8(%rdi)\n.size twice, .-twice\n"
	/* As greenlet, which copies parts of stacks; and room given back. */
	".type shift, @function\n"
	"shift: push %rbx; mov %rsp, %rbx; sub %rbx, %rsi\n"
	"shift_hook: add %rsi, %rsp; call main; pop %rbx; ret\n"
	".size shift, .-shift\n"
	".type probe, @function\n"
	"probe: sub %rax, %rsp; test %rsp, (%rsp); add %rax, %rsp; ret\n"
	".size probe, .-probe\n"
	".section .note.GNU-stack\n";

static uint64_t
label(const char *name)
{
	return label_in("made", name);
}

static void
in_code(void **state)
{
	static const struct {
		const char *addr, *end;
		uint8_t kind;
		int32_t depth;
		uint32_t changed;
	} want[] = {
		{ "switch_hook", "switch_end", HOOK_STACK_SWITCH, 0, 0 },
		{ "lea_hook", "lea_end", HOOK_STACK_SWITCH, 0, 0 },
		{ "exchange_hook", "exchange_hook", HOOK_STACK_SWITCH, -1, 0 },
		{ "exchange2_hook", "exchange2_hook", HOOK_STACK_SWITCH, -1,
		  0 },
		{ "branch_hook", "branch_hook", HOOK_STACK_SWITCH, -1, 0 },
		{ "late_hook", "late_end", HOOK_STACK_SWITCH, 0, 1 << 5 },
		{ "joined_hook", "joined_end", HOOK_STACK_SWITCH, 0, 0 },
		{ "raise_hook", "raise_end", HOOK_STACK_SWITCH, 0, 0 },
		{ "global_hook", "global_end", HOOK_STACK_SWITCH, 0, 0 },
		{ "exec_hook", "exec_hook", HOOK_EXEC, 0, 0 },
		{ "exec_hook2", "exec_hook2", HOOK_EXEC, 0, 0 },
		{ "argument_hook", "argument_hook", HOOK_CALL, 0, 0 },
		{ "copied_hook", "copied_hook", HOOK_CALL, 0, 0 },
		{ "loaded_hook", "loaded_hook", HOOK_CALL, 0, 0 },
		{ "push_hook", "push_hook", HOOK_EXEC, 0, 0 },
		{ "both_hook", "both_end", HOOK_STACK_SWITCH, 0, 0 },
		{ "both_exec", "both_exec", HOOK_EXEC, 0, 0 },
		{ "twice_hook", "twice_end", HOOK_STACK_SWITCH, 0, 0 },
		{ "twice_hook2", "twice_end2", HOOK_STACK_SWITCH, 8, 0 },
		{ "shift_hook", "shift_hook", HOOK_STACK_SWITCH, -1, 0 },
		{ "twice", "twice", HOOK_ENTRY, 0, 0 },
	};
	struct found found;
	const struct hook *hook;

	source("made.S", made_up);
	run("gcc -no-pie made.S -o made");
	found = find(in_work("made"));
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		hook = hook_at(found.hooks, found.n, label(want[i].addr));
		if (!hook)
			fail_msg("no hook at %s", want[i].addr);
		assert_int_equal(hook->kind, want[i].kind);
		assert_int_equal(hook->end, label(want[i].end));
		assert_int_equal(hook->depth, want[i].depth);
		assert_int_equal(hook->changed, want[i].changed);
	}
	assert_int_equal(found.n, sizeof(want) / sizeof(*want));
	assert_null(hook_at(found.hooks, found.n, label("main")));
	drop(&found);
}

/*
 * Known by .eh_frame alone.  The entries of `three` and `last` end in front of
 * their system calls, as those of clone3 and clone in glibc.  Nothing leads to
 * what is behind that of `data`.
 */
static const char nameless[] =
	".text\n.globl main\nmain: .cfi_startproc\n	ret\n.cfi_endproc\n"
	"three: .cfi_startproc\n	mov $435, %eax\n.cfi_endproc\n"
	"three_hook: syscall; test %rax, %rax; jz child; ret\n"
	"child: .cfi_startproc\n.cfi_undefined %rip\n	hlt\n.cfi_endproc\n"
	"data: .cfi_startproc\n	ret\n.cfi_endproc\n"
	"	syscall; mov $435, %eax; syscall; ret\n"
	"call: .cfi_startproc\n	mov %rdi, %rax; mov %rsi, %rdi\n"
	"call_hook: syscall; ret\n.cfi_endproc\n"
	/* What no C function does. */
	"other: .cfi_startproc\n	mov %rsi, %rax; syscall; ret\n"
	".cfi_endproc\n"
	"last: .cfi_startproc\n	mov $56, %eax\n.cfi_endproc\n"
	"last_hook: syscall; ret\n"
	".section .note.GNU-stack\n";

/*
 * The hooks of the program's plan: hooks in what no control flow leads to are
 * not among them.
 */
static void
in_nameless(void **state)
{
	static const struct {
		const char *addr;
		uint8_t kind;
	} want[] = {
		{ "three_hook", HOOK_CLONE },
		{ "call_hook", HOOK_CALL },
		{ "last_hook", HOOK_CLONE },
	};
	static const char program[] = "nameless";
	const struct hook *hook;
	struct image *image;
	struct plan *plan;
	size_t n = 0;

	source("nameless.S", nameless);
	run("gcc -no-pie nameless.S -o nameless && strip -o bare nameless");
	image = opened("bare", IMAGE_SPARSE);
	plan = plan_open(image, &(struct plan_options){ 0 }, NULL, NULL);
	plan_hooks(plan, false);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		hook = hook_at(plan->hooks, plan->nhooks,
			       label_in(program, want[i].addr));
		if (!hook)
			fail_msg("no hook at %s", want[i].addr);
		assert_int_equal(hook->kind, want[i].kind);
	}
	for (size_t i = 0; i < plan->nhooks; i++)
		n += plan->hooks[i].addr >= label_in(program, "main");
	assert_int_equal(n, sizeof(want) / sizeof(*want));
	plan_close(plan);
}

/*
 * Calls that map.  The number of `joined` is not that in front of it on all
 * ways, that of `bytes` may have more bytes, and nothing leads to `unled`.
 * Only a table leads to `listed`.
 */
static const char mapping[] =
	".text\n.globl main\n.type main, @function\n"
	"main: mov $9, %eax\n"
	"map: syscall; mov $11, %eax; mov %rdi, %rsi\n"
	"unmap: syscall; mov $39, %eax; syscall; mov $59, %eax; syscall\n"
	"	test %rdi, %rdi; jz 1f; mov $9, %eax; jmp joined\n"
	"1:	mov $39, %eax\n"
	"joined: syscall; mov $39, %al\n"
	"bytes: syscall; mov (%rdi), %eax\n"
	"loaded: syscall; ret\n.size main, .-main\n"
	"#ifdef UNLED\n"
	"	mov $10, %eax; syscall; ret\n"
	"#endif\n"
	".type by_table, @function\n"
	"by_table: cmp $1, %edi; ja 3f; mov %edi, %edi\n"
	"	lea table(%rip), %rdx; movslq (%rdx, %rdi, 4), %rax\n"
	"	add %rdx, %rax; jmp *%rax\n"
	"2:	mov $10, %eax\n"
	"listed: syscall\n"
	"3:	ret\n.size by_table, .-by_table\n"
	".section .rodata\n.fill 8192\n"
	"table:	.long 2b - table, 3b - table\n"
	".section .note.GNU-stack\n";

static void
in_mapping(void **state)
{
	static const struct {
		const char *addr;
		uint8_t kind;
	} want[] = {
		{ "map", HOOK_MAP },	 { "unmap", HOOK_MAP },
		{ "joined", HOOK_CALL }, { "bytes", HOOK_CALL },
		{ "loaded", HOOK_CALL }, { "listed", HOOK_MAP },
	};
	const unsigned kinds[] = { IMAGE_SPARSE, IMAGE_BARE };
	const struct hook *hook;
	struct plan *plan;
	size_t n = 0;

	source("mapping.S", mapping);
	for (int i = 0; i < 4; i++) {
		int unled = i / 2;

		run("gcc %s -nostdlib -static -Wl,-emain mapping.S -o mapping",
		    unled ? "-DUNLED" : "");
		plan = plan_open(opened("mapping", kinds[i % 2]),
				 &(struct plan_options){ .maps = true }, NULL,
				 NULL);
		plan_hooks(plan, false);
		n = sizeof(want) / sizeof(*want);
		for (size_t k = 0; k < n; k++) {
			hook = hook_at(plan->hooks, plan->nhooks,
				       label_in("mapping", want[k].addr));
			if (!hook)
				fail_msg("no hook at %s", want[k].addr);
			assert_int_equal(hook->kind, want[k].kind);
		}
		assert_int_equal(plan->nhooks, n);
		assert_int_equal(plan->maps_unseen, unled);
		plan_close(plan);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_libc),    cmocka_unit_test(in_libgcc),
		cmocka_unit_test(in_musl),    cmocka_unit_test(in_programs),
		cmocka_unit_test(in_code),    cmocka_unit_test(in_nameless),
		cmocka_unit_test(in_mapping),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("hook", tests, work_make,
					   work_remove);
}
