/*
 * How code for a CPU is written: that of relocated functions and their probes,
 * the jumps that lead into them, and what tasks do for pmon.
 */
#ifndef ARCH_EMIT_H
#define ARCH_EMIT_H

#include "arch/emul.h"
#include "arch/fragment.h"

enum { SPRINGS_MAX = 2, SYSCALL_ARGS = 6, INJECTED_MAX = 6 };

/* A system call that a task makes for pmon. */
struct syscall {
	int nr;
	uint8_t nargs;
	uint8_t taken;		/* number, from 1, of the argument that is the
				   result of the first of the calls; 0: none */
	uint64_t args[SYSCALL_ARGS];
	int64_t result;
};

/* What a task does for pmon, and how it goes on if pmon is killed meanwhile. */
struct injected {
	const struct syscall *calls;
	size_t n;		/* at most INJECTED_MAX */
	uint64_t mask_stop;	/* signals blocked behind the calls: a signal of
				   pmon's is pending, for which the task stops
				   then */
	uint64_t mask;		/* those blocked when it goes on by itself */
	struct regs regs;	/* with which it goes on then */
};

struct emitter {
	/* The flags that a probe changes unless its form preserves them. */
	uint32_t (*probe_flags)(enum probe_op op, int32_t operand);
	/* The register that PROBE_THREAD_KEEP saves. */
	uint8_t reg_saved;
	/* Bytes of a long jump, and of one that reaches -128 to 127. */
	uint8_t jump_len, chain_len;
	/*
	 * Distances from behind a long jump to its target such that whoever
	 * comes to any byte of that jump but the first is stopped at once: by
	 * a trap, or by an instruction that does not exist (SIGILL).  Best
	 * first; 0: there are no more.
	 */
	int64_t springs[SPRINGS_MAX];

	/*
	 * The size in bytes of a fragment, which depends on `wide`; not for
	 * FRAGMENT_ALIGN, which has its size already.
	 */
	unsigned (*fragment_size)(const struct fragment *fragment);

	/* Does the short form reach `distance`, from start to start? */
	bool (*fragment_reaches)(const struct fragment *fragment,
				 int64_t distance);

	/* Write fragment->size bytes.  0, or -1 if something is too far. */
	int (*fragment_write)(const struct fragment *fragment,
			      const struct fragment_at *at, uint8_t *bytes);
	/*
	 * Of a FRAGMENT_DISPATCH of the indirect jump: the bytes of the
	 * instruction that loads the jump's target.  0: it can have none.
	 * NULL: this CPU has no dispatches.
	 */
	uint8_t (*dispatch_load)(const uint8_t *code, size_t len);
	/*
	 * Of a FRAGMENT_INDEX before the instruction, which loads an address of
	 * 8 bytes or jumps to it: the bytes of an instruction that reads the
	 * same memory and changes nothing but flags.  0: it can have none, as
	 * the memory is not at a register + index * 8.  NULL: this CPU has no
	 * such fragments.
	 */
	uint8_t (*index_touch)(const uint8_t *code, size_t len);
	/*
	 * Whether all that the instruction does is to compute with registers,
	 * other than the stack pointer.  It cannot fault.
	 */
	bool (*computes)(const uint8_t *code, size_t len);
	/* What a pc at an offset in the fragment means. */
	enum fragment_inside (*fragment_inside)(const struct fragment *fragment,
						unsigned offset);

	/*
	 * Write a jump from one va to another, of jump_len or chain_len bytes.
	 * 0, or -1 if it is too far.
	 */
	int (*jump_write)(uint64_t from, uint64_t to, unsigned len,
			  uint8_t *bytes);

	/*
	 * Write code for va, where it begins, by which a task makes system
	 * calls and stops; and behind them the restorer, which sets the task's
	 * signal mask and registers and goes to its pc, without a stack.
	 * Returns the size, or 0: there is no room.  NULL: this CPU has none.
	 */
	size_t (*injected_write)(const struct injected *injected, uint64_t va,
				 uint8_t *bytes, size_t size);
	/* The result of call i, from the registers of the task that stopped. */
	int64_t (*injected_result)(const struct regs *regs, size_t i);

	/*
	 * How many ticks of the time stamp PROBE_RECORD takes on this machine,
	 * which must have this CPU, with the page that they use divided so.
	 * NULL: this CPU has no such probes.
	 */
	uint64_t (*record_cost)(const struct page_offsets *offsets);

	/* Write a call of call_len bytes, likewise. */
	int (*call_write)(uint64_t from, uint64_t to, uint8_t *bytes);
	uint8_t call_len;
};

#endif
