/*
 * Looks up hooks.
 */
#include "tests/lib/hooks.h"

const struct hook *
hook_at(const struct hook *hooks, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (hooks[i].addr == addr)
			return &hooks[i];
	return NULL;
}
