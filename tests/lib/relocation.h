/*
 * Relocates functions of this process, or of a library that it has loaded:
 * makes relocated functions with counters, patches the originals so that these
 * run, and patches them back.
 */
#ifndef TESTS_LIB_RELOCATION_H
#define TESTS_LIB_RELOCATION_H

#include <asm/prctl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "flow/propagate.h"
#include "program/image_graphs.h"
#include "probe/probes.h"
#include "relocate/relocate.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	PAGE_SCRATCH = 8,	/* offsets in the thread page */
	PAGE_COUNTERS = 64,
	RELOCATED_ROOM = 1 << 20,	/* its last eighth is for locked
					   counters */
	PAGE_COUNTER_MAX = RELOCATED_ROOM / 64,
	TRACE_MAX = 1 << 17,
	GUARDS_MAX = 64,
	INSTALLED_MAX = 128,
};

struct object {
	struct image *image;
	struct graphs *graphs;
	uint64_t bias;
};

/* One function with its relocated function in place. */
struct relocation {
	const struct object *object;
	struct cfg *cfg;
	struct flow *flow;
	struct weights *weights;
	struct placement *placement;
	struct probe *probes;	/* one per arc of the placement ... */
	int32_t operand;	/* ... each with this */
	struct relocated *relocated;
	struct relocated_place place;
	bool locked;
	uint8_t *undo;		/* bytes of the patches, first to last */
	uint64_t *counters;	/* slots from number `slot` on */
	uint32_t slot;
	struct count *counts;	/* per arc, once it has run */
};

extern uint64_t guards[GUARDS_MAX];	/* addrs of those that were hit */

extern unsigned nguards;

extern unsigned long nstays;	/* ranges that still run in place */

struct step {
	uint64_t pc;
	uint64_t regs[16];	/* in the order of struct x86_reg's */
};

struct trace {
	struct step *steps;
	size_t n;
	bool on;		/* the trap flag is kept set */
	/* If not NULL, instead of steps: hits per pc, as an offset to base. */
	uint32_t *hits;
	uint64_t base, size;
};

extern struct trace trace;

extern uint8_t *relocated_room;

/* Open the file at path, which is loaded where `inside` points to. */
void object_open(struct object *object, const char *path, const void *inside);
void object_close(struct object *object);

struct make_options {
	enum placement_method method;
	bool shared;
	int32_t operand;	/* of the probes; 0: 1 */
	enum relocate_extent extent;
	bool tables, entry_only;
	const struct spare *spares;
	size_t nspares;
};

/*
 * Make a relocation up to its relocated function, with the counters of these
 * options or none.  c->relocated is NULL if the function cannot be relocated.
 */
struct relocation *relocation_make(const struct object *object,
				   const struct func *func,
				   const struct make_options *options,
				   bool none);
void relocation_free(struct relocation *c);

/* Free the room of all relocated functions, which must be removed. */
void room_reset(void);

/*
 * Write the relocated function and patch the original.  To be called right
 * after relocation_make, which took counters_used as its first counter's
 * number.
 */
void relocation_install(struct relocation *c);

/* Undo the patches, each one's bytes in the order in which they were saved. */
void relocation_remove(struct relocation *c);

/* How often each probe of the placement's arcs ran. */
void relocation_sum(const struct relocation *c, uint64_t *sums);

/* Derive all counts of the function. */
enum propagated relocation_propagate(struct relocation *c);

#endif
