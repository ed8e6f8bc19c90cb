/*
 * Tells calls that end a function from calls behind which control falls into
 * the next function.  Follows the stack pointer from the function's entry to
 * the call.  Never looks at the callee.
 */
#include "flow/last_call.h"

#include <stdlib.h>

#include "flow/call_fate.h"
#include "util/mem.h"

enum {
	INSNS_MAX = 1 << 12,	/* to follow */
	PADDING_MAX = 64,	/* bytes between two functions */
	BEGIN_MAX = 16,		/* instructions of the next function */
};

/* An address, and what the stack pointer is there, less that at the entry. */
struct depth {
	uint64_t addr;
	int64_t sp;
	bool known;
};

struct depths {
	const struct returns_input *in;
	uint64_t end;
	struct depth *at;	/* a hash; free if addr is 0 */
	size_t n, size;
	struct depth *todo;
	size_t ntodo;
	bool found, failed;
};

/* Whether dst or kills of the effect include the stack pointer. */
static bool
stack_set(const struct arch *arch, const struct effect *e)
{
	return (e->dst.kind == PLACE_REG && e->dst.reg == arch->reg_sp) ||
	       (e->kills >> arch->reg_sp & 1);
}

/* Decode the instruction at d, and move d behind it; -1 if it has none. */
static int
insn_pass(const struct returns_input *in, struct depth *d, struct insn *insn)
{
	struct effect e = { .sp = 0 };
	const uint8_t *code;
	size_t avail;

	code = in->text(in->ctx, d->addr, &avail);
	if (!code || in->arch->decode(code, avail, d->addr, insn) ||
	    in->arch->effect(code, avail, d->addr, &e))
		return -1;
	d->known &= !stack_set(in->arch, &e);
	d->sp += e.sp;
	d->addr += insn->len;
	return 0;
}

static struct depth *
depth_find(const struct depths *s, uint64_t addr)
{
	size_t i = addr * 0x9e3779b97f4a7c15 >> 32;

	while (s->at[i & (s->size - 1)].addr &&
	       s->at[i & (s->size - 1)].addr != addr)
		i++;
	return &s->at[i & (s->size - 1)];
}

/*
 * Note the stack pointer at d, or that it is unknown because it differs between
 * the ways there.  True if something was learned.
 */
static bool
depth_add(struct depths *s, struct depth *d)
{
	struct depth *at = depth_find(s, d->addr);

	if (at->addr) {
		if (!at->known || (d->known && at->sp == d->sp))
			return false;
		d->known = false;
	} else {
		s->failed |= ++s->n > INSNS_MAX;
	}
	*at = *d;
	return !s->failed;
}

/* Follow the function from d. */
static void
depths_follow(struct depths *s, struct depth d)
{
	while (depth_add(s, &d)) {
		struct insn insn;

		if (insn_pass(s->in, &d, &insn)) {
			s->failed = true;
			return;
		}
		if (d.addr == s->end) {
			s->found = true;
			s->failed |= !d.known || d.sp >= 0 ||
				     (insn.kind != INSN_CALL &&
				      insn.kind != INSN_CALL_INDIRECT);
			return;
		}
		if (call_fate(s->in->arch, s->in->text, s->in->ctx, &insn)) {
			insn.kind = INSN_JUMP;
			d.sp -= call_width(s->in->arch);
		}
		switch (insn.kind) {
		case INSN_RETURN:
		case INSN_STOP:
		case INSN_JUMP_INDIRECT:
			return;
		case INSN_JUMP:
			d.addr = insn.target;
			break;
		case INSN_BRANCH:
			*vec_push(s->todo,
				  s->ntodo) = (struct depth){ insn.target, d.sp,
							      d.known };
			break;
		default:
			/* Calls of functions elsewhere that end others. */
			if (s->in->behind(s->in->ctx, d.addr))
				return;
		}
	}
}

/* Whether each way from the entry to the end has something on the stack. */
static bool
end_deep(const struct returns_input *in, uint64_t entry, uint64_t end)
{
	struct depths s = {
		.in = in,
		.end = end,
		.size = 2 * INSNS_MAX,
	};

	s.at = mem_alloc(s.size * sizeof(*s.at));
	*vec_push(s.todo, s.ntodo) = (struct depth){ entry, 0, true };
	while (s.ntodo && !s.failed)
		depths_follow(&s, s.todo[--s.ntodo]);
	free(s.at);
	free(s.todo);
	return s.found && !s.failed;
}

/* Whether the bytes between two functions do nothing. */
static bool
bytes_idle(const struct returns_input *in, uint64_t lo, uint64_t hi)
{
	while (lo < hi) {
		struct motion motion;
		struct insn insn;
		const uint8_t *code;
		size_t avail;

		code = in->text(in->ctx, lo, &avail);
		if (!code || in->arch->decode(code, avail, lo, &insn))
			return false;
		if (insn.kind != INSN_TRAP &&
		    (in->arch->motion(code, avail, lo, &motion) ||
		     !motion.idle))
			return false;
		lo += insn.len;
	}
	return lo == hi;
}

/*
 * Whether the code at addr begins as a function does: it leaves alone what was
 * on the stack before it came.
 */
static bool
stack_spared(const struct returns_input *in, uint64_t addr)
{
	struct depth d = { .addr = addr, .known = true };

	for (int i = 0; i < BEGIN_MAX; i++) {
		struct insn insn;

		if (insn_pass(in, &d, &insn) || !d.known)
			return false;
		if (insn.kind == INSN_RETURN)
			return true;
		if (d.sp > 0)
			return false;
		if (insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH ||
		    insn.kind == INSN_JUMP_INDIRECT)
			return true;
	}
	return true;
}

bool
last_call_stays(const struct returns_input *in, uint64_t entry, uint64_t end)
{
	uint64_t next;

	if (!in->behind || !in->arch->effect || !in->arch->motion)
		return false;
	next = in->behind(in->ctx, end);
	return next && next - end <= PADDING_MAX && bytes_idle(in, end, next) &&
	       stack_spared(in, next) && end_deep(in, entry, end);
}
