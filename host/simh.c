/*
 * The host of VAX programs, SIMH's VAX-11/780: its table of functions, and
 * those that look into the program.  simh_run.c runs it.
 */
#include "host/simh.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/simh_program.h"
#include "util/fail.h"
#include "util/mem.h"

static enum trap_cause
simh_trap_cause(pid_t tid)
{
	return simh.cause;
}

/* ---- registers and memory */

static int
simh_regs_get(pid_t tid, struct regs *regs)
{
	return simh_alive() ? machine_regs(simh.program.m, regs) : HOST_GONE;
}

static int
simh_reg_set(pid_t tid, unsigned reg, uint64_t value)
{
	if (!simh_alive())
		return HOST_GONE;
	machine_reg_set(simh.program.m, reg, (uint32_t)value);
	if (reg == VAX_PC)
		simh.stop.pc = (uint32_t)value;
	return HOST_OK;
}

static int
simh_regs_set(pid_t tid, const struct regs *regs)
{
	int status = HOST_OK;

	for (unsigned i = 0; i < VAX_NREGS && !status; i++)
		status = simh_reg_set(tid, i, regs->r[i]);
	return status;
}

static int
simh_reg_get(pid_t tid, unsigned reg, uint64_t *value)
{
	struct regs regs;
	int status;

	if (reg == VAX_PC && simh_alive()) {
		*value = simh.stop.pc;
		return HOST_OK;
	}
	status = simh_regs_get(tid, &regs);
	*value = status ? 0 : regs.r[reg];
	return status;
}

static int
simh_fault_get(pid_t tid, int *code, uint64_t *va)
{
	*code = (int)simh.code;
	*va = simh.stop.vector == VECTOR_ACCESS ||
			      simh.stop.vector == VECTOR_TRANSLATION ?
		      simh.stop.params[1] :
		      simh.stop.pc;
	return simh_alive() ? HOST_OK : HOST_GONE;
}

static int
simh_mask_set(pid_t tid, uint64_t mask, uint64_t *old)
{
	struct program *p = &simh.program;
	uint32_t new = 0;

	*old = 0;
	for (int i = 1; i < PROGRAM_SIGNALS; i++) {
		int here = signal_here(i);

		if (here && p->mask >> (i - 1) & 1)
			*old |= UINT64_C(1) << (here - 1);
		if (here && mask >> (here - 1) & 1)
			new |= 1u << (i - 1);
	}
	p->mask = new;
	return simh_alive() ? HOST_OK : HOST_GONE;
}

static int
simh_mem_open(pid_t tid)
{
	return simh_alive() ? 0 : HOST_GONE;
}

static void
simh_mem_close(int mem)
{
}

static int
simh_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n)
{
	if (!simh_alive())
		return HOST_GONE;
	if (va > UINT32_MAX)
		return HOST_ERROR;
	return machine_read(simh.program.m, (uint32_t)va, buf, n);
}

/* A byte that equals a trap may be one, until another is written over it. */
static int
simh_mem_write(int mem, pid_t tid, uint64_t va, const void *buf, size_t n)
{
	struct program *p = &simh.program;
	const uint8_t *bytes = buf;
	int status;

	if (!simh_alive())
		return HOST_GONE;
	if (va > UINT32_MAX)
		return HOST_ERROR;
	status = machine_write(p->m, (uint32_t)va, buf, n);
	for (size_t i = 0; !status && i < n && va + i < MACHINE_P0_SIZE; i++)
		p->traps[va + i] = bytes[i] == arch_vax.trap[0];
	return status;
}

static int
simh_data_read(pid_t tid, uint64_t va, void *buf, size_t n)
{
	return simh_mem_read(0, tid, va, buf, n);
}

static int
simh_data_write(pid_t tid, uint64_t va, const void *buf, size_t n)
{
	struct machine *m = simh.program.m;

	if (!simh_alive())
		return HOST_GONE;
	if (va > UINT32_MAX || n > UINT32_MAX ||
	    !machine_mapped(m, (uint32_t)va, (uint32_t)n, PAGE_WRITE))
		return HOST_ERROR;
	return machine_write(m, (uint32_t)va, buf, n);
}

/* ---- the process */

static bool
simh_zombie(pid_t tid)
{
	return !simh_alive();
}

static int
simh_maps(pid_t tid, struct mapping **maps, size_t *n)
{
	const struct program *p = &simh.program;

	*maps = NULL;
	*n = 0;
	for (size_t i = 0; i < p->nregions; i++) {
		const struct region *r = &p->regions[i];
		bool write = r->page == PAGE_WRITE;

		*vec_push(*maps, *n) = (struct mapping){
			.lo = r->lo,
			.hi = r->hi,
			.offset = r->offset,
			.read = true,
			.write = write,
			.exec = !write,
			.path = mem_strdup(p->path),
		};
	}
	return HOST_OK;
}

/* 4.2BSD gives its programs no auxiliary vector. */
static uint64_t
simh_auxv(pid_t tid, uint64_t type)
{
	return 0;
}

static int
simh_signals(pid_t tid, struct signal_state *state)
{
	const struct program *p = &simh.program;

	*state = (struct signal_state){ 0 };
	for (int i = 1; i < PROGRAM_SIGNALS; i++) {
		uint64_t bit = signal_here(i) ?
				       UINT64_C(1) << (signal_here(i) - 1) :
				       0;

		state->pending |= p->pending >> (i - 1) & 1 ? bit : 0;
		state->blocked |= p->mask >> (i - 1) & 1 ? bit : 0;
		if (p->vecs[i].handler == PROGRAM_HANDLER_IGNORE)
			state->ignored |= bit;
		else if (p->vecs[i].handler != PROGRAM_HANDLER_DEFAULT)
			state->caught |= bit;
	}
	return HOST_OK;
}

static char *
simh_exe(pid_t tid, char **open_path)
{
	*open_path = mem_strdup(simh.program.path);
	return mem_strdup(simh.program.path);
}

static char *
simh_mapped(pid_t tid, const struct mapping *map)
{
	return mem_strdup(map->path);
}

/* A simulated VAX has one processor. */
static int
simh_affinity_get(pid_t tid, void *set, size_t size)
{
	return HOST_GONE;
}

static int
simh_affinity_set(pid_t tid, const void *set, size_t size)
{
	return HOST_GONE;
}

static int
simh_count(const struct host_site *sites, size_t n)
{
	must(simh.program.m);
	return counters_plant(&simh.program, sites, n);
}

static int
simh_counts(struct host_site *sites, size_t n)
{
	struct program *p = &simh.program;
	int status = p->m ? counters_read(p) : HOST_GONE;

	must(n == p->ncounters);
	for (size_t i = 0; i < n && !status; i++) {
		sites[i].hits = p->counters[i].hits;
		sites[i].taken = p->counters[i].taken;
	}
	return status;
}

static char *const *
simh_remarks(size_t *n)
{
	*n = simh.program.nremarks;
	return simh.program.remarks;
}

static const struct host_counting simh_counting = {
	.traps = true,
	.plant = simh_count,
	.fetch = simh_counts,
};

const struct host host_simh = {
	.name = "simh",
	.launch = simh_launch,
	.detach = simh_detach,
	.wait = simh_wait,
	.resume = simh_resume,
	.pause = simh_pause,
	.kill = simh_kill,
	.trap_cause = simh_trap_cause,
	.regs_get = simh_regs_get,
	.regs_set = simh_regs_set,
	.reg_get = simh_reg_get,
	.reg_set = simh_reg_set,
	.fault_get = simh_fault_get,
	.mask_set = simh_mask_set,
	.mem_open = simh_mem_open,
	.mem_close = simh_mem_close,
	.mem_read = simh_mem_read,
	.mem_write = simh_mem_write,
	.data_read = simh_data_read,
	.data_write = simh_data_write,
	.zombie = simh_zombie,
	.maps = simh_maps,
	.auxv = simh_auxv,
	.signals = simh_signals,
	.exe = simh_exe,
	.mapped = simh_mapped,
	.affinity_get = simh_affinity_get,
	.affinity_set = simh_affinity_set,
	.counting = &simh_counting,
	.remarks = simh_remarks,
	.close = simh_close,
};

/* ---- beyond struct host */

int
simh_pass(uint8_t orig)
{
	if (!simh_alive())
		return HOST_GONE;
	must(simh.state == STATE_STOPPED && simh.stop.kind == STOP_VECTOR);
	simh.program.pass = (struct redo){
		.va = simh.stop.pc,
		.orig = orig,
	};
	simh.state = STATE_RUNNING;
	return HOST_OK;
}

int
simh_command(const char *command)
{
	if (!simh.program.m)
		return HOST_GONE;
	console_put(simh.program.m->con, "%s", command);
	return console_sync(simh.program.m->con);
}

const char *
simh_answer(size_t i)
{
	return simh.program.m ? console_line(simh.program.m->con, i) : NULL;
}
