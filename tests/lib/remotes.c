/*
 * Plants traps on the remote host and counts their hits.
 */
#include "tests/lib/remotes.h"

const struct host *const far = &host_remote;

struct spot *
spot_find(struct counted *c, uint64_t va)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->spots[mid].va < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->n && c->spots[lo].va == va ? &c->spots[lo] : NULL;
}

void
event_next(struct event *event)
{
	do
		far->wait(event);
	while (event->kind == EVENT_WAKE);
}

bool
ended(const struct event *event)
{
	return event->kind == EVENT_EXITED || event->kind == EVENT_KILLED;
}

/* Map memory for slots, by a system call that is written at the pc. */
static uint64_t
memory_map(const struct arch *arch, pid_t tid, size_t size, uint64_t near)
{
	const struct abi *abi = abi_find(arch);
	uint8_t code[16], old[sizeof(code)];
	uint64_t args[6] = { near, size, 7, 0x22, UINT64_MAX, 0 };
	struct regs regs, saved;
	struct event event;

	must(!far->regs_get(tid, &saved));
	regs = saved;
	must(!far->mem_read(0, tid, saved.r[arch->reg_pc], old, sizeof(old)));
	memcpy(code, arch->syscall, arch->syscall_len);
	memcpy(code + arch->syscall_len, arch->trap, arch->trap_len);
	must(!far->mem_write(0, tid, saved.r[arch->reg_pc], code,
			     arch->syscall_len + arch->trap_len));
	regs.r[abi->reg_nr] = (uint64_t)abi->nr_mmap;
	for (int i = 0; i < 6; i++)
		regs.r[abi->reg_arg[i]] = args[i];
	must(!far->regs_set(tid, &regs));
	must(!far->resume(tid, RESUME_RUN, 0));
	event_next(&event);
	must(event.kind == EVENT_TRAP);
	must(!far->regs_get(tid, &regs));
	must(!far->mem_write(0, tid, saved.r[arch->reg_pc], old, sizeof(old)));
	must(!far->regs_set(tid, &saved));
	return regs.r[abi->reg_result];
}

static void
spot_prepare(const struct arch *arch, struct spot *spot, pid_t tid,
	     uint64_t slot_va)
{
	uint8_t code[INSN_MAX];
	struct slot_code slot;

	must(!far->mem_read(0, tid, spot->va, code, sizeof(code)));
	memcpy(spot->saved, code, sizeof(spot->saved));
	if (!slot_va)
		return;
	if (!arch->slot_make(code, sizeof(code), spot->va, slot_va, &slot)) {
		must(!far->mem_write(0, tid, slot_va, slot.bytes, slot.len));
		spot->slot = slot_va;
	} else if (!arch->emul_prepare(code, sizeof(code), spot->va,
				       &spot->emul)) {
		spot->emulated = true;
	}
}

static void
spots_plant(const struct arch *arch, struct counted *c, pid_t tid)
{
	uint64_t slots = 0;

	if (c->how == HOW_SLOT)
		slots = memory_map(arch, tid, c->n * SLOT_MAX,
				   c->spots[0].va & ~UINT64_C(0xfff));
	for (size_t i = 0; i < c->n; i++)
		spot_prepare(arch, &c->spots[i], tid,
			     slots ? slots + i * SLOT_MAX : 0);
	for (size_t i = 0; i < c->n; i++)
		must(!far->mem_write(0, tid, c->spots[i].va, arch->trap,
				     arch->trap_len));
}

static int
lent_read(void *ctx, uint64_t va, void *buf, size_t n)
{
	return far->data_read(*(pid_t *)ctx, va, buf, n);
}

static int
lent_write(void *ctx, uint64_t va, const void *buf, size_t n)
{
	return far->data_write(*(pid_t *)ctx, va, buf, n);
}

/*
 * Bishop's cycle: lift the trap, step, plant it again.  Returns whether the
 * step's event is still to be handled: it may be a signal, or the next trap.
 */
static bool
spot_step(const struct arch *arch, struct spot *spot, pid_t tid,
	  struct event *event)
{
	uint64_t pc;

	must(!far->mem_write(0, tid, spot->va, spot->saved, arch->trap_len));
	for (;;) {
		if (far->resume(tid, RESUME_STEP, 0))
			break;
		event_next(event);
		if (event->kind != EVENT_TRAP ||
		    far->trap_cause(tid) != TRAP_STEP ||
		    far->reg_get(tid, arch->reg_pc, &pc) || pc != spot->va)
			break;
		spot->hits++;	/* the instruction repeats itself */
	}
	far->mem_write(0, tid, spot->va, arch->trap, arch->trap_len);
	return event->kind != EVENT_TRAP || far->trap_cause(tid) != TRAP_STEP;
}

/* Count a hit and do the instruction.  True if there is an event to handle. */
static bool
spot_hit(const struct arch *arch, struct spot *spot, pid_t tid,
	 struct event *event)
{
	const struct memory memory = { lent_read, lent_write, &tid };
	struct regs regs;

	spot->hits++;
	if (spot->slot) {
		must(!far->reg_set(tid, arch->reg_pc, spot->slot));
		return false;
	}
	if (spot->emulated && !far->regs_get(tid, &regs)) {
		regs.r[arch->reg_pc] = spot->va;
		if (arch->emul_run(&spot->emul, &regs, &memory) != EMUL_FAULT) {
			must(!far->regs_set(tid, &regs));
			return false;
		}
	}
	if (arch->trap_pc)
		must(!far->reg_set(tid, arch->reg_pc, spot->va));
	return spot_step(arch, spot, tid, event);
}

/*
 * Handle an event; returns the signal to resume with.  *again: `event` is a new
 * event that is to be handled first.
 */
static int
event_take(const struct arch *arch, struct counted *c, struct event *event,
	   bool *again)
{
	struct spot *spot = NULL;
	uint64_t pc;

	c->stops++;
	*again = false;
	if (event->kind == EVENT_TRAP &&
	    far->trap_cause(event->tid) == TRAP_INSN &&
	    !far->reg_get(event->tid, arch->reg_pc, &pc))
		spot = spot_find(c, pc - arch->trap_pc);
	if (spot) {
		c->traps++;
		*again = spot_hit(arch, spot, event->tid, event);
		return 0;
	}
	return event->kind == EVENT_SIGNAL || event->kind == EVENT_TRAP ?
		       event->value :
		       0;
}

static double
seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void
count_on(const struct arch *arch, struct counted *c, pid_t tid)
{
	struct event event;
	bool again = false;
	double start;
	int signal = 0;

	event_next(&event);
	must(event.kind == EVENT_EXEC);
	spots_plant(arch, c, tid);
	start = seconds_now();
	while (!ended(&event)) {
		if (c->stop_after && c->traps >= c->stop_after)
			far->kill(tid, SIGKILL);
		if (!again) {
			far->resume(tid, RESUME_RUN, signal);
			if (c->pause)
				far->pause(tid);
			c->pause = false;
			event_next(&event);
		}
		again = false;
		if (!ended(&event))
			signal = event_take(arch, c, &event, &again);
	}
	c->seconds = seconds_now() - start;
	c->end = event;
	event_next(&event);
	must(event.kind == EVENT_DONE);
}
