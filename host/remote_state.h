/*
 * What the files of the remote host share.  Private to them.
 */
#ifndef HOST_REMOTE_STATE_H
#define HOST_REMOTE_STATE_H

#include "host/packet.h"
#include "host/remote.h"

enum { REPLY_SECONDS = 20 };

/* The one connection there is. */
struct remote {
	const struct arch *arch;
	const char *where;	/* NULL: a simulator was started */
	char *path;		/* the program's file here */
	struct link link;
	pid_t tid;		/* the program's only task */
	pid_t simulator;	/* or 0 */
	char *simulator_path;	/* what it was when it started */
	uint64_t base;		/* of the simulator: where va 0 is in it */
	int mem;		/* ... its memory, or -1 */
	size_t packet_max;	/* bytes that the stub takes */
	bool begun;		/* EVENT_EXEC was told */
	bool running, ended, detached;
	bool one_reg;		/* packets p and P work */
	bool breaks;		/* text cannot be written: packets Z0 */
	uint64_t *broken;	/* where these are */
	size_t nbroken;
	uint64_t syscall_end;	/* one more, behind a system call that is
				   stepped over, or 0 */
	bool vcont;		/* vCont is to be used: gdbserver's c does not
				   stop at traps it has not planted */
	uint64_t thread;	/* that stopped, as the stub calls it, or 0 */
	bool stepping;		/* what runs is one step */
	unsigned pauses;	/* interrupts asked for and not seen yet */
	bool deaf;		/* the stub takes none once it has stopped */
	bool unread;		/* the last reply tells of an end */
	int kill_signal;	/* to be told at the next of them, or 0 */
	enum trap_cause cause;	/* of the last trap */
	int signal;		/* of the last stop */

	/* Registers of the program that stands still. */
	char *block;		/* reply to g: two digits a byte */
	bool block_known;
	uint64_t pc;
	bool pc_known;
	uint64_t changed;	/* bits by wire number, not sent yet */
};

extern struct remote remote;

/*
 * Send a packet and get its reply, in remote.link.reply; its length, or
 * HOST_GONE.
 */
int remote_ask(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int remote_ask_bytes(const void *data, size_t n);
/* The reply was "OK". */
bool remote_ok(int len);

/* The number of the digits that p begins with, and what follows them. */
uint64_t remote_hex(const char *p, const char **end);

/* ---- remote_stop.c */

/* The event that the stop reply tells of. */
void remote_stop_event(struct event *event, const char *reply);

/* ---- remote_regs.c */

/* What is known of registers holds no more. */
void remote_regs_forget(void);
/* The stop reply says the register's value. */
void remote_regs_told(unsigned wire, const char *digits);
/* Send those that were changed, but leave_pc.  HOST_OK or HOST_GONE. */
int remote_regs_flush(bool leave_pc);
/* Is the pc one of these? */
bool remote_pc_changed(void);

int remote_regs_get(pid_t tid, struct regs *regs);
int remote_regs_set(pid_t tid, const struct regs *regs);
int remote_reg_get(pid_t tid, unsigned reg, uint64_t *value);
int remote_reg_set(pid_t tid, unsigned reg, uint64_t value);

/* ---- remote_mem.c */

/*
 * Find the simulator's memory; path is the program's.  0 or -1 with the
 * message set.
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
 * Find out how breakpoints are placed: in the text, or else by packets Z0.  0
 * or -1 with the message set.
 */
int remote_breaks_try(const char *name);
/* Is one of those at va? */
bool remote_breaks_at(uint64_t va);
/* What memory at va is like with them. */
void remote_breaks_show(uint64_t va, uint8_t *text, size_t n);
/*
 * Make them so that memory at va, which is like `now`, is like text; HOST_GONE
 * if it differs by other than trap instructions.
 */
int remote_breaks_write(uint64_t va, const uint8_t *now, const uint8_t *text,
			size_t n);
/* Another one; and away with it.  0 or HOST_GONE. */
int remote_break_set(uint64_t va);
int remote_break_clear(uint64_t va);

/* ---- remote_signals.c: a signal's number there, and back */

unsigned remote_signal_to(int signal);
int remote_signal_of(uint64_t number);

/* ---- remote_unknown.c */

int remote_fault_get(pid_t tid, int *code, uint64_t *va);
int remote_fault_set(pid_t tid, uint64_t va);
int remote_mask_set(pid_t tid, uint64_t mask, uint64_t *old);
bool remote_zombie(pid_t tid);
pid_t remote_parent(pid_t tid);
int remote_signals(pid_t tid, struct signal_state *state);
uint64_t remote_room(pid_t tid);
bool remote_confined(pid_t tid);
char *remote_exe(pid_t tid, char **open_path);
char *remote_mapped(pid_t tid, const struct mapping *map);
int remote_affinity_get(pid_t tid, void *set, size_t size);
int remote_affinity_set(pid_t tid, const void *set, size_t size);

#endif
