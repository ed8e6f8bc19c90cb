/*
 * For tests that compile small programs and ask other tools about them: a work
 * directory, commands that run in it, images of files in it.
 */
#ifndef TESTS_LIB_BUILD_H
#define TESTS_LIB_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/plan.h"
#include "symtab/image.h"
#include "util/fail.h"

/* After those, as it makes fail() a macro. */
#include <cmocka.h>

extern char work[];

/* Run a shell command in the work directory; returns system()'s status. */
int try(const char *fmt, ...);

#define run(...) assert_int_equal(try(__VA_ARGS__), 0)

FILE *output(const char *command);

/* The address of a label of a program in the work directory. */
uint64_t label_in(const char *program, const char *name);

/* The path of a file in the work directory; valid for three more calls. */
const char *in_work(const char *name);
void source(const char *name, const char *text);

/* The offset of n bytes in a file in the work directory, which has them. */
size_t bytes_at(const char *name, const uint8_t *bytes, size_t n);

/*
 * Damage a file in the work directory: each of the n bytes at the offset is set
 * to each of some odd values, one at a time.  check() is called with each.
 */
void damage(const char *name, size_t at, size_t n, void (*check)(void));

struct image *opened(const char *name, unsigned want);
const struct func *func_named(const struct image *image, const char *name);
struct func_plan *fplan_named(struct plan *plan, const char *name);
int work_make(void **state);
int work_remove(void **state);

#endif
