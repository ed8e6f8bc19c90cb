/*
 * The simulated VAX as a machine that runs one program in user mode: memory
 * and its mapping, registers, running it until something happens.  Knows
 * nothing of ELF, system calls or sites.  Private to host/.
 *
 * Memory management is on.  The program's region (P0) is mapped one to one to
 * the low physical memory, its stack (P1) to what follows, and the system
 * region to the kernel: vectors, page tables, counters.
 */
#ifndef HOST_SIMH_MACHINE_H
#define HOST_SIMH_MACHINE_H

#include "arch/arch.h"
#include "arch/vax/regs.h"
#include "host/simh_console.h"

enum {
	VAX_PAGE = 512,
	MACHINE_P0_SIZE = 96 << 20,	/* the most that a program may have */
	MACHINE_STACK_SIZE = 8 << 20,
	MACHINE_KERNEL_SIZE = 24 << 20,
	/* Physical addresses. */
	MACHINE_STACK = MACHINE_P0_SIZE,
	MACHINE_KERNEL = MACHINE_STACK + MACHINE_STACK_SIZE,
	/*
	 * Offsets in the kernel's memory; the first ones are simh_kernel.s's.
	 */
	KERNEL_STUBS = 0x400,
	KERNEL_STACK = 0xa00,		/* its end */
	KERNEL_VARS = 0xa00,
	KERNEL_SIGCODE = 0xc00,
	KERNEL_STACKS = 0x2000,		/* of other modes, unused */
	KERNEL_SYSTEM_TABLE = 0x8000,
	KERNEL_P0_TABLE = 0x40000,
	KERNEL_P1_TABLE = 0x100000,
	KERNEL_FREE = 0x110000,
};

/* Virtual addresses. */
#define MACHINE_SYSTEM UINT32_C(0x80000000)
#define MACHINE_STACK_LO (MACHINE_SYSTEM - MACHINE_STACK_SIZE)
/* 4.2BSD's top of the user stack; above it is the page for signals. */
#define MACHINE_STACK_HI UINT32_C(0x7fffec00)
#define MACHINE_SIGCODE UINT32_C(0x7ffffe00)

/* What simh_kernel.s assembles to; the compiler checks the size. */
extern const uint8_t simh_code[KERNEL_SIGCODE + VAX_PAGE];

/* The variables of simh_kernel.s, in its order. */
struct kernel_vars {
	uint32_t last;
	uint32_t base, size;
	uint32_t index, low, high, taken, taken_high, orig, next;
	uint32_t fall, entry;
};

/* Protection of a page of the program: what user mode may do. */
enum page {
	PAGE_NONE,
	PAGE_READ,
	PAGE_WRITE,		/* and read */
};

/* Vectors: offsets in the system control block. */
enum vector {
	VECTOR_MACHINE_CHECK = 0x04,
	VECTOR_PRIVILEGED = 0x10,
	VECTOR_CUSTOMER = 0x14,
	VECTOR_OPERAND = 0x18,
	VECTOR_MODE = 0x1c,
	VECTOR_ACCESS = 0x20,
	VECTOR_TRANSLATION = 0x24,
	VECTOR_TRACE = 0x28,
	VECTOR_BPT = 0x2c,
	VECTOR_COMPATIBILITY = 0x30,
	VECTOR_ARITHMETIC = 0x34,
	VECTOR_CHMK = 0x40,
	VECTOR_CHMU = 0x4c,
};

enum stop_kind {
	STOP_VECTOR,		/* the program raised an exception */
	STOP_COUNT,		/* the instructions asked for have run */
};

struct stop {
	enum stop_kind kind;
	uint32_t vector;	/* enum vector, of STOP_VECTOR */
	uint32_t params[2];	/* that the exception pushed, the last one
				   first */
	uint32_t pc, psl;	/* the program's; pc of STOP_COUNT may be the
				   kernel's */
	uint32_t last;		/* kernel_vars.last */
};

struct machine {
	struct console *con;
	uint8_t *pages;		/* enum page, per page of P0, then of P1's
				   stack */
	bool halted;		/* at a stub: the program's pc and psl are on
				   the kernel's stack */
	unsigned back;		/* instructions from here back to the program */
};

/* Start the simulator and set up the machine.  NULL with the message set. */
struct machine *machine_open(void);
void machine_close(struct machine *m);

/*
 * Give the program pages; a range is rounded to whole ones.  HOST_OK,
 * HOST_GONE, or HOST_ERROR with the message: the machine has no such memory.
 */
int machine_map(struct machine *m, uint32_t va, uint32_t size, enum page page);

/* Write or read the kernel's own memory, at an offset in it. */
int kernel_write(struct machine *m, uint32_t offset, const void *buf, size_t n);
int kernel_read(struct machine *m, uint32_t offset, void *buf, size_t n);
/* Let the kernel access the first `size` bytes of its memory. */
int kernel_map(struct machine *m, uint32_t size);

/* Whether all bytes of the range are mapped with at least that protection. */
bool machine_mapped(const struct machine *m, uint32_t va, uint32_t size,
		    enum page page);
/*
 * Read or write the program's memory.  HOST_OK, HOST_GONE, or HOST_ERROR
 * without a message if it is not mapped.
 */
int machine_read(struct machine *m, uint32_t va, void *buf, size_t n);
int machine_write(struct machine *m, uint32_t va, const void *buf, size_t n);

/* The program's registers, in the order of arch/vax/regs.h. */
int machine_regs(struct machine *m, struct regs *regs);
/* Append a command that sets a register: effective with the next sync. */
void machine_reg_set(struct machine *m, unsigned reg, uint32_t value);

/*
 * Run at most `count` instructions, until the program needs something.
 * HOST_OK, HOST_GONE, or HOST_ERROR with the message set.
 */
int machine_run(struct machine *m, uint32_t count, struct stop *stop);
/*
 * Bishop's cycle in one message, for a program stopped by a trap at va: write
 * the byte `orig` there, run one instruction, set the trap again.  Then run
 * `count` instructions, if it is not 0.  *faulted: the one instruction did not
 * complete.  HOST_OK, HOST_GONE, or HOST_ERROR with the message set.
 */
int machine_pass(struct machine *m, uint32_t va, uint8_t orig, uint32_t count,
		 struct stop *stop, bool *faulted);

#endif
