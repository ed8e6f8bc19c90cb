/*
 * Faults of instructions that were counted.
 */
#ifndef MONITOR_PATCH_FAULTS_H
#define MONITOR_PATCH_FAULTS_H

#include "monitor/run.h"

/* The signal is about to be delivered: is it the fault of what is at the pc? */
void fault_note(struct run *run, struct task *task, int signal, uint64_t pc);
/* The task is moved out of a relocated function: so is what faulted there. */
void fault_move(struct run *run, struct task *task, uint64_t pc, uint64_t va);
/* With that pc, and its stack pointer, it goes on, to a handler perhaps. */
void fault_keep(struct run *run, struct task *task);
/*
 * A handler interrupts what is at pc.  If no stack tells that it came back, as
 * none is walked or a walk is lost, nothing is derived there.
 */
void fault_interrupts(const struct space *space, uint64_t pc);

/* Had the instruction at va, where a frame is left, begun? */
bool fault_left(const struct task *task, uint64_t va, uint64_t sp);
void fault_forget(struct task *task);

#endif
