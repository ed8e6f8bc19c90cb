/*
 * Solves Kirchhoff's equations modulo a prime.
 */
#include "tests/lib/kirchhoff.h"

enum { PRIME = 1000003 };

/* The rank modulo PRIME of rows of n numbers, which it overwrites. */
static unsigned
matrix_rank(int64_t rows[][WALK_ARCS], unsigned nrows, unsigned n)
{
	unsigned rank = 0;

	for (unsigned col = 0; col < n && rank < nrows; col++) {
		unsigned pivot = rank;

		while (pivot < nrows && !rows[pivot][col])
			pivot++;
		if (pivot == nrows)
			continue;
		for (unsigned k = 0; k < n; k++) {
			int64_t x = rows[pivot][k];

			rows[pivot][k] = rows[rank][k];
			rows[rank][k] = x;
		}
		/* Scale rows crosswise, so that no inverse is needed. */
		for (unsigned r = rank + 1; r < nrows; r++) {
			int64_t a = rows[rank][col], b = rows[r][col];

			if (!b)
				continue;
			for (unsigned k = 0; k < n; k++)
				rows[r][k] = (rows[r][k] * a -
					      rows[rank][k] * b) %
					     PRIME;
		}
		rank++;
	}
	return rank;
}

unsigned
kirchhoff_rank_open(const struct flow *flow, const bool *counted,
		    const bool *open, uint32_t extra)
{
	static int64_t rows[2 * WALK_BLOCKS + 2][WALK_ARCS];
	uint32_t nodes = flow_nodes(flow), n = flow_arcs(flow);

	memset(rows, 0, sizeof(rows));
	for (uint32_t arc = 0; arc < n; arc++) {
		if (counted[arc] || arc == flow->back)
			continue;
		rows[arc_tail(flow, arc)][arc] -= 1;
		rows[arc_head(flow, arc)][arc] += 1;
	}
	for (uint32_t node = 0; open && node < nodes; node++)
		if (open[node])
			memset(rows[node], 0, sizeof(rows[node]));
	if (extra != ARC_NONE)
		rows[nodes][extra] = 1;
	return matrix_rank(rows, nodes + (extra != ARC_NONE), n);
}

unsigned
kirchhoff_rank(const struct flow *flow, const bool *counted, uint32_t extra)
{
	return kirchhoff_rank_open(flow, counted, NULL, extra);
}

bool
kirchhoff_determines(const struct flow *flow, const bool *counted,
		     const bool *wanted)
{
	unsigned rank = kirchhoff_rank(flow, counted, ARC_NONE);

	for (uint32_t arc = 0; arc < flow_arcs(flow); arc++)
		if (wanted[arc] && !counted[arc] && arc != flow->back &&
		    kirchhoff_rank(flow, counted, arc) != rank)
			return false;
	return true;
}
