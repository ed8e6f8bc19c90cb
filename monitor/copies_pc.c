/*
 * What a pc in a copy stands for.  A program never sees such a pc: before a
 * signal is delivered, and before it is let go, a task is moved to the
 * original, and back again later.  Writes no text.
 */
#include <signal.h>

#include "copy/copy.h"
#include "monitor/copies.h"
#include "monitor/detour.h"
#include "monitor/faults.h"
#include "monitor/plant.h"
#include "monitor/run.h"
#include "monitor/task.h"
#include "util/fail.h"
#include "util/search.h"

enum { STEPS_MAX = 16 };

/* The body whose copy has the pc, or NULL. */
static const struct body *
copy_at(const struct module *module, uint64_t pc, uint32_t *offset)
{
	const struct plan *plan = module->plan;
	uint64_t at = pc - module->copies;
	const struct body *body;
	size_t lo;

	if (!module->copies || at >= module->copies_size)
		return NULL;
	lo = search_first(plan->ncopied, i,
			  plan->bodies[plan->copied[i]].copy_at > at);
	if (!lo)
		return NULL;
	body = &plan->bodies[plan->copied[lo - 1]];
	*offset = (uint32_t)(at - body->copy_at);
	return *offset < body->copy->size ? body : NULL;
}

static const struct body *
space_copy_at(const struct space *space, uint64_t pc,
	      const struct module **module, uint32_t *offset)
{
	const struct body *body = NULL;

	for (size_t i = 0; space && i < space->nmodules && !body; i++) {
		*module = space->modules[i];
		body = copy_at(*module, pc, offset);
	}
	return body;
}

static uint64_t
hole_of(const struct copy *copy, uint64_t addr)
{
	for (uint32_t i = 0; i < copy->npoints; i++)
		if (copy->points[i].via == VIA_HOP &&
		    copy->points[i].hole == addr)
			return copy->points[i].addr;
	return 0;
}

/*
 * If a task at pc is on its way into a copy by a jump that is not at the
 * place itself: that place, where it came from; else 0.
 */
static uint64_t
copies_hole(const struct space *space, uint64_t pc)
{
	const struct module *module = space_module(space, pc);
	uint32_t index = module && module->copies ?
		plan_body(module->plan, pc - module->bias) : BODY_NONE;
	const struct body *body;
	uint64_t addr;

	body = index == BODY_NONE ? NULL : &module->plan->bodies[index];
	if (!body || !body->copy || body->lost)
		return 0;
	addr = hole_of(body->copy, pc - module->bias);
	return addr ? addr + module->bias : 0;
}

/*
 * By a way in that nothing known leads to: control came to the instruction
 * from elsewhere.
 */
void
copies_arrive(struct run *run, struct task *task, const struct module *module,
	      const struct site *site)
{
	const struct body *body = &module->plan->bodies[site->body];
	const struct point *point = copy_point(body->copy, site->addr);
	struct plan *plan = module->plan;

	if ((point && point->kind != POINT_GUARD) || !task->process->counted)
		return;
	meter_stray(plan_meter(plan, run_meter(run, task)), site->addr, false)
		->came++;
}

uint64_t
copies_enter(const struct module *module, const struct site *site)
{
	const struct body *body = &module->plan->bodies[site->body];
	const struct point *point = copy_point(body->copy, site->addr);
	int64_t offset = point ? point->offset :
			 copy_offset(body->copy, site->addr);

	must(offset >= 0);
	return module->copies + body->copy_at + (uint64_t)offset;
}

uint64_t
copies_back(const struct space *space, uint64_t va)
{
	const struct module *module = space_module(space, va);
	const struct body *body;
	uint32_t index;
	int64_t offset;

	if (!module || !module->copies)
		return va;
	index = plan_body(module->plan, va - module->bias);
	body = index == BODY_NONE ? NULL : &module->plan->bodies[index];
	if (!body || !body->copy || body->lost)
		return va;
	offset = copy_offset(body->copy, va - module->bias);
	return offset < 0 ? va : module->copies + body->copy_at +
				 (uint64_t)offset;
}

/*
 * The counter of the block that begins at addr, if it has one: what counts
 * that control begins the block's first instruction.
 */
static bool
block_counter(const struct body *body, uint64_t addr, uint32_t *counter)
{
	long block = cfg_block(body->cfg, addr);
	uint32_t arc;

	if (block < 0 || !body->placement)
		return false;
	arc = arc_of_block(body->flow, FLOW_BLOCK + (uint32_t)block);
	for (uint32_t i = 0; i < body->placement->narcs; i++)
		if (body->placement->arcs[i] == arc) {
			*counter = body->counter + i;
			return true;
		}
	return false;
}

/* The body that was copied and has the va in its original, or NULL. */
static const struct body *
original_at(const struct space *space, uint64_t va,
	    const struct module **module)
{
	uint32_t index;
	const struct body *body;

	*module = space_module(space, va);
	if (!*module || !(*module)->copies)
		return NULL;
	index = plan_body((*module)->plan, va - (*module)->bias);
	body = index == BODY_NONE ? NULL : &(*module)->plan->bodies[index];
	return body && body->copy && !body->lost ? body : NULL;
}

/*
 * Is the task at an instruction of the original that its copy leads to, since
 * it runs there only: a call, or a system call?
 */
static bool
call_ahead(const struct space *space, uint64_t pc)
{
	const struct module *module;
	const struct body *body = original_at(space, pc, &module);
	long insn = body ? cfg_insn(body->cfg, pc - module->bias) : -1;

	if (insn < 0 || copy_point(body->copy, pc - module->bias))
		return false;
	switch (body->cfg->insns[insn].kind) {
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
	case INSN_SYSCALL:
		return true;
	default:
		return false;
	}
}

void
copies_ahead(struct run *run, struct task *task, uint64_t va, bool back)
{
	const uint64_t by = back ? UINT64_MAX : 1;
	const struct module *module;
	const struct body *body = original_at(task->process->space, va,
					      &module);
	uint32_t counter;

	if (body && block_counter(body, va - module->bias, &counter))
		meter_slots(plan_meter(module->plan, run_meter(run, task)),
			    counter, &by, 1);
}

bool
copies_position(const struct space *space, uint64_t pc,
		struct position *position)
{
	const struct module *module;
	struct copy_spot spot;
	const struct body *body;
	uint32_t offset;

	*position = (struct position){ 0 };
	if (!space || !space->areas)
		return false;
	position->va = copies_hole(space, pc);
	if (position->va)
		return true;
	if (call_ahead(space, pc)) {
		*position = (struct position){ .va = pc, .ahead = true };
		return true;
	}
	body = space_copy_at(space, pc, &module, &offset);
	if (!body || copy_spot(body->copy, offset, &spot))
		return false;
	position->ahead = spot.arrived;
	if (spot.arc < body->flow->nedges && !spot.added &&
	    body->flow->edges[spot.arc].from >= FLOW_BLOCK) {
		const struct block *from = &body->cfg->blocks[
			body->flow->edges[spot.arc].from - FLOW_BLOCK];

		/* It has been decided to go that way, but not counted. */
		spot.addr = body->cfg->insns[from->first + from->count -
					     1].addr;
		position->during = true;
	}
	position->va = spot.addr + module->bias;
	return true;
}

/*
 * Is it where it can be moved to the original and back without a trace?  At
 * an instruction copied, with all done that comes before.
 */
static bool
spot_clean(const struct body *body, uint32_t offset, struct copy_spot *spot)
{
	return !copy_spot(body->copy, offset, spot) && !spot->between &&
	       !spot->saved && spot->arrived && spot->begins;
}

/*
 * One instruction, with all signals blocked.  A stop of its process is passed
 * over, and takes effect when the task is resumed for good.
 */
static int
copy_step(struct run *run, struct task *task)
{
	struct detour detour = { 0 };
	struct event event = { 0 };
	int err;

	do {
		err = detour_go(run, task, RESUME_STEP, &detour, &event);
		if (err)
			return err;
	} while (detour.signal || event.kind == EVENT_STOPPED ||
		 event.kind == EVENT_PAUSED);
	if (event.kind != EVENT_TRAP) {
		run_requeue(run, &event);
		return HOST_GONE;
	}
	detour_end(run, task, &detour);
	return HOST_OK;
}

/*
 * Step until that is so: 1; 0 if it left the copy; DETOUR_TAKEN, or -1 if it
 * stopped so.
 */
static int
copy_settle(struct run *run, struct task *task, uint64_t *va)
{
	const struct space *space = task->process->space;

	for (int i = 0; i < STEPS_MAX; i++) {
		const struct module *module;
		const struct body *body;
		struct copy_spot spot;
		uint32_t offset;
		uint64_t pc;
		int err;

		if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
			return -1;
		body = space_copy_at(space, pc, &module, &offset);
		if (!body)
			return 0;
		if (spot_clean(body, offset, &spot)) {
			*va = spot.addr + module->bias;
			return 1;
		}
		err = copy_step(run, task);
		if (err)
			return err == DETOUR_TAKEN ? err : -1;
	}
	return -1;
}

/*
 * Bring a task that is in a copy to where it could be in the original as well,
 * at *va: 1; 0 if it left the copy for that, or is in none; -1 if it cannot be.
 */
static int
task_settle(struct run *run, struct task *task, uint64_t *va)
{
	const struct event *queued = run_queued(run, task);
	const struct module *module;
	uint8_t info[SIGINFO_MAX];
	const struct body *body;
	struct copy_spot spot;
	uint64_t pc, mask;
	uint32_t offset;
	int r;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return -1;
	body = space_copy_at(task->process->space, pc, &module, &offset);
	if (!body)
		return 0;
	if (spot_clean(body, offset, &spot)) {
		*va = spot.addr + module->bias;
		return 1;
	}
	if (run->host->siginfo_get(task->tid, info) ||
	    run->host->mask_set(task->tid, ~(UINT64_C(1) << (SIGTRAP - 1)),
				&mask))
		return -1;
	r = copy_settle(run, task, va);
	if (r == DETOUR_TAKEN)
		return -1;
	/* Its stop is still the one that is queued. */
	if (queued && task->state == TASK_RUNNING)
		task->state = TASK_STOPPED;
	run->host->mask_set(task->tid, mask, NULL);
	run->host->siginfo_set(task->tid, info);
	return r;
}

bool
copies_leave(struct run *run, struct task *task)
{
	const struct space *space = task->process->space;
	uint64_t pc, va;
	int r;

	if (!space || !space->areas ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return false;
	va = copies_hole(space, pc);
	/* From there it will find its way by itself. */
	if (va) {
		run->host->reg_set(task->tid, run->arch->reg_pc, va);
		return false;
	}
	/* There it has been led by its copy, and is let go on. */
	if (call_ahead(space, pc))
		return true;
	r = task_settle(run, task, &va);
	/* It may have been led to a call. */
	if (r != 1)
		return !r && !run->host->reg_get(task->tid, run->arch->reg_pc,
						 &pc) &&
		       call_ahead(space, pc);
	fault_move(run, task, pc, va);
	run->host->reg_set(task->tid, run->arch->reg_pc, va);
	return true;
}

bool
copies_counting(struct run *run, const struct task *task)
{
	const struct module *module;
	const struct body *body;
	struct copy_spot spot;
	uint32_t offset;
	uint64_t pc;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return false;
	body = space_copy_at(task->process->space, pc, &module, &offset);
	return body && !spot_clean(body, offset, &spot);
}

bool
copies_settle(struct run *run, struct task *task, uint64_t *va)
{
	const struct space *space = task->process->space;
	uint64_t pc;

	if (!space || !space->areas ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return false;
	*va = copies_hole(space, pc);
	if (*va)
		run->host->reg_set(task->tid, run->arch->reg_pc, *va);
	return !*va && task_settle(run, task, va) == 1;
}

void
copies_return(struct run *run, struct task *task)
{
	uint64_t pc;

	if (!run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		run->host->reg_set(task->tid, run->arch->reg_pc,
				   copies_back(task->process->space, pc));
}

/* Does the piece count the arrival at the block that begins at addr? */
static bool
piece_counts(const struct piece *piece, uint64_t addr)
{
	return piece->addr == addr && !piece->arrived &&
	       (piece->kind == PIECE_COUNT || piece->kind == PIECE_COUNT_KEEP ||
		piece->kind == PIECE_COUNT_LOCKED);
}

uint64_t
copies_inside(const struct space *space, uint64_t va)
{
	const struct module *module = space_module(space, va);
	const struct body *body;
	uint32_t index, piece;
	uint64_t addr;
	int64_t offset;

	index = module && module->copies ?
		plan_body(module->plan, va - module->bias) : BODY_NONE;
	body = index == BODY_NONE ? NULL : &module->plan->bodies[index];
	if (!body || !body->copy || body->lost)
		return va;
	addr = va - module->bias;
	offset = copy_offset(body->copy, addr);
	if (offset < 0)
		return va;
	for (piece = 0; body->copy->pieces[piece].offset < offset; piece++)
		;
	while (piece && cfg_block(body->cfg, addr) >= 0 &&
	       piece_counts(&body->copy->pieces[piece - 1], addr) &&
	       body->copy->pieces[piece - 1].arc >= body->flow->nedges)
		piece--;
	return module->copies + body->copy_at +
	       body->copy->pieces[piece].offset;
}

void
copies_begin(struct run *run, struct task *task)
{
	uint64_t pc;

	if (!run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		run->host->reg_set(task->tid, run->arch->reg_pc,
				   copies_inside(task->process->space, pc));
}
