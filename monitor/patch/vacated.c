/*
 * Keeps what dropped modules have left mapped in a space, and gives it to modules
 * of the same plans.  Never writes there.
 */
#include "monitor/patch/vacated.h"

#include "util/mem.h"

/* What is left beyond that stays unused. */
enum { VACATED_MAX = 1024 };

void
module_vacate(struct space *space, const struct module *module)
{
	/* A shared page is closed together with its module. */
	if (module->shared.va || (!module->slots && !module->relocated) ||
	    space->nvacated == VACATED_MAX)
		return;
	*vec_push(space->vacated, space->nvacated) = (struct vacated){
		.plan = module->plan,
		.bias = module->bias,
		.slots = module->slots,
		.slots_size = module->slots_size,
		.relocated = module->relocated,
		.relocated_size = module->relocated_size,
		.springs = module->springs,
		.springs_size = module->springs_size,
		.spring = module->spring,
		.counters = module->counters,
	};
}

/*
 * Whether there is still what pmon has mapped there: the program may have
 * unmapped it, or mapped something else.
 */
static bool
range_there(const struct mapping *maps, size_t n, uint64_t lo, uint64_t size)
{
	uint64_t at = lo;

	for (size_t i = 0; i < n && at < lo + size; i++) {
		const struct mapping *map = &maps[i];

		if (at - map->lo >= map->hi - map->lo)
			continue;
		if (!map->exec || map->write || map->shared || map->path[0])
			return false;
		at = map->hi;
	}
	return at >= lo + size;
}

static bool
vacated_fits(const struct space *space, const struct vacated *vacated,
	     const struct module *module)
{
	const struct plan_options *options = &module->plan->options;

	return vacated->plan == module->plan && vacated->bias == module->bias &&
	       (!vacated->relocated ||
		(options->relocated && !options->shared &&
		 !space->own_thread_reg));
}

static void
module_take(struct module *module, const struct vacated *vacated)
{
	module->slots = vacated->slots;
	module->slots_size = vacated->slots_size;
	module->relocated = vacated->relocated;
	module->relocated_size = vacated->relocated_size;
	module->springs = vacated->springs;
	module->springs_size = vacated->springs_size;
	module->spring = vacated->spring;
	module->counters = vacated->counters;
	module->resettled = true;
}

void
module_resettle(struct space *space, struct module *module,
		const struct mapping *maps, size_t n)
{
	for (size_t i = 0; i < space->nvacated; i++) {
		const struct vacated vacated = space->vacated[i];

		if (!vacated_fits(space, &vacated, module))
			continue;
		space->vacated[i] = space->vacated[--space->nvacated];
		if (range_there(maps, n, vacated.slots, vacated.slots_size) &&
		    range_there(maps, n, vacated.relocated,
				vacated.relocated_size) &&
		    range_there(maps, n, vacated.springs, vacated.springs_size))
			module_take(module, &vacated);
		return;
	}
}
