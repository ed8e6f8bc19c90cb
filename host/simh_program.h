/*
 * The program on the simulated VAX: what 4.2BSD's kernel would know of it, and
 * the sites that are counted in the machine.  Private to host/.
 */
#ifndef HOST_SIMH_PROGRAM_H
#define HOST_SIMH_PROGRAM_H

#include "host/simh.h"
#include "host/simh_machine.h"

enum {
	PROGRAM_FILES = 64,
	PROGRAM_SIGNALS = 32,		/* 4.2BSD's, which begin at 1 */
	PROGRAM_ARGS = 6,		/* at most, of a system call */
	PROGRAM_HANDLER_DEFAULT = 0,
	PROGRAM_HANDLER_IGNORE = 1,
};

/* What 4.2BSD's sigvec(2) sets for a signal. */
struct sigvec {
	uint32_t handler, mask, onstack;
};

/* A segment of the program. */
struct region {
	uint32_t lo, hi;
	uint32_t offset;	/* in the file */
	enum page page;
};

/*
 * An instruction that was counted and then faulted.  When the handler called
 * for the fault returns to it, it begins again and must not be counted again.
 */
struct redo {
	uint32_t va;		/* 0: none */
	uint32_t context;	/* the signal context that leads back to it */
	uint8_t orig;
};

/*
 * A site that is counted in the machine; or at a stop, if the instruction would
 * see that it is stepped.
 */
struct counter {
	uint32_t va, next;
	uint8_t orig;
	bool here;
	uint64_t hits, taken;
};

struct program {
	struct machine *m;
	char *path;
	struct region *regions;
	size_t nregions;
	uint32_t entry, brk;
	int files[PROGRAM_FILES];	/* pmon's descriptors, or -1 */
	struct sigvec vecs[PROGRAM_SIGNALS];
	uint32_t mask, pending;		/* bit n - 1: signal n */
	uint32_t onstack, sigstack;
	struct redo fault, redo;	/* of the last stop; of its handler */
	struct redo pass;		/* to run next without being counted */
	bool *traps;			/* per byte of P0: is a trap there? */
	struct counter *counters;	/* ascending va */
	size_t ncounters;
	char **remarks;
	size_t nremarks;
	uint32_t *unknown;		/* system calls remarked on: numbers */
	size_t nunknown;
};

/* ---- simh_run.c */

/* End the simulator, if one runs, and clear the program. */
void simh_close(void);

enum state {
	STATE_NONE,
	STATE_LOADED,		/* has not run: EVENT_EXEC comes next */
	STATE_STOPPED,		/* an event was reported, and it waits for
				   resume */
	STATE_RUNNING,
	STATE_STEPPING,		/* running one instruction */
	STATE_CALLING,		/* in a system call that a signal to pmon
				   interrupted */
	STATE_ENDED,		/* its end has been reported */
};

/* The one program, and what state it is in. */
struct simh {
	struct program program;
	enum state state;
	enum state called;	/* the state before STATE_CALLING */
	unsigned steps;		/* of STATE_STEPPING: instructions left */
	pid_t pid;
	struct stop stop;
	uint32_t code;		/* of the signal reported last, ... */
	bool raised;		/* ... and whether an instruction raised it */
	int sent;		/* Linux's number of a signal sent to it, or
				   0 */
	bool killed, pause;
	enum trap_cause cause;
};

extern struct simh simh;

/* Has it been launched, and its end not been reported yet? */
bool simh_alive(void);

/* Functions of struct host. */
int simh_launch(const char *path, char **argv, pid_t *tid);
int simh_detach(pid_t tid, int signal);
void simh_wait(struct event *event);
int simh_resume(pid_t tid, enum resume how, int signal);
int simh_pause(pid_t tid);
int simh_kill(pid_t pid, int signal);

/* ---- simh_load.c */

/* Load the file and build its stack.  0, or -1 with the message set. */
int program_load(struct program *p, const char *path, char **argv, char **envp);

/* ---- simh_calls.c */

enum call_result {
	CALL_DONE,
	CALL_EXIT,		/* value: the status */
	CALL_SIGNAL,		/* value: 4.2BSD's number of a signal to
				   itself */
	CALL_AGAIN,		/* a signal reached pmon: serve the call
				   again */
	CALL_GONE,
};

/* Serve the system call of a program that is stopped at its CHMK. */
enum call_result call_serve(struct program *p, struct stop *stop, int *value);

/* ---- simh_files.c */

/* Close the files that the program has opened. */
void files_close(struct program *p);

/* ---- simh_signals.c */

/* Linux's number of a VAX signal, and the reverse; 0 if there is none. */
int signal_here(int vax);
int signal_there(int linux_signal);
/* The VAX signal that an exception raises, and its code. */
int signal_of_vector(const struct stop *stop, uint32_t *code);

enum delivery {
	DELIVERY_DONE,		/* its handler is called next */
	DELIVERY_IGNORED,
	DELIVERY_DEATH,
	DELIVERY_GONE,
};

/* Deliver a signal to the stopped program. */
enum delivery signal_deliver(struct program *p, int signal, uint32_t code);
/* Is the signal blocked? */
bool signal_blocked(const struct program *p, int signal);
/* sigcleanup: return from the handler that was called with a context. */
enum call_result signal_return(struct program *p, struct stop *stop,
			       int *signal);

/* ---- simh_counters.c */

/* See struct host_counting. */
int counters_plant(struct program *p, const struct host_site *sites, size_t n);
/* The counter at va, or NULL. */
struct counter *counter_find(const struct program *p, uint32_t va);
/*
 * The program is stopped in the middle of an instruction whose trap is lifted:
 * set the trap again, and note what to pass should the instruction begin again.
 * HOST_OK or HOST_GONE.
 */
int counters_replant(struct program *p, struct stop *stop);
/* Fetch all counts.  HOST_OK, HOST_GONE, or HOST_ERROR with the message. */
int counters_read(struct program *p);

#endif
