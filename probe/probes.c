/*
 * Makes the probes that count what a placement wants counted.  Decides neither
 * where counters are needed (flow/placement.c) nor how they are planted.
 */
#include "probe/probes.h"

#include "util/mem.h"

struct probe *
probes_count(const struct placement *placement, uint32_t slot)
{
	struct probe *probes = mem_alloc((placement->narcs + 1) *
					 sizeof(*probes));

	for (uint32_t i = 0; i < placement->narcs; i++)
		probes[i] = (struct probe){
			.element = placement->arcs[i],
			.slot = slot + i,
			.op = PROBE_ADD,
			.operand = 1,
		};
	return probes;
}
