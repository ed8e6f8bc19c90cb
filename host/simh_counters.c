/*
 * Sites that are counted inside the simulated VAX, by the code at vector 0x10
 * of simh_kernel.s: at a trap it counts, restores the instruction, has it
 * traced, and sets the trap again, without a stop.  A site whose instruction
 * would see that it is traced is counted here instead, at a stop.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/simh_program.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	TRAPS_A_LINE = 400,	/* addresses per command */
};

/* A site in the machine's tables; entry 0 stands for no site. */
struct entry {
	uint32_t low, high, taken, taken_high;
	uint32_t orig, next;
};

enum { ENTRY_WORDS = sizeof(struct entry) / 4 };

/* Put the traps over all sites. */
static void
traps_plant(struct program *p)
{
	char line[TRAPS_A_LINE * 9 + 1];
	size_t len = 0;

	for (size_t i = 0; i < p->ncounters; i++) {
		p->traps[p->counters[i].va] = true;
		len += (size_t)snprintf(line + len, sizeof(line) - len,
					"%s%08" PRIx32, len ? "," : "",
					p->counters[i].va);
		if (len / 9 < TRAPS_A_LINE - 1 && i + 1 < p->ncounters)
			continue;
		console_put(p->m->con, "d -b %s %02x", line, arch_vax.trap[0]);
		len = 0;
	}
}

/*
 * Make the counters, with the original bytes.  0, or -1 with the message set.
 */
static int
counters_make(struct program *p, const struct host_site *sites, size_t n)
{
	uint32_t lo = (uint32_t)sites[0].va;
	uint32_t size = (uint32_t)sites[n - 1].va + 16 - lo;
	uint8_t *text = mem_alloc(size);
	int status;

	if (!machine_mapped(p->m, lo, size, PAGE_READ))
		size -= 15;
	status = machine_read(p->m, lo, text, size);
	p->counters = mem_alloc(n * sizeof(*p->counters));
	for (size_t i = 0; i < n && !status; i++) {
		uint32_t at = (uint32_t)sites[i].va - lo;

		must(!i || sites[i].va > sites[i - 1].va);
		p->counters[i] = (struct counter){
			.va = lo + at,
			.next = (uint32_t)sites[i].next,
			.orig = text[at],
			.here = arch_vax.step_shows(text + at, size - at),
		};
	}
	p->ncounters = status ? 0 : n;
	free(text);
	return status ? fail("%s: its text cannot be read", p->path) : 0;
}

/* Write the tables that simh_kernel.s uses, behind the kernel's own memory. */
static int
tables_write(struct program *p)
{
	const struct counter *c = p->counters;
	size_t n = p->ncounters;
	uint32_t base = c[0].va, size = c[n - 1].va + 1 - base;
	struct entry *entries = mem_alloc((n + 1) * sizeof(*entries));
	uint32_t *index = mem_alloc((size_t)size * 4);
	uint32_t first = MACHINE_SYSTEM + KERNEL_FREE;
	uint32_t at = KERNEL_FREE + (uint32_t)((n + 1) * sizeof(*entries));
	struct kernel_vars vars = {
		.base = base,
		.size = size,
		.index = MACHINE_SYSTEM + at,
		.low = first + offsetof(struct entry, low),
		.high = first + offsetof(struct entry, high),
		.taken = first + offsetof(struct entry, taken),
		.taken_high = first + offsetof(struct entry, taken_high),
		.orig = first + offsetof(struct entry, orig),
		.next = first + offsetof(struct entry, next),
	};
	int status;

	for (size_t i = 0; i < n; i++) {
		entries[i + 1].orig = c[i].orig;
		entries[i + 1].next = c[i].next;
		if (!c[i].here)
			index[c[i].va - base] = (uint32_t)(i + 1) * ENTRY_WORDS;
	}
	status = kernel_map(p->m, at + size * 4);
	if (!status)
		status = kernel_write(p->m, KERNEL_FREE, entries,
				      (n + 1) * sizeof(*entries));
	if (!status)
		status = kernel_write(p->m, at, index, (size_t)size * 4);
	if (!status)
		status = kernel_write(p->m, KERNEL_VARS, &vars, sizeof(vars));
	free(entries);
	free(index);
	return status;
}

int
counters_plant(struct program *p, const struct host_site *sites, size_t n)
{
	uint64_t last;
	int status;

	must(!p->ncounters);
	if (!n)
		return 0;
	last = sites[n - 1].va;
	if (last >= MACHINE_P0_SIZE)
		return fail("%s: no instruction can be at 0x%" PRIx64, p->path,
			    last);
	if ((last - sites[0].va) * 4 + n * sizeof(struct entry) + KERNEL_FREE +
		    VAX_PAGE >
	    MACHINE_KERNEL_SIZE)
		return fail("%s: too much code to be counted in the simulated "
			    "VAX",
			    p->path);
	if (counters_make(p, sites, n) < 0)
		return -1;
	status = tables_write(p);
	if (status == HOST_GONE)
		return fail("%s: the simulator has ended", p->path);
	if (status)
		return -1;
	traps_plant(p);
	return 0;
}

static int
counter_compare(const void *key, const void *elem)
{
	uint32_t va = *(const uint32_t *)key;
	const struct counter *c = elem;

	return (va > c->va) - (va < c->va);
}

struct counter *
counter_find(const struct program *p, uint32_t va)
{
	return p->ncounters ? bsearch(&va, p->counters, p->ncounters,
				      sizeof(*p->counters), counter_compare) :
			      NULL;
}

int
counters_replant(struct program *p, struct stop *stop)
{
	const struct counter *c = stop->last ? counter_find(p, stop->last) :
					       NULL;

	if (!stop->last)
		return HOST_OK;
	must(c);
	if (stop->pc == stop->last)
		p->fault = (struct redo){ .va = c->va, .orig = c->orig };
	stop->psl &= ~(uint32_t)(VAX_PSL_T | VAX_PSL_TP);
	stop->last = 0;
	machine_reg_set(p->m, VAX_PSL, stop->psl);
	console_put(p->m->con, "d -b %08" PRIx32 " %02x", c->va,
		    arch_vax.trap[0]);
	return kernel_write(p->m, KERNEL_VARS, &stop->last, 4);
}

int
counters_read(struct program *p)
{
	size_t n = p->ncounters, size = (n + 1) * sizeof(struct entry);
	struct entry *entries;
	int status;

	if (!n)
		return HOST_OK;
	entries = mem_alloc(size);
	status = kernel_read(p->m, KERNEL_FREE, entries, size);
	for (size_t i = 0; i < n && !status; i++) {
		const struct entry *e = &entries[i + 1];
		struct counter *c = &p->counters[i];

		if (c->here)
			continue;
		c->hits = (uint64_t)e->high << 32 | e->low;
		c->taken = (uint64_t)e->taken_high << 32 | e->taken;
	}
	free(entries);
	return status;
}
