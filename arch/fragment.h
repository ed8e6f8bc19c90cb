/*
 * Relocated code: what moving an instruction takes, and the fragments that a
 * relocated function is made of.
 */
#ifndef ARCH_FRAGMENT_H
#define ARCH_FRAGMENT_H

#include "arch/insn.h"

/*
 * What must be known of an instruction to move it into a relocated function.
 * Flags are bits of the arch's flags register.
 */
struct motion {
	bool idle;		/* has no effect but to go on */
	bool lands;		/* is idle, and marks a place where indirect
				   jumps may arrive */
	bool loaded;		/* an indirect jump to an address that is in
				   memory as it is */
	bool stack;		/* a call whose operand may be relative to the
				   stack pointer */
	uint8_t disp;		/* offset in its code of a 32-bit displacement
				   relative to the pc; 0: none */
	uint8_t cond;		/* of a branch, as the arch numbers them */
	uint8_t loads;		/* bytes that it loads from `refers`, if that is
				   all that it does with this address; else 0 */
	uint32_t reads;		/* flags it may use */
	uint32_t writes;	/* flags it sets in any case */
	uint64_t refers;	/* an address among its operands that it does
				   not jump to, or 0 */
};

/*
 * A relocated function is a sequence of fragments.  A fragment that jumps goes
 * to another fragment or to an address of the original.
 */
enum fragment_kind {
	FRAGMENT_NOTHING,	/* stands for an instruction left out */
	FRAGMENT_INSN,		/* the instruction at addr */
	FRAGMENT_PROBE,		/* a probe's operation */
	FRAGMENT_GO,		/* jump */
	FRAGMENT_BRANCH,	/* jump if the branch at addr is taken */
	FRAGMENT_BRANCH_NOT,	/* jump if it is not */
	FRAGMENT_CALL,		/* the call at addr, with its original return
				   address */
	FRAGMENT_ALIGN,		/* padding */
	FRAGMENT_DISPATCH,	/* the indirect jump at addr, with a probe for
				   each of its targets.  Goes on behind it, with
				   nothing done, if the jump goes elsewhere.
				   Changes flags, and registers meanwhile */
	FRAGMENT_INDEX,		/* the probe of an indirect jump's edge, found
				   by the index with which the instruction at
				   addr reads the jump's table.  Goes to `to`,
				   with nothing done, if the index is too large.
				   Changes flags */
};

/*
 * Where a dispatch finds which of its targets a jump goes to.  The number of
 * the target `to` is hash[(to - base) * factor >> (32 - bits)], computed with
 * 32 bits; if `to` is that target.
 */
struct dispatch_map {
	uint64_t *targets;	/* original addresses; the first is the base */
	uint16_t *hash;		/* 1 << bits */
	uint32_t ntargets;
	uint32_t factor;
	uint32_t offset;	/* in the relocated function, of the targets'
				   vas of 8 bytes each; the hash follows */
	uint8_t bits;
};

/* What a probe does when control comes by. */
enum probe_op {
	PROBE_ADD,		/* add the operand to the slot, of 8 bytes */
	PROBE_RECORD,		/* append a struct record to those of the
				   thread, unless they are RECORDS_MAX: then
				   store the time stamp and trap first.  Changes
				   no flags */
	PROBE_EVENTS,		/* add the operand to the thread's count of
				   events */
	PROBE_RECORD_EVENTS,	/* as PROBE_RECORD, with the count of events in
				   place of the time stamp */
};

/* Whether a probe with this operation makes records. */
static inline bool
probe_records(enum probe_op op)
{
	return op == PROBE_RECORD || op == PROBE_RECORD_EVENTS;
}

/* What PROBE_RECORD appends, in the byte order of the CPU. */
struct record {
	uint64_t stamp;		/* the CPU's time stamp; or how many events */
	uint32_t what;		/* the probe's operand */
	uint32_t sp;		/* the low half of the stack pointer */
};

enum {
	RECORDS_MAX = 16384,
	RECORDS_SIZE = RECORDS_MAX * sizeof(struct record),
};

_Static_assert(sizeof(struct record) == 16, "it has no padding");

/* How a probe's code reaches its slot. */
enum probe_form {
	PROBE_THREAD,		/* in the thread's page; changes the flags that
				   arch->emit.probe_flags tells */
	PROBE_THREAD_KEEP,	/* the same, and preserves the flags: saves
				   arch->emit.reg_saved in the scratch slot */
	PROBE_LOCKED,		/* shared by all threads; changes flags */
};

static const uint32_t FRAGMENT_OUT = UINT32_MAX, PROBE_NONE = UINT32_MAX;

struct fragment {
	uint64_t addr;		/* the original pc that it stands for */
	uint64_t target;	/* the original address it jumps to */
	uint32_t to;		/* index of a fragment, or FRAGMENT_OUT: to the
				   original */
	uint32_t probe;		/* index of the relocated function's probe that
				   commits here, or has just committed for the
				   edge that the branch at addr takes; or
				   PROBE_NONE.  FRAGMENT_DISPATCH: of its first
				   target; the others' slots follow */
	uint32_t map;		/* FRAGMENT_DISPATCH: number of its map;
				   FRAGMENT_INDEX and those `counted`: number in
				   relocated->indexes */
	uint32_t offset;	/* in the relocated function */
	int32_t operand;	/* of the probe, or a jump's probes */
	uint8_t kind;		/* enum fragment_kind */
	uint8_t size;		/* in the relocated function */
	uint8_t len;		/* of the instruction at addr */
	uint8_t disp, cond;	/* as in struct motion */
	uint8_t op, form;	/* FRAGMENT_PROBE: enum probe_op, probe_form */
	uint8_t load;		/* FRAGMENT_DISPATCH: as arch->emit.dispatch_load
				   tells; FRAGMENT_INDEX: as .index_touch */
	bool arrived : 1;	/* control is at addr, and the probe of its
				   arrival there has committed */
	bool direct : 1;	/* FRAGMENT_CALL: to target */
	bool wide : 1;		/* has the long form, which reaches farther */
	bool counted : 1;	/* behind a FRAGMENT_INDEX: the edge of the
				   block's indirect jump has been counted */
};

/* Where a thread counter page has what probes need, beside their slots. */
struct page_offsets {
	uint64_t scratch;	/* the scratch slots */
	uint64_t records;	/* the end of the thread's records */
	uint64_t room;		/* of 8 bytes: minus how many bytes there is
				   still room for */
	uint64_t full;		/* the time stamp of a probe that finds none */
	uint64_t events;	/* of 8 bytes: how many events the thread has
				   counted */
};

/* The addresses that a fragment is written for. */
struct fragment_at {
	uint64_t va;
	uint64_t original;	/* va of the instruction at addr */
	uint64_t to;		/* va that it jumps to */
	uint64_t slot;		/* of the probe, or a FRAGMENT_INDEX's first
				   entry: offset in the thread counter page; va
				   if PROBE_LOCKED */
	uint32_t entries;	/* FRAGMENT_INDEX: that have a slot each */
	struct page_offsets page;
	const uint8_t *code;	/* of the instruction at addr */
	const struct dispatch_map *map;	/* of a FRAGMENT_DISPATCH ... */
	uint64_t map_va;	/* ... and where its targets' vas are */
};

/*
 * What a pc within a fragment means.  A probe's commit point is one
 * instruction's end: before that the operation has not happened, behind it the
 * operation has.  Where INSIDE_COMMITTED is no place of the fragment, the
 * commit point is the fragment's end.
 */
enum fragment_inside {
	INSIDE_START,		/* at its start: nothing is done yet */
	INSIDE_SAVED,		/* registers are in the scratch slots, and the
				   probe has not committed */
	INSIDE_COMMITTED,	/* the same, but the probe has committed.  Of a
				   dispatch: SCRATCH_TARGET has the va that the
				   jump goes to */
	INSIDE_BETWEEN,		/* no original pc corresponds to this one, but
				   one will after some instructions */
	INSIDE_FULL,		/* the same, at the trap of a record for which
				   there is no room.  Behind that trap the probe
				   tries again */
	INSIDE_NOT,		/* no instruction begins there */
};

/*
 * The scratch slots, of 8 bytes each: PROBE_THREAD_KEEP uses the first, a
 * dispatch and PROBE_RECORD all, PROBE_RECORD_EVENTS the first two.
 */
enum { SCRATCH_REG, SCRATCH_OTHER, SCRATCH_TARGET, SCRATCH_SLOTS };

enum { FRAGMENT_MAX = 192 };

#endif
