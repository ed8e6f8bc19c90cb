/*
 * What the files of the remote host share; no other file includes this.
 */
#ifndef HOST_REMOTE_STATE_H
#define HOST_REMOTE_STATE_H

#include "host/packet.h"
#include "host/remote.h"

enum { REPLY_SECONDS = 20 };

/* The one connection. */
struct remote {
	const struct arch *arch;
	const char *where;	/* NULL: a simulator was started */
	char *path;		/* the program's file here */
	struct link link;
	pid_t tid;		/* of the program's only task */
	pid_t simulator;	/* process id, or 0 */
	char *simulator_path;	/* the simulator's own program when it
				   started */
	uint64_t base;		/* where va 0 is in the simulator's memory */
	int mem;		/* the simulator's /proc/PID/mem, or -1 */
	size_t packet_max;	/* longest packet that the stub takes */
	bool begun;		/* EVENT_EXEC was reported */
	bool running, ended, detached;
	bool one_reg;		/* packets p and P work */
	bool breaks;		/* text cannot be written: use packets Z0 */
	uint64_t *broken;	/* breakpoints set by Z0, ascending */
	size_t nbroken;
	uint64_t syscall_end;	/* a further breakpoint, behind a system call
				   that is stepped over, or 0 */
	bool vcont;		/* use vCont: gdbserver's c does not stop at
				   traps that it did not plant */
	uint64_t thread;	/* the stub's id of the thread that stopped, or
				   0 */
	bool stepping;		/* what runs is a single step */
	bool pausing;		/* an interrupt was sent and not seen yet */
	bool deaf;		/* the stub does not take interrupts once the
				   program has stopped */
	bool unread;		/* link.reply reports an end and was not looked
				   at yet */
	int kill_signal;	/* signal to deliver at the next chance, or 0 */
	enum trap_cause cause;	/* of the last trap */
	int signal;		/* of the last stop */

	/* Registers of the stopped program. */
	char *block;		/* reply to g: two digits per byte */
	bool block_known;
	uint64_t pc;
	bool pc_known;
	uint64_t changed;	/* not sent yet: bits by wire number */
};

extern struct remote remote;

/*
 * Send a packet and receive its reply into remote.link.reply.  Returns the
 * reply's length, or HOST_GONE.
 */
int remote_ask(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int remote_ask_bytes(const void *data, size_t n);
/* Was the reply, of length len, "OK"? */
bool remote_ok(int len);

/* The hexadecimal number that p begins with; *end is what follows it. */
uint64_t remote_hex(const char *p, const char **end);
/* The byte that two hexadecimal digits at p stand for; -1 if p has not two. */
int remote_byte(const char *p);

/* ---- remote_stop.c */

/* Turn a stop reply into an event. */
void remote_stop_event(struct event *event, const char *reply);

/* ---- remote_regs.c */

/* Drop the cached registers, changes not sent included. */
void remote_regs_invalidate(void);
/* Take the value of a register that a stop reply contains. */
void remote_regs_told(unsigned wire, const char *digits);
/*
 * Send the registers that were changed, except the pc if leave_pc.  HOST_OK or
 * HOST_GONE.
 */
int remote_regs_flush(bool leave_pc);
/* Has the pc been changed and not sent yet? */
bool remote_pc_changed(void);

int remote_regs_get(pid_t tid, struct regs *regs);
int remote_regs_set(pid_t tid, const struct regs *regs);
int remote_reg_get(pid_t tid, unsigned reg, uint64_t *value);
int remote_reg_set(pid_t tid, unsigned reg, uint64_t value);

/* ---- remote_mem.c */

/*
 * Open the simulator's memory and find where the program at path is in it.  0,
 * or -1 with the message set.
 */
int remote_mem_find(const char *path);
int remote_mem_open(pid_t tid);
void remote_mem_close(int mem);
int remote_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n);
int remote_mem_write(int mem, pid_t tid, uint64_t va, const void *buf,
		     size_t n);
int remote_data_read(pid_t tid, uint64_t va, void *buf, size_t n);
int remote_data_write(pid_t tid, uint64_t va, const void *buf, size_t n);
uint64_t remote_auxv(pid_t tid, uint64_t type);
int remote_maps(pid_t tid, struct mapping **maps, size_t *n);

/* ---- remote_breaks.c */

/*
 * Find out how breakpoints are placed: as trap instructions in the text, or
 * else by packets Z0.  0, or -1 with the message set.
 */
int remote_breaks_try(const char *name);
/* Is a breakpoint set by Z0 at va? */
bool remote_breaks_at(uint64_t va);
/*
 * Put the trap instructions of Z0's breakpoints into text, n bytes read at va.
 */
void remote_breaks_show(uint64_t va, uint8_t *text, size_t n);
/*
 * Set and clear breakpoints so that the n bytes at va, which read as `now`,
 * read as `text`.  HOST_OK, or HOST_GONE if they differ in more than trap
 * instructions.
 */
int remote_breaks_write(uint64_t va, const uint8_t *now, const uint8_t *text,
			size_t n);
/* Set a breakpoint by packet Z0, or clear it by z0.  HOST_OK or HOST_GONE. */
int remote_break_set(uint64_t va);
int remote_break_clear(uint64_t va);

/* ---- remote_counts.c */

/*
 * Open the file for the next simulator to count in; the simulator is to inherit
 * it.  Its number, or -1.
 */
int remote_counts_open(void);
/*
 * The simulator was launched: why says why it does not count, or is NULL.  Takes
 * why over.
 */
void remote_counts_launched(char *why);
/* See struct host_counting. */
bool remote_counts_able(const char **why);
void remote_counts_places(const uint64_t *vas, size_t n);
struct host_arrival *remote_counts_arrived(size_t *n);
MUST_CHECK int remote_counts_plant(const struct host_site *sites, size_t n);
/* The program is about to go on: if no sites were planted, there are none. */
void remote_counts_begin(void);
MUST_CHECK int remote_counts_fetch(struct host_site *sites, size_t n);
/*
 * The program has stopped: note where its last branch goes before a handler
 * runs.
 */
void remote_counts_stopped(void);
/* The program goes on without pmon: from here on nothing is counted. */
void remote_counts_leave(void);
void remote_counts_close(void);

/* ---- remote_signals.c: a Linux signal's number in the protocol, and back */

unsigned remote_signal_to(int signal);
int remote_signal_of(uint64_t number);

/* ---- remote_unknown.c */

int remote_fault_get(pid_t tid, int *code, uint64_t *va);
int remote_mask_set(pid_t tid, uint64_t mask, uint64_t *old);
bool remote_zombie(pid_t tid);
int remote_signals(pid_t tid, struct signal_state *state);
char *remote_exe(pid_t tid, char **open_path);
char *remote_mapped(pid_t tid, const struct mapping *map);
int remote_affinity_get(pid_t tid, void *set, size_t size);
int remote_affinity_set(pid_t tid, const void *set, size_t size);

#endif
