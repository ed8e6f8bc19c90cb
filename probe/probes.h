/*
 * The probes of the counting client.
 */
#ifndef PROBE_PROBES_H
#define PROBE_PROBES_H

#include "flow/placement.h"
#include "relocate/probe.h"

/*
 * One probe per arc of the placement, in its order: each adds 1 to a slot of
 * its own, from number `slot` on.  The caller owns the array of
 * placement->narcs.
 */
struct probe *probes_count(const struct placement *placement, uint32_t slot);

#endif
