/*
 * 4.2BSD's signals on the simulated VAX: what an exception raises, and how a
 * handler is called and returns (sigvec(2), sigcleanup).
 */
#include <signal.h>

#include "host/simh_program.h"

enum {
	VAX_SIGILL = 4,
	VAX_SIGTRAP = 5,
	VAX_SIGFPE = 8,
	VAX_SIGKILL = 9,
	VAX_SIGBUS = 10,
	VAX_SIGSEGV = 11,
	VAX_SIGSTOP = 17,
	PSL_USER = 0x03c00000,
	PSL_KEPT = 0xef,	/* what sigcleanup takes from the context:
				   condition codes and trap enables */
	PSL_FPD = 0x08000000,
};

/* Linux's signals by 4.2BSD's numbers.  Linux has no SIGEMT. */
static const uint8_t signals[PROGRAM_SIGNALS] = {
	0,	  SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,	 SIGABRT,
	0,	  SIGFPE,  SIGKILL, SIGBUS,  SIGSEGV, SIGSYS,	 SIGPIPE,
	SIGALRM,  SIGTERM, SIGURG,  SIGSTOP, SIGTSTP, SIGCONT,	 SIGCHLD,
	SIGTTIN,  SIGTTOU, SIGIO,   SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF,
	SIGWINCH, 0,	   SIGUSR1, SIGUSR2,
};

int
signal_here(int vax)
{
	return vax > 0 && vax < PROGRAM_SIGNALS ? signals[vax] : 0;
}

int
signal_there(int linux_signal)
{
	for (int i = 1; i < PROGRAM_SIGNALS && linux_signal; i++)
		if (signals[i] == linux_signal)
			return i;
	return 0;
}

int
signal_of_vector(const struct stop *stop, uint32_t *code)
{
	*code = 0;
	switch (stop->vector) {
	case VECTOR_PRIVILEGED:
		*code = 1;
		return VAX_SIGILL;
	case VECTOR_OPERAND:
		*code = 2;
		return VAX_SIGILL;
	case VECTOR_MODE:
	case VECTOR_CUSTOMER:
	case VECTOR_COMPATIBILITY:
		return VAX_SIGILL;
	case VECTOR_ACCESS:
	case VECTOR_TRANSLATION:
		*code = stop->params[1];	/* the address */
		return VAX_SIGSEGV;
	case VECTOR_TRACE:
	case VECTOR_BPT:
		return VAX_SIGTRAP;
	case VECTOR_ARITHMETIC:
		*code = stop->params[0];
		return VAX_SIGFPE;
	case VECTOR_MACHINE_CHECK:
		return VAX_SIGBUS;
	default:	/* CHME, CHMS, CHMU and interrupts */
		return VAX_SIGILL;
	}
}

bool
signal_blocked(const struct program *p, int signal)
{
	return p->mask >> (signal - 1) & 1;
}

static enum delivery
default_action(int signal)
{
	switch (signal_here(signal)) {
	case SIGURG:
	case SIGCONT:
	case SIGCHLD:
	case SIGIO:
	case SIGWINCH:
	/* There is no shell that would let a stopped program go on. */
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return DELIVERY_IGNORED;
	default:
		return DELIVERY_DEATH;
	}
}

/* What is pushed on the stack for the code in simh_kernel.s. */
struct frame {
	uint32_t signal, code, context, handler, context_copy;
	/* struct sigcontext */
	uint32_t onstack, mask, sp, pc, psl;
};

enum { FRAME_CONTEXT = 20 };	/* offset of the context */

static enum delivery
handler_call(struct program *p, int signal, uint32_t code)
{
	const struct sigvec *vec = &p->vecs[signal];
	struct machine *m = p->m;
	struct frame frame;
	struct regs regs;
	uint32_t sp;
	int status = machine_regs(m, &regs);

	if (status)
		return DELIVERY_GONE;
	sp = (uint32_t)regs.r[VAX_SP];
	if (vec->onstack && p->sigstack && !p->onstack)
		sp = p->sigstack;
	sp = (sp & ~3u) - (uint32_t)sizeof(frame);
	frame = (struct frame){
		.signal = (uint32_t)signal,
		.code = code,
		.context = sp + FRAME_CONTEXT,
		.handler = vec->handler,
		.context_copy = sp + FRAME_CONTEXT,
		.onstack = p->onstack,
		.mask = p->mask,
		.sp = (uint32_t)regs.r[VAX_SP],
		.pc = (uint32_t)regs.r[VAX_PC],
		.psl = (uint32_t)regs.r[VAX_PSL],
	};
	if (!machine_mapped(m, sp, sizeof(frame), PAGE_WRITE))
		return DELIVERY_DEATH;
	if (machine_write(m, sp, &frame, sizeof(frame)))
		return DELIVERY_GONE;
	if (p->fault.va == frame.pc) {
		p->redo = p->fault;
		p->redo.context = frame.context;
	}
	p->onstack |= vec->onstack;
	p->mask |= vec->mask | 1u << (signal - 1);
	machine_reg_set(m, VAX_SP, sp);
	machine_reg_set(m, VAX_PC, MACHINE_SIGCODE);
	machine_reg_set(m, VAX_PSL, PSL_USER);
	return DELIVERY_DONE;
}

enum delivery
signal_deliver(struct program *p, int signal, uint32_t code)
{
	uint32_t handler = p->vecs[signal].handler;

	if (signal == VAX_SIGKILL || signal == VAX_SIGSTOP)
		return DELIVERY_DEATH;
	if (handler == PROGRAM_HANDLER_DEFAULT)
		return default_action(signal);
	if (handler == PROGRAM_HANDLER_IGNORE)
		return DELIVERY_IGNORED;
	return handler_call(p, signal, code);
}

enum call_result
signal_return(struct program *p, struct stop *stop, int *signal)
{
	struct machine *m = p->m;
	uint32_t at, context[5];
	struct regs regs;

	if (machine_regs(m, &regs) || counters_replant(p, stop) == HOST_GONE)
		return CALL_GONE;
	if (!machine_mapped(m, (uint32_t)regs.r[VAX_SP], 4, PAGE_READ) ||
	    machine_read(m, (uint32_t)regs.r[VAX_SP], &at, 4) ||
	    !machine_mapped(m, at, sizeof(context), PAGE_READ) ||
	    machine_read(m, at, context, sizeof(context))) {
		*signal = VAX_SIGILL;
		return CALL_SIGNAL;
	}
	p->onstack = context[0] & 1;
	p->mask = context[1];
	machine_reg_set(m, VAX_SP, context[2]);
	machine_reg_set(m, VAX_PC, context[3]);
	machine_reg_set(m, VAX_PSL,
			PSL_USER | (context[4] & (PSL_KEPT | PSL_FPD)));
	if (p->redo.va && p->redo.context == at && p->redo.va == context[3])
		p->pass = p->redo;
	p->redo.va = 0;
	return CALL_DONE;
}
