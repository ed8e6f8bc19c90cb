/*
 * A system call of the simulated VAX's program while it is served.  Private to
 * host/.
 */
#ifndef HOST_SIMH_CALL_H
#define HOST_SIMH_CALL_H

#include "host/simh_program.h"

enum {
	VAX_EFAULT = 14,
	VAX_ENOSYS = 78,		/* of later BSDs */
	CALL_ERROR_GONE = -1,		/* instead of an error's number: the */
	CALL_ERROR_AGAIN = -2,		/* simulator is; interrupted */
};

struct call {
	struct program *p;
	uint32_t args[PROGRAM_ARGS];
	uint32_t result;
	int signal;		/* that it raises, 4.2BSD's, or 0 */
};

/* 4.2BSD's number of one of Linux's errors. */
int call_error(int err);
/* Take the result of a system call here; the error's number, or 0. */
int call_outcome(struct call *call, int64_t result);
/* To and from the program's memory; an error's number, or 0. */
int call_copy_in(struct call *call, uint32_t va, void *buf, size_t n);
int call_copy_out(struct call *call, uint32_t va, const void *buf, size_t n);

/* ---- simh_files.c: each serves one call; an error's number, or 0. */

int call_read(struct call *call);
int call_write(struct call *call);
int call_open(struct call *call);
int call_creat(struct call *call);
int call_close(struct call *call);
int call_unlink(struct call *call);
int call_access(struct call *call);
int call_lseek(struct call *call);
int call_dup(struct call *call);
int call_fstat(struct call *call);
int call_stat(struct call *call);
int call_ioctl(struct call *call);

#endif
