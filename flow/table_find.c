/*
 * Finds the jump table of which a place is an entry, by writing the place's
 * address as the sum of a constant and an index.  Never reads the table.
 */
#include "flow/table_find.h"

enum { HOPS_MAX = 64, TERMS_MAX = 4 };

/* One summand of an address: `times` the value at the use. */
struct term {
	struct use use;
	uint64_t times;
};

struct sum {
	struct term terms[TERMS_MAX];
	unsigned n;
	uint64_t constant;
	bool unreached;
};

static bool
sum_add(struct sum *sum, const struct place *place, const struct use *at,
	uint64_t times)
{
	if (sum->n + 2 > TERMS_MAX)
		return false;
	sum->constant += (uint64_t)place->disp * times;
	if (place->reg != REG_NONE)
		sum->terms[sum->n++] = (struct term){ use_reg(place->reg, at),
						      times };
	if (place->index != REG_NONE)
		sum->terms[sum->n++] = (struct term){ use_index(place, at),
						      times * place->scale };
	return true;
}

/* The effect of the instruction that makes the value, if only one path does. */
static const struct effect *
made_by(struct values *v, struct use *use)
{
	for (int hops = 0; hops < HOPS_MAX; hops++)
		switch (values_back(v, use)) {
		case BACK_MADE:
			return values_effect(v, use->insn);
		case BACK_UNKNOWN:
			return NULL;
		case BACK_START:
			if (!values_only_before(v, use))
				return NULL;
		}
	return NULL;
}

/* Replace a term by its summands; false if its value is not a sum. */
static bool
term_expand(struct values *v, struct sum *sum, unsigned i)
{
	struct term term = sum->terms[i];
	const struct effect *e;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		e = made_by(v, &term.use);
		if (!e)
			return false;
		if (e->op == EFFECT_COPY &&
		    (e->src.kind == PLACE_REG || values_on_stack(v, &e->src))) {
			term.use.place = e->src;
			continue;
		}
		if (e->op != EFFECT_SUM)
			return false;
		sum->terms[i] = sum->terms[--sum->n];
		return sum_add(sum, &e->src, &term.use, term.times);
	}
	return false;
}

static void
constants_fold(struct values *v, struct sum *sum)
{
	uint64_t value;

	for (unsigned i = 0; i < sum->n;) {
		enum constant c = sum->terms[i].times != 1 ?
					  CONSTANT_NONE :
					  values_constant(v, &sum->terms[i].use,
							  &value);

		sum->unreached |= c == CONSTANT_UNREACHED;
		if (c == CONSTANT_FOUND) {
			sum->constant += value;
			sum->terms[i] = sum->terms[--sum->n];
		} else {
			i++;
		}
	}
}

enum constant
table_find(struct values *v, const struct use *at, struct table *table)
{
	struct sum sum = { 0 };

	table->width = at->place.width;
	if (!table->width || table->width > 8 ||
	    table->width & (table->width - 1) ||
	    !sum_add(&sum, &at->place, at, 1))
		return CONSTANT_NONE;
	for (int hops = 0; hops < HOPS_MAX; hops++) {
		unsigned i;

		constants_fold(v, &sum);
		if (sum.unreached)
			return CONSTANT_UNREACHED;
		if (sum.n == 1 && sum.terms[0].times == table->width) {
			table->addr = values_address(v, sum.constant);
			table->index = sum.terms[0].use;
			return CONSTANT_FOUND;
		}
		for (i = 0; i < sum.n; i++)
			if (sum.terms[i].times < table->width &&
			    term_expand(v, &sum, i))
				break;
		if (i == sum.n)
			break;
	}
	return CONSTANT_NONE;
}
