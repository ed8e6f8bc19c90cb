/*
 * The watcher: a process that gives a simulator's children the text of their
 * program back.  It recognizes traps by the program's file, which has something
 * else there, and knows nothing of pmon's sites.  It passes on all signals,
 * except those that the simulator would die of without reporting them, and ends
 * with the simulator.
 */
#include "host/ptrace_forks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/procfs.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	OPTIONS = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		  PTRACE_O_TRACECLONE,
	PIECE = 65536,
	OWN_THREADS = 2,	/* threads of the simulator itself */
};

/* ---- the program's text */

/*
 * In n bytes of memory, replace each trap instruction that the file does not
 * have by what the file has there.
 */
static void
piece_mend(const struct arch *arch, uint8_t *memory, const uint8_t *file,
	   size_t n)
{
	size_t len = arch->trap_len;

	for (size_t i = 0; i + len <= n; i++)
		if (!memcmp(memory + i, arch->trap, len) &&
		    memcmp(file + i, arch->trap, len)) {
			memcpy(memory + i, file + i, len);
			i += len - 1;
		}
}

/*
 * Mend one mapping of the file.  Pieces begin at pages, and no trap crosses the
 * end of one: instructions of simulated CPUs are aligned to their traps.
 */
static void
mapping_mend(const struct arch *arch, int mem, int file,
	     const struct mapping *map)
{
	static uint8_t now[PIECE], old[PIECE], text[PIECE];
	uint64_t size = map->hi - map->lo;

	for (uint64_t at = 0; at < size; at += PIECE) {
		size_t n = size - at < PIECE ? size - at : PIECE;
		ssize_t got = pread(file, text, n, (off_t)(map->offset + at));

		if (got <= 0 ||
		    pread(mem, now, (size_t)got, (off_t)(map->lo + at)) != got)
			return;
		memcpy(old, now, (size_t)got);
		piece_mend(arch, now, text, (size_t)got);
		if (memcmp(old, now, (size_t)got) &&
		    pwrite(mem, now, (size_t)got, (off_t)(map->lo + at)) < 0)
			return;
	}
}

static void
text_mend(const struct arch *arch, int file, pid_t pid)
{
	char *name = mem_printf("/proc/%d/mem", (int)pid);
	int mem = open(name, O_RDWR | O_CLOEXEC);
	struct mapping *maps = NULL;
	size_t n = 0;
	struct stat st;

	if (mem >= 0 && !fstat(file, &st) && !procfs_maps(pid, &maps, &n))
		for (size_t i = 0; i < n; i++)
			if (maps[i].ino == st.st_ino && !maps[i].write)
				mapping_mend(arch, mem, file, &maps[i]);
	mappings_free(maps, n);
	if (mem >= 0)
		close(mem);
	free(name);
}

/* ---- the watcher */

/* Has the simulator more threads than its own? */
static bool
threads_there(pid_t simulator)
{
	char *name = mem_printf("/proc/%d/task", (int)simulator);
	struct stat st = { 0 };
	bool there = !stat(name, &st) && st.st_nlink > 2 + OWN_THREADS;

	free(name);
	return there;
}

/*
 * Mend the text of a new child; or of the simulator itself if the program has
 * started a thread, since from then on a trap would stop only the thread that
 * meets it.
 */
static void
new_handle(const struct arch *arch, int file, int fd, pid_t simulator,
	   pid_t pid)
{
	char *name = mem_printf("/proc/%d/task/%d", (int)simulator, (int)pid);
	bool thread = !access(name, F_OK);

	free(name);
	if (!thread) {
		text_mend(arch, file, pid);
	} else if (threads_there(simulator)) {
		text_mend(arch, file, simulator);
		/* Does not block: the socket has room for a few bytes. */
		send(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

/* Does the signal end a process, and has it a number in the protocol? */
static bool
signal_deadly(int signal)
{
	switch (signal) {
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGABRT:
	case SIGUSR1:
	case SIGUSR2:
	case SIGPIPE:
	case SIGALRM:
	case SIGTERM:
	case SIGXCPU:
	case SIGXFSZ:
	case SIGVTALRM:
	case SIGPROF:
	case SIGIO:
	case SIGPWR:
		return true;
	default:
		return false;
	}
}

/*
 * The signal to give the simulator in place of this one.  Since qemu 8.2 the
 * simulator catches only signals that its program catches, and some others; it
 * would die of the rest where its stub could have reported them.  It always
 * catches SIGBUS, except where it has blocked that and sends itself the signal
 * to die of.
 */
static int
signal_given(pid_t simulator, int fd, int signal)
{
	struct signal_state state;
	unsigned char c = (unsigned char)signal;
	uint64_t bus = 1ull << (SIGBUS - 1);

	if (!signal_deadly(signal) || procfs_signals(simulator, &state) ||
	    state.caught >> (signal - 1) & 1 || !(state.caught & bus) ||
	    state.blocked & bus ||
	    send(fd, &c, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return signal;
	return SIGBUS;
}

/*
 * A new process or thread stops by itself before its first instruction.  The
 * simulator's own event for it may come before or after that stop.
 */
static void
stop_handle(const struct arch *arch, int file, int fd, pid_t simulator,
	    pid_t pid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);

	if (pid != simulator)
		new_handle(arch, file, fd, simulator, pid);
	else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
	else if (event)
		ptrace(PTRACE_CONT, pid, NULL, 0L);
	else
		ptrace(PTRACE_CONT, pid, NULL,
		       (long)signal_given(simulator, fd, signal));
}

static _Noreturn void
watch(const struct arch *arch, const char *path, int fd)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), status, err = 0;
	pid_t simulator;

	if (recv(fd, &simulator, sizeof(simulator), 0) != sizeof(simulator))
		_exit(0);
	if (file < 0 || ptrace(PTRACE_SEIZE, simulator, NULL, OPTIONS))
		err = errno;
	if (send(fd, &err, sizeof(err), MSG_NOSIGNAL) < 0 || err)
		_exit(0);
	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0 && errno != EINTR)
			_exit(0);
		if (pid == simulator && !WIFSTOPPED(status))
			_exit(0);
		if (pid > 0 && WIFSTOPPED(status))
			stop_handle(arch, file, fd, simulator, pid, status);
	}
}

/* Signals typed at the terminal are for the program and for pmon. */
static void
signals_ignore(void)
{
	static const int signals[] = {
		SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU,
	};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_IGN);
}

/* Receive what the watcher has sent. */
static void
forks_hear(struct forks *forks)
{
	unsigned char c;

	while (forks->fd >= 0 && recv(forks->fd, &c, 1, MSG_DONTWAIT) == 1)
		if (c)
			forks->signal = c;
		else
			forks->threads = true;
}

bool
forks_threads(struct forks *forks)
{
	forks_hear(forks);
	return forks->threads;
}

int
forks_signal(struct forks *forks)
{
	int signal;

	forks_hear(forks);
	signal = forks->signal;
	forks->signal = 0;
	return signal;
}

void
forks_leave(struct forks *forks)
{
	forks_hear(forks);
	if (forks->fd >= 0)
		close(forks->fd);
	forks->fd = -1;
}

int
forks_open(struct forks *forks, const struct arch *arch, const char *path)
{
	pid_t parent = getpid();
	int pair[2];

	*forks = (struct forks){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return fail("cannot make a socket: %s", strerror(errno));
	forks->watcher = fork();
	if (!forks->watcher) {
		close(pair[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signals_ignore();
		if (getppid() != parent)
			_exit(0);
		watch(arch, path, pair[1]);
	}
	close(pair[1]);
	forks->fd = pair[0];
	if (forks->watcher > 0)
		return 0;
	forks->watcher = 0;
	forks_close(forks);
	return fail("cannot fork: %s", strerror(errno));
}

void
forks_allow(pid_t watcher)
{
	prctl(PR_SET_PTRACER, watcher);
}

int
forks_watch(const struct forks *forks, pid_t simulator)
{
	int err;

	if (send(forks->fd, &simulator, sizeof(simulator), MSG_NOSIGNAL) < 0)
		return errno;
	if (recv(forks->fd, &err, sizeof(err), 0) != sizeof(err))
		return ECHILD;
	return err;
}

void
forks_close(struct forks *forks)
{
	forks_leave(forks);
	if (forks->watcher)
		while (waitpid(forks->watcher, NULL, 0) < 0 && errno == EINTR)
			;
	forks->watcher = 0;
}
