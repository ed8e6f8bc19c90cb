/*
 * Keeps lists of the functions that ran, from run to run, in the user's cache
 * directory.  What is in a list is looked at when the image is planned, so that
 * pmon need not stop the program at the function's first entry
 * (doc/decisions/0020-functions-that-ran.md).  The lists are hints: counts never
 * depend on them.
 */
#include "monitor/process/ran.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/addrs.h"
#include "util/mem.h"

static const char suffix[] = "";
static const char head[] = "pmon: functions that ran, 1";

/* ---- lists */

static void
lines_read(FILE *in, struct ran *ran)
{
	char line[sizeof(head) + 1];
	uint64_t addr, last = 0;

	if (!fgets(line, sizeof(line), in) ||
	    strncmp(line, head, sizeof(head) - 1))
		return;
	for (; fscanf(in, "%" SCNx64, &addr) == 1; last = addr)
		if (!ran->n || addr > last)
			*vec_push(ran->addrs, ran->n) = addr;
}

struct ran
ran_read(struct cache *cache, const struct image *image)
{
	FILE *in = cache_read(cache, image, suffix);
	struct ran ran = { 0 };

	if (in) {
		lines_read(in, &ran);
		fclose(in);
	}
	return ran;
}

static void
list_write(struct cache *cache, const struct image *image,
	   const struct ran *ran)
{
	FILE *out = cache_write(cache, image, suffix);

	if (!out)
		return;
	fprintf(out, "%s\n", head);
	for (size_t i = 0; i < ran->n; i++)
		fprintf(out, "%" PRIx64 "\n", ran->addrs[i]);
	cache_written(cache, image, suffix, out);
}

void
ran_forget(struct cache *cache, const struct image *image)
{
	cache_forget(cache, image, suffix);
}

/* ---- what ran */

/* Whether the plan counts the function's calls, or code of it. */
static bool
fplan_counted(const struct func_plan *fplan)
{
	return fplan->units && fplan->func != FUNC_NONE &&
	       fplan->state != FPLAN_FAULTY;
}

/*
 * Whether the function ran and may be relocated early the next time.  Whatever
 * made its counts unknown, such as that the program moved its code, might be
 * worse then.
 */
static bool
fplan_ran(const struct func_plan *fplan)
{
	return fplan_counted(fplan) && fplan->state == FPLAN_READY &&
	       !fplan->lost && fplan->calls.state != COUNT_UNKNOWN &&
	       (fplan->increments || fplan->nabnormal_insns || fplan->calls.n);
}

/*
 * The functions that ran, and the earlier ones that were not counted now.  What
 * a program does differs from run to run: the earlier ones that did not run stay
 * in the list, too, unless they are more than those that ran.
 */
static struct ran
ran_merge(const struct plan *plan, const struct ran *earlier)
{
	const struct image *image = plan->image;
	size_t idle = 0, nran = 0;
	struct ran merged = { 0 };

	for (size_t i = 0; i < plan->nfplans; i++) {
		const struct func_plan *fplan = &plan->fplans[i];

		if (fplan_ran(fplan))
			nran++;
		else if (fplan_counted(fplan) &&
			 addrs_has(earlier->addrs, earlier->n,
				   image->funcs[fplan->func].addr))
			idle++;
	}
	for (size_t i = 0; i < plan->nfplans; i++) {
		const struct func_plan *fplan = &plan->fplans[i];
		uint64_t addr;

		if (fplan->func == FUNC_NONE)
			continue;
		addr = image->funcs[fplan->func].addr;
		if (fplan_ran(fplan) ||
		    (addrs_has(earlier->addrs, earlier->n, addr) &&
		     (!fplan_counted(fplan) || idle <= nran)))
			*vec_push(merged.addrs, merged.n) = addr;
	}
	return merged;
}

void
ran_write(struct cache *cache, const struct plan *plan)
{
	struct ran earlier, merged;

	if (!cache_keeps(cache, plan->image))
		return;
	earlier = ran_read(cache, plan->image);
	merged = ran_merge(plan, &earlier);
	if (merged.n != earlier.n ||
	    (merged.n && memcmp(merged.addrs, earlier.addrs,
				merged.n * sizeof(*merged.addrs)) != 0))
		list_write(cache, plan->image, &merged);
	free(earlier.addrs);
	free(merged.addrs);
}
