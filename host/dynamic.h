/*
 * What the dynamic linker of a process tells debuggers.
 */
#ifndef HOST_DYNAMIC_H
#define HOST_DYNAMIC_H

#include "host/host.h"

/*
 * The va that the dynamic linker calls when libraries have come or gone
 * (r_brk; System V r_debug), or 0.
 */
uint64_t dynamic_brk(const struct host *host, pid_t tid);

#endif
