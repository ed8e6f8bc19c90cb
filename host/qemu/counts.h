/*
 * The file by which pmon tells its plugin in qemu what to count, and the plugin
 * tells pmon how often that ran.  First come the head and the points, which
 * pmon writes before the program runs, then, from the next page on, the state
 * and the counters, which the plugin writes.  Numbers are this machine's.
 */
#ifndef HOST_QEMU_COUNTS_H
#define HOST_QEMU_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

enum { COUNTS_PAGE = 4096 };

/* The size of the file when the plugin is loaded; 0 before that. */
enum { COUNTS_LOADED = 1 };

/* What an instruction is beside a site: a set. */
enum qemu_point_is {
	POINT_BRANCH = 1 << 0,	/* it is to be known whether its site branches */
	POINT_TARGET = 1 << 1,	/* such a branch leads here if it is taken */
	POINT_JUMP = 1 << 2,	/* it is to be known where its site goes */
	POINT_PLACE = 1 << 3,	/* such a jump or call may go here */
	POINT_SYSCALL = 1 << 4,	/* its site enters the kernel */
};

/* An instruction that the plugin has to do with. */
struct qemu_point {
	uint64_t va;
	uint32_t site;		/* its number from 1 on; 0: not counted */
	uint32_t after;		/* the branch's site, from 1 on, that leads here
				   if it is not taken; or 0 */
	uint32_t is;		/* enum qemu_point_is */
	uint32_t unused;
};

struct qemu_counts {
	uint64_t npoints;	/* they follow, by ascending va */
	uint64_t nsites;
	uint64_t narrivals;	/* a power of two, or 0: no site is a jump */
	uint64_t state_offset;	/* in the file, a multiple of COUNTS_PAGE */
};

/* Per site. */
struct qemu_counter {
	uint64_t hits;
	uint64_t passed;	/* how often its branch was not taken */
	uint64_t again;		/* its system call is to begin again, and was
				   counted */
};

/* How often a jump or call went to a place. */
struct qemu_arrival {
	uint64_t site;		/* from 1 on; 0: unused */
	uint64_t va;
	uint64_t n;
};

struct qemu_state {
	uint64_t lost;		/* the plugin cannot count */
	uint64_t last;		/* the site, from 1 on, of the last branch or
				   jump; 0: where it went is known */
	uint64_t jump;		/* it was a jump */
	uint64_t then;		/* what steps was at it */
	uint64_t steps;		/* grows between any branch or jump and what
				   runs after its next instruction */
	uint64_t call;		/* the site, from 1 on, of the last system call;
				   0: it was elsewhere */
	uint64_t full;		/* arrivals had no room */
	struct qemu_counter counters[];	/* nsites; then narrivals of struct
					   qemu_arrival, a hash table */
};

static inline uint64_t
counts_state_size(const struct qemu_counts *head)
{
	return sizeof(struct qemu_state) +
	       head->nsites * sizeof(struct qemu_counter) +
	       head->narrivals * sizeof(struct qemu_arrival);
}

static inline struct qemu_arrival *
counts_arrivals(const struct qemu_counts *head, struct qemu_state *state)
{
	return (struct qemu_arrival *)(state->counters + head->nsites);
}

/* The last jump went to va. */
static inline void
counts_arrive(const struct qemu_counts *head, struct qemu_state *state,
	      uint64_t va)
{
	struct qemu_arrival *table = counts_arrivals(head, state), *arrival;
	uint64_t i = (va * 31 + state->last) * UINT64_C(0x9e3779b97f4a7c15) >>
		     32;

	for (uint64_t tries = 0; tries < head->narrivals; tries++, i++) {
		arrival = &table[i & (head->narrivals - 1)];
		if (!arrival->site) {
			arrival->site = state->last;
			arrival->va = va;
		}
		if (arrival->site == state->last && arrival->va == va) {
			arrival->n++;
			return;
		}
	}
	state->full = 1;
}

/*
 * va is reached, the place behind the branch `after` if that is not 0: note
 * where the last branch or jump went if it was the last instruction.
 */
static inline void
counts_reach(const struct qemu_counts *head, struct qemu_state *state,
	     uint64_t va, uint64_t after, bool place)
{
	if (state->last && state->then == state->steps) {
		if (!state->jump && state->last == after)
			state->counters[after - 1].passed++;
		else if (state->jump && place)
			counts_arrive(head, state, va);
	}
	state->last = 0;
}

#endif
