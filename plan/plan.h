/*
 * The plan of one image: the units chosen, the sites that count them, and
 * the counts.  Frozen once built but for the counts, which the monitor adds
 * to.  Link addresses only; never touches a process.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "flow/entries.h"
#include "plan/select.h"
#include "symtab/image.h"

static const uint32_t FUNC_NONE = UINT32_MAX;

struct site {
	uint64_t addr;
	uint64_t hits;		/* how often the instruction ran */
	uint64_t taken;		/* ... and its branch was taken */
	struct insn insn;
	bool branch;		/* taken is wanted */
	bool lost;		/* could not be planted somewhere */
};

struct plan_term {
	uint32_t site;		/* index into plan->sites */
	uint8_t kind;		/* enum term_kind */
	int8_t sign;
};

/*
 * One unit.  A line of a file is one unit however many functions have code
 * for it.  why, if set, says why its count is not known.
 */
struct unit {
	uint8_t kind;		/* enum unit_kind */
	uint32_t ref;		/* UNIT_FUNC: image->funcs[ref];
				   UNIT_INLINE: image->inlines[ref], the first
				   of all copies of one function;
				   UNIT_LINE: file, image->files[ref] */
	uint32_t line;		/* UNIT_LINE, UNIT_INLINE's declaration */
	uint32_t func;		/* UNIT_LINE: image->funcs[func] has code of
				   it (others may, too), or FUNC_NONE */
	uint32_t term, nterms;	/* plan->terms[term .. term + nterms) */
	const char *why;	/* static string or NULL */
};

/* A row, function or site that could not be planted. */
struct skip {
	uint64_t addr;
	const char *why;	/* static string */
};

struct plan {
	struct image *image;	/* owned */
	const struct selection *selection;	/* lent, or NULL */
	struct site *sites;	/* ascending addr */
	size_t nsites;
	struct unit *units;	/* by kind; lines by file, line;
				   functions by addr */
	size_t nunits;
	struct plan_term *terms;
	size_t nterms;
	struct skip *skips;
	size_t nskips;
	uint32_t *index;	/* hash of addr -> site, see plan_site */
	uint32_t index_mask;
};

/*
 * Choose units and sites for the image, of which the plan takes ownership;
 * sel must outlive the plan.  progress as for image_open.  Never fails: a
 * plan may be empty.
 *
 * A function counts arrivals at its entry other than by its own jumps.  A
 * line counts how often control enters its code from that of another line or
 * from outside the function: each instruction belongs to the last row that
 * begins a statement (is_stmt) at or before it; a row that others at the same
 * address leave empty counts arrivals there from other lines.  An inlined
 * function counts arrivals at the entries of its copies from outside each.
 */
struct plan *plan_build(struct image *image, const struct selection *sel,
			void (*progress)(void *), void *arg);
void plan_free(struct plan *plan);

/* What of the image must be read for the selection: IMAGE_LINES ... */
unsigned plan_wants(const struct selection *sel);

/* The site at addr, or NULL. */
struct site *plan_site(const struct plan *plan, uint64_t addr);

/*
 * The unit's count.  false, and *why set, if it is not known: a site could
 * not be planted, or what its code is could not be found out, or it was
 * already running when counting began (only then a sum can be negative).
 */
bool plan_count(const struct plan *plan, const struct unit *unit,
		uint64_t *count, const char **why);

#endif
