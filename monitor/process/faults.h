/*
 * Remembers the instructions that faulted.  Counts nothing.
 */
#ifndef MONITOR_PROCESS_FAULTS_H
#define MONITOR_PROCESS_FAULTS_H

#include "monitor/run.h"

/*
 * The signal is about to be delivered: note whether the instruction at the pc
 * has caused it, so has begun.
 */
void fault_note(struct run *run, struct task *task, int signal, uint64_t pc);
/*
 * The task is moved from pc to va: if its signal tells the program the address
 * pc, have the signal tell va.
 */
void fault_tell(struct run *run, const struct task *task, uint64_t pc,
		uint64_t va);
/*
 * The task is moved from pc in a relocated function to va in the original: if
 * the instruction at pc faulted, the one at va did.
 */
void fault_move(struct run *run, struct task *task, uint64_t pc, uint64_t va);
/*
 * The task is about to run on, perhaps to a handler: if the instruction at its
 * pc has faulted, record that with the stack pointer, for fault_left.
 */
void fault_record(struct run *run, struct task *task);
/*
 * Whether the instruction at va, where a frame with this stack pointer is left,
 * had begun: a fault interrupted it.
 */
bool fault_left(const struct task *task, uint64_t va, uint64_t sp);
/*
 * A handler has a function called where the signal came: it has pushed a return
 * to va, which leaves this stack pointer.  Record that, for fault_parked.
 */
void fault_park(struct task *task, uint64_t va, uint64_t sp);
/*
 * Whether a frame that goes on at va with this stack pointer was put there by a
 * handler: control left it before the instruction at va, not during a call.
 */
bool fault_parked(const struct task *task, uint64_t va, uint64_t sp);
/* Free the task's list of faults. */
void faults_clear(struct task *task);

#endif
