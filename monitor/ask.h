/*
 * The client's end of the control socket: requests to another pmon.
 */
#ifndef MONITOR_ASK_H
#define MONITOR_ASK_H

#include <stdint.h>

#include "monitor/options.h"
#include "util/fail.h"

/*
 * Connect to process `pid`, which is a pmon or is counted by one.  The socket,
 * or -1 with the message.
 */
int ask_connect(pid_t pid) MUST_CHECK;

/*
 * Send a request (a line without its newline) and wait for the answer: *size
 * bytes and a zero byte, owned by the caller.  NULL with the message, which may
 * be the other pmon's.
 */
char *ask_request(int fd, const char *request, size_t *size);

/*
 * Make the request of the options, and write the answer to out or to the file
 * of --snapshot.  0, or -1 with the message.
 */
int ask(const struct options *opts, FILE *out) MUST_CHECK;

#endif
