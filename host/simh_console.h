/*
 * A SIMH simulator as a child process, and the conversation with its console.
 * Commands go to it by a pipe, which it reads as its command file; answers
 * come back by a pty, which makes it write them line by line.  Knows nothing
 * of VAXes.  Private to host/.
 */
#ifndef HOST_SIMH_CONSOLE_H
#define HOST_SIMH_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CONSOLE_LINE_MAX = 4000,	/* characters of a command */
	CONSOLE_LOAD_MIN = 128,		/* bytes that a file is used for */
};

struct console;

/*
 * Start the simulator `program`, found in PATH.  It dies with pmon, whatever
 * pmon dies of.  NULL with the message set.
 */
struct console *console_open(const char *program);
/* End it; its process is gone afterwards. */
void console_close(struct console *con);
pid_t console_pid(const struct console *con);

/* Append a command, without its newline; nothing is sent yet. */
void console_put(struct console *con, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Send what was put and wait for the answers to all of it.  HOST_OK, or
 * HOST_GONE if the simulator has ended.
 */
int console_sync(struct console *con);
/* The i-th line that the last console_sync brought, or NULL; no empty ones. */
const char *console_line(const struct console *con, size_t i);
/* Whether a signal came to pmon since it was last asked. */
bool console_woken(struct console *con);

/*
 * Write and read n bytes of the simulated memory at a physical address.
 * What is put by console_write is sent with the next sync.  HOST_OK,
 * HOST_GONE, or HOST_ERROR with the message set.
 */
int console_write(struct console *con, uint32_t addr, const void *buf,
		  size_t n);
int console_read(struct console *con, uint32_t addr, void *buf, size_t n);

#endif
