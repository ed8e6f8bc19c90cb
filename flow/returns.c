/*
 * Finds functions that never return, as the least fixed point of "a return
 * can be reached".  A function waits for those that it calls, and is woken
 * when one is found to return.  Functions that still wait when there is no more
 * code to look at never return.
 */
#include "flow/returns.h"

#include <stdlib.h>

#include "flow/call_fate.h"
#include "flow/last_call.h"
#include "util/mem.h"

enum { INSNS_MAX = 1 << 14 };	/* most to look at in one function */

enum state {
	STATE_NEW,
	STATE_WAITING,		/* no return found yet */
	STATE_RETURNS,
};

/* Function `who` goes on at addr once the callee that lists it returns. */
struct waiter {
	uint32_t who;
	uint64_t addr;
};

struct callee {
	uint64_t addr;
	uint8_t state;
	bool said;		/* RETURNS_NEVER is its hint */
	bool fresh;		/* it is in the list of that name */
	uint32_t ninsns;
	uint64_t *seen;		/* a hash of the addresses looked at */
	size_t nseen, size;
	uint64_t *todo;		/* addresses where to go on */
	size_t ntodo;
	struct waiter *waiters;
	size_t nwaiters;
};

struct returns {
	struct returns_input in;
	struct callee *callees;
	size_t n;
	uint32_t *index;	/* a hash of addresses */
	size_t size;
	uint32_t *queue;	/* callees that have something to do */
	size_t nqueue;
	uint32_t *fresh;	/* callees with code of which it is not known
				   whether it leaves its stack for another */
	size_t nfresh;
};

static size_t
hash(uint64_t addr, size_t size)
{
	return (addr * 0x9e3779b97f4a7c15 >> 32) & (size - 1);
}

struct returns *
returns_open(const struct returns_input *in)
{
	struct returns *r = mem_alloc(sizeof(*r));

	r->in = *in;
	return r;
}

/* Free what is not needed once it is known whether the callee returns. */
static void
callee_clear(struct callee *c)
{
	free(c->seen);
	free(c->todo);
	free(c->waiters);
	c->seen = c->todo = NULL;
	c->waiters = NULL;
	c->nseen = c->size = c->ntodo = c->nwaiters = 0;
}

void
returns_close(struct returns *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		callee_clear(&r->callees[i]);
	free(r->callees);
	free(r->index);
	free(r->queue);
	free(r->fresh);
	free(r);
}

static void
index_grow(struct returns *r)
{
	free(r->index);
	r->size = r->size ? 2 * r->size : 64;
	r->index = mem_alloc(r->size * sizeof(*r->index));
	for (uint32_t i = 0; i < r->n; i++) {
		size_t at = hash(r->callees[i].addr, r->size);

		while (r->index[at])
			at = (at + 1) & (r->size - 1);
		r->index[at] = i + 1;
	}
}

/* The callee at addr, made if there is none. */
static uint32_t
callee_get(struct returns *r, uint64_t addr)
{
	size_t at;

	if (2 * (r->n + 1) > r->size)
		index_grow(r);
	for (at = hash(addr, r->size); r->index[at];
	     at = (at + 1) & (r->size - 1))
		if (r->callees[r->index[at] - 1].addr == addr)
			return r->index[at] - 1;
	*vec_push(r->callees, r->n) = (struct callee){
		.addr = addr,
		.said = r->in.function &&
			r->in.function(r->in.ctx, addr) == RETURNS_NEVER,
	};
	r->index[at] = (uint32_t)r->n;
	return (uint32_t)r->n - 1;
}

/* Note that addr is looked at; false if it was before. */
static bool
seen_add(struct callee *c, uint64_t addr)
{
	uint64_t *old = c->seen;
	size_t at, size = c->size;

	if (2 * (c->nseen + 1) > c->size) {
		c->size = size ? 2 * size : 32;
		c->seen = mem_alloc(c->size * sizeof(*c->seen));
		c->nseen = 0;
		for (size_t i = 0; i < size; i++)
			if (old[i])
				seen_add(c, old[i]);
		free(old);
	}
	for (at = hash(addr, c->size); c->seen[at];
	     at = (at + 1) & (c->size - 1))
		if (c->seen[at] == addr)
			return false;
	c->seen[at] = addr;
	c->nseen++;
	return true;
}

static void
todo_add(struct returns *r, uint32_t who, uint64_t addr)
{
	struct callee *c = &r->callees[who];

	*vec_push(c->todo, c->ntodo) = addr;
	*vec_push(r->queue, r->nqueue) = who;
}

/* Whether callee `who` may go on at addr, behind a call. */
static bool
call_goes_on(const struct returns *r, uint32_t who, uint64_t addr)
{
	return !r->in.behind || !r->in.behind(r->in.ctx, addr) ||
	       !last_call_stays(&r->in, r->callees[who].addr, addr);
}

static void
callee_returns(struct returns *r, uint32_t who)
{
	struct callee *c = &r->callees[who];
	struct waiter *waiters = c->waiters;
	size_t n = c->nwaiters;

	c->state = STATE_RETURNS;
	c->waiters = NULL;
	callee_clear(c);
	for (size_t i = 0; i < n; i++)
		if (r->callees[waiters[i].who].state == STATE_WAITING &&
		    call_goes_on(r, waiters[i].who, waiters[i].addr))
			todo_add(r, waiters[i].who, waiters[i].addr);
	free(waiters);
}

/* The address of the pointer that an indirect jump or call uses, or 0. */
static uint64_t
slot_of(const struct returns *r, const struct insn *insn)
{
	struct effect effect;
	const uint8_t *code;
	size_t avail;

	if (!r->in.arch->effect || !r->in.import)
		return 0;
	code = r->in.text(r->in.ctx, insn->addr, &avail);
	if (!code || r->in.arch->effect(code, avail, insn->addr, &effect) ||
	    effect.src.kind != PLACE_MEM || effect.src.reg != REG_NONE ||
	    effect.src.index != REG_NONE)
		return 0;
	return (uint64_t)effect.src.disp;
}

static bool
pointer_returns(const struct returns *r, const struct insn *insn)
{
	uint64_t slot = slot_of(r, insn);

	return !slot || r->in.import(r->in.ctx, slot) != RETURNS_NEVER;
}

/*
 * Whether the call's callee is known to return; if not, `who` waits for it to
 * go on behind the call.
 */
static bool
call_passes(struct returns *r, uint32_t who, const struct insn *insn)
{
	uint32_t callee = callee_get(r, insn->target);
	struct callee *c = &r->callees[callee];

	if (c->state == STATE_RETURNS)
		return true;
	*vec_push(c->waiters,
		  c->nwaiters) = (struct waiter){ who, insn->addr + insn->len };
	if (c->state == STATE_NEW) {
		c->state = STATE_WAITING;
		*vec_push(c->todo, c->ntodo) = c->addr;
		*vec_push(r->queue, r->nqueue) = callee;
	}
	return false;
}

enum walk { WALK_ON, WALK_END, WALK_RETURNS };

/* Where to go on after the instruction; *addr is behind it at first. */
static enum walk
insn_walk(struct returns *r, uint32_t who, const struct insn *insn,
	  uint64_t *addr)
{
	struct callee *c = &r->callees[who];
	bool passes;

	switch (insn->kind) {
	case INSN_RETURN:
		return WALK_RETURNS;
	case INSN_STOP:
		return WALK_END;
	case INSN_JUMP:
		*addr = insn->target;
		return WALK_ON;
	case INSN_BRANCH:
		*vec_push(c->todo, c->ntodo) = insn->target;
		return WALK_ON;
	case INSN_JUMP_INDIRECT:
		return !c->said && pointer_returns(r, insn) ? WALK_RETURNS :
							      WALK_END;
	case INSN_CALL_INDIRECT:
		passes = pointer_returns(r, insn);
		break;
	case INSN_CALL:
		if (call_fate(r->in.arch, r->in.text, r->in.ctx, insn)) {
			*addr = insn->target;
			return WALK_ON;
		}
		/* A call of the next instruction only reads the pc. */
		passes = insn->target == *addr || call_passes(r, who, insn);
		break;
	default:
		return WALK_ON;
	}
	return passes && call_goes_on(r, who, *addr) ? WALK_ON : WALK_END;
}

/* Follow the code from addr; true if it may return. */
static bool
callee_walk(struct returns *r, uint32_t who, uint64_t addr)
{
	enum walk walk = WALK_ON;

	while (walk == WALK_ON) {
		struct callee *c = &r->callees[who];
		const uint8_t *code;
		struct insn insn;
		size_t avail;

		if (!seen_add(c, addr))
			return false;
		if (r->in.after_all && r->in.after_all(r->in.ctx, addr))
			return true;
		code = r->in.text(r->in.ctx, addr, &avail);
		if (++c->ninsns > INSNS_MAX || !code ||
		    r->in.arch->decode(code, avail, addr, &insn))
			return true;
		addr += insn.len;
		walk = insn_walk(r, who, &insn, &addr);
	}
	return walk == WALK_RETURNS;
}

/*
 * Whether the instruction at addr moves the stack pointer to another stack.
 * The caller may go on behind its call when another function moves the stack
 * pointer back, as Go's functions do behind calls of runtime.morestack.
 */
static bool
insn_switches(const struct returns *r, uint64_t addr)
{
	const struct arch *arch = r->in.arch;
	const struct place *src;
	struct effect effect;
	const uint8_t *code;
	struct insn insn;
	size_t avail;

	code = r->in.text(r->in.ctx, addr, &avail);
	if (!code || arch->decode(code, avail, addr, &insn) ||
	    insn.kind != INSN_PLAIN ||
	    arch->effect(code, avail, addr, &effect) ||
	    (effect.op != EFFECT_COPY && effect.op != EFFECT_SUM) ||
	    effect.dst.kind != PLACE_REG || effect.dst.reg != arch->reg_sp)
		return false;
	src = &effect.src;
	if (effect.op == EFFECT_COPY && src->kind == PLACE_MEM)
		return true;
	return src->reg != REG_NONE && src->reg != arch->reg_sp &&
	       src->reg != arch->reg_fp;
}

/*
 * Let the callees that still wait return if any code of theirs that was looked
 * at leaves its stack for another.  An instruction's effect takes long to compute,
 * so no other functions are asked.
 */
static void
switches_look(struct returns *r)
{
	while (r->nfresh) {
		uint32_t who = r->fresh[--r->nfresh];
		struct callee *c = &r->callees[who];
		bool switches = false;

		c->fresh = false;
		for (size_t i = 0; i < c->size && !switches; i++)
			switches = c->seen[i] && insn_switches(r, c->seen[i]);
		if (switches && c->state == STATE_WAITING)
			callee_returns(r, who);
	}
}

/* Follow what is left to follow of the callee's code. */
static void
callee_look(struct returns *r, uint32_t who)
{
	struct callee *c;

	while ((c = &r->callees[who])->ntodo)
		if (callee_walk(r, who, c->todo[--c->ntodo]))
			callee_returns(r, who);
	if (c->state != STATE_WAITING || c->said || c->fresh ||
	    !r->in.arch->effect)
		return;
	c->fresh = true;
	*vec_push(r->fresh, r->nfresh) = who;
}

/*
 * Work until it is known whether this function returns.  The queue is last in,
 * first out: a function's own code is looked at before its callees.
 */
static bool
callee_may(struct returns *r, uint32_t who)
{
	if (r->callees[who].state == STATE_NEW) {
		r->callees[who].state = STATE_WAITING;
		todo_add(r, who, r->callees[who].addr);
	}
	while (r->callees[who].state == STATE_WAITING &&
	       (r->nqueue || r->nfresh)) {
		if (r->nqueue)
			callee_look(r, r->queue[--r->nqueue]);
		else
			switches_look(r);
	}
	return r->callees[who].state == STATE_RETURNS;
}

bool
returns_call(struct returns *r, const struct insn *call)
{
	if (call->kind == INSN_CALL_INDIRECT)
		return pointer_returns(r, call);
	/*
	 * On CPUs with entry masks a call does not show whether there is one
	 * at its target: such callees may return.
	 */
	return call->kind != INSN_CALL ||
	       call->target == call->addr + call->len ||
	       r->in.arch->first(call->target) != call->target ||
	       callee_may(r, callee_get(r, call->target));
}
