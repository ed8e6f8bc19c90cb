/*
 * The system calls of 4.2BSD on the VAX that C programs need, done here in the
 * program's name.  Arguments are behind the count at AP.  The result goes to
 * R0; so does an errno, and then the C bit is set.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "host/simh_call.h"
#include "util/mem.h"

/* Errnos up to 34 are the same in Linux and 4.2BSD. */
int
call_error(int err)
{
	static const struct {
		int here, there;
	} errors[] = {
		{ EAGAIN, 35 }, { EDEADLK, 11 },   { ENAMETOOLONG, 63 },
		{ ELOOP, 62 },	{ ENOTEMPTY, 66 }, { ENOSYS, VAX_ENOSYS },
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].here == err)
			return errors[i].there;
	return err <= 34 ? err : EINVAL;
}

int
call_outcome(struct call *call, int64_t result)
{
	if (result < 0 && errno == EINTR)
		return CALL_ERROR_AGAIN;
	if (result < 0)
		return call_error(errno);
	call->result = (uint32_t)result;
	return 0;
}

/* ---- the program's memory */

int
call_copy_in(struct call *call, uint32_t va, void *buf, size_t n)
{
	int status = machine_read(call->p->m, va, buf, n);

	return !status ? 0 : status == HOST_GONE ? CALL_ERROR_GONE : VAX_EFAULT;
}

int
call_copy_out(struct call *call, uint32_t va, const void *buf, size_t n)
{
	struct program *p = call->p;
	int status;

	if (n > UINT32_MAX ||
	    !machine_mapped(p->m, va, (uint32_t)n, PAGE_WRITE))
		return VAX_EFAULT;
	status = machine_write(p->m, va, buf, n);
	return !status ? 0 : status == HOST_GONE ? CALL_ERROR_GONE : VAX_EFAULT;
}

/* ---- the process */

static int
call_break(struct call *call)
{
	struct program *p = call->p;
	uint32_t end = call->args[0];
	int status = 0;

	if (end > MACHINE_P0_SIZE)
		return ENOMEM;
	end = (end + VAX_PAGE - 1) & ~(uint32_t)(VAX_PAGE - 1);
	if (end > p->brk)
		status = machine_map(p->m, p->brk, end - p->brk, PAGE_WRITE);
	if (status)
		return status == HOST_GONE ? CALL_ERROR_GONE : ENOMEM;
	if (end > p->brk)
		p->brk = end;
	return 0;
}

static int
call_getpid(struct call *call)
{
	call->result = (uint32_t)console_pid(call->p->m->con);
	return 0;
}

/* A page of 4.2BSD is two of the machine's. */
static int
call_getpagesize(struct call *call)
{
	call->result = 2 * VAX_PAGE;
	return 0;
}

static int
call_getdtablesize(struct call *call)
{
	call->result = PROGRAM_FILES;
	return 0;
}

static int
call_gettimeofday(struct call *call)
{
	struct timeval now;
	uint32_t words[2], zone[2] = { 0, 0 };
	int err = 0;

	gettimeofday(&now, NULL);
	words[0] = (uint32_t)now.tv_sec;
	words[1] = (uint32_t)now.tv_usec;
	if (call->args[0])
		err = call_copy_out(call, call->args[0], words, sizeof(words));
	if (!err && call->args[1])
		err = call_copy_out(call, call->args[1], zone, sizeof(zone));
	return err;
}

/* ---- signals */

static int
call_sigvec(struct call *call)
{
	uint32_t signal = call->args[0];
	struct sigvec *vec, new;
	int err = 0;

	if (!signal || signal >= PROGRAM_SIGNALS)
		return EINVAL;
	vec = &call->p->vecs[signal];
	if (call->args[1])
		err = call_copy_in(call, call->args[1], &new, sizeof(new));
	if (!err && call->args[2])
		err = call_copy_out(call, call->args[2], vec, sizeof(*vec));
	if (!err && call->args[1])
		*vec = new;
	return err;
}

static int
call_sigblock(struct call *call)
{
	call->result = call->p->mask;
	call->p->mask |= call->args[0];
	return 0;
}

static int
call_sigsetmask(struct call *call)
{
	call->result = call->p->mask;
	call->p->mask = call->args[0];
	return 0;
}

static int
call_sigstack(struct call *call)
{
	struct program *p = call->p;
	uint32_t old[2] = { p->sigstack, p->onstack }, new[2];
	int err = 0;

	if (call->args[0])
		err = call_copy_in(call, call->args[0], new, sizeof(new));
	if (!err && call->args[1])
		err = call_copy_out(call, call->args[1], old, sizeof(old));
	if (!err && call->args[0]) {
		p->sigstack = new[0];
		p->onstack = new[1] & 1;
	}
	return err;
}

/* ---- serving */

enum { NR_EXIT = 1, NR_KILL = 37, NR_SIGCLEANUP = 139 };

/* Numbers as in 4.2BSD's /usr/include/syscall.h. */
static const struct {
	uint32_t number;
	int (*serve)(struct call *call);
	unsigned (*get)(void);
} calls[] = {
	{ 3, call_read },	    { 4, call_write },
	{ 5, call_open },	    { 6, call_close },
	{ 8, call_creat },	    { 10, call_unlink },
	{ 17, call_break },	    { 19, call_lseek },
	{ 20, call_getpid },	    { 24, .get = getuid },
	{ 25, .get = geteuid },	    { 33, call_access },
	{ 38, call_stat },	    { 41, call_dup },
	{ 43, .get = getegid },	    { 47, .get = getgid },
	{ 54, call_ioctl },	    { 62, call_fstat },
	{ 64, call_getpagesize },   { 89, call_getdtablesize },
	{ 108, call_sigvec },	    { 109, call_sigblock },
	{ 110, call_sigsetmask },   { 112, call_sigstack },
	{ 116, call_gettimeofday },
};

static int
call_unknown(struct program *p, uint32_t number)
{
	for (size_t i = 0; i < p->nunknown; i++)
		if (p->unknown[i] == number)
			return VAX_ENOSYS;
	*vec_push(p->unknown, p->nunknown) = number;
	*vec_push(p->remarks,
		  p->nremarks) = mem_printf("%s: system call %" PRIu32
					    " of 4.2BSD failed (ENOSYS): the "
					    "simulated VAX does not have it",
					    p->path, number);
	return VAX_ENOSYS;
}

static int
call_do(struct call *call, uint32_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].number == number) {
			if (calls[i].serve)
				return calls[i].serve(call);
			call->result = calls[i].get();
			return 0;
		}
	return call_unknown(call->p, number);
}

/* The program may signal only itself; it knows of no other process. */
static int
call_kill(struct call *call)
{
	if (call->args[1] && !signal_here((int)call->args[1]))
		return EINVAL;
	if (call->args[0] != (uint32_t)console_pid(call->p->m->con))
		return ESRCH;
	call->signal = (int)call->args[1];
	return 0;
}

/* Read as many arguments as are mapped at AP. */
static int
args_read(struct call *call)
{
	struct machine *m = call->p->m;
	uint32_t n = PROGRAM_ARGS, at;
	struct regs regs;

	if (machine_regs(m, &regs))
		return CALL_ERROR_GONE;
	at = (uint32_t)regs.r[VAX_AP] + 4;
	while (n && !machine_mapped(m, at, 4 * n, PAGE_READ))
		n--;
	return n ? call_copy_in(call, at, call->args, 4 * n) : 0;
}

static void
result_set(struct call *call, struct stop *stop, int err)
{
	struct machine *m = call->p->m;

	if (err)
		stop->psl |= VAX_PSL_C;
	else
		stop->psl &= ~(uint32_t)VAX_PSL_C;
	machine_reg_set(m, 0, err ? (uint32_t)err : call->result);
	machine_reg_set(m, VAX_PSL, stop->psl);
}

enum call_result
call_serve(struct program *p, struct stop *stop, int *value)
{
	struct call call = { .p = p };
	uint32_t number = stop->params[0];
	int err;

	if (number == NR_SIGCLEANUP)
		return signal_return(p, stop, value);
	err = args_read(&call);
	if (!err && number == NR_EXIT) {
		*value = call.args[0] & 0xff;
		return CALL_EXIT;
	}
	if (!err)
		err = number == NR_KILL ? call_kill(&call) :
					  call_do(&call, number);
	if (err == CALL_ERROR_GONE)
		return CALL_GONE;
	if (err == CALL_ERROR_AGAIN)
		return CALL_AGAIN;
	result_set(&call, stop, err);
	*value = call.signal;
	return call.signal ? CALL_SIGNAL : CALL_DONE;
}
