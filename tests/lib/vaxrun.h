/*
 * Runs VAX programs on the simulator for tests, and counts instructions in any
 * of several ways.
 */
#ifndef TESTS_LIB_VAXRUN_H
#define TESTS_LIB_VAXRUN_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow/cfg.h"
#include "host/simh.h"
#include "symtab/image.h"
#include "util/mem.h"

enum vaxrun_how {
	VAXRUN_PLAIN,		/* no site */
	VAXRUN_STEP,		/* events, and the steps of struct host */
	VAXRUN_PASS,		/* events, and Bishop's cycle in one message */
	VAXRUN_INSIDE,		/* counters in the machine */
	VAXRUN_BREAK,		/* the simulator's own breakpoints: the truth */
};

struct vaxrun {
	enum vaxrun_how how;
	struct host_site *sites;	/* ascending; next of all branches */
	uint8_t *origs;
	size_t n;
	struct event end;
	uint64_t events;
	double seconds;
};

/* Make sites of all instructions of all functions, or of the one named. */
void vaxrun_sites(struct vaxrun *v, const struct image *image,
		  const char *name);
void vaxrun_free(struct vaxrun *v);

/* Run a program to its end; 0, or -1 with the message set. */
int vaxrun(struct vaxrun *v, const char *path, char **argv);

#endif
