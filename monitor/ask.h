/*
 * The other end of the control socket: what is asked of another pmon.
 */
#ifndef MONITOR_ASK_H
#define MONITOR_ASK_H

#include <stdint.h>

#include "monitor/options.h"

/* A connection to the pmon that `pid` is, or is counted by; -1 with message. */
int ask_connect(pid_t pid);

/*
 * Send a request, a line without its end, and get what is answered, owned by
 * the caller, with a zero byte behind it.  NULL with the message, which may
 * be the other's.
 */
char *ask_request(int fd, const char *request, size_t *size);

/* Do what the options say; 0, or -1 with the message. */
int ask(const struct options *opts, FILE *out);

#endif
