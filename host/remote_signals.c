/*
 * Translates signal numbers: the GDB remote protocol has its own
 * (include/gdb/signals.def).
 */
#include <signal.h>

#include "host/remote_state.h"

static const uint8_t signals_gdb[] = {
	[SIGHUP] = 1,	  [SIGINT] = 2,	  [SIGQUIT] = 3,   [SIGILL] = 4,
	[SIGTRAP] = 5,	  [SIGABRT] = 6,  [SIGFPE] = 8,	   [SIGKILL] = 9,
	[SIGBUS] = 10,	  [SIGSEGV] = 11, [SIGSYS] = 12,   [SIGPIPE] = 13,
	[SIGALRM] = 14,	  [SIGTERM] = 15, [SIGURG] = 16,   [SIGSTOP] = 17,
	[SIGTSTP] = 18,	  [SIGCONT] = 19, [SIGCHLD] = 20,  [SIGTTIN] = 21,
	[SIGTTOU] = 22,	  [SIGIO] = 23,	  [SIGXCPU] = 24,  [SIGXFSZ] = 25,
	[SIGVTALRM] = 26, [SIGPROF] = 27, [SIGWINCH] = 28, [SIGUSR1] = 30,
	[SIGUSR2] = 31,	  [SIGPWR] = 32,
};

enum {
	REALTIME_FIRST = 33,	/* to 63: GDB's from 45 on */
	GDB_REALTIME_FIRST = 45,
	GDB_REALTIME_32 = 77,
	GDB_REALTIME_64 = 78,
	GDB_UNKNOWN = 143,
};

unsigned
remote_signal_to(int signal)
{
	if (signal == 32)
		return GDB_REALTIME_32;
	if (signal == 64)
		return GDB_REALTIME_64;
	if (signal >= REALTIME_FIRST && signal < 64)
		return (unsigned)(signal - REALTIME_FIRST) + GDB_REALTIME_FIRST;
	if (signal > 0 && (size_t)signal < sizeof(signals_gdb) &&
	    signals_gdb[signal])
		return signals_gdb[signal];
	return GDB_UNKNOWN;
}

int
remote_signal_of(uint64_t number)
{
	for (int signal = 1; signal <= 64; signal++)
		if (remote_signal_to(signal) == number)
			return signal;
	return SIGTRAP;
}
