/*
 * A SIMH simulator as a child process, and the conversation with its console.
 * Commands go to it through a pipe, which it reads as its command file.
 * Answers come back through a pty, so that the simulator writes them line by
 * line.  Knows nothing of VAXes.  Private to host/.
 */
#ifndef HOST_SIMH_CONSOLE_H
#define HOST_SIMH_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CONSOLE_LINE_MAX = 4000,	/* characters in a command */
	CONSOLE_LOAD_MIN = 128,		/* from this size on use files */
};

struct console;

/*
 * Start the simulator `program`, found in PATH.  It dies with pmon, however
 * pmon ends.  NULL with the message set.
 */
struct console *console_open(const char *program);
/* Kill the simulator and wait for its end; con may be NULL. */
void console_close(struct console *con);
pid_t console_pid(const struct console *con);

/* Append a command, given without its newline.  Nothing is sent yet. */
void console_put(struct console *con, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Send the appended commands and wait for the answers to all of them.  HOST_OK,
 * or HOST_GONE if the simulator has ended.
 */
int console_sync(struct console *con);
/*
 * Line i of what the last console_sync brought, or NULL.  Empty lines are left
 * out.
 */
const char *console_line(const struct console *con, size_t i);
/* Has a signal reached pmon since the last call? */
bool console_woken(struct console *con);

/*
 * Write or read n bytes of the simulated memory at a physical address.  What
 * console_write appends may be sent only with the next sync.  HOST_OK,
 * HOST_GONE, or HOST_ERROR with the message set.
 */
int console_write(struct console *con, uint32_t addr, const void *buf,
		  size_t n);
int console_read(struct console *con, uint32_t addr, void *buf, size_t n);

#endif
