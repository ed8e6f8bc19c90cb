/*
 * The program on the simulated VAX: what 4.2BSD's kernel would keep of it, and
 * the sites that are counted in the machine.  Private to host/.
 */
#ifndef HOST_SIMH_PROGRAM_H
#define HOST_SIMH_PROGRAM_H

#include "host/simh.h"
#include "host/simh_machine.h"

enum {
	PROGRAM_FILES = 64,
	PROGRAM_SIGNALS = 32,		/* 4.2BSD's, from 1 on */
	PROGRAM_ARGS = 6,		/* of a system call */
	PROGRAM_HANDLER_DEFAULT = 0,
	PROGRAM_HANDLER_IGNORE = 1,
};

/* What sigvec(2) of 4.2BSD says of a signal. */
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
 * An instruction that was counted and then faulted: when the handler that was
 * called for that returns to it, it is begun again, but not counted again.
 */
struct redo {
	uint32_t va;		/* 0: none */
	uint32_t context;	/* the signal context that leads back to it */
	uint8_t orig;
};

/* A site that is counted in the machine, or here if a step would show. */
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
	int files[PROGRAM_FILES];	/* descriptors here, or -1 */
	struct sigvec vecs[PROGRAM_SIGNALS];
	uint32_t mask, pending;		/* bit n - 1: signal n */
	uint32_t onstack, sigstack;
	struct redo fault, redo;	/* of the last stop; of its handler */
	struct redo pass;		/* to be passed next, not counted */
	bool *traps;			/* per byte of P0: a trap is there */
	struct counter *counters;	/* ascending va */
	size_t ncounters;
	char **remarks;
	size_t nremarks;
	uint32_t *unknown;		/* system calls remarked on */
	size_t nunknown;
};

/* ---- simh_run.c */

enum state {
	STATE_NONE,
	STATE_LOADED,		/* has not run: EVENT_EXEC comes first */
	STATE_STOPPED,		/* an event was reported */
	STATE_RUNNING,
	STATE_STEPPING,		/* one instruction */
	STATE_CALLING,		/* in a system call that pmon's signal broke */
	STATE_ENDED,		/* its end was reported */
};

/* The one program there is, and where it stands. */
struct simh {
	struct program program;
	enum state state;
	enum state called;	/* of STATE_CALLING: what it was in before */
	unsigned steps;		/* of STATE_STEPPING: left to be done */
	pid_t pid;
	struct stop stop;
	uint32_t code;		/* of the signal reported last, ... */
	bool raised;		/* ... which an instruction has raised */
	int sent;		/* a signal sent to it, Linux's, or 0 */
	bool killed, pause;
	enum trap_cause cause;
};

extern struct simh simh;

/* It has been launched, and its end was not reported yet. */
bool simh_alive(void);

/* Functions of struct host. */
int simh_launch(const char *path, char **argv, pid_t *tid);
int simh_detach(pid_t tid, int signal);
void simh_wait(struct event *event);
int simh_resume(pid_t tid, enum resume how, int signal);
int simh_pause(pid_t tid);
int simh_kill(pid_t pid, int signal);

/* ---- simh_load.c */

/* Load the file and build its stack; 0 or -1 with the message set. */
int program_load(struct program *p, const char *path, char **argv,
		 char **envp);

/* ---- simh_calls.c */

enum call_result {
	CALL_DONE,
	CALL_EXIT, /* value: the status */
	CALL_SIGNAL, /* value: one it has sent to itself (4.2BSD's) */
	CALL_AGAIN, /* a signal came to pmon; serve it once more */
	CALL_GONE,
};

/* The program is stopped at its CHMK. */
enum call_result call_serve(struct program *p, struct stop *stop, int *value);

/* ---- simh_files.c */

/* Close what the program has opened. */
void files_close(struct program *p);

/* ---- simh_signals.c */

/* Numbers here and there; 0: there is none. */
int signal_here(int vax);
int signal_there(int linux_signal);
/* The signal, of 4.2BSD's, of an exception, and its code. */
int signal_of_vector(const struct stop *stop, uint32_t *code);

enum delivery {
	DELIVERY_DONE,		/* its handler is called next, or it waits */
	DELIVERY_IGNORED,
	DELIVERY_DEATH,
	DELIVERY_GONE,
};

/* The stopped program is delivered a signal. */
enum delivery signal_deliver(struct program *p, int signal, uint32_t code);
/* Is it blocked? */
bool signal_blocked(const struct program *p, int signal);
/* sigcleanup: the handler that was called with a context returns. */
enum call_result signal_return(struct program *p, struct stop *stop,
			       int *signal);

/* ---- simh_counters.c */

/* What simh_count does. */
int counters_plant(struct program *p, const struct simh_site *sites,
		   size_t n);
/* The counter at va, or NULL. */
struct counter *counter_find(const struct program *p, uint32_t va);
/*
 * The program is stopped in the middle of an instruction whose trap is
 * lifted: set it again, and note what is to be passed should the instruction
 * be begun once more.  HOST_OK or HOST_GONE.
 */
int counters_settle(struct program *p, struct stop *stop);
/* Fetch all counts; HOST_OK, HOST_GONE or HOST_ERROR with the message. */
int counters_read(struct program *p);

#endif
