/*
 * Runs the one program, and its one task, on SIMH's VAX-11/780.  The machine
 * runs for a bounded number of instructions at a time and so need never be
 * interrupted: requests that come meanwhile are seen in between.
 * The trap is LDPCTX.  BPT would not do, as its exception clears the condition
 * codes.
 */
#include "host/simh.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/simh_program.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	CHUNK = 2 * 1000 * 1000,	/* instructions; some 30 ms */
};

struct simh simh;

/* ---- ending */

bool
simh_alive(void)
{
	return simh.state != STATE_NONE && simh.state != STATE_ENDED;
}

static void
event_set(struct event *event, enum event_kind kind, int value)
{
	*event = (struct event){
		.kind = kind,
		.tid = simh.pid,
		.value = value,
	};
}

static void
remark_add(struct program *p, const char *text)
{
	*vec_push(p->remarks, p->nremarks) = mem_strdup(text);
}

/* End the program, but keep the machine, which has the counters. */
static void
end(struct event *event, enum event_kind kind, int value)
{
	files_close(&simh.program);
	simh.state = STATE_ENDED;
	event_set(event, kind, value);
}

/* The simulator is gone, or its answers make no sense. */
static void
end_killed(struct event *event, int status)
{
	struct program *p = &simh.program;

	remark_add(p, status == HOST_ERROR ?
			      fail_message() :
			      "the simulator was killed: counts are lost");
	machine_close(p->m);
	p->m = NULL;
	end(event, EVENT_KILLED, SIGKILL);
}

void
simh_close(void)
{
	struct program *p = &simh.program;

	machine_close(p->m);
	if (simh.state != STATE_NONE)
		files_close(p);
	free(p->path);
	free(p->regions);
	free(p->counters);
	free(p->traps);
	free(p->unknown);
	for (size_t i = 0; i < p->nremarks; i++)
		free(p->remarks[i]);
	free(p->remarks);
	memset(&simh, 0, sizeof(simh));
}

/* ---- starting */

int
simh_launch(const char *path, char **argv, pid_t *tid)
{
	struct program *p = &simh.program;
	struct sigaction action;

	must(simh.state == STATE_NONE);
	/*
	 * The program, not pmon, gets the SIGPIPE of a pipe that nobody reads.
	 */
	if (!sigaction(SIGPIPE, NULL, &action) && action.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
	for (int fd = 0; fd < PROGRAM_FILES; fd++)
		p->files[fd] = fd <= STDERR_FILENO ? fd : -1;
	p->path = mem_strdup(path);
	p->traps = mem_alloc(MACHINE_P0_SIZE);
	simh.state = STATE_LOADED;
	p->m = machine_open();
	if (!p->m || program_load(p, path, argv, environ) < 0) {
		simh_close();
		return HOST_ERROR;
	}
	simh.pid = console_pid(p->m->con);
	simh.stop = (struct stop){ .kind = STOP_COUNT, .pc = p->entry + 2 };
	*tid = simh.pid;
	return HOST_OK;
}

/* ---- events */

/* Report a signal, 4.2BSD's, that is about to be delivered. */
static bool
signal_report(struct event *event, int signal, uint32_t code, bool raised)
{
	simh.code = code;
	simh.raised = raised;
	simh.state = STATE_STOPPED;
	simh.cause = raised ? TRAP_INSN : TRAP_SENT;
	if (signal_here(signal) == SIGTRAP)
		event_set(event, EVENT_TRAP, 0);
	else
		event_set(event, EVENT_SIGNAL, signal_here(signal));
	return true;
}

/* Serve the program's CHMK.  True if that makes an event. */
static bool
call_handle(struct event *event)
{
	struct program *p = &simh.program;
	enum state state = simh.state == STATE_CALLING ? simh.called :
							 simh.state;
	int value = 0;

	simh.state = state;
	/* What is left of a step is the return from the kernel's stub. */
	simh.steps = p->m->back;
	switch (call_serve(p, &simh.stop, &value)) {
	case CALL_EXIT:
		end(event, EVENT_EXITED, value);
		return true;
	case CALL_GONE:
		end_killed(event, HOST_GONE);
		return true;
	case CALL_AGAIN:
		simh.called = state;
		simh.state = STATE_CALLING;
		event_set(event, EVENT_WAKE, 0);
		return true;
	case CALL_SIGNAL:
		p->pending |= 1u << (value - 1);
		break;
	case CALL_DONE:
		break;
	}
	return false;
}

/* The program is at a planted trap.  True if that makes an event. */
static bool
trap_handle(struct event *event)
{
	struct program *p = &simh.program;
	struct counter *counter = counter_find(p, simh.stop.pc);

	if (counter) {
		counter->hits++;
		p->pass = (struct redo){
			.va = counter->va,
			.orig = counter->orig,
		};
		return false;
	}
	simh.state = STATE_STOPPED;
	simh.cause = TRAP_INSN;
	event_set(event, EVENT_TRAP, SIGILL);
	return true;
}

/* An exception stopped the program.  True if that makes an event. */
static bool
stop_handle(struct event *event)
{
	struct program *p = &simh.program;
	struct stop *stop = &simh.stop;
	uint32_t code;
	int signal, status;

	if (stop->vector == VECTOR_CHMK)
		return call_handle(event);
	status = counters_replant(p, stop);
	if (status) {
		end_killed(event, status);
		return true;
	}
	/* The instruction under a trap may itself be a privileged one. */
	if (stop->vector == VECTOR_PRIVILEGED && stop->pc < MACHINE_P0_SIZE &&
	    p->traps[stop->pc] && p->fault.va != stop->pc)
		return trap_handle(event);
	signal = signal_of_vector(stop, &code);
	return signal_report(event, signal, code, true);
}

/* Run a chunk or a step; if there is an instruction to pass, that first. */
static int
run_some(void)
{
	struct program *p = &simh.program;
	bool step = simh.state == STATE_STEPPING, faulted;
	uint32_t count = !step ? CHUNK : simh.steps ? simh.steps : 1;
	struct redo pass = p->pass;
	int status;

	simh.steps = 0;
	p->fault.va = 0;
	p->pass.va = 0;
	if (!pass.va)
		return machine_run(p->m, count, &simh.stop);
	status = machine_pass(p->m, pass.va, pass.orig, step ? 0 : count,
			      &simh.stop, &faulted);
	if (!status && faulted)
		p->fault = pass;
	return status;
}

/* Is the machine in the middle of counting? */
static bool
busy_inside(void)
{
	return simh.stop.kind == STOP_COUNT &&
	       (simh.stop.pc >= MACHINE_SYSTEM || simh.stop.last);
}

/* Take a signal, 4.2BSD's, that can be delivered now; 0 if there is none. */
static int
signal_take(void)
{
	struct program *p = &simh.program;
	int there = signal_there(simh.sent);

	simh.sent = 0;
	if (there)
		p->pending |= 1u << (there - 1);
	for (int i = 1; i < PROGRAM_SIGNALS; i++)
		if (p->pending >> (i - 1) & 1 && !signal_blocked(p, i)) {
			p->pending &= ~(1u << (i - 1));
			return i;
		}
	return 0;
}

/* Do what was asked of the program meanwhile.  True if that makes an event. */
static bool
request_handle(struct event *event)
{
	int signal;

	if (simh.killed) {
		end(event, EVENT_KILLED, simh.sent);
		return true;
	}
	signal = signal_take();
	if (signal)
		return signal_report(event, signal, 0, false);
	if (!simh.pause)
		return false;
	simh.pause = false;
	simh.state = STATE_STOPPED;
	event_set(event, EVENT_PAUSED, SIGTRAP);
	return true;
}

static bool
wished(void)
{
	return simh.sent || simh.killed || simh.pause ||
	       simh.program.pending & ~simh.program.mask;
}

/* Let the program run.  True if that makes an event. */
static bool
run_handle(struct event *event)
{
	struct program *p = &simh.program;
	int status;

	if (wished() && !p->pass.va && !busy_inside())
		return request_handle(event);
	/* Let the machine finish counting before the request is dealt with. */
	status = wished() && !p->pass.va ? machine_run(p->m, 1, &simh.stop) :
					   run_some();
	if (status) {
		end_killed(event, status);
		return true;
	}
	if (simh.stop.kind == STOP_VECTOR)
		return stop_handle(event);
	if (simh.state != STATE_STEPPING || busy_inside())
		return false;
	simh.state = STATE_STOPPED;
	simh.cause = TRAP_STEP;
	event_set(event, EVENT_TRAP, 0);
	return true;
}

void
simh_wait(struct event *event)
{
	for (;;) {
		switch (simh.state) {
		case STATE_NONE:
		case STATE_ENDED:
			event_set(event, EVENT_DONE, 0);
			return;
		case STATE_LOADED:
			simh.state = STATE_STOPPED;
			event_set(event, EVENT_EXEC, simh.pid);
			return;
		case STATE_STOPPED:
			if (simh.killed && request_handle(event))
				return;
			pause();
			event_set(event, EVENT_WAKE, 0);
			return;
		case STATE_CALLING:
			if (simh.killed ? request_handle(event) :
					  call_handle(event))
				return;
			break;
		case STATE_RUNNING:
		case STATE_STEPPING:
			if (run_handle(event))
				return;
			break;
		}
		if (console_woken(simh.program.m->con)) {
			event_set(event, EVENT_WAKE, 0);
			return;
		}
	}
}

/* Deliver a signal, Linux's number, to the stopped program. */
static void
deliver(int signal)
{
	struct program *p = &simh.program;
	int there = signal_there(signal);

	simh.killed = true;
	simh.sent = signal;
	if (!there || (simh.raised && signal_blocked(p, there)) ||
	    counters_replant(p, &simh.stop))
		return;
	switch (signal_deliver(p, there, simh.code)) {
	case DELIVERY_DONE:
	case DELIVERY_IGNORED:
		simh.killed = false;
		simh.sent = 0;
		break;
	case DELIVERY_DEATH:
		break;
	case DELIVERY_GONE:
		simh.sent = SIGKILL;
		break;
	}
}

int
simh_resume(pid_t tid, enum resume how, int signal)
{
	if (!simh_alive())
		return HOST_GONE;
	if (simh.state == STATE_LOADED)
		return HOST_OK;
	if (signal)
		deliver(signal);
	simh.raised = false;
	simh.code = 0;
	simh.state = how == RESUME_STEP ? STATE_STEPPING : STATE_RUNNING;
	simh.steps = simh.program.m->back + 1;
	return HOST_OK;
}

/* The program cannot live without pmon, which does its system calls. */
int
simh_detach(pid_t tid, int signal)
{
	simh.killed = true;
	if (!simh.sent)
		simh.sent = signal ? signal : SIGKILL;
	simh.state = STATE_RUNNING;
	return HOST_OK;
}

int
simh_pause(pid_t tid)
{
	simh.pause = true;
	return HOST_OK;
}

int
simh_kill(pid_t pid, int signal)
{
	simh.sent = signal;
	simh.killed |= signal == SIGKILL;
	return HOST_OK;
}
