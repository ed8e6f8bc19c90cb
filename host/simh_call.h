/*
 * A system call of the simulated VAX's program while pmon serves it.  Private
 * to host/.
 */
#ifndef HOST_SIMH_CALL_H
#define HOST_SIMH_CALL_H

#include "host/simh_program.h"

enum {
	VAX_EFAULT = 14,
	VAX_ENOSYS = 78,		/* as in later BSDs */
	CALL_ERROR_GONE = -1,		/* instead of an errno: simulator
					   gone */
	CALL_ERROR_AGAIN = -2,		/* ... a signal to pmon interrupted */
};

struct call {
	struct program *p;
	uint32_t args[PROGRAM_ARGS];
	uint32_t result;
	int signal;		/* 4.2BSD's signal that the call raises, or 0 */
};

/* 4.2BSD's errno for one of Linux's. */
int call_error(int err);
/*
 * Turn the result of a Linux system call into the call's result.  Returns 0,
 * 4.2BSD's errno, or CALL_ERROR_AGAIN.
 */
int call_outcome(struct call *call, int64_t result);
/*
 * Copy n bytes from or to the program's memory.  Returns 0, 4.2BSD's errno, or
 * CALL_ERROR_GONE.
 */
int call_copy_in(struct call *call, uint32_t va, void *buf, size_t n);
int call_copy_out(struct call *call, uint32_t va, const void *buf, size_t n);

/* ---- simh_files.c: each function serves one system call; 0 or an error */

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
