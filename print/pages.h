/*
 * What pmprint prints: pages made from profiles alone, and reports.
 */
#ifndef PRINT_PAGES_H
#define PRINT_PAGES_H

#include <stdio.h>

#include "print/options.h"
#include "report/profile/profile.h"

/*
 * Runs, parts, objects and the functions that executed most.  The profile's
 * parts are added up for it.
 */
void runs_print(const struct options *opts, struct profile *profile,
		FILE *out);

/* All functions; without parts. */
void executed_print(const struct options *opts, const struct profile *profile,
		    FILE *out);

/* funcs.c: at most max functions, those that did not run only if all. */
void func_rows_print(const struct options *opts,
		     const struct profile *profile, FILE *out, size_t max,
		     bool all);

/* What changed; profiles without parts. */
void changes_print(const struct options *opts, const struct profile *before,
		   const struct profile *after, FILE *out);

/*
 * The reports asked for, of each part, or of all if the profile has none.  0,
 * or -1 with the message if they cannot be written, or no program is there;
 * or as coverage_check.
 * Why a program is left out is told to warn.
 */
int reports_print(const struct options *opts, const struct profile *profile,
		  FILE *out, void (*warn)(const char *why));

/*
 * Which lines ran in one of two profiles only, with the programs at hand; 0,
 * or -1 with the message, and warn, as before.
 */
int coverage_print(const struct options *opts, const struct profile *before,
		   const struct profile *after, FILE *out,
		   void (*warn)(const char *why));

/*
 * The page that shows what changed as well; 0, or -1 with the message, and
 * warn, as before.  Of the first file the programs may be missing.
 */
int page_print(const struct options *opts, const struct profile *before,
	       const struct profile *after, void (*warn)(const char *why));

/* Which process or thread it is; owned by the caller. */
char *part_text(const struct profile_part *part);

/* The last component of a path. */
const char *object_name(const struct profile_object *object);

/* program.c */

/*
 * Open the program or library that an object is, as image_open does.  NULL
 * with the message set if it cannot be, or if it is not the one that ran.
 */
struct image *program_open(const struct profile_object *object, unsigned want);

/* Why a program is of no use: NULL if it is of use; owned by the caller. */
char *program_fault(const struct profile_object *object);

#endif
