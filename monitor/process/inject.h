/*
 * Injected system calls: a stopped task makes a call for pmon.
 */
#ifndef MONITOR_PROCESS_INJECT_H
#define MONITOR_PROCESS_INJECT_H

#include "monitor/run.h"

/*
 * Bring a stopped task to where it can be made to do system calls: to the end
 * of the call that it is in, or back to before the call that it is about to
 * make.  *event is the event that the task stopped for, and is replaced by the
 * event of its new stop.  The task must not be waiting in vfork.  HOST_OK or
 * HOST_GONE.
 */
int inject_prepare(struct run *run, struct task *task, struct event *event);

/*
 * Whether the stopped task can be made to do system calls where it stands: it
 * stopped for a pause or with its process, or for what is being handled now.
 */
bool inject_may(const struct run *run, const struct task *task);

/*
 * Have the stopped task make n system calls, one after the other, whatever
 * becomes of those before.  Afterwards the task's state is as before, including
 * the signal that it stopped for.  No trap is used on a native host, so it does
 * not matter what the program has made of SIGTRAP.  If pmon is killed meanwhile,
 * the task goes on from where it was.  HOST_OK and the kernel's results;
 * HOST_GONE if the task has ended, or another error of the host.
 */
int inject_calls(struct run *run, struct task *task, struct syscall *calls,
		 size_t n);

/*
 * One call, of a task that is stopped by a trap and is in no system call.  The
 * task is given `signal` (0: none), that of its stop, while all signals are
 * blocked: so the signal stays pending.
 */
int inject_pending(struct run *run, struct task *task, struct syscall *call,
		   int signal);

/* The va that a call of mmap(2) has returned, or 0. */
uint64_t inject_mapped(const struct syscall *call);

/*
 * Memory of the stopped task's space that neither the program nor the kernel
 * uses, which only the host's mem_write can write; 0 to 0 if there is none.
 */
struct range inject_scratch(struct run *run, struct task *task);

/*
 * The call that maps private memory, all 0, with the protection `prot`: at va or
 * not at all, or anywhere if that is 0.
 */
struct syscall inject_mapping(const struct run *run, uint64_t va, uint64_t size,
			      int prot);
/*
 * Have the stopped task map private memory, all 0, with the protection `prot`:
 * at va or not at all, or anywhere if that is 0.  Its va; or 0.
 */
uint64_t inject_map(struct run *run, struct task *task, uint64_t va,
		    uint64_t size, int prot);
/* Have the stopped task unmap memory; whether that was done. */
bool inject_unmap(struct run *run, struct task *task, uint64_t va,
		  uint64_t size);

#endif
