/*
 * The file by which pmon tells its plugin in qemu what to count, and the plugin
 * tells pmon how often that ran.  First come the head and the points, which
 * pmon writes before the program runs, then, from the next page on, the state
 * and the counters, which the plugin writes.  Numbers are this machine's.
 */
#ifndef HOST_QEMU_COUNTS_H
#define HOST_QEMU_COUNTS_H

#include <stdint.h>

enum { COUNTS_PAGE = 4096 };

/* What an instruction is beside a site: a set. */
enum qemu_point_is {
	POINT_BRANCH = 1 << 0,	/* it is to be known where its site goes */
	POINT_TARGET = 1 << 1,	/* such a branch leads here if it is taken */
	POINT_SYSCALL = 1 << 2,	/* its site enters the kernel */
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
	uint64_t state_offset;	/* in the file, a multiple of COUNTS_PAGE */
};

/* Per site. */
struct qemu_counter {
	uint64_t hits;
	uint64_t passed;	/* how often its branch was not taken */
	uint64_t again;		/* its system call is to begin again, and was
				   counted */
};

struct qemu_state {
	uint64_t ready;		/* the plugin has seen the points */
	uint64_t branch;	/* the site, from 1 on, of the last branch;
				   0: where it went is known */
	uint64_t then;		/* what targets was at it */
	uint64_t targets;	/* targets of branches that were reached */
	uint64_t call;		/* the site, from 1 on, of the last system call;
				   0: it was elsewhere */
	struct qemu_counter counters[];
};

#endif
