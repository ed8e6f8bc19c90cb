/*
 * Turns stop replies (GDB manual, appendix E.3) into events: why the program
 * behind the stub stopped.  Sends nothing that lets the program go on.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "host/emulator.h"
#include "host/remote_state.h"
#include "util/mem.h"

/* Keep the path, given in hexadecimal, of the program that an exec started. */
static void
program_replaced(const char *digits)
{
	char *path = mem_alloc(strlen(digits) / 2 + 1);
	size_t n = 0;
	int byte;

	while ((byte = remote_byte(digits + 2 * n)) >= 0)
		path[n++] = (char)byte;
	path[n] = '\0';
	free(remote.path);
	remote.path = path;
}

/*
 * Take the fields of a stop reply, "11:8000061a;swbreak:;thread:7fd7;".
 * Returns the kind of event; *swbreak is set if a breakpoint made the trap.
 */
static enum event_kind
stop_fields(const char *p, bool *swbreak)
{
	enum event_kind kind = EVENT_TRAP;
	const char *end;

	while (*p) {
		uint64_t wire = remote_hex(p, &end);

		if (end > p && *end == ':')
			remote_regs_told((unsigned)wire, end + 1);
		*swbreak |= !strncmp(p, "swbreak:", 8);
		if (!strncmp(p, "exec:", 5)) {
			program_replaced(p + 5);
			kind = EVENT_EXEC;
		}
		if (!strncmp(p, "thread:", 7))
			remote.thread = remote_hex(p + 7, &end);
		p += strcspn(p, ";");
		p += *p == ';';
	}
	return kind;
}

/* Is the pc at a trap instruction, or just behind it, as the arch has it? */
static bool
trap_reached(void)
{
	const struct arch *arch = remote.arch;
	uint8_t code[sizeof(arch->trap)];
	uint64_t pc;

	return !remote_reg_get(remote.tid, arch->reg_pc, &pc) &&
	       !remote_mem_read(0, remote.tid, pc - arch->trap_pc, code,
				arch->trap_len) &&
	       !memcmp(code, arch->trap, arch->trap_len);
}

static void
trap_event(struct event *event, int signal, bool swbreak, bool stepped)
{
	const struct arch *arch = remote.arch;
	uint64_t pc;

	if (signal == SIGTRAP && !stepped && remote.breaks &&
	    !remote_reg_get(remote.tid, arch->reg_pc, &pc))
		swbreak |= remote_breaks_at(pc);
	/* A stub that reports swbreak has put the pc back to the trap. */
	if (swbreak && arch->trap_pc &&
	    !remote_reg_get(remote.tid, arch->reg_pc, &pc))
		remote_reg_set(remote.tid, arch->reg_pc, pc + arch->trap_pc);
	event->kind = EVENT_TRAP;
	if (swbreak)
		remote.cause = TRAP_INSN;
	else if (stepped && signal == SIGTRAP)
		remote.cause = TRAP_STEP;
	else if (signal == arch->trap_signal && trap_reached())
		remote.cause = TRAP_INSN;
	else if (signal == SIGTRAP)
		remote.cause = TRAP_SENT;
	else
		event->kind = EVENT_SIGNAL;
}

/*
 * Qemu's stub reads its connection only while the program is stopped.  It takes
 * an interrupt sent before the stop for a missing acknowledgement, and reports
 * the stop again (qemu 7.2), or it ignores the interrupt.  So make another
 * request, and skip stop replies that come before the reply to it.
 */
static void
interrupt_swallow(void)
{
	enum { REPLY_TIME = 10 * 1000 };
	char *reply = mem_strdup(remote.link.reply);

	remote.pausing = false;
	if (!packet_send(&remote.link, "qC", 2))
		while (packet_receive(&remote.link, REPLY_TIME) > 0 &&
		       (*remote.link.reply == 'T' || *remote.link.reply == 'S'))
			;
	strcpy(remote.link.reply, reply);
	free(reply);
}

void
remote_stop_event(struct event *event, const char *reply)
{
	const char *end;
	char two[3] = { reply[1], reply[1] ? reply[2] : '\0', '\0' };
	int signal = remote_signal_of(remote_hex(two, &end));
	int held = remote.simulator && signal == SIGBUS ? emulator_signal() : 0;
	bool swbreak = false, stepped = remote.stepping;
	char *fields = mem_strdup(
		*reply == 'T' && *end == '\0' && two[1] ? reply + 3 : "");

	remote.running = remote.stepping = false;
	remote_regs_invalidate();
	event->kind = stop_fields(fields, &swbreak);
	free(fields);
	if (held)
		signal = held;
	event->value = remote.signal = signal;
	if (remote.syscall_end)
		remote_break_clear(remote.syscall_end);
	remote.syscall_end = 0;
	if (event->kind == EVENT_EXEC) {
		remote.nbroken = 0;
		event->value = remote.tid;
		return;
	}
	remote_counts_stopped();
	if (signal == SIGINT && remote.pausing) {
		remote.pausing = false;
		event->kind = EVENT_PAUSED;
		if (remote.kill_signal && !remote.simulator) {
			event->kind = EVENT_SIGNAL;
			event->value = remote.kill_signal;
			remote.kill_signal = 0;
		}
		return;
	}
	if (remote.pausing && remote.deaf)
		interrupt_swallow();
	trap_event(event, signal, swbreak, stepped);
	if (remote.simulator && emulator_threads()) {
		event->kind = EVENT_CLONE;
		event->value = 0;
	}
}
