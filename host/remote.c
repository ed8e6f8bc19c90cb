/*
 * The remote host: gives packets of the GDB remote protocol (GDB manual,
 * appendix E) their meaning, as events and requests of struct host. Registers,
 * memory, breakpoints and stop replies have files of their own.
 */
#include "host/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/emulator.h"
#include "host/procfs.h"
#include "host/remote_state.h"
#include "util/fail.h"
#include "util/mem.h"

/* ---- starting */

void
remote_use(const struct arch *arch, const char *where)
{
	remote.arch = arch;
	remote.where = where;
}

/* Ask what the stub can do. */
static int
stub_features(const char *name)
{
	const char *p, *end;

	if (remote_ask("qSupported:swbreak+;exec-events+") < 0)
		return fail("%s: no stub of the GDB remote protocol answers",
			    name);
	p = strstr(remote.link.reply, "PacketSize=");
	remote.packet_max = p ? remote_hex(p + 11, &end) : 0;
	if (remote.packet_max < 512)
		remote.packet_max = 400;
	if (remote.packet_max > PACKET_MAX)
		remote.packet_max = PACKET_MAX;
	if (strstr(remote.link.reply, "QStartNoAckMode+") &&
	    remote_ok(remote_ask("QStartNoAckMode")))
		remote.link.quiet = true;
	return 0;
}

/*
 * Ask why the program stands still and which registers it has.  A stub answers
 * packets p only after its features, target.xml, have been read.
 */
static int
stub_begin(const char *name)
{
	const char *end;
	int n;

	if (stub_features(name))
		return -1;
	n = remote_ask("?");
	if (n < 1 || (*remote.link.reply != 'T' && *remote.link.reply != 'S'))
		return fail("%s: the stub has no runnable program", name);
	remote_ask("Hg0");
	if (remote_ask("qXfer:features:read:target.xml:0,%zx",
		       remote.packet_max - 16) < 0 ||
	    (n = remote_ask("g")) < 0)
		return fail("%s: the stub closed the connection", name);
	remote.block = mem_strdup("");
	for (size_t i = 0; i < remote.arch->nwire; i++)
		n -= 2 * remote.arch->wire[i].bytes;
	if (n < 0 || *remote.link.reply == 'E')
		return fail("%s: the stub's registers are not those of a %s",
			    name, remote.arch->name);
	remote.one_reg = remote_ask("p0") == 2 * remote.arch->wire[0].bytes;
	remote.vcont = !remote.simulator && remote_ask("vCont?") > 5 &&
		       strstr(remote.link.reply, ";c") &&
		       strstr(remote.link.reply, ";s");
	remote.deaf = !remote.simulator && remote_ask("qqemu.sstepbits") > 0 &&
		      !strncmp(remote.link.reply, "ENABLE=", 7);
	if (!remote.simulator && remote_ask("qC") > 2)
		remote.tid = (pid_t)remote_hex(remote.link.reply + 2, &end);
	return remote.simulator ? 0 : remote_breaks_try(name);
}

static void
remote_end(void)
{
	if (remote.mem >= 0)
		close(remote.mem);
	remote.mem = -1;
	link_close(&remote.link);
	free(remote.block);
	remote.block = NULL;
	free(remote.broken);
	remote.broken = NULL;
	remote.nbroken = 0;
	remote_regs_invalidate();
}

/* Start the simulator.  0, or -1 with the message set. */
static int
simulator_start(const char *path, char **argv)
{
	struct emulated emulated = {
		.arch = remote.arch,
		.path = path,
		.argv = argv,
		.counts = remote_counts_open(),
	};
	char *opened = NULL;

	remote.simulator = emulator_start(&emulated, &remote.link);
	remote_counts_launched(emulated.uncounting);
	if (remote.simulator < 0) {
		remote.simulator = 0;
		return -1;
	}
	remote.tid = remote.simulator;
	remote.simulator_path = procfs_exe(remote.simulator, &opened);
	free(opened);
	return 0;
}

static int
remote_launch(const char *path, char **argv, pid_t *tid)
{
	bool killed;
	int value;

	free(remote.path);
	free(remote.simulator_path);
	remote = (struct remote){
		.arch = remote.arch,
		.where = remote.where,
		.link = { .fd = -1 },
		.mem = -1,
		.tid = 1,
		.path = realpath(path, NULL),
	};
	if (remote.where) {
		if (link_open(&remote.link, remote.where))
			return HOST_ERROR;
	} else if (simulator_start(path, argv)) {
		return HOST_ERROR;
	}
	if (!stub_begin(remote.where ? remote.where : path) &&
	    (!remote.simulator || !remote_mem_find(path))) {
		*tid = remote.tid;
		return HOST_OK;
	}
	remote_end();
	if (remote.simulator) {
		kill(remote.simulator, SIGKILL);
		emulator_wait(remote.simulator, &killed, &value);
	}
	return HOST_ERROR;
}

/*
 * Write the packet that lets the program go on.  With vCont only the thread
 * that stopped steps, or is given the signal.
 */
static void
resume_packet(char *packet, size_t size, bool step, int signal)
{
	const char *prefix = remote.vcont ? "vCont;" : "";
	char thread[32] = "", number[8] = "";

	if (signal)
		snprintf(number, sizeof(number), "%02x",
			 remote_signal_to(signal));
	if (remote.vcont && remote.thread && (step || signal))
		snprintf(thread, sizeof(thread), ":%" PRIx64 "%s",
			 remote.thread, step ? "" : ";c");
	snprintf(packet, size, "%s%c%s%s", prefix,
		 step	? signal ? 'S' : 's' :
		 signal ? 'C' :
			  'c',
		 number, thread);
}

/*
 * Let the program go on until an interrupt arrives that was sent when the
 * program had already stopped: it would kill the program after the detach.
 * HOST_GONE if the program ends instead.
 */
static int
interrupt_take(void)
{
	char packet[64];

	resume_packet(packet, sizeof(packet), false, 0);
	if (remote_ask("%s", packet) < 0)
		return HOST_GONE;
	remote.unread = *remote.link.reply == 'W' || *remote.link.reply == 'X';
	return remote.unread ? HOST_GONE : HOST_OK;
}

static int
remote_detach(pid_t tid, int signal)
{
	if (remote_regs_flush(false) || (remote.pausing && interrupt_take()))
		return HOST_GONE;
	/*
	 * Do not send a D to qemu: qemu 10 dies of one.  Qemu takes the end of
	 * the connection for one.
	 */
	if (remote.simulator)
		emulator_leave();
	else if (!remote.deaf && remote_ask("D") < 0)
		return HOST_GONE;
	remote.detached = true;
	remote_counts_leave();
	remote_end();
	if (!signal)
		signal = remote.kill_signal;
	if (signal && remote.simulator)
		kill(remote.simulator, signal);
	return HOST_OK;
}

/* ---- events */

/*
 * Report the end of the program, and wait for that of the simulator.  kind is
 * EVENT_WAKE if how the program ended is not known.
 */
static void
end_event(struct event *event, enum event_kind kind, int value)
{
	bool killed;
	int status;

	remote_end();
	event->kind = kind;
	event->value = value;
	if (remote.simulator) {
		/* It should end by itself, but do not rely on that. */
		if (kind == EVENT_WAKE)
			kill(remote.simulator, SIGKILL);
		while (!emulator_wait(remote.simulator, &killed, &status))
			;
		if (kind == EVENT_WAKE) {
			event->kind = killed ? EVENT_KILLED : EVENT_EXITED;
			event->value = status;
		}
	} else if (kind == EVENT_WAKE) {
		event->kind = EVENT_KILLED;
		event->value = SIGKILL;
	}
	remote.ended = true;
}

/*
 * The connection broke: the stub died with the program, or for another reason.
 */
static void
lost_event(struct event *event)
{
	end_event(event, EVENT_WAKE, 0);
}

/*
 * The connection broke: has the program executed one of this machine, which
 * took the simulator's place?  Nothing of that one is counted; pmon only waits
 * for its end.
 */
static bool
exec_event(struct event *event)
{
	char *open_path = NULL, *path = NULL;
	bool other;

	if (remote.simulator)
		path = procfs_exe(remote.simulator, &open_path);
	other = path && remote.simulator_path &&
		strcmp(path, remote.simulator_path);
	free(open_path);
	if (!other) {
		free(path);
		return false;
	}
	free(path);
	free(remote.path);
	remote.path = NULL;
	remote_end();
	remote.detached = true;
	remote.pausing = false;
	event->kind = EVENT_EXEC;
	event->value = remote.tid;
	return true;
}

/* Pass on what the program wrote over the connection (O packets). */
static void
output_pass(const char *p)
{
	int c;

	for (; (c = remote_byte(p)) >= 0; p += 2)
		putchar(c);
	fflush(stdout);
}

/* After the connection was given up: wait only for the simulator's end. */
static void
detached_wait(struct event *event)
{
	bool killed;
	int value;

	event->kind = EVENT_DONE;
	if (remote.pausing && !remote.ended) {
		/* A program that is not counted may run on. */
		remote.pausing = false;
		event->kind = EVENT_PAUSED;
		return;
	}
	if (remote.simulator && !remote.ended) {
		if (!emulator_wait(remote.simulator, &killed, &value)) {
			event->kind = EVENT_WAKE;
			return;
		}
		event->kind = killed ? EVENT_KILLED : EVENT_EXITED;
		event->value = value;
	}
	remote.ended = true;
}

static void
reply_event(struct event *event, const char *reply)
{
	const char *end;
	int value;

	switch (*reply) {
	case 'S':
	case 'T':
		remote_stop_event(event, reply);
		break;
	case 'W':
		end_event(event, EVENT_EXITED,
			  (int)remote_hex(reply + 1, &end));
		break;
	case 'X':
		value = remote_signal_of(remote_hex(reply + 1, &end));
		end_event(event, EVENT_KILLED, value);
		break;
	case 'O':
		output_pass(reply + 1);
		break;
	default:
		lost_event(event);
		break;
	}
}

static void
remote_wait(struct event *event)
{
	int n;

	*event = (struct event){ .kind = EVENT_WAKE, .tid = remote.tid };
	if (remote.ended) {
		event->kind = EVENT_DONE;
		return;
	}
	if (remote.detached) {
		detached_wait(event);
		return;
	}
	if (!remote.begun) {
		remote.begun = true;
		event->kind = EVENT_EXEC;
		event->value = remote.tid;
		return;
	}
	if (remote.unread)
		n = 1;
	else
		n = remote.link.fd < 0 ? LINK_GONE :
					 packet_receive(&remote.link, -1);
	remote.unread = false;
	if (n >= 0)
		reply_event(event, remote.link.reply);
	else if (n != LINK_WOKEN && (n != LINK_GONE || !exec_event(event)))
		lost_event(event);
}

/* ---- going on */

/*
 * Is the program at a system call?  A step over one may run one instruction
 * more, with a breakpoint at it (qemu 7.2).  So run to a breakpoint behind the
 * call instead of stepping.
 */
static bool
syscall_passed(void)
{
	const struct arch *arch = remote.arch;
	uint8_t code[sizeof(arch->syscall)];
	uint64_t pc;

	if (remote_reg_get(remote.tid, arch->reg_pc, &pc) ||
	    remote_mem_read(0, remote.tid, pc, code, arch->syscall_len) ||
	    memcmp(code, arch->syscall, arch->syscall_len))
		return false;
	if (!remote_breaks_at(pc + arch->syscall_len)) {
		remote.syscall_end = pc + arch->syscall_len;
		if (remote_break_set(remote.syscall_end))
			remote.syscall_end = 0;
	}
	return true;
}

static int
remote_resume(pid_t tid, enum resume how, int signal)
{
	char packet[64];
	bool step = how == RESUME_STEP;
	/* Only qemu's stub is known to heed the address. */
	bool there = remote.simulator && remote_pc_changed() && !signal;
	uint64_t pc = remote.pc;

	if (!remote.begun)
		return HOST_OK;
	if (remote.link.fd < 0 || remote_regs_flush(there))
		return HOST_GONE;
	remote_counts_begin();
	remote.stepping = step;
	if (step && !signal && remote.breaks)
		step = !syscall_passed();
	resume_packet(packet, sizeof(packet), step, signal);
	if (there)
		snprintf(packet + 1, sizeof(packet) - 1, "%" PRIx64, pc);
	if (packet_send(&remote.link, packet, strlen(packet)))
		return HOST_GONE;
	remote.running = true;
	if (remote.simulator && remote.kill_signal)
		kill(remote.simulator, remote.kill_signal);
	if (remote.simulator)
		remote.kill_signal = 0;
	return HOST_OK;
}

/*
 * The stub interrupts the program by SIGINT, and the kernel merges two of them
 * that the program has not taken: a second interrupt might never be seen.  So
 * one is sent at a time, and its stop is the answer to all pauses until then.
 */
static int
remote_pause(pid_t tid)
{
	if (remote.ended)
		return HOST_GONE;
	if (!remote.running || remote.pausing)
		return HOST_OK;
	remote.pausing = true;
	if (remote.detached)
		return HOST_OK;
	if (remote.simulator)
		return kill(remote.simulator, SIGINT) ? HOST_GONE : HOST_OK;
	return link_interrupt(&remote.link) ? HOST_GONE : HOST_OK;
}

/*
 * A stopped simulator is sent the signal when it goes on, since its stub would
 * stop at it.  A program without a simulator may run anywhere: the stub is
 * given the signal once the program has been interrupted.
 */
static int
remote_kill(pid_t pid, int signal)
{
	if (remote.ended)
		return HOST_GONE;
	if (remote.simulator && !remote.running && !remote.detached &&
	    signal != SIGKILL) {
		remote.kill_signal = signal;
		return HOST_OK;
	}
	if (remote.simulator)
		return kill(remote.simulator, signal) ? HOST_GONE : HOST_OK;
	if (!remote.running && signal == SIGKILL)
		return packet_send(&remote.link, "k", 1) ? HOST_GONE : HOST_OK;
	remote.kill_signal = signal;
	return remote_pause(pid);
}

static enum trap_cause
remote_trap_cause(pid_t tid)
{
	return remote.cause;
}

static bool
remote_uncounted(const char **why)
{
	*why = "the program started threads, which qemu does not stop together";
	return remote.simulator && emulator_threads();
}

static const struct host_counting remote_counting = {
	.able = remote_counts_able,
	.places = remote_counts_places,
	.plant = remote_counts_plant,
	.fetch = remote_counts_fetch,
	.arrived = remote_counts_arrived,
};

const struct host host_remote = {
	.name = "remote",
	.launch = remote_launch,
	.detach = remote_detach,
	.wait = remote_wait,
	.resume = remote_resume,
	.pause = remote_pause,
	.kill = remote_kill,
	.regs_get = remote_regs_get,
	.regs_set = remote_regs_set,
	.reg_get = remote_reg_get,
	.reg_set = remote_reg_set,
	.uncounted = remote_uncounted,
	.trap_cause = remote_trap_cause,
	.fault_get = remote_fault_get,
	.mask_set = remote_mask_set,
	.mem_open = remote_mem_open,
	.mem_close = remote_mem_close,
	.mem_read = remote_mem_read,
	.mem_write = remote_mem_write,
	.data_read = remote_data_read,
	.data_write = remote_data_write,
	.zombie = remote_zombie,
	.maps = remote_maps,
	.auxv = remote_auxv,
	.signals = remote_signals,
	.exe = remote_exe,
	.mapped = remote_mapped,
	.affinity_get = remote_affinity_get,
	.affinity_set = remote_affinity_set,
	.counting = &remote_counting,
	.close = remote_counts_close,
};
