/*
 * What a program has made of SIGTRAP: its handler, or that it ignores the
 * signal.  A trap that is hit while SIGTRAP is blocked or ignored takes that
 * away, and here it is put back before the program can see it.
 */
#ifndef MONITOR_PATCH_SIGTRAP_H
#define MONITOR_PATCH_SIGTRAP_H

#include "monitor/run.h"

struct hit;

/* For a child made with these flags of clone; NULL if nothing is known. */
struct sigtrap *sigtrap_child(struct sigtrap *maker, uint64_t flags);
struct sigtrap *sigtrap_hold(struct sigtrap *sigtrap);
void sigtrap_drop(struct sigtrap *sigtrap);

/* The task's process has become another program. */
void sigtrap_exec(struct run *run, struct task *task);

/*
 * Ask the kernel: of a process that is attached to, or whose libraries have
 * run before their hooks were there.
 */
void sigtrap_ask(struct run *run, struct task *task);

/* With these registers the task is about to make what may be rt_sigaction. */
void sigtrap_hook(struct run *run, struct task *task, const struct regs *regs);

/* A SIGTRAP of the program's own is delivered to its handler. */
void sigtrap_deliver(struct task *task);

/* Has a trap just taken the program's handler away? */
bool sigtrap_lost(struct run *run, const struct task *task);

/*
 * The task is stopped by a trap of pmon's, or a step: what that did to
 * SIGTRAP is undone.  HOST_OK, or HOST_GONE if the task was killed meanwhile.
 */
int sigtrap_mend(struct run *run, struct task *task);

/* Whether that can be done there: no system call may be made else. */
bool sigtrap_mends(struct run *run, const struct task *task);

#endif
