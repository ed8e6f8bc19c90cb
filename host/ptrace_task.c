/*
 * What a stopped native task has: registers, signals, memory, processors.
 * Runs nothing and waits for nothing.
 */
#include "host/ptrace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

_Static_assert(sizeof(struct user_regs_struct) <= sizeof(struct regs),
	       "struct regs holds all registers");

/* This register takes any value; pmon sets it at most stops. */
enum { REG_PC = offsetof(struct user_regs_struct, rip) / sizeof(uint64_t) };

/* ---- registers and signals */

/*
 * The registers of the task that was asked for them last; 0: of none.  They stay
 * the same until it goes on or a register is set.  A stop asks a dozen times.
 * When another request to the task fails, the kernel is asked again, as the task
 * may have been killed.
 */
static pid_t got;
static struct regs got_regs;

void
ptrace_regs_invalidate(pid_t tid)
{
	if (got == tid)
		got = 0;
}

/* Have the task's registers in got_regs.  HOST_OK or an error. */
static int
regs_have(pid_t tid)
{
	int err;

	if (got == tid && !ptrace_ended(tid))
		return HOST_OK;
	got = 0;
	err = ptrace_request(PTRACE_GETREGS, tid, NULL, &got_regs);
	if (!err)
		got = tid;
	return err;
}

int
ptrace_regs_get(pid_t tid, struct regs *regs)
{
	int err = regs_have(tid);

	if (!err)
		*regs = got_regs;
	return err;
}

int
ptrace_regs_set(pid_t tid, const struct regs *regs)
{
	/* The kernel does not take over all bits of all registers. */
	ptrace_regs_invalidate(tid);
	return ptrace_request(PTRACE_SETREGS, tid, NULL, (void *)regs);
}

int
ptrace_reg_get(pid_t tid, unsigned reg, uint64_t *value)
{
	int err = regs_have(tid);

	if (!err)
		*value = got_regs.r[reg];
	return err;
}

int
ptrace_reg_set(pid_t tid, unsigned reg, uint64_t value)
{
	int err = ptrace_request(PTRACE_POKEUSER, tid,
				 (void *)(reg * sizeof(uint64_t)),
				 (void *)value);

	if (err || reg != REG_PC)
		ptrace_regs_invalidate(tid);
	else if (got == tid)
		got_regs.r[reg] = value;
	return err;
}

/*
 * The si_code of a SIGTRAP is SI_KERNEL for a trap instruction.  For a single
 * step it is TRAP_TRACE, or TRAP_BRKPT if the step went over a system call, or
 * SIGTRAP if the step went into a signal handler.
 */
enum trap_cause
ptrace_trap_cause(pid_t tid)
{
	siginfo_t info = { 0 };

	if (ptrace_request(PTRACE_GETSIGINFO, tid, NULL, &info))
		return TRAP_NONE;
	if (info.si_code == SI_KERNEL)
		return TRAP_INSN;
	if (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT ||
	    info.si_code == SIGTRAP)
		return TRAP_STEP;
	return TRAP_SENT;
}

int
ptrace_fault_get(pid_t tid, int *code, uint64_t *va)
{
	siginfo_t info;
	int err = ptrace_request(PTRACE_GETSIGINFO, tid, NULL, &info);

	if (err)
		return err;
	*code = info.si_code;
	*va = (uint64_t)(uintptr_t)info.si_addr;
	return HOST_OK;
}

int
ptrace_fault_set(pid_t tid, uint64_t va)
{
	siginfo_t info;
	int err = ptrace_request(PTRACE_GETSIGINFO, tid, NULL, &info);

	if (err)
		return err;
	info.si_addr = (void *)(uintptr_t)va;
	return ptrace_request(PTRACE_SETSIGINFO, tid, NULL, &info);
}

int
ptrace_mask_get(pid_t tid, uint64_t *mask)
{
	return ptrace_request(PTRACE_GETSIGMASK, tid, (void *)sizeof(*mask),
			      mask);
}

int
ptrace_mask_set(pid_t tid, uint64_t mask, uint64_t *old)
{
	int err = old ? ptrace_mask_get(tid, old) : HOST_OK;

	return err ? err :
		     ptrace_request(PTRACE_SETSIGMASK, tid,
				    (void *)sizeof(mask), &mask);
}

int
ptrace_rseq_get(pid_t tid, struct rseq_area *area)
{
	struct __ptrace_rseq_configuration asked = { 0 };
	int err = ptrace_request(PTRACE_GET_RSEQ_CONFIGURATION, tid,
				 (void *)sizeof(asked), &asked);

	*area = (struct rseq_area){ asked.rseq_abi_pointer, asked.signature };
	return err == HOST_ERROR ? HOST_OK : err;
}

/* Since Linux 6.4 (linux/ptrace.h, linux/prctl.h); not in Debian 12's headers. */
enum {
	PTRACE_SET_DISPATCH = 0x4210,
	PTRACE_GET_DISPATCH = 0x4211,
	DISPATCH_INCLUSIVE = 2,	/* PR_SYS_DISPATCH_INCLUSIVE_ON */
};

int
ptrace_dispatch_get(pid_t tid, struct dispatch *dispatch)
{
	int err = ptrace_request(PTRACE_GET_DISPATCH, tid,
				 (void *)sizeof(*dispatch), dispatch);

	if (err == HOST_ERROR)
		*dispatch = (struct dispatch){ 0 };
	/* Calls in a range are dispatched: the kernel keeps all but the range. */
	if (!err && dispatch->offset &&
	    dispatch->offset + dispatch->len <= dispatch->offset) {
		dispatch->mode = DISPATCH_INCLUSIVE;
		dispatch->offset += dispatch->len;
		dispatch->len = -dispatch->len;
	}
	return err == HOST_ERROR ? HOST_OK : err;
}

int
ptrace_dispatch_set(pid_t tid, const struct dispatch *dispatch)
{
	struct dispatch set = *dispatch;

	return ptrace_request(PTRACE_SET_DISPATCH, tid, (void *)sizeof(set),
			      &set);
}

int
ptrace_siginfo_get(pid_t tid, uint8_t info[SIGINFO_MAX])
{
	return ptrace_request(PTRACE_GETSIGINFO, tid, NULL, info);
}

int
ptrace_siginfo_set(pid_t tid, const uint8_t info[SIGINFO_MAX])
{
	return ptrace_request(PTRACE_SETSIGINFO, tid, NULL, (void *)info);
}

/* ---- memory */

int
ptrace_mem_open(pid_t tid)
{
	char path[64];
	int fd;

	if (ptrace_ended(tid))
		return HOST_GONE;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	/*
	 * Try twice: only through this handle can pmon write the memory of a
	 * task in vfork, which cannot be stopped.
	 */
	if (fd < 0)
		fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? HOST_GONE : fd;
}

void
ptrace_mem_close(int mem)
{
	if (mem >= 0)
		close(mem);
}

int
ptrace_mem_get(int mem, uint64_t va, void *buf, size_t n)
{
	return pread(mem, buf, n, (off_t)va) == (ssize_t)n ? HOST_OK :
							     HOST_GONE;
}

int
ptrace_mem_put(int mem, uint64_t va, const void *buf, size_t n)
{
	return pwrite(mem, buf, n, (off_t)va) == (ssize_t)n ? HOST_OK :
							      HOST_GONE;
}

int
ptrace_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n)
{
	/*
	 * There may have been no file descriptor left for a handle.  Where a
	 * handle reads nothing, its process has gone, and tid may be another
	 * program's by now.
	 */
	ssize_t done = mem < 0 ? -1 : pread(mem, buf, n, (off_t)va);

	if (done == (ssize_t)n)
		return HOST_OK;
	if (done < 0)
		return ptrace_data_read(tid, va, buf, n);
	/* A handle reads 0 bytes of memory that no process has any more. */
	ptrace_regs_invalidate(tid);
	return HOST_GONE;
}

/*
 * If the kernel does not let /proc/PID/mem override protection
 * (proc_mem.force_override), PTRACE_POKEDATA may still do so.
 */
static int
mem_poke(pid_t tid, uint64_t va, const uint8_t *buf, size_t n)
{
	uint64_t base, word;
	size_t i = 0;

	while (i < n) {
		base = (va + i) & ~(uint64_t)7;
		if (ptrace_peek(PTRACE_PEEKDATA, tid, base, &word))
			return HOST_GONE;
		for (; i < n && va + i < base + 8; i++)
			((uint8_t *)&word)[va + i - base] = buf[i];
		if (ptrace_request(PTRACE_POKEDATA, tid, (void *)base,
				   (void *)word))
			return HOST_GONE;
	}
	return HOST_OK;
}

int
ptrace_mem_write(int mem, pid_t tid, uint64_t va, const void *buf, size_t n)
{
	ssize_t done = pwrite(mem, buf, n, (off_t)va);

	/* Try twice: PTRACE_POKEDATA works only for a stopped task. */
	if (done < 0)
		done = pwrite(mem, buf, n, (off_t)va);
	if (done == (ssize_t)n)
		return HOST_OK;
	if (done)
		return mem_poke(tid, va, buf, n);
	/* Memory that no process has any more takes 0 bytes. */
	ptrace_regs_invalidate(tid);
	return HOST_GONE;
}

typedef ssize_t transfer(pid_t tid, const struct iovec *local,
			 unsigned long nlocal, const struct iovec *remote,
			 unsigned long nremote, unsigned long flags);

/* Move data, and try again if that fails though the memory is there. */
static int
data_move(transfer *move, pid_t tid, uint64_t va, void *buf, size_t n)
{
	struct iovec local = { buf, n }, remote = { (void *)va, n };
	ssize_t done;

	if (ptrace_ended(tid))
		return HOST_GONE;
	done = move(tid, &local, 1, &remote, 1, 0);
	if (done < 0 && errno != EFAULT)
		done = move(tid, &local, 1, &remote, 1, 0);
	if (done == (ssize_t)n)
		return HOST_OK;
	ptrace_regs_invalidate(tid);
	return HOST_GONE;
}

int
ptrace_data_read(pid_t tid, uint64_t va, void *buf, size_t n)
{
	return data_move(process_vm_readv, tid, va, buf, n);
}

size_t
ptrace_data_gather(pid_t tid, const struct data_part *parts, size_t n)
{
	struct iovec local[DATA_PARTS], remote[DATA_PARTS];
	size_t whole = 0;
	ssize_t left;

	must(n <= DATA_PARTS);
	if (ptrace_ended(tid))
		return 0;
	for (size_t i = 0; i < n; i++) {
		local[i] = (struct iovec){ parts[i].buf, parts[i].n };
		remote[i] = (struct iovec){ (void *)parts[i].va, parts[i].n };
	}
	left = process_vm_readv(tid, local, n, remote, n, 0);
	for (; whole < n && left >= (ssize_t)parts[whole].n; whole++)
		left -= (ssize_t)parts[whole].n;
	return whole;
}

int
ptrace_data_write(pid_t tid, uint64_t va, const void *buf, size_t n)
{
	return data_move(process_vm_writev, tid, va, (void *)buf, n);
}

/* ---- processors */

int
ptrace_affinity_get(pid_t tid, void *set, size_t size)
{
	return ptrace_ended(tid) || sched_getaffinity(tid, size, set) ?
		       HOST_GONE :
		       HOST_OK;
}

int
ptrace_affinity_set(pid_t tid, const void *set, size_t size)
{
	return ptrace_ended(tid) || sched_setaffinity(tid, size, set) ?
		       HOST_GONE :
		       HOST_OK;
}
