/*
 * Modules: images planted in an address space, and how each of their sites is
 * patched there.  What is done to them is module.h's and extend.h's.
 */
#ifndef MONITOR_PROCESS_MODULES_H
#define MONITOR_PROCESS_MODULES_H

#include "arch/arch.h"
#include "monitor/process/regions.h"
#include "monitor/process/shared.h"
#include "probe/plan.h"

/* How one site of a module is patched. */
enum patch {
	PATCH_UNPLANTED,	/* no trap could be planted: the site is lost */
	PATCH_STEPPED,		/* lift the trap, step, plant it again */
	PATCH_SLOTTED,		/* run the instruction out of line */
	PATCH_FILTERED,		/* a jump before it leads to a filter: filters.h */
	PATCH_EMULATED,		/* do the instruction in the monitor */
	PATCH_SKIPPED,		/* only set the pc, to emul.imm */
	PATCH_OWN,		/* the program's own trap instruction */
	PATCH_LEADS,		/* trap that leads into a relocated function */
	PATCH_WAITING,		/* to be chosen at the first hit */
	PATCH_HOST,		/* counted by the host, see host_counters.c */
	PATCH_RETIRED,		/* the trap is gone, but hits of it may still
				   be on their way */
};

struct patched {
	struct emul emul;	/* PATCH_EMULATED, PATCH_SKIPPED */
	uint32_t slot;		/* PATCH_SLOTTED, PATCH_FILTERED: its number in
				   the module, or that of the first */
	uint8_t after;		/* offset of its jump back: struct slot_code;
				   of a filter's trap: struct call_filter */
	uint8_t patch;		/* enum patch */
	bool filtered;		/* PATCH_FILTERED, or was that before it was
				   retired */
	uint8_t saved[4];	/* the bytes under the trap */
};

/*
 * A stack switch with a filter, which counts it in the program: see
 * switches.h.
 */
enum { SWITCHES_SEEN = 64 };

struct switch_site {
	uint32_t site;
	struct switch_pattern patterns[SWITCH_PATTERNS];
	size_t n;
	unsigned stops;		/* that were looked at */
	uint64_t seen[SWITCHES_SEEN];	/* hashes of their patterns, the last
					   ones */
	struct switch_filter filter;	/* as it is planted */
};

/* The entry of a function that switches stacks, with code that records it. */
struct switch_entry {
	uint32_t site;
	struct entry_filter filter;
};

/*
 * An image planted in an address space.  A fork's child shares its parent's
 * modules: what is planted in one later is planted in every space that has it.
 */
struct module {
	unsigned refs;		/* by spaces and extensions ... */
	unsigned logged;	/* ... of which these are by extensions */
	struct plan *plan;
	uint64_t bias;		/* va = addr + bias */
	uint64_t lo, hi;	/* va range of its executable segments */
	uint64_t map_lo;	/* start of its mapping; with dev and ino this
				   identifies it */
	uint64_t dev, ino;
	struct patched *patched;	/* by the plan's site index ... */
	size_t nsites, room;	/* ... used and allocated elements */
	uint64_t slots;		/* va of the memory for slots, 0 if none */
	uint64_t slots_size;
	uint32_t *slot_site;	/* slot number -> site index */
	size_t nslots;
	struct switch_site **switches;
	size_t nswitches;
	struct switch_entry **entries;
	size_t nentries;
	struct region switch_scratch;	/* the space's, if there are any of
					   these */
	bool switches_off;	/* all filters of stack switches trap */
	uint64_t relocated;	/* va of the memory for relocated functions, 0
				   if none */
	uint64_t relocated_size;
	uint64_t springs;	/* va of the memory for springboards, 0 if
				   none */
	uint64_t springs_size;
	int64_t spring;		/* how far from the text it is: that of
				   arch->emit.springs */
	struct region counters;	/* in every thread page of the space, or in the
				   shared page */
	struct shared shared;	/* the shared page (shared_page.h); va and bytes
				   0 if none */
	uint64_t generation;	/* of the shared page */
	size_t nguards;		/* guards of the plan in all these pages */
	size_t nrelocated;	/* relocated functions of the plan, planted ... */
	size_t nundeferred;	/* ... these with the jumps at their entries */
	size_t ndeferred_hits;	/* of traps at the entries of the others */
	size_t nreopened;	/* ... those that were reopened */
	bool resettled;		/* its memory is what a module of the same plan
				   has left: struct vacated */
};

/*
 * What a module that was dropped has left mapped in a space: a module of the
 * same plan and at the same bias can have it again.
 */
struct vacated {
	const struct plan *plan;
	uint64_t bias;
	uint64_t slots, slots_size;
	uint64_t relocated, relocated_size;
	uint64_t springs, springs_size;
	int64_t spring;
	struct region counters;
};

#endif
