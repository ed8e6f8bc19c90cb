/*
 * Plans for tests of reports, of an image made by hand for a toy CPU.  The test
 * either runs the image's code or gives its counts.
 */
#ifndef TESTS_LIB_REPORT_TOY_H
#define TESTS_LIB_REPORT_TOY_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/plan.h"
#include "report/report.h"
#include "util/fail.h"
#include "util/mem.h"

enum { CPU_BASE = 0x1000, CPU_TEXT = 0x1000 };

/*
 * The instructions: p plain; n plain, a no-op; jN jump and bN branch, N bytes
 * from the next instruction; cN call CPU_BASE + 16 N; i call indirectly; r
 * return; R return, two bytes.
 */
int cpu_decode(const uint8_t *code, size_t size, uint64_t addr,
	       struct insn *insn);

/* A given count of an address. */
struct said {
	uint64_t addr, count;
	bool lost;
};

enum { TOY_MAX = 128 };

struct toy {
	struct image image;
	struct segment segment;
	struct selection sel;
	enum placement_method method;
	uint8_t text[CPU_TEXT];
	uint64_t at;		/* next free address */
	struct func funcs[TOY_MAX];
	struct range ranges[TOY_MAX];
	struct row rows[TOY_MAX];
	uint64_t pads[TOY_MAX];
	char *files[TOY_MAX];
	struct said said[TOY_MAX];
	size_t nsaid;
	struct plan *plan;	/* when made */
	uint64_t hits;		/* of all sites, by toy_run */
};

/* Write the reports of the options; as report_write returns. */
int toys_report(const struct report_options *opts,
		const struct report_input *report_input, FILE *out);

struct toy *toy_make(const char *path);
void toy_free(struct toy *t);

/* Add code at the next free address, which is returned. */
uint64_t toy_code(struct toy *t, const char *code, size_t len);

/* Add a row, in ascending order; it reaches up to the next, or to `end`. */
void toy_row(struct toy *t, uint64_t addr, uint64_t end, const char *path,
	     uint32_t line);

/* Make addr the next free address. */
void toy_skip(struct toy *t, uint64_t addr);

/* Add a function from lo up to the next free address. */
struct func *toy_func_at(struct toy *t, const char *name, const char *path,
			 uint32_t line, uint64_t lo);

/* ---- given counts */

/* Add a function of one instruction. */
struct func *toy_func(struct toy *t, const char *name, const char *path,
		      uint32_t line, uint64_t count);

/* Add a line in code without a name. */
struct said *toy_line(struct toy *t, const char *path, uint32_t line,
		      uint64_t count);

/* Add a line to the latest function, which gets longer. */
struct said *toy_func_line(struct toy *t, const char *path, uint32_t line,
			   uint64_t count);

/* Add a row in the middle of an instruction of the latest function. */
void toy_bad_row(struct toy *t, const char *path, uint32_t line);

/* The plan of the image, opened at the first call; eager: see plan_options. */
struct plan *toy_plan(struct toy *t, bool eager);
struct plan *toy_propagate(struct toy *t);

/* ---- running */

/*
 * Run from addr up to the return, and count as the monitor does.  steps has a
 * letter for each branch (t: taken) and a digit for each indirect call (of
 * CPU_BASE + 16 times the digit), in the order in which they are run.
 */
void toy_run(struct toy *t, uint64_t addr, const char **steps);

#endif
