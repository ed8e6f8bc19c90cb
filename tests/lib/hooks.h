/*
 * For tests that look at hooks: finds the hook at an address.
 */
#ifndef TESTS_LIB_HOOKS_H
#define TESTS_LIB_HOOKS_H

#include "program/hook.h"

const struct hook *hook_at(const struct hook *hooks, size_t n, uint64_t addr);

#endif
