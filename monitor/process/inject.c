/*
 * Makes system calls in the program's name: to map and unmap memory, and to
 * restore what a trap has done to SIGTRAP.  A task runs one system call
 * instruction, which stands for that moment in the padding behind the kernel's
 * vDSO, with a restorer behind it: code by which the task gets back its signal
 * mask and registers if pmon is killed meanwhile.  Where there is no vDSO the
 * instruction stands alone over the program's start code; no thread executes
 * that code any more (or, at an exec, yet).  Never leaves a change in
 * registers, signal mask or text.
 */
#include "monitor/process/inject.h"

#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "host/dynamic.h"
#include "monitor/process/detour.h"
#include "monitor/process/events.h"
#include "monitor/process/sequence.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "util/fail.h"

enum {
	CODE_MAX = 640,		/* bytes of code at a time ... */
	CODE_ONE = 320,		/* ... and those that any one call needs */
	SCRATCH_MIN = 128,	/* bytes to leave for inject_scratch, if there
				   are more */
	PADDING_ALIGN = 16,
	ERRNO_MAX = 4095,	/* of a failed call (linux/err.h) */
};

/* ---- where calls are made */

/* The padding behind the vDSO, if that is n bytes; else 0 to 0. */
static struct range
padding_find(struct run *run, struct task *task, size_t n)
{
	uint64_t vdso = run->host->auxv(task->tid, AT_SYSINFO_EHDR);
	struct range padding = { 0 };
	struct mapping *maps;
	size_t nmaps;

	if (!vdso || run->host->maps(task->tid, &maps, &nmaps))
		return padding;
	for (size_t i = 0; i < nmaps && !padding.lo; i++) {
		const struct mapping *map = &maps[i];
		uint64_t room = map->hi - map->lo, size;

		if (map->lo != vdso || !map->exec ||
		    strcmp(map->path, "[vdso]"))
			continue;
		size = dynamic_file_size(run->host, task->process->space->mem,
					 task->tid, map) +
		       PADDING_ALIGN - 1;
		size -= size % PADDING_ALIGN;
		if (size && size < room && room - size >= n)
			padding = (struct range){ map->lo + size, map->hi };
	}
	mappings_free(maps, nmaps);
	return padding;
}

/* Choose where the tasks of this space make calls. */
static void
spot_choose(struct run *run, struct task *task)
{
	struct space *space = task->process->space;
	struct range padding = { 0 };

	if (run->host->native && run->arch->emit.injected_write)
		padding = padding_find(run, task, CODE_ONE);
	space->call_spot = padding.lo;
	if (!padding.lo) {
		space->call_spot = run->host->auxv(task->tid, AT_ENTRY);
		return;
	}
	space->call_room = padding.hi - padding.lo;
	if (space->call_room > CODE_ONE + SCRATCH_MIN)
		space->call_room -= SCRATCH_MIN;
	if (space->call_room > CODE_MAX)
		space->call_room = CODE_MAX;
	space->scratch = (struct range){ padding.lo + space->call_room,
					 padding.hi };
}

struct range
inject_scratch(struct run *run, struct task *task)
{
	struct space *space = task->process->space;

	if (!space->call_spot)
		spot_choose(run, task);
	return space->scratch;
}

/* Exchange n bytes of text at va with those in `bytes`. */
static int
spot_swap(struct run *run, struct task *task, uint64_t va, uint8_t *bytes,
	  size_t n)
{
	int mem = task->process->space->mem;
	uint8_t old[CODE_MAX];
	int err;

	must(n <= sizeof(old));
	err = run->host->mem_read(mem, task->tid, va, old, n);
	if (!err)
		err = run->host->mem_write(mem, task->tid, va, bytes, n);
	if (!err)
		memcpy(bytes, old, n);
	return err;
}

/* ---- running the task */

/* A task's state before it makes calls. */
struct saved {
	struct regs regs;
	uint8_t info[SIGINFO_MAX];
	uint64_t mask;
	struct dispatch dispatch;
};

/* Calls that a task makes without stopping in between. */
struct injection {
	struct syscall *calls;
	size_t n;
	int signal;		/* given to the task with all signals blocked,
				   or 0 */
	int spare;		/* for which it stops behind them; 0: it makes
				   one call, and stops behind that */
	uint64_t spot;		/* va of the code */
	struct regs regs;	/* to begin with, and then with the results */
	struct saved saved;
	uint8_t code[CODE_MAX];
	size_t ncode;
};

/* Does the event tell that the one call has been made? */
static bool
call_done(struct run *run, const struct task *task, const struct event *event)
{
	if (run->host->native)
		return event->kind == EVENT_SYSCALL_EXIT;
	return event->kind == EVENT_TRAP &&
	       run->host->trap_cause(task->tid) == TRAP_INSN;
}

/*
 * Let the task run over one system call: to the call's exit, or to the trap
 * behind it on a host that does not tell of system calls.  Behind the call a
 * native task is made to stop for a signal: a signal given at a call's exit
 * would tell nothing, and from there the kernel would not restart an older call.
 */
static int
call_run(struct run *run, struct task *task, const struct injection *in,
	 struct detour *detour)
{
	bool native = run->host->native;
	struct event event = { 0 };
	uint64_t pc;
	int err;

	do {
		err = detour_go(run, task, native ? RESUME_SYSCALL : RESUME_RUN,
				detour, &event);
		if (err)
			return err;
		if (event.kind == EVENT_SIGNAL && !detour->signal &&
		    !run->host->reg_get(task->tid, run->arch->reg_pc, &pc) &&
		    pc == in->spot)
			return HOST_ERROR;
	} while (!call_done(run, task, &event));
	return native ? detour_halt(run, task, detour) : HOST_OK;
}

/*
 * Let the task make its calls.  A native task meets no trap: the trap would
 * change what the program has made of SIGTRAP, and end the program if pmon were
 * killed at that stop.  Signals are blocked, so a signal at the spot means that
 * the spot cannot be executed.  A signal behind that was a pending fault, which
 * the kernel delivers though it is blocked; its instruction will fault again.
 * Other stops (a group stop, a pause) are passed over.  A task that stood in a
 * group stop stops for it again as soon as the task goes on.
 */
static int
spot_run(struct run *run, struct task *task, const struct injection *in)
{
	struct detour detour = { .signal = in->signal,
				 .blocked = run->host->native };
	int err = in->spare ?
			  detour_meet(run, task, &detour, in->spare, in->spot) :
			  call_run(run, task, in, &detour);

	if (err == HOST_GONE || err == DETOUR_TAKEN)
		return err;
	stop_is(run, task, STOP_CALLED);
	if (detour.stopped)
		task_interrupt(run, task, STOP_GROUP);
	return err;
}

/* Let the task run to the end of the system call that it is in. */
static int
call_finish(struct run *run, struct task *task, struct event *event)
{
	struct event end;

	if (task_resume(run, task, RESUME_SYSCALL, 0))
		return HOST_GONE;
	run_wait_task(run, task, &end);
	if (end.kind != EVENT_SYSCALL_EXIT) {
		run_requeue(run, &end);
		return HOST_GONE;
	}
	stop_is(run, task, STOP_STOPPING);
	*event = end;
	return HOST_OK;
}

/*
 * Skip the system call that the task is about to make, and take the task back
 * to before it, so that the call is made later.
 */
static int
call_undo(struct run *run, struct task *task, struct event *event)
{
	const struct abi *abi = run->abi;
	struct regs regs, none;

	if (run->host->regs_get(task->tid, &regs))
		return HOST_GONE;
	none = regs;
	none.r[abi->reg_orig] = -1;
	if (run->host->regs_set(task->tid, &none) ||
	    call_finish(run, task, event))
		return HOST_GONE;
	regs.r[abi->reg_nr] = regs.r[abi->reg_orig];
	regs.r[abi->reg_orig] = -1;
	regs.r[run->arch->reg_pc] -= run->arch->syscall_len;
	event->kind = EVENT_PAUSED;
	return run->host->regs_set(task->tid, &regs) ? HOST_GONE : HOST_OK;
}

int
inject_prepare(struct run *run, struct task *task, struct event *event)
{
	must(!task->vforking);
	switch (event->kind) {
	case EVENT_SYSCALL_ENTRY:
		return call_undo(run, task, event);
	case EVENT_CLONE:
	case EVENT_FORK:
	case EVENT_VFORK:
	case EVENT_VFORK_DONE:
	case EVENT_EXEC:
		return call_finish(run, task, event);
	default:
		return HOST_OK;
	}
}

bool
inject_may(const struct run *run, const struct task *task)
{
	const struct event *event = run_queued(run, task);

	return !event || event->kind == EVENT_PAUSED ||
	       event->kind == EVENT_STOPPED;
}

/* ---- calls */

/* The registers for one call, whose instruction stands alone. */
static void
call_set(const struct run *run, const struct syscall *call, struct regs *regs)
{
	const struct abi *abi = run->abi;

	regs->r[abi->reg_nr] = call->nr;
	for (size_t i = 0; i < SYSCALL_ARGS; i++)
		regs->r[abi->reg_arg[i]] = call->args[i];
}

/*
 * The registers with which the task goes on if nobody traces it any more: a
 * call that its stop has interrupted begins again, as the kernel has it.
 */
static struct regs
regs_alone(const struct run *run, const struct regs *saved)
{
	const struct abi *abi = run->abi;
	struct regs regs = *saved;
	int64_t nr = abi->reg_orig == REG_NONE ? -1 :
						 (int64_t)regs.r[abi->reg_orig];
	int64_t result = (int64_t)regs.r[abi->reg_result];

	if (nr < 0 || !result_restarts(result))
		return regs;
	regs.r[abi->reg_nr] = result == -RESTART_BLOCK ? abi->nr_restart : nr;
	regs.r[run->arch->reg_pc] -= run->arch->syscall_len;
	return regs;
}

/* The code for as many of the calls as there is room for. */
static void
code_make(const struct run *run, const struct space *space,
	  struct injection *in, int spare)
{
	const struct arch *arch = run->arch;
	struct injected injected = {
		.calls = in->calls,
		.n = in->n < INJECTED_MAX ? in->n : INJECTED_MAX,
		.mask_stop = ~(UINT64_C(1) << (spare - 1)),
		.mask = in->saved.mask,
		.regs = regs_alone(run, &in->saved.regs),
	};

	in->ncode = 0;
	while (!in->ncode && injected.n) {
		in->ncode = arch->emit.injected_write(&injected, in->spot,
						      in->code,
						      space->call_room);
		in->n = injected.n--;
	}
	must(in->ncode);
	in->spare = spare;
}

/* The code for the first of the calls. */
static void
code_make_one(const struct run *run, struct injection *in)
{
	const struct arch *arch = run->arch;

	in->n = 1;
	in->ncode = arch->syscall_len;
	memcpy(in->code, arch->syscall, in->ncode);
	if (!run->host->native) {
		memcpy(in->code + in->ncode, arch->trap, arch->trap_len);
		in->ncode += arch->trap_len;
	}
	call_set(run, in->calls, &in->regs);
}

/* Make the code for some of the calls, and the registers to begin with. */
static void
injection_make(struct run *run, const struct task *task, struct injection *in)
{
	const struct space *space = task->process->space;
	const struct abi *abi = run->abi;

	in->regs = in->saved.regs;
	in->regs.r[run->arch->reg_pc] = in->spot;
	/* Otherwise the kernel would restart an older call. */
	if (abi->reg_orig != REG_NONE)
		in->regs.r[abi->reg_orig] = -1;
	if (space->call_room)
		code_make(run, space, in, detour_spare(run, task));
	else
		code_make_one(run, in);
}

static void
results_note(const struct run *run, const struct injection *in)
{
	for (size_t i = 0; i < in->n; i++)
		in->calls[i].result =
			in->spare ?
				run->arch->emit.injected_result(&in->regs, i) :
				(int64_t)in->regs.r[run->abi->reg_result];
}

static int
task_save(const struct host *host, const struct task *task, struct saved *saved)
{
	const struct host_native *native = host->native;

	if (host->regs_get(task->tid, &saved->regs) ||
	    (native && (native->siginfo_get(task->tid, saved->info) ||
			native->mask_get(task->tid, &saved->mask) ||
			native->dispatch_get(task->tid, &saved->dispatch))))
		return HOST_GONE;
	return HOST_OK;
}

/*
 * Restore as much as possible, even if something cannot be restored.  The mask
 * comes first: the restorer is behind the task's pc until the registers are
 * set.
 */
static int
task_restore(const struct host *host, const struct task *task,
	     const struct saved *saved)
{
	int err = 0;

	if (host->native && host->mask_set(task->tid, saved->mask, NULL))
		err = HOST_GONE;
	if (host->regs_set(task->tid, &saved->regs))
		err = HOST_GONE;
	if (host->native && host->native->siginfo_set(task->tid, saved->info))
		err = HOST_GONE;
	if (host->native && saved->dispatch.mode &&
	    host->native->dispatch_set(task->tid, &saved->dispatch))
		err = HOST_GONE;
	return err;
}

/*
 * Have the task make the calls, and restore its state.  pmon may be killed
 * before each of these requests.  The task's signals are blocked only while the
 * restorer is there and the task on the way to it.  Dispatch is off meanwhile, or
 * the program would get SIGSYS for the calls.
 */
static int
injection_run(struct run *run, struct task *task, struct injection *in)
{
	const struct host *host = run->host;
	int err;

	err = spot_swap(run, task, in->spot, in->code, in->ncode);
	if (err)
		return err;
	err = host->regs_set(task->tid, &in->regs);
	if (!err && host->native)
		err = host->mask_set(task->tid, ~UINT64_C(0), NULL);
	/* Not if it could not be turned on again. */
	if (!err && in->saved.dispatch.mode &&
	    !(err = host->native->dispatch_set(task->tid, &in->saved.dispatch)))
		err = host->native->dispatch_set(task->tid,
						 &(struct dispatch){ 0 });
	if (!err)
		err = spot_run(run, task, in);
	if (!err)
		err = host->regs_get(task->tid, &in->regs);
	if (err != DETOUR_TAKEN && task_restore(host, task, &in->saved))
		err = HOST_GONE;
	/* The text must be restored even if the task is gone. */
	spot_swap(run, task, in->spot, in->code, in->ncode);
	return err == DETOUR_TAKEN ? HOST_GONE : err;
}

/* Give the result of the first call to those from `from` on that take it. */
static void
calls_take(struct syscall *calls, size_t from, size_t n)
{
	for (size_t i = from; i < n; i++)
		if (calls[i].taken) {
			calls[i].args[calls[i].taken - 1] =
				(uint64_t)calls[0].result;
			calls[i].taken = 0;
		}
}

static int
calls_inject(struct run *run, struct task *task, struct syscall *calls,
	     size_t n, int signal)
{
	struct space *space = task->process->space;
	struct injection in = { .signal = signal };
	int err = HOST_OK;

	if (!space->call_spot)
		spot_choose(run, task);
	in.spot = space->call_spot;
	if (!in.spot || task_save(run->host, task, &in.saved))
		return HOST_GONE;
	sequence_abort(run, task, &in.saved.regs);
	for (size_t done = 0; done < n && !err; done += in.n) {
		in.calls = calls + done;
		in.n = n - done;
		injection_make(run, task, &in);
		err = injection_run(run, task, &in);
		if (err)
			break;
		results_note(run, &in);
		in.signal = 0;
		if (!done)
			calls_take(calls, in.n, n);
	}
	return err;
}

int
inject_calls(struct run *run, struct task *task, struct syscall *calls,
	     size_t n)
{
	return calls_inject(run, task, calls, n, 0);
}

int
inject_pending(struct run *run, struct task *task, struct syscall *call,
	       int signal)
{
	return calls_inject(run, task, call, 1, signal);
}

uint64_t
inject_mapped(const struct syscall *call)
{
	return call->result < 0 && call->result >= -ERRNO_MAX ?
		       0 :
		       (uint64_t)call->result;
}

struct syscall
inject_mapping(const struct run *run, uint64_t va, uint64_t size, int prot)
{
	uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			 (va ? MAP_FIXED_NOREPLACE : 0);

	return (struct syscall){
		.nr = run->abi->nr_mmap,
		.nargs = 6,
		.args = { va, size, (uint64_t)prot, flags, -1, 0 },
	};
}

uint64_t
inject_map(struct run *run, struct task *task, uint64_t va, uint64_t size,
	   int prot)
{
	struct syscall call = inject_mapping(run, va, size, prot);
	uint64_t mapped;

	if (inject_calls(run, task, &call, 1))
		return 0;
	mapped = inject_mapped(&call);
	return !va || mapped == va ? mapped : 0;
}

bool
inject_unmap(struct run *run, struct task *task, uint64_t va, uint64_t size)
{
	struct syscall call = { run->abi->nr_munmap, 2, .args = { va, size } };

	return !inject_calls(run, task, &call, 1) && !call.result;
}
