/*
 * Runs random programs, counts as the monitor does, and keeps the truth.
 */
#include "tests/lib/machine.h"

static struct frame *
machine_top(struct machine *m)
{
	return &m->frames[m->depth - 1];
}

/* ---- counting, as the monitor does */

/* Count that control left a place, or came to it, over no edge. */
static void
abnormal_add(struct machine *m, struct counter_set *counter_set, uint64_t addr,
	     bool during, bool came)
{
	uint32_t fplan = plan_func(m->plan, addr - during);
	struct abnormal_edge *abnormal;

	if (fplan == FPLAN_NONE)
		return;
	if (came && m->plan->fplans[fplan].units)
		plan_ready(m->plan, fplan);
	abnormal = counter_set_abnormal(counter_set, addr, during);
	abnormal->left += !came;
	abnormal->came += came;
}

/* Whether a frame is not found, as the stack was not walked that far. */
static bool
frame_lost(struct machine *m)
{
	if (!random_chance(m->unreported))
		return false;
	m->plan->calls_underivable = true;
	return true;
}

/* Control leaves frame i.  The innermost frame is always found. */
static void
frame_leave(struct machine *m, struct counter_set *counter_set, unsigned i,
	    bool exact, bool inner)
{
	if (inner || !frame_lost(m))
		abnormal_add(m, counter_set, m->frames[i].pc, !exact, false);
}

void
frames_leave(struct machine *m, struct counter_set *counter_set,
	     enum doing doing)
{
	for (unsigned i = 0; i < m->depth; i++) {
		bool last = i + 1 == m->depth;

		frame_leave(m, counter_set, i,
			    m->frames[i].exact || (doing == DOING_NEXT && last),
			    doing != DOING_CALL && last);
	}
}

/* Make the function at pc ready, and count a hit; returns the site or NULL. */
static struct site *
site_begin(struct machine *m, uint64_t pc)
{
	struct site *site = plan_site(m->plan, pc);

	if (site && site->waiting) {
		plan_ready(m->plan, site->fplan);
		m->plan->nwoken = 0;
		site = plan_site(m->plan, pc);
	}
	if (!site || site->idle)
		return NULL;
	counter_set_site(m->counter_set, (uint32_t)(site - m->plan->sites),
			 m->plan->nsites)
		->hits++;
	return site;
}

static void
site_taken(struct machine *m, const struct site *site)
{
	if (site && site->branch)
		counter_set_site(m->counter_set,
				 (uint32_t)(site - m->plan->sites),
				 m->plan->nsites)
			->taken++;
}

static void
site_went(struct machine *m, const struct site *site, int from, uint64_t to)
{
	int insn = program_insn(m->program, to);

	m->truth->went[from][insn < 0 ? INSNS_MAX : insn]++;
	if (site && site->targets)
		counter_set_arrival(m->counter_set,
				    (uint32_t)(site - m->plan->sites),
				    insn < 0 ? NULL : m->plan,
				    insn < 0 ? 0 : to, true)
			->n++;
}

/* ---- where control goes */

/* Control comes to pc over no edge. */
static void
control_arrives(struct machine *m, uint64_t pc)
{
	int to = program_insn(m->program, pc);

	machine_top(m)->pc = pc;
	if (to < 0)
		return;
	m->truth->arrivals[to]++;
	m->walks++;
}

static void
control_leaves(struct machine *m, int from, uint64_t pc, bool taken)
{
	m->truth->leaves[from][taken]++;
	machine_top(m)->again = 0;
	control_arrives(m, pc);
}

/* Instruction `from` is done and control goes on at pc. */
static void
control_goes(struct machine *m, int from, uint64_t pc, bool taken)
{
	const struct toy_insn *insns = m->program->insns;
	int to = program_insn(m->program, pc);

	if (to < 0 || insns[from].func != insns[to].func) {
		control_leaves(m, from, pc, taken);
		return;
	}
	m->truth->moves[from][to]++;
	machine_top(m)->pc = pc;
}

/* The instruction that ends at addr, or -1. */
static int
insn_before(const struct program *p, uint64_t addr)
{
	for (unsigned len = 4; len < 6; len++) {
		int insn = program_insn(p, addr - len);

		if (insn >= 0 && p->insns[insn].len == len)
			return insn;
	}
	return -1;
}

static void
frame_push(struct machine *m, bool exact, uint64_t pc)
{
	struct frame *top = machine_top(m);
	uint32_t fplan = plan_func(m->plan, top->pc);

	top->exact = exact;
	if (exact && fplan != FPLAN_NONE)
		m->plan->fplans[fplan].interrupted = true;
	m->frames[m->depth++] = (struct frame){ .pc = pc };
	control_arrives(m, pc);
}

/* The running frame returns. */
static void
frame_pop(struct machine *m)
{
	struct frame *top;

	if (!--m->depth)
		return;
	top = machine_top(m);
	if (!top->exact)
		control_goes(m, insn_before(m->program, top->pc), top->pc,
			     false);
	top->exact = false;
}

/*
 * The flow of an instruction by its function's graph, once counters are placed.
 * Before that only a site with targets tells that it is a jump by a table.
 */
static enum insn_flow
insn_flow(const struct machine *m, int insn, const struct func_plan **fplan)
{
	uint64_t addr = m->program->insns[insn].addr;
	const struct site *site = plan_site(m->plan, addr);

	*fplan = &m->plan->fplans[plan_func(m->plan, addr)];
	if ((*fplan)->cfg)
		return (*fplan)->cfg->insns[cfg_insn((*fplan)->cfg, addr)].flow;
	return site && site->targets ? FLOW_TABLE : FLOW_LEAVES;
}

/* ---- mishaps; DOING_CALL: the running frame's pc is set behind the call */

void
machine_end(struct machine *m, enum doing doing)
{
	frames_leave(m, m->counter_set, doing);
	m->depth = 0;
}

/* Leave the frames down to number `to`, which runs then. */
static void
frames_unwind(struct machine *m, unsigned to)
{
	for (unsigned i = to; i < m->depth; i++)
		frame_leave(m, m->counter_set, i, m->frames[i].exact, false);
	m->depth = to + 1;
}

/* longjmp; false if no frame can be jumped to. */
static bool
machine_again(struct machine *m)
{
	unsigned to = random_below(m->depth);
	uint64_t again = m->frames[to].again;

	if (!again || m->frames[to].exact)
		return false;
	frames_unwind(m, to);
	if (!frame_lost(m))
		abnormal_add(m, m->counter_set, again, true, true);
	control_goes(m, insn_before(m->program, again), again, false);
	return true;
}

/* Throw an exception; false if no frame catches it. */
static bool
machine_throw(struct machine *m)
{
	const struct program *p = m->program;
	unsigned to = random_below(m->depth), func;
	size_t pad;

	if (m->frames[to].exact || !p->image.npads)
		return false;
	func = p->insns[insn_before(p, m->frames[to].pc)].func;
	pad = random_below((unsigned)p->image.npads);
	if (p->insns[program_insn(p, p->pads[pad])].func != func)
		return false;
	frames_unwind(m, to);
	control_arrives(m, p->pads[pad]);
	return true;
}

/* A call of a function outside the program, or of the kernel. */
static void
call_away(struct machine *m, int from, uint64_t back)
{
	unsigned what = random_below(1000);

	machine_top(m)->pc = back;
	if (what < m->mishaps)
		machine_end(m, DOING_CALL);
	else if (what < 30 * m->mishaps && machine_again(m))
		return;
	else if (what < 30 * m->mishaps && machine_throw(m))
		return;
	else {
		if (random_chance(50))
			machine_top(m)->again = back;
		control_goes(m, from, back, false);
	}
}

/* The instruction is begun and faults, which ends the program. */
static void
machine_fault(struct machine *m, int from, uint64_t back)
{
	const struct toy_insn *insn = &m->program->insns[from];
	const struct func_plan *fplan;
	enum insn_flow flow;

	machine_top(m)->pc = back;
	if (insn->op == INSN_STOP || insn->op == INSN_RETURN)
		m->truth->leaves[from][0]++;
	if (insn->op == INSN_JUMP_INDIRECT || insn->op == TOY_TABLE) {
		flow = insn_flow(m, from, &fplan);
		if (flow != FLOW_TABLE && flow != FLOW_TABLE_LEAVES)
			m->truth->leaves[from][0]++;
	}
	machine_end(m, DOING_FAULT);
}

/* ---- instructions */

static void
do_call(struct machine *m, const struct site *site, int from, uint64_t back)
{
	const struct program *p = m->program;
	const struct toy_insn *insn = &p->insns[from];
	uint64_t to = insn->operand;

	if (insn->op == INSN_CALL_INDIRECT) {
		to = random_chance(30) ?
			     AWAY :
			     random_entry(p, (unsigned)p->image.nfuncs);
		site_went(m, site, from, to);
	}
	machine_top(m)->pc = back;
	if (program_insn(p, to) < 0)
		call_away(m, from, back);
	else if (m->depth == DEPTH_MAX)
		machine_end(m, DOING_CALL);
	else
		frame_push(m, false, to);
}

static void
do_jump_indirect(struct machine *m, const struct site *site, int from)
{
	const struct program *p = m->program;
	const struct func_plan *fplan;
	enum insn_flow flow = insn_flow(m, from, &fplan);
	uint64_t to = random_entry(p, (unsigned)p->image.nfuncs);
	int own;

	if (flow == FLOW_TABLE || flow == FLOW_TABLE_LEAVES)
		to = p->tables[from]
			      [random_below(p->insns[from - 2].operand + 1U)];
	else if (flow == FLOW_PLAIN && random_chance(70))
		to = fplan->cfg
			     ->insns[fplan->cfg
					     ->blocks[random_below(
						     (unsigned)fplan->cfg
							     ->nblocks)]
					     .first]
			     .addr;
	site_went(m, site, from, to);
	if (flow == FLOW_TABLE || flow == FLOW_TABLE_LEAVES) {
		control_goes(m, from, to, false);
		return;
	}
	control_leaves(m, from, to, false);
	own = program_insn(p, to);
	if (p->insns[own].func == p->insns[from].func)
		m->truth->jumped[own]++;
}

static void
insn_do(struct machine *m, const struct site *site, int from)
{
	const struct toy_insn *insn = &m->program->insns[from];
	uint64_t next = insn->addr + insn->len;

	switch (insn->op) {
	case INSN_JUMP:
		control_goes(m, from, insn->operand, false);
		break;
	case INSN_BRANCH:
	case TOY_GUARD:
		if (random_chance(50)) {
			site_taken(m, site);
			control_goes(m, from, insn->operand, true);
			break;
		}
		/* Falls through. */
	case INSN_PLAIN:
	case TOY_COMPARE:
		control_goes(m, from, next, false);
		break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		do_call(m, site, from, next);
		break;
	case INSN_SYSCALL:
		call_away(m, from, next);
		break;
	case INSN_JUMP_INDIRECT:
	case TOY_TABLE:
		do_jump_indirect(m, site, from);
		break;
	case INSN_RETURN:
		m->truth->leaves[from][0]++;
		frame_pop(m);
		break;
	case INSN_STOP:
		machine_fault(m, from, next);
		break;
	}
}

static bool
insn_may_fault(uint8_t op)
{
	return op != INSN_JUMP && op != INSN_BRANCH && op != TOY_GUARD;
}

void
machine_step(struct machine *m)
{
	const struct program *p = m->program;
	uint64_t pc = machine_top(m)->pc;
	int insn = program_insn(p, pc);
	const struct site *site;

	if (insn < 0 || random_below(3000) < m->mishaps) {
		machine_end(m, DOING_NEXT);
		return;
	}
	if (random_below(300) < m->mishaps && m->depth < DEPTH_MAX) {
		frame_push(m, true, random_entry(p, (unsigned)p->image.nfuncs));
		return;
	}
	site = site_begin(m, pc);
	m->truth->begun[insn]++;
	if (random_below(3000) < m->mishaps &&
	    insn_may_fault(p->insns[insn].op))
		machine_fault(m, insn, pc + p->insns[insn].len);
	else
		insn_do(m, site, insn);
}

void
machine_call(struct machine *m, unsigned func)
{
	m->depth = 1;
	m->frames[0] = (struct frame){ .pc = 0 };
	control_arrives(m, m->program->insns[m->program->first[func]].addr);
}

/* Whether control can be at the instruction, or `during` its call. */
static bool
insn_lives(const struct machine *m, int insn, bool during)
{
	const struct func_plan *fplan;
	uint8_t op = m->program->insns[insn].op;
	uint32_t block;

	if (during && op != INSN_CALL && op != INSN_CALL_INDIRECT)
		return false;
	if (insn_flow(m, insn, &fplan) == FLOW_NO_RETURN && during)
		return false;
	if (!fplan->flow)
		return true;
	block = cfg_block_of(fplan->cfg,
			     (size_t)cfg_insn(fplan->cfg,
					      m->program->insns[insn].addr));
	return fplan->flow->in[FLOW_BLOCK + block] !=
	       fplan->flow->in[FLOW_BLOCK + block + 1];
}

/*
 * Add a random frame that was there before counting began.  False if control
 * cannot be there.
 */
static bool
frame_find(struct machine *m, bool during)
{
	int insn = (int)random_below(m->program->n);
	const struct toy_insn *at = &m->program->insns[insn];
	uint64_t pc = at->addr + (during ? at->len : 0);
	uint32_t fplan = plan_func(m->plan, at->addr);

	if (!during || !frame_lost(m)) {
		if (m->plan->fplans[fplan].units)
			plan_ready(m->plan, fplan);
		if (!insn_lives(m, insn, during))
			return false;
		abnormal_add(m, m->counter_set, pc, during, true);
	} else {
		if (m->plan->fplans[fplan].units)
			plan_graph(m->plan, fplan);
		if (!insn_lives(m, insn, during))
			return false;
	}
	m->frames[m->depth++] = (struct frame){ .pc = pc };
	return true;
}

void
machine_attach(struct machine *m)
{
	m->depth = 0;
	for (unsigned calls = random_below(8); calls; calls--)
		frame_find(m, true);
	while (!frame_find(m, false))
		;
	if (m->plan->calls_underivable)
		plan_miss(m->plan);
}
