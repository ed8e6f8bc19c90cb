/*
 * What the files of the native host share; besides them only a unit test
 * includes this.  Functions without a comment are described in host.h.
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

/*
 * Make a ptrace request on a stopped task.  HOST_OK, HOST_GONE if the task was
 * killed, or HOST_ERROR with the message.
 */
int ptrace_request(int req, pid_t tid, void *addr, void *data);
/* The same for requests whose result is a word.  HOST_OK or HOST_GONE. */
int ptrace_peek(int req, pid_t tid, uint64_t at, uint64_t *word);

/*
 * Was the task let go to its end?  Then its id means no task that stands still,
 * even if there is one that has it.
 */
bool ptrace_ended(pid_t tid);

/*
 * Take the events that there are without waiting, and keep them for the next
 * ptrace_wait.  A task that is about to end goes on at once, as others wait for
 * that, and only its end is reported: if its EVENT_EXITING were, resuming the
 * task later might resume another that has taken its id by then.
 */
void ptrace_early_take(void);
/* Remove the events taken of tid, an id that another thread has now. */
void ptrace_early_remove(pid_t tid);

int ptrace_launch(const char *path, char **argv, pid_t *tid);
int ptrace_launch_error(void);
int ptrace_attach(pid_t pid, pid_t **tids, size_t *n);
int ptrace_detach(pid_t tid, int signal);
/* The task is about to go on, or has stopped: its registers may be others. */
void ptrace_regs_invalidate(pid_t tid);
int ptrace_regs_get(pid_t tid, struct regs *regs);
int ptrace_regs_set(pid_t tid, const struct regs *regs);
int ptrace_reg_get(pid_t tid, unsigned reg, uint64_t *value);
int ptrace_reg_set(pid_t tid, unsigned reg, uint64_t value);
enum trap_cause ptrace_trap_cause(pid_t tid);
int ptrace_fault_get(pid_t tid, int *code, uint64_t *va);
int ptrace_fault_set(pid_t tid, uint64_t va);
int ptrace_mask_get(pid_t tid, uint64_t *mask);
int ptrace_mask_set(pid_t tid, uint64_t mask, uint64_t *old);
int ptrace_mem_get(int mem, uint64_t va, void *buf, size_t n);
int ptrace_mem_put(int mem, uint64_t va, const void *buf, size_t n);
int ptrace_rseq_get(pid_t tid, struct rseq_area *area);
int ptrace_dispatch_get(pid_t tid, struct dispatch *dispatch);
int ptrace_dispatch_set(pid_t tid, const struct dispatch *dispatch);
int ptrace_siginfo_get(pid_t tid, uint8_t info[SIGINFO_MAX]);
int ptrace_siginfo_set(pid_t tid, const uint8_t info[SIGINFO_MAX]);
int ptrace_mem_open(pid_t tid);
void ptrace_mem_close(int mem);
int ptrace_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n);
int ptrace_mem_write(int mem, pid_t tid, uint64_t va, const void *buf,
		     size_t n);
int ptrace_data_read(pid_t tid, uint64_t va, void *buf, size_t n);
size_t ptrace_data_gather(pid_t tid, const struct data_part *parts, size_t n);
int ptrace_data_write(pid_t tid, uint64_t va, const void *buf, size_t n);
double ptrace_cpu_time(pid_t pid);
int ptrace_stop_costs(struct stop_costs *costs);
int ptrace_affinity_get(pid_t tid, void *set, size_t size);
int ptrace_affinity_set(pid_t tid, const void *set, size_t size);

#endif
