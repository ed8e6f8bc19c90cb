/*
 * For tests that look at hooks: finds the hook at an address.
 */
#ifndef TESTS_HOOKS_H
#define TESTS_HOOKS_H

#include "program/hook.h"

static const struct hook *
hook_at(const struct hook *hooks, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (hooks[i].addr == addr)
			return &hooks[i];
	return NULL;
}

#endif
