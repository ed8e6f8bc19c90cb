/*
 * Where indirect jumps go, compared with where they went: a program that goes
 * through all its cases is stepped, and each jump's targets must be those
 * found in its graph, as compiled by gcc and clang in several ways.
 */
#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/build.h"

#include "program/code.h"
#include "program/image_graphs.h"
#include "util/mem.h"

enum { JUMPS_MAX = 128, TARGETS_MAX = 128, STEPS_MIN = 2000 };

/* An indirect jump: what was found, what was seen. */
struct seen {
	uint64_t addr;
	const char *func;
	uint64_t lo, hi;	/* of the function */
	uint8_t flow;
	uint64_t found[TARGETS_MAX];
	size_t nfound;
	uint64_t gone[TARGETS_MAX];
	size_t ngone;
};

static struct seen jumps[JUMPS_MAX];
static size_t njumps;

static bool
has(const uint64_t *addrs, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (addrs[i] == addr)
			return true;
	return false;
}

static void
addr_put(uint64_t *addrs, size_t *n, uint64_t addr)
{
	if (has(addrs, *n, addr))
		return;
	assert_true(*n < TARGETS_MAX);
	addrs[(*n)++] = addr;
}

static void
func_jumps(const struct func *func, const struct cfg *cfg)
{
	for (size_t i = 0; i < cfg->ninsns; i++) {
		struct seen *seen = &jumps[njumps];

		if (cfg->insns[i].kind != INSN_JUMP_INDIRECT)
			continue;
		assert_true(njumps < JUMPS_MAX);
		njumps++;
		*seen = (struct seen){
			.addr = cfg->insns[i].addr,
			.func = func->name,
			.lo = func->addr,
			.hi = func->addr + func->size,
			.flow = cfg->insns[i].flow,
		};
		for (size_t e = 0; e < cfg->nedges; e++) {
			const struct edge *edge = &cfg->edges[e];
			const struct block *from = &cfg->blocks[edge->from];

			if (from->first + from->count - 1 != i)
				continue;
			assert_int_equal(edge->kind, EDGE_TABLE);
			addr_put(seen->found, &seen->nfound,
				 cfg->insns[cfg->blocks[edge->to].first].addr);
		}
	}
}

/* The function, which gcc may have made a variant of: name.isra.0. */
static const struct func *
func_like(const struct image *image, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < image->nfuncs; i++) {
		const char *have = image->funcs[i].name;

		if (strncmp(have, name, n) == 0 && strchr(".", have[n]))
			return &image->funcs[i];
	}
	return NULL;
}

static void
image_jumps(const struct image *image)
{
	static const char *const names[] = {
		"dense",       "holes",		"small",       "member",
		"machine",     "nested",	"open_mask",   "open_told",
		"open_labels", "leave_pointer", "leave_table",
	};
	struct graphs *graphs = graphs_open(image);

	njumps = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct func *func = func_like(image, names[i]);
		struct cfg *cfg;

		assert_non_null(func);
		cfg = graph_make(graphs, &(struct graph_input){
						 .ranges = func->ranges,
						 .n = func->nranges,
						 .entry = true,
					 });
		func_jumps(func, cfg);
		cfg_free(cfg);
	}
	graphs_close(graphs);
}

static uint64_t
pc_of(pid_t pid)
{
	struct user_regs_struct regs;

	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
	return regs.rip;
}

/* Let it run to its next stop by SIGTRAP. */
static void
go(pid_t pid, int request)
{
	int status;

	assert_int_equal(ptrace(request, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), SIGTRAP);
}

static uint64_t
bias_of(pid_t pid, const struct image *image)
{
	char path[64];
	uint64_t base;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(fscanf(in, "%" SCNx64, &base), 1);
	fclose(in);
	return base - (image->segments[0].addr & ~UINT64_C(4095));
}

/* The program says by its own breakpoints where to look. */
static size_t
jumps_watch(const struct image *image)
{
	const char *path = in_work("prog");
	size_t steps = 0;
	uint64_t bias, pc;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	go(pid, PTRACE_CONT);
	bias = bias_of(pid, image);
	for (pc = pc_of(pid) - bias;; steps++) {
		struct seen *seen = NULL;
		size_t avail;
		const uint8_t *code = image_text(image, pc, &avail);

		if (code && *code == 0xcc)
			break;
		for (size_t i = 0; i < njumps; i++)
			if (jumps[i].addr == pc)
				seen = &jumps[i];
		go(pid, PTRACE_SINGLESTEP);
		pc = pc_of(pid) - bias;
		if (seen)
			addr_put(seen->gone, &seen->ngone, pc);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return steps;
}

static void
jump_check(const struct seen *seen)
{
	bool open = strncmp(seen->func, "open_", 5) == 0;

	if (strncmp(seen->func, "leave_", 6) == 0) {
		assert_int_equal(seen->flow, FLOW_LEAVES);
		for (size_t i = 0; i < seen->ngone; i++)
			assert_false(seen->gone[i] > seen->lo &&
				     seen->gone[i] < seen->hi);
		return;
	}
	/* What nothing bounds may have entries of other functions, too. */
	if (seen->flow != FLOW_TABLE &&
	    !(open && seen->flow == FLOW_TABLE_LEAVES))
		fail_msg("%s: the jump at 0x%" PRIx64 " is not resolved",
			 seen->func, seen->addr);
	for (size_t i = 0; i < seen->ngone; i++)
		if (!has(seen->found, seen->nfound, seen->gone[i]))
			fail_msg("%s: 0x%" PRIx64 " not found", seen->func,
				 seen->gone[i]);
	for (size_t i = 0; i < seen->nfound && !open && seen->ngone; i++)
		if (!has(seen->gone, seen->ngone, seen->found[i]))
			fail_msg("%s: 0x%" PRIx64 " is no case", seen->func,
				 seen->found[i]);
}

static void
way_check(const char *cc, const char *flags)
{
	struct image *image;
	size_t gone = 0, tables = 0;

	run("%s -g -w %s -o prog \"$SOURCE\"", cc, flags);
	image = opened("prog", IMAGE_FLOW);
	image_jumps(image);
	assert_true(jumps_watch(image) > STEPS_MIN);
	for (size_t i = 0; i < njumps; i++) {
		jump_check(&jumps[i]);
		tables += jumps[i].flow == FLOW_TABLE;
		gone += jumps[i].ngone;
	}
	print_message("# %s %s: %zu tables, %zu targets gone to\n", cc, flags,
		      tables, gone);
	/* Were all of them turned into something else, it would test none. */
	assert_true(tables >= 6 && gone >= 40);
	image_close(image);
}

static void
compiler_check(const char *cc)
{
	static const char *const levels[] = { "-O0", "-O1", "-O2", "-O3",
					      "-Os" };
	static const char *const kinds[] = {
		"-fPIE -pie -fcf-protection=none",
		"-fPIE -pie -fcf-protection=branch",
		"-fno-pie -no-pie -fcf-protection=none",
		"-fno-pie -no-pie -fcf-protection=branch",
	};
	char flags[128];

	if (try("command -v %s >/dev/null", cc)) {
		print_message("# no %s here\n", cc);
		skip();
	}
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			snprintf(flags, sizeof(flags), "%s %s", levels[i],
				 kinds[k]);
			way_check(cc, flags);
		}
}

static void
test_gcc(void **state)
{
	compiler_check("gcc");
}

static void
test_clang(void **state)
{
	compiler_check("clang");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),
		cmocka_unit_test(test_clang),
	};
	char *path = realpath("tests/prog/switches.c", NULL);

	if (path)
		setenv("SOURCE", path, 1);
	free(path);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, work_make, work_remove);
}
