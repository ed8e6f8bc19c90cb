/*
 * Sets up SIMH's VAX-11/780 and runs it.  Learns what happened only from where
 * the simulator stopped: every vector's stub begins with HALT.
 */
#include "host/simh_machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	P0_PAGES = MACHINE_P0_SIZE / VAX_PAGE,
	P1_PAGES = MACHINE_STACK_SIZE / VAX_PAGE,
	P1_ALL = 1 << 21,	/* pages of the whole region */
	PTES_MAX = 16384,	/* page table entries written at once */
	USER_PSL = 0x03c00000,	/* user mode, and user mode before */
};

/* Page table entries: valid, modified, and protection codes. */
#define PTE_VALID UINT32_C(0x84000000)
#define PTE_KERNEL (PTE_VALID | UINT32_C(2) << 27) /* KW */
#define PTE_READ (PTE_VALID | UINT32_C(14) << 27) /* UR KW */
#define PTE_WRITE (PTE_VALID | UINT32_C(4) << 27) /* UW */

/* ---- memory */

int
kernel_write(struct machine *m, uint32_t offset, const void *buf, size_t n)
{
	must(offset + n <= MACHINE_KERNEL_SIZE);
	return console_write(m->con, MACHINE_KERNEL + offset, buf, n);
}

int
kernel_read(struct machine *m, uint32_t offset, void *buf, size_t n)
{
	must(offset + n <= MACHINE_KERNEL_SIZE);
	return console_read(m->con, MACHINE_KERNEL + offset, buf, n);
}

/* Write n entries of the page table at `table`, from number `first` on. */
static int
ptes_write(struct machine *m, uint32_t table, uint32_t first, uint32_t n,
	   uint32_t pfn, uint32_t bits)
{
	uint32_t ptes[PTES_MAX];
	int status = HOST_OK;

	for (uint32_t i = 0; i < n && !status; i += PTES_MAX) {
		uint32_t some = n - i < PTES_MAX ? n - i : PTES_MAX;

		for (uint32_t k = 0; k < some; k++)
			ptes[k] = bits ? bits | (pfn + i + k) : 0;
		status = kernel_write(m, table + 4 * (first + i), ptes,
				      4 * some);
	}
	return status;
}

int
kernel_map(struct machine *m, uint32_t size)
{
	if (size > MACHINE_KERNEL_SIZE)
		return fail("the simulated VAX has no memory for so many "
			    "counters");
	return ptes_write(m, KERNEL_SYSTEM_TABLE, 0,
			  (size + VAX_PAGE - 1) / VAX_PAGE,
			  MACHINE_KERNEL / VAX_PAGE, PTE_KERNEL);
}

/* The index in m->pages of the page at va, or -1. */
static long
page_number(uint32_t va)
{
	if (va < MACHINE_P0_SIZE)
		return va / VAX_PAGE;
	if (va >= MACHINE_STACK_LO && va < MACHINE_SYSTEM)
		return P0_PAGES + (va - MACHINE_STACK_LO) / VAX_PAGE;
	return -1;
}

int
machine_map(struct machine *m, uint32_t va, uint32_t size, enum page page)
{
	static const uint32_t bits[] = {
		[PAGE_READ] = PTE_READ,
		[PAGE_WRITE] = PTE_WRITE,
	};
	long first = page_number(va), last;
	uint32_t table = KERNEL_P0_TABLE;

	if (!size)
		return HOST_OK;
	last = page_number(va + size - 1);
	if (first < 0 || last < first || va + size < va)
		return fail("a program cannot have memory from 0x%" PRIx32
			    " to 0x%" PRIx32 " on the simulated VAX",
			    va, va + size);
	memset(m->pages + first, page, (size_t)(last - first) + 1);
	if (first >= P0_PAGES)
		table = KERNEL_P1_TABLE - 4 * P0_PAGES;
	return ptes_write(m, table, (uint32_t)first,
			  (uint32_t)(last - first) + 1, (uint32_t)first,
			  bits[page]);
}

bool
machine_mapped(const struct machine *m, uint32_t va, uint32_t size,
	       enum page page)
{
	long first = page_number(va), last;

	if (!size)
		return true;
	last = page_number(va + size - 1);
	if (first < 0 || last < first || va + size < va)
		return false;
	for (long i = first; i <= last; i++)
		if (m->pages[i] < page)
			return false;
	return true;
}

static uint32_t
physical(uint32_t va)
{
	return va < MACHINE_P0_SIZE ? va :
				      va - MACHINE_STACK_LO + MACHINE_STACK;
}

int
machine_read(struct machine *m, uint32_t va, void *buf, size_t n)
{
	if (n > UINT32_MAX || !machine_mapped(m, va, (uint32_t)n, PAGE_READ))
		return HOST_ERROR;
	return console_read(m->con, physical(va), buf, n);
}

int
machine_write(struct machine *m, uint32_t va, const void *buf, size_t n)
{
	if (n > UINT32_MAX || !machine_mapped(m, va, (uint32_t)n, PAGE_READ))
		return HOST_ERROR;
	return console_write(m->con, physical(va), buf, n);
}

/* ---- starting */

static void
registers_init(struct machine *m)
{
	struct console *con = m->con;
	uint32_t p1 = MACHINE_SYSTEM + KERNEL_P1_TABLE -
		      4 * (P1_ALL - P1_PAGES);

	console_put(con, "d scbb %08" PRIx32, (uint32_t)MACHINE_KERNEL);
	console_put(con, "d sbr %08" PRIx32,
		    (uint32_t)(MACHINE_KERNEL + KERNEL_SYSTEM_TABLE));
	console_put(con, "d slr %x", MACHINE_KERNEL_SIZE / VAX_PAGE);
	console_put(con, "d p0br %08" PRIx32, MACHINE_SYSTEM + KERNEL_P0_TABLE);
	console_put(con, "d p0lr %x", P0_PAGES);
	console_put(con, "d p1br %08" PRIx32, p1);
	console_put(con, "d p1lr %x", P1_ALL - P1_PAGES);
	console_put(con, "d mapen 1");
	console_put(con, "d ksp %08" PRIx32, MACHINE_SYSTEM + KERNEL_STACK);
	console_put(con, "d is %08" PRIx32,
		    MACHINE_SYSTEM + KERNEL_STACKS + 0x800);
	console_put(con, "d esp %08" PRIx32,
		    MACHINE_SYSTEM + KERNEL_STACKS + 0x1000);
	console_put(con, "d ssp %08" PRIx32,
		    MACHINE_SYSTEM + KERNEL_STACKS + 0x1800);
	console_put(con, "d psl %08x", USER_PSL);
	for (unsigned i = 0; i < VAX_SP; i++)
		machine_reg_set(m, i, 0);
}

static int
machine_init(struct machine *m)
{
	uint32_t size = (MACHINE_KERNEL + MACHINE_KERNEL_SIZE) >> 20;
	int status;

	/* The simulator prints its name first. */
	status = console_sync(m->con);
	console_put(m->con, "set cpu %" PRIu32 "m", size);
	if (!status)
		status = kernel_write(m, 0, simh_code, sizeof(simh_code));
	if (!status)
		status = kernel_map(m, KERNEL_FREE);
	registers_init(m);
	if (!status)
		status = machine_map(m, MACHINE_STACK_LO,
				     MACHINE_STACK_HI - MACHINE_STACK_LO,
				     PAGE_WRITE);
	/* The page for signals lies in the kernel's own memory. */
	if (!status)
		status = ptes_write(m, KERNEL_P1_TABLE, P1_PAGES - 1, 1,
				    (MACHINE_KERNEL + KERNEL_SIGCODE) /
					    VAX_PAGE,
				    PTE_READ);
	if (!status)
		status = console_sync(m->con);
	if (!status && console_line(m->con, 0))
		return fail("vax780: %s", console_line(m->con, 0));
	return status;
}

struct machine *
machine_open(void)
{
	struct machine *m = mem_alloc(sizeof(*m));
	int status;

	m->pages = mem_alloc(P0_PAGES + P1_PAGES);
	m->con = console_open("vax780");
	status = m->con ? machine_init(m) : HOST_ERROR;
	if (status == HOST_GONE)
		fail("vax780: the simulator has ended");
	if (!status)
		return m;
	machine_close(m);
	return NULL;
}

void
machine_close(struct machine *m)
{
	if (!m)
		return;
	console_close(m->con);
	free(m->pages);
	free(m);
}

/* ---- registers */

static const char *const reg_names[] = {
	"r0", "r1",  "r2",  "r3", "r4", "r5", "r6", "r7",  "r8",
	"r9", "r10", "r11", "ap", "fp", "sp", "pc", "psl",
};

static bool
reg_take(const char *line, uint64_t *value)
{
	const char *p = strstr(line, ":\t");

	if (!p)
		return false;
	*value = strtoul(p + 2, NULL, 16);
	return true;
}

int
machine_regs(struct machine *m, struct regs *regs)
{
	unsigned n = m->halted ? VAX_PC : VAX_NREGS;
	uint32_t frame[2];
	int status;

	*regs = (struct regs){ 0 };
	console_put(m->con, "e r0-r11,ap,fp,%s",
		    m->halted ? "usp" : "sp,pc,psl");
	status = console_sync(m->con);
	for (unsigned i = 0; i < n && !status; i++)
		if (!console_line(m->con, i) ||
		    !reg_take(console_line(m->con, i), &regs->r[i]))
			return fail("the simulator did not print its "
				    "registers");
	if (status || !m->halted)
		return status;
	status = kernel_read(m, KERNEL_STACK - 8, frame, sizeof(frame));
	regs->r[VAX_PC] = frame[0];
	regs->r[VAX_PSL] = frame[1];
	return status;
}

void
machine_reg_set(struct machine *m, unsigned reg, uint32_t value)
{
	const char *name = reg_names[reg];

	if (m->halted && reg >= VAX_PC)
		console_put(m->con, "d -l %08" PRIx32 " %08" PRIx32,
			    (uint32_t)(MACHINE_KERNEL + KERNEL_STACK - 8 +
				       4 * (reg - VAX_PC)),
			    value);
	else
		console_put(m->con, "d %s %08" PRIx32,
			    m->halted && reg == VAX_SP ? "usp" : name, value);
}

/* ---- running */

/* The pc in "Step expired, PC: 000101A4 (CLRL FP)", or 0 of another line. */
static uint32_t
stop_pc(const char *line)
{
	const char *p = strstr(line, ", PC: ");

	return p ? (uint32_t)strtoul(p + 6, NULL, 16) : 0;
}

/* The number of instructions that the vector's stub has behind its HALT. */
static unsigned
stub_length(uint32_t vector)
{
	switch (vector) {
	case VECTOR_ACCESS:
	case VECTOR_TRANSLATION:
	case VECTOR_COMPATIBILITY:
	case VECTOR_ARITHMETIC:
		return 2;
	default:
		return vector >= VECTOR_CHMK && vector <= VECTOR_CHMU ? 2 : 1;
	}
}

/* Take the answers: where the simulator stopped, and the kernel's stack. */
static int
stop_take(struct machine *m, struct stop *stop, uint32_t *first_pc)
{
	enum { PARAM_1, PARAM_0, PC, PSL, LAST, NWORDS };
	const uint32_t addr = MACHINE_KERNEL + KERNEL_STACK - 4 * LAST;
	uint32_t words[NWORDS] = { 0 }, pc = 0, from;
	const char *line, *reason = "no reason", *last = "";
	unsigned got = 0;

	*first_pc = 0;
	for (size_t i = 0; (line = console_line(m->con, i)); i++) {
		uint32_t at = (uint32_t)strtoul(line, NULL, 16);

		last = line;
		if (stop_pc(line)) {
			pc = stop_pc(line);
			*first_pc = *first_pc ? *first_pc : pc;
			reason = line;
		} else if (at >= addr && at < addr + sizeof(words) &&
			   strstr(line, ":\t")) {
			words[(at - addr) / 4] = (uint32_t)strtoul(
				strstr(line, ":\t") + 2, NULL, 16);
			got++;
		}
	}
	if (got != NWORDS || !pc)
		return fail("the simulator says: %s", last);
	from = MACHINE_SYSTEM + KERNEL_STUBS + 1;
	m->halted = !strncmp(reason, "HALT", 4) && pc >= from &&
		    pc < from + 128 * 8;
	*stop = (struct stop){
		.kind = m->halted ? STOP_VECTOR : STOP_COUNT,
		.vector = m->halted ? (pc - from) / 8 * 4 : 0,
		.params = { words[PARAM_0], words[PARAM_1] },
		.pc = m->halted ? words[PC] : pc,
		.psl = words[PSL],
		.last = words[LAST],
	};
	m->back = m->halted ? stub_length(stop->vector) : 0;
	if (!m->halted && strncmp(reason, "Step expired", 12))
		return fail("the simulator stopped: %s", reason);
	return HOST_OK;
}

static int
run_sync(struct machine *m, uint32_t count, struct stop *stop,
	 uint32_t *first_pc)
{
	int status;

	if (count)
		console_put(m->con, "step %" PRIu32, count);
	console_put(m->con, "e -l %08" PRIx32 "-%08" PRIx32,
		    (uint32_t)(MACHINE_KERNEL + KERNEL_STACK - 16),
		    (uint32_t)(MACHINE_KERNEL + KERNEL_STACK));
	status = console_sync(m->con);
	return status ? status : stop_take(m, stop, first_pc);
}

int
machine_run(struct machine *m, uint32_t count, struct stop *stop)
{
	uint32_t first_pc;

	return run_sync(m, count, stop, &first_pc);
}

int
machine_pass(struct machine *m, uint32_t va, uint8_t orig, uint32_t count,
	     struct stop *stop, bool *faulted)
{
	uint32_t first_pc;
	int status;

	console_put(m->con, "d -b %08" PRIx32 " %02x", physical(va), orig);
	console_put(m->con, "step %u", m->back + 1);
	console_put(m->con, "d -b %08" PRIx32 " %02x", physical(va),
		    arch_vax.trap[0]);
	status = run_sync(m, count, stop, &first_pc);
	*faulted = !status && first_pc >= MACHINE_SYSTEM &&
		   stop->kind == STOP_VECTOR && stop->vector < VECTOR_CHMK &&
		   stop->pc == va;
	return status;
}
