/*
 * What the files of the native host have in common; nobody else includes it.
 * Functions without a comment are described in host.h.
 */
#ifndef HOST_PTRACE_H
#define HOST_PTRACE_H

#include "host/host.h"

#include <sys/ptrace.h>

enum {
	PTRACE_OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
			PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC |
			PTRACE_O_TRACEEXIT,
};

/* A ptrace request on a stopped task: it works, or the task was killed. */
int ptrace_request(int req, pid_t tid, void *addr, void *data);
/* The same for those that have a word as their result. */
int ptrace_peek(int req, pid_t tid, uint64_t at, uint64_t *word);

/*
 * Take what there is without waiting, for whoever waits next.  A task that is
 * about to end is let go, as others wait for that, and only its end is told:
 * an event by which it would be let go again might meet the one that has its
 * id by then.
 */
void ptrace_early_take(void);
/* Another thread has this id now: what was taken of it is forgotten. */
void ptrace_early_forget(pid_t tid);

int ptrace_launch(const char *path, char **argv, pid_t *tid);
int ptrace_launch_error(void);
int ptrace_attach(pid_t pid, pid_t **tids, size_t *n);
int ptrace_detach(pid_t tid, int signal);
int ptrace_regs_get(pid_t tid, struct regs *regs);
int ptrace_regs_set(pid_t tid, const struct regs *regs);
int ptrace_reg_get(pid_t tid, unsigned reg, uint64_t *value);
int ptrace_reg_set(pid_t tid, unsigned reg, uint64_t value);
enum trap_cause ptrace_trap_cause(pid_t tid);
int ptrace_fault_get(pid_t tid, int *code, uint64_t *va);
int ptrace_fault_set(pid_t tid, uint64_t va);
int ptrace_mask_set(pid_t tid, uint64_t mask, uint64_t *old);
int ptrace_siginfo_get(pid_t tid, uint8_t info[SIGINFO_MAX]);
int ptrace_siginfo_set(pid_t tid, const uint8_t info[SIGINFO_MAX]);
int ptrace_mem_open(pid_t tid);
void ptrace_mem_close(int mem);
int ptrace_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n);
int ptrace_mem_write(int mem, pid_t tid, uint64_t va, const void *buf,
		     size_t n);
int ptrace_data_read(pid_t tid, uint64_t va, void *buf, size_t n);
int ptrace_data_write(pid_t tid, uint64_t va, const void *buf, size_t n);
int ptrace_affinity_get(pid_t tid, void *set, size_t size);
int ptrace_affinity_set(pid_t tid, const void *set, size_t size);

#endif
