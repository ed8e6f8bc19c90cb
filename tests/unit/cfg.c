/*
 * Control-flow graphs of small programs, drawn by hand.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "flow/cfg.h"
#include "tests/lib/toy.h"

enum { MAX = 12, OUT = 100 };	/* OUT: a target outside the function */

/* Instructions TOY_LEN long; targets and leaders are indices. */
struct drawing {
	const char *what;
	struct {
		int kind;
		unsigned target;
	} insns[MAX];
	unsigned n;
	const char *leaders;	/* "3 5" */
	const char *blocks;	/* first instruction of each; * if given */
	const char *edges;	/* by to: "from>to" taken, "from-to" fall */
};

static const struct drawing drawings[] = {
	{ "straight, calls do not end blocks",
	  { { INSN_PLAIN, 0 },
	    { INSN_CALL, OUT },
	    { INSN_CALL_INDIRECT, 0 },
	    { INSN_SYSCALL, 0 },
	    { INSN_TRAP, 0 },
	    { INSN_RETURN, 0 } },
	  6,
	  "",
	  "0",
	  "" },
	{ "if",
	  { { INSN_PLAIN, 0 },
	    { INSN_BRANCH, 3 },
	    { INSN_PLAIN, 0 },
	    { INSN_RETURN, 0 } },
	  4,
	  "",
	  "0 2 3",
	  "0-1 0>2 1-2" },
	{ "if else",
	  { { INSN_BRANCH, 3 },
	    { INSN_PLAIN, 0 },
	    { INSN_JUMP, 4 },
	    { INSN_PLAIN, 0 },
	    { INSN_RETURN, 0 } },
	  5,
	  "",
	  "0 1 3 4",
	  "0-1 0>2 1>3 2-3" },
	{ "while at -O0",
	  { { INSN_JUMP, 2 },
	    { INSN_PLAIN, 0 },
	    { INSN_BRANCH, 1 },
	    { INSN_RETURN, 0 } },
	  4,
	  "",
	  "0 1 2 3",
	  "2>1 0>2 1-2 2-3" },
	{ "one instruction, to itself",
	  { { INSN_BRANCH, 0 } },
	  1,
	  "",
	  "0",
	  "0>0" },
	{ "a loop whose head is the entry",
	  { { INSN_PLAIN, 0 }, { INSN_BRANCH, 0 }, { INSN_RETURN, 0 } },
	  3,
	  "",
	  "0 2",
	  "0>0 0-1" },
	{ "branch to the next instruction",
	  { { INSN_BRANCH, 1 }, { INSN_RETURN, 0 } },
	  2,
	  "",
	  "0 1",
	  "0-1 0>1" },
	{ "tail calls leave no edge",
	  { { INSN_BRANCH, OUT }, { INSN_JUMP, OUT } },
	  2,
	  "",
	  "0 1",
	  "0-1" },
	{ "indirect jump, given targets",
	  { { INSN_JUMP_INDIRECT, 0 },
	    { INSN_PLAIN, 0 },
	    { INSN_PLAIN, 0 },
	    { INSN_STOP, 0 },
	    { INSN_RETURN, 0 } },
	  5,
	  "1 2",
	  "0 1* 2* 4",
	  "1-2" },
	{ "a call to one's own middle is no edge",
	  { { INSN_CALL, 2 }, { INSN_PLAIN, 0 }, { INSN_RETURN, 0 } },
	  3,
	  "",
	  "0",
	  "" },
	{ "it ends without an end",
	  { { INSN_PLAIN, 0 }, { INSN_BRANCH, 0 } },
	  2,
	  "",
	  "0",
	  "0>0" },
};

static void
blocks_print(const struct cfg *cfg, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t b = 0; b < cfg->nblocks; b++)
		len += (size_t)snprintf(buf + len, size - len, "%s%u%s",
					b ? " " : "", cfg->blocks[b].first,
					cfg->blocks[b].given ? "*" : "");
}

static void
edges_print(const struct cfg *cfg, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t e = 0; e < cfg->nedges; e++)
		len += (size_t)snprintf(buf + len, size - len, "%s%u%c%u",
					e ? " " : "", cfg->edges[e].from,
					cfg->edges[e].kind == EDGE_TAKEN ? '>' :
									   '-',
					cfg->edges[e].to);
}

/* What holds of every cfg. */
static void
check_consistent(const struct cfg *cfg)
{
	uint32_t insn = 0;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		assert_int_equal(cfg->blocks[b].first, insn);
		assert_true(cfg->blocks[b].count > 0);
		assert_int_equal(cfg_block(cfg, cfg->insns[insn].addr), b);
		insn += cfg->blocks[b].count;
		for (uint32_t e = cfg->in[b]; e < cfg->in[b + 1]; e++)
			assert_int_equal(cfg->edges[e].to, b);
	}
	assert_int_equal(insn, cfg->ninsns);
	assert_int_equal(cfg->in[0], 0);
	assert_int_equal(cfg->in[cfg->nblocks], cfg->nedges);
}

static void
check_drawing(const struct drawing *drawing)
{
	uint64_t lo = TOY_BASE, hi = toy_addr(drawing->n), leaders[MAX];
	const char *p = drawing->leaders;
	size_t nleaders = 0;
	char buf[256];
	struct cfg *cfg;
	int used;
	unsigned i;

	print_message("# %s\n", drawing->what);
	for (i = 0; i < drawing->n; i++)
		toy_put(toy_addr(i), drawing->insns[i].kind, TOY_LEN,
			toy_addr(drawing->insns[i].target));
	for (; sscanf(p, "%u%n", &i, &used) == 1; p += used)
		leaders[nleaders++] = toy_addr(i);
	cfg = toy_cfg(&lo, &hi, 1, leaders, nleaders);
	check_consistent(cfg);
	assert_int_equal(cfg->ninsns, drawing->n);
	assert_int_equal(cfg->entry, 0);
	assert_int_equal(cfg->bad, 0);
	blocks_print(cfg, buf, sizeof(buf));
	assert_string_equal(buf, drawing->blocks);
	edges_print(cfg, buf, sizeof(buf));
	assert_string_equal(buf, drawing->edges);
	assert_int_equal(cfg->unresolved,
			 !strncmp(drawing->what, "indirect", 8));
	cfg_free(cfg);
}

static void
test_drawings(void **state)
{
	for (size_t i = 0; i < sizeof(drawings) / sizeof(*drawings); i++)
		check_drawing(&drawings[i]);
}

/* foo.cold lies below foo; each jumps to the other. */
static void
test_ranges(void **state)
{
	const uint64_t lo[] = { 0x1100, 0x1000, 0x1108 };
	const uint64_t hi[] = { 0x1110, 0x1008, 0x1110 };	/* overlaps */
	struct cfg *cfg;
	char buf[64];

	toy_put(0x1000, INSN_PLAIN, 4, 0);
	toy_put(0x1004, INSN_JUMP, 4, 0x110c);
	toy_put(0x1100, INSN_PLAIN, 4, 0);
	toy_put(0x1104, INSN_BRANCH, 4, 0x1000);
	toy_put(0x1108, INSN_PLAIN, 4, 0);
	toy_put(0x110c, INSN_RETURN, 4, 0);
	cfg = toy_cfg(lo, hi, 3, NULL, 0);
	check_consistent(cfg);
	assert_int_equal(cfg->ninsns, 6);
	assert_int_equal(cfg->entry, 2);
	assert_int_equal(cfg->insns[cfg->entry].addr, 0x1100);
	blocks_print(cfg, buf, sizeof(buf));
	assert_string_equal(buf, "0 2 4 5");
	edges_print(cfg, buf, sizeof(buf));
	assert_string_equal(buf, "1>0 1-2 0>3 2-3");
	assert_int_equal(cfg_insn(cfg, 0x1108), 4);
	assert_int_equal(cfg_insn(cfg, 0x1106), -1);
	assert_int_equal(cfg_insn(cfg, 0x2000), -1);
	assert_int_equal(cfg_block(cfg, 0x1104), BLOCK_NONE);
	cfg_free(cfg);
}

/* Leaders and targets in the middle of an instruction are no blocks. */
static void
test_boundaries(void **state)
{
	const uint64_t lo = 0x1000, hi = 0x1016;
	const uint64_t leaders[] = { 0x800,  0x1001, 0x1006,
				     0x1006, 0x100b, 0x3000 };
	struct cfg *cfg;
	char buf[64];

	toy_put(0x1000, INSN_PLAIN, 6, 0);
	toy_put(0x1006, INSN_PLAIN, 5, 0);
	toy_put(0x100b, INSN_BRANCH, 7, 0x1007);
	toy_put(0x1012, INSN_RETURN, 4, 0);
	cfg = toy_cfg(&lo, &hi, 1, leaders, 6);
	check_consistent(cfg);
	blocks_print(cfg, buf, sizeof(buf));
	assert_string_equal(buf, "0 1* 2* 3");
	edges_print(cfg, buf, sizeof(buf));
	assert_string_equal(buf, "0-1 1-2 2-3");
	cfg_free(cfg);
}

/* Where decoding fails the rest of that range, only, is left out. */
static void
test_bad(void **state)
{
	const uint64_t lo[] = { 0x1000, 0x1100, 0x9000 };
	const uint64_t hi[] = { 0x1010, 0x1106, 0x9010 };
	struct cfg *cfg;

	toy_put(0x1000, INSN_PLAIN, 4, 0);
	toy_put(0x1004, TOY_BAD, 4, 0);
	toy_put(0x1008, INSN_RETURN, 4, 0);
	toy_put(0x1100, INSN_PLAIN, 4, 0);
	toy_put(0x1104, INSN_RETURN, 4, 0);	/* reaches past the end */
	cfg = toy_cfg(lo, hi, 3, NULL, 0);
	check_consistent(cfg);
	assert_int_equal(cfg->ninsns, 2);
	assert_int_equal(cfg->bad, 0x1004);
	assert_int_equal(cfg->nedges, 0);
	cfg_free(cfg);

	cfg = toy_cfg(lo + 2, hi + 2, 1, NULL, 0);
	check_consistent(cfg);
	assert_int_equal(cfg->ninsns, 0);
	assert_int_equal(cfg->entry, -1);
	assert_int_equal(cfg->bad, 0x9000);
	cfg_free(cfg);

	cfg = toy_cfg(NULL, NULL, 0, NULL, 0);
	check_consistent(cfg);
	assert_int_equal(cfg->ninsns, 0);
	assert_int_equal(cfg->bad, 0);
	cfg_free(cfg);
	cfg_free(NULL);
}

/* A range turned round, or to the end of all addresses, is no hang. */
static void
test_hostile(void **state)
{
	const uint64_t lo[] = { 0x1008, 0x1000, 0 };
	const uint64_t hi[] = { 0x1000, UINT64_MAX, 0 };
	struct cfg *cfg;

	memset(toy_text, TOY_BAD, sizeof(toy_text));
	toy_put(0x1000, INSN_PLAIN, 4, 0);
	cfg = toy_cfg(lo, hi, 3, NULL, 0);
	check_consistent(cfg);
	assert_int_equal(cfg->ninsns, 1);
	assert_int_equal(cfg->entry, -1);
	assert_int_equal(cfg->bad, 0x1004);
	cfg_free(cfg);
}

/* From every instruction, every address is found as by cfg_insn. */
static void
test_near(void **state)
{
	struct insn insns[40] = { 0 };
	const struct cfg cfg = { .insns = insns, .ninsns = 40 };
	uint64_t addr = 0x1000;

	/* Lengths 1 to 15, and a gap of a megabyte as between hot and cold. */
	for (size_t i = 0; i < 40; i++) {
		insns[i].addr = addr;
		insns[i].len = (uint32_t)(i * 7 % 15 + 1);
		addr += insns[i].len + (i == 24 ? 1 << 20 : 0);
	}
	for (size_t i = 0; i < 40; i++)
		for (size_t k = 0; k < 40; k++)
			for (uint64_t at = insns[k].addr - 1;
			     at <= insns[k].addr + insns[k].len; at++)
				assert_int_equal(cfg_insn_near(&cfg, i, at),
						 cfg_insn(&cfg, at));
	assert_int_equal(cfg_insn_near(&cfg, 3, insns[39].addr), 39);
	assert_int_equal(cfg_insn_near(&cfg, 39, 0), -1);
	assert_int_equal(cfg_insn_near(&cfg, 0, UINT64_MAX), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_drawings),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_boundaries),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_hostile),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
