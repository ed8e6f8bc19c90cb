/*
 * Images made by hand for a toy CPU whose instructions are letters, and the
 * counts that their plans give for given counters.
 */
#ifndef TESTS_LIB_LETTERS_H
#define TESTS_LIB_LETTERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/plan.h"
#include "util/mem.h"

/* After those, as it makes fail() a macro. */
#include <cmocka.h>

enum {
	BASE = 0x1000,
	TEXT = 0x800,
	FUNC_STEP = 0x100,	/* functions begin at multiples of this */
	NFILES = 2,
};

/* An image with one executable segment at BASE, to be filled. */
struct abc_image {
	struct image image;
	struct segment segments[2];
	uint8_t text[TEXT];
	struct func funcs[32];
	struct range ranges[64];
	size_t nranges;
	struct row rows[256];
	struct inlined inlines[8];
};

void abc_begin(struct abc_image *t);
struct func *abc_func(struct abc_image *t, const char *name, uint64_t at,
		      uint64_t size);
void abc_code(struct abc_image *t, uint64_t at, const char *code, size_t len);

/* Rows must be added in order; end is set by the next, or by abc_end. */
void abc_row(struct abc_image *t, uint64_t at, uint32_t line, bool is_stmt);
void abc_end(struct abc_image *t, uint64_t at);

/* A plan of the image, which remains the test's. */
struct plan *abc_plan_of(struct abc_image *t, const struct selection *sel,
			 enum placement_method method, bool eager);

/* Units by their names; good until the next call. */
struct selection *units(const char *names);
struct plan *abc_plan(struct abc_image *t, const struct selection *sel);
void abc_close(struct plan *plan);

/*
 * Count that the instruction at an offset ran n times and that its branch was
 * taken `taken` times.
 */
void hit(struct plan *plan, uint64_t at, uint64_t n, uint64_t taken);

/* Count that control left an offset, or came to it, n times over no edge. */
void left(struct plan *plan, uint64_t at, bool during, uint64_t n);
void came(struct plan *plan, uint64_t at, bool during, uint64_t n);

/* Find a unit with its present count; of kind UNIT_KINDS if there is none. */
struct unit unit_of(struct plan *plan, enum unit_kind kind, uint32_t ref,
		    uint32_t line);
size_t units_number(struct plan *plan);
uint64_t count_of(struct plan *plan, enum unit_kind kind, uint32_t ref,
		  uint32_t line);
const char *why_of(struct plan *plan, enum unit_kind kind, uint32_t ref,
		   uint32_t line);
uint64_t insn_known(struct plan *plan, uint32_t fplan, uint64_t at);
const char *insn_why(struct plan *plan, uint32_t fplan, uint64_t at);

#endif
