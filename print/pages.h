/*
 * What pmprint prints: pages made from profiles alone, and reports.
 */
#ifndef PRINT_PAGES_H
#define PRINT_PAGES_H

#include <stdio.h>

#include "print/print_options.h"
#include "report/profile/profile.h"
#include "report/progress.h"

/*
 * Print the runs, parts and objects, and the functions that executed most.
 * Adds up the profile's parts.
 */
void runs_print(const struct options *opts, struct profile *profile, FILE *out);

/* Print all functions of a profile whose parts have been added up. */
void executed_print(const struct options *opts, const struct profile *profile,
		    FILE *out);

/*
 * executed_funcs.c: print all functions; or, without `all`, at most max of those
 * that ran, and none that every program has.
 */
void func_rows_print(const struct options *opts, const struct profile *profile,
		     FILE *out, size_t max, bool all);

/* Do the user's --func and --object choose the function? */
bool func_chosen(const struct options *opts,
		 const struct profile_object *object,
		 const struct profile_func *func);
/*
 * Check that they choose something.  0; or -1 with the message, which names the
 * nearest name.
 */
int funcs_matched(const struct options *opts, const struct profile *profile);

/* Print what changed between two profiles whose parts have been added up. */
void changes_print(const struct options *opts, const struct profile *before,
		   const struct profile *after, FILE *out);

/*
 * Print the reports asked for: of each part, or of the whole if the profile has
 * no parts.  Gives warn what the user should know, NULL or to be freed: why a
 * program is left out.  Returns 0, or -1 with the message if a report cannot be
 * written or no program is at hand, or 1 as coverage_check and events_judge do.
 */
int reports_print(const struct options *opts, const struct profile *profile,
		  FILE *out, void (*warn)(char *warning));

/*
 * Print which lines ran in only one of two profiles, or how events changed, from
 * the programs at hand.  Result and warn are as for reports_print.
 */
int inputs_compare(const struct options *opts, const struct profile *before,
		   const struct profile *after, FILE *out,
		   void (*warn)(char *warning));

/*
 * Write the HTML page that also shows what changed.  The programs of the first
 * file may be missing.  Errors and warn are as for reports_print.
 */
int page_print(const struct options *opts, const struct profile *before,
	       const struct profile *after, void (*warn)(char *warning));

/* Text that says which process or thread a part is; owned by the caller. */
char *part_text(const struct profile_part *part);

/* The last component of the object's path. */
const char *object_name(const struct profile_object *object);

/* program.c */

/*
 * Open the program or library that an object is, as image_open does; progress
 * may be NULL.  The file is looked for as --program-path says, and by its
 * build-id; the image has the object's path wherever the file is.  NULL with the
 * message set, which says what was looked for, if no file is the one that ran.
 */
struct image *program_open(const struct options *opts,
			   const struct profile_object *object, unsigned want,
			   struct progress *progress);

/*
 * Why an object's program cannot be used, owned by the caller; NULL if it can.
 */
char *program_fault(const struct options *opts,
		    const struct profile_object *object);

#endif
