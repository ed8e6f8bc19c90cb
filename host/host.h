/*
 * Where a target runs and how pmon controls it: start, stop, resume, look into.
 * Each host is a table of functions; host_ptrace is for native processes.  A
 * host knows tasks (threads) by their ids, and knows nothing of sites or
 * counts.
 *
 * The target's death is an event, never an error: a request on a task that has
 * died returns HOST_GONE without a message, and an EVENT_EXITED or EVENT_KILLED
 * for the task follows (or has been delivered already).
 * HOST_ERROR comes with the message set, except from memory functions.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "host/event.h"
#include "host/native.h"
#include "util/fail.h"

/*
 * Bytes of a page: native memory is mapped and protected by pages, and the
 * monitor reads that of all hosts by them.
 */
enum { PAGE = 4096 };

/* An instruction that a host counts by itself. */
struct host_site {
	uint64_t va;
	uint64_t next;		/* to tell whether a branch was taken: where it
				   goes if not; else 0 */
	uint64_t target;	/* ... and where it goes if taken */
	bool syscall;		/* it enters the kernel */
	bool jump;		/* it is to be known where it goes */
	uint64_t hits, taken;
};

/* How often the jump or call of a site has gone to va. */
struct host_arrival {
	size_t site;		/* its index among those planted */
	uint64_t va;
	uint64_t n;
};

/* What a host offers that counts by itself. */
struct host_counting {
	bool traps;		/* it counts by traps, so that it also does what
				   --patch=trap and the like ask for */
	/*
	 * NULL, or: can the program that was launched be counted so?  If not,
	 * *why is the reason, or NULL if none was to be expected.
	 */
	bool (*able)(const char **why);
	/*
	 * Before the program has run: count these sites, by ascending address,
	 * inside the machine.  No events report them.  0, or -1 with the
	 * message set.
	 */
	MUST_CHECK int (*plant)(const struct host_site *sites, size_t n);
	/*
	 * Set hits and taken of the same sites; works after the program's end,
	 * too.  HOST_OK, HOST_GONE if they are lost, or HOST_ERROR
	 * with the message set.
	 */
	MUST_CHECK int (*fetch)(struct host_site *sites, size_t n);
	/*
	 * Both NULL: no site can be a jump.  Before sites are planted: where
	 * jumps may go.  What goes elsewhere need not be told.
	 */
	void (*places)(const uint64_t *vas, size_t n);
	/*
	 * After a fetch: how often jumps went where since the last call, n
	 * times.  The caller owns the array.
	 */
	struct host_arrival *(*arrived)(size_t *n);
};

struct host {
	const char *name;
	/*
	 * Set if the tasks belong to this machine's kernel, which reports their
	 * system calls, mappings and children.  Otherwise there is one task,
	 * its EVENT_EXEC comes before anything has run, and nobody reports code
	 * that is not the program's own.
	 */
	const struct host_native *native;
	const struct host_counting *counting;	/* NULL: it cannot */

	/*
	 * Start argv with path as its program.  The new task is traced and has
	 * not run yet.  An EVENT_EXEC follows; on a native host, once the task
	 * is resumed.  HOST_OK or HOST_ERROR.
	 */
	MUST_CHECK int (*launch)(const char *path, char **argv, pid_t *tid);
	/* Let the task go, delivering signal (0: none). */
	int (*detach)(pid_t tid, int signal);

	/* Wait for the next event.  A signal to pmon ends the wait. */
	void (*wait)(struct event *event);
	/*
	 * Let the task go on, and deliver signal (0: none).  HOST_GONE if the
	 * task was killed meanwhile: then it does not go on, and its
	 * EVENT_EXITING is still to come.
	 */
	int (*resume)(pid_t tid, enum resume how, int signal);
	/*
	 * Make the task stop.  An event follows, sooner or later EVENT_PAUSED.
	 */
	int (*pause)(pid_t tid);
	/* Send the process a signal, as kill(2) does. */
	int (*kill)(pid_t pid, int signal);

	/*
	 * Only hosts that are not native: did some of the program run without
	 * traps?  *why is the reason.  A NULL function: that never happens.
	 */
	bool (*uncounted)(const char **why);

	/* What raised the SIGTRAP that the task is stopped for. */
	enum trap_cause (*trap_cause)(pid_t tid);

	MUST_CHECK int (*regs_get)(pid_t tid, struct regs *regs);
	int (*regs_set)(pid_t tid, const struct regs *regs);
	/*
	 * One register only, which is cheaper.  A task that was killed since it
	 * stopped may still have registers, until another request to it fails.
	 */
	MUST_CHECK int (*reg_get)(pid_t tid, unsigned reg, uint64_t *value);
	int (*reg_set)(pid_t tid, unsigned reg, uint64_t value);
	/* The code and the address of the signal that the task stopped for. */
	MUST_CHECK int (*fault_get)(pid_t tid, int *code, uint64_t *va);
	/* Replace the set of blocked signals; *old becomes the old one. */
	int (*mask_set)(pid_t tid, uint64_t mask, uint64_t *old);

	/*
	 * Open a handle on the memory of the task's process, for text:
	 * protection does not matter.  A handle >= 0, or HOST_GONE.
	 */
	MUST_CHECK int (*mem_open)(pid_t tid);
	void (*mem_close)(int mem);
	/* HOST_OK if all n bytes could be read or written. */
	MUST_CHECK int (*mem_read)(int mem, pid_t tid, uint64_t va, void *buf,
				   size_t n);
	int (*mem_write)(int mem, pid_t tid, uint64_t va, const void *buf,
			 size_t n);
	/* The same with the program's own rights: protection is obeyed. */
	MUST_CHECK int (*data_read)(pid_t tid, uint64_t va, void *buf,
				    size_t n);
	int (*data_write)(pid_t tid, uint64_t va, const void *buf, size_t n);

	/*
	 * Has the task ended, though its parent has not waited for it yet or
	 * other threads of its process live on?
	 */
	bool (*zombie)(pid_t tid);
	/* The memory map; mappings_free frees it. */
	MUST_CHECK int (*maps)(pid_t tid, struct mapping **maps, size_t *n);
	/* An entry of the auxiliary vector, or 0 if there is none. */
	uint64_t (*auxv)(pid_t tid, uint64_t type);
	MUST_CHECK int (*signals)(pid_t tid, struct signal_state *state);
	/*
	 * The path of the running program, as the kernel names it, and in
	 * *open_path one under which pmon can open it even if it was renamed.
	 * The caller owns both; NULL if unknown.
	 */
	char *(*exe)(pid_t tid, char **open_path);
	/*
	 * A path under which pmon can open a file mapped into the process;
	 * owned by the caller.
	 */
	char *(*mapped)(pid_t tid, const struct mapping *map);

	/*
	 * Remarks on the run for the user, n of them; the host owns them until
	 * close.  NULL: it has none.
	 */
	char *const *(*remarks)(size_t *n);
	/* The run is over: free what the host has.  NULL: nothing. */
	void (*close)(void);

	/* Processor affinity: a cpu set of size bytes. */
	MUST_CHECK int (*affinity_get)(pid_t tid, void *set, size_t size);
	int (*affinity_set)(pid_t tid, const void *set, size_t size);
};

extern const struct host host_ptrace;

/*
 * Has the task been killed since it stopped?  A host may still have the
 * registers of such a task, but not its mask.
 */
static inline bool
host_killed(const struct host *host, pid_t tid)
{
	struct regs regs;
	uint64_t mask;

	return host->native ? host->native->mask_get(tid, &mask) :
			      host->regs_get(tid, &regs);
}

/* Free n mappings, and the array that they are in. */
void mappings_free(struct mapping *maps, size_t n);

#endif
