/*
 * Starts a SIMH simulator and talks to it.  The simulator's standard input is
 * /dev/null, where it would otherwise read the simulated keyboard.  At the end
 * of its command file the simulator would prompt in an endless loop, so it is
 * always killed before.
 */
#include "host/simh_console.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "host/host.h"
#include "util/fail.h"
#include "util/mem.h"

/* The child's descriptors: commands, memory to load, memory that was read. */
enum { FD_COMMANDS = 3, FD_LOAD, FD_DUMP, FD_FREE = 16 };

struct buffer {
	char *bytes;
	size_t n, size;
};

struct console {
	pid_t pid;
	int commands;		/* the pipe's end for writing, ... */
	int kept;		/* ... and the one for reading, kept so that
				   there is no SIGPIPE when the simulator
				   dies */
	int pty;
	int load, dump;		/* memory files that both processes have */
	uint32_t token;
	bool woken, gone;
	struct buffer out, in;
	size_t *lines;		/* offsets in `in` */
	size_t nlines;
};

static void
buffer_add(struct buffer *b, const void *bytes, size_t n)
{
	if (b->n + n > b->size) {
		b->size = 2 * (b->n + n);
		b->bytes = mem_grow(b->bytes, b->size, 1);
	}
	memcpy(b->bytes + b->n, bytes, n);
	b->n += n;
}

/* ---- starting and ending */

/* In the child: never returns. */
static _Noreturn void
child_run(const char *program, const int fds[5], pid_t parent, int report)
{
	static const int numbers[] = {
		STDIN_FILENO, STDOUT_FILENO, FD_COMMANDS, FD_LOAD, FD_DUMP,
	};
	sigset_t none;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Keys typed at the terminal are for pmon alone. */
	setsid();
	for (int i = 0; i < 5; i++)
		if (dup2(fds[i], numbers[i]) < 0)
			_exit(127);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	if (!prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent)
		execlp(program, program, "/dev/fd/3", NULL);
	err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(127);
	_exit(127);
}

/* Move a descriptor away from the numbers that the child uses. */
static int
fd_high(int fd)
{
	int high;

	if (fd < 0 || fd >= FD_FREE)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FREE);
	close(fd);
	return high;
}

static int
pty_open(int *slave)
{
	struct termios raw;
	int master;

	if (openpty(&master, slave, NULL, NULL, NULL) < 0)
		return -1;
	fcntl(master, F_SETFD, FD_CLOEXEC);
	fcntl(*slave, F_SETFD, FD_CLOEXEC);
	if (!tcgetattr(*slave, &raw)) {
		cfmakeraw(&raw);
		tcsetattr(*slave, TCSANOW, &raw);
	}
	*slave = fd_high(*slave);
	return fd_high(master);
}

static int
child_start(struct console *con, const char *program, const int fds[5])
{
	int report[2], err = 0;
	pid_t parent = getpid();

	for (int i = 0; i < 5; i++)
		if (fds[i] < 0)
			return fail("%s: cannot be started: %s", program,
				    strerror(errno));
	if (pipe2(report, O_CLOEXEC) < 0)
		return fail("cannot make a pipe: %s", strerror(errno));
	report[1] = fd_high(report[1]);
	con->pid = fork();
	if (!con->pid)
		child_run(program, fds, parent, report[1]);
	close(report[1]);
	if (con->pid < 0)
		err = errno;
	else if (read(report[0], &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(report[0]);
	if (err == ENOENT)
		return fail("%s: not found: install the package simh", program);
	if (err)
		return fail("%s: cannot be started: %s", program,
			    strerror(err));
	return 0;
}

struct console *
console_open(const char *program)
{
	struct console *con = mem_alloc(sizeof(*con));
	int commands[2] = { -1, -1 }, slave = -1, null, started;

	if (pipe2(commands, O_CLOEXEC) < 0)
		commands[0] = commands[1] = -1;
	con->kept = fd_high(commands[0]);
	con->commands = fd_high(commands[1]);
	con->pty = pty_open(&slave);
	con->load = fd_high(memfd_create("load", MFD_CLOEXEC));
	con->dump = fd_high(memfd_create("dump", MFD_CLOEXEC));
	null = fd_high(open("/dev/null", O_RDONLY | O_CLOEXEC));
	started = child_start(con, program,
			      (int[]){ null, slave, con->kept, con->load,
				       con->dump });
	if (null >= 0)
		close(null);
	if (slave >= 0)
		close(slave);
	if (started < 0) {
		console_close(con);
		return NULL;
	}
	fcntl(con->commands, F_SETFL, O_NONBLOCK);
	fcntl(con->pty, F_SETFL, O_NONBLOCK);
	return con;
}

void
console_close(struct console *con)
{
	const int fds[] = {
		con ? con->commands : -1, con ? con->kept : -1,
		con ? con->pty : -1,	  con ? con->load : -1,
		con ? con->dump : -1,
	};

	if (!con)
		return;
	/*
	 * The simulator has nothing to save, so a kill does as well as an exit.
	 */
	if (con->pid > 0) {
		kill(con->pid, SIGKILL);
		while (waitpid(con->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(con->out.bytes);
	free(con->in.bytes);
	free(con->lines);
	free(con);
}

pid_t
console_pid(const struct console *con)
{
	return con->pid;
}

/* ---- commands and answers */

void
console_put(struct console *con, const char *fmt, ...)
{
	char line[CONSOLE_LINE_MAX + 2];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	must(n >= 0 && n <= CONSOLE_LINE_MAX);
	line[n] = '\n';
	buffer_add(&con->out, line, (size_t)n + 1);
}

/* Read what has arrived.  False if there is nothing, now or ever. */
static bool
answers_read(struct console *con)
{
	char bytes[65536];
	ssize_t n = read(con->pty, bytes, sizeof(bytes));

	if (n > 0) {
		buffer_add(&con->in, bytes, (size_t)n);
		return true;
	}
	if (n < 0 && errno == EINTR)
		con->woken = true;
	else if (n == 0 || errno != EAGAIN)
		con->gone = true;
	return false;
}

static void
commands_write(struct console *con)
{
	ssize_t n = write(con->commands, con->out.bytes, con->out.n);

	if (n < 0)
		return;
	con->out.n -= (size_t)n;
	memmove(con->out.bytes, con->out.bytes + n, con->out.n);
}

/*
 * Cut the answers into lines, up to the token's.  False if that is not there.
 */
static bool
lines_cut(struct console *con, size_t *from, const char *token)
{
	char *end;

	while ((end = memchr(con->in.bytes + *from, '\n', con->in.n - *from))) {
		char *line = con->in.bytes + *from;

		*from = (size_t)(end + 1 - con->in.bytes);
		if (end > line && end[-1] == '\r')
			end--;
		*end = '\0';
		if (!strcmp(line, token))
			return true;
		if (*line)
			*vec_push(con->lines,
				  con->nlines) = (size_t)(line - con->in.bytes);
	}
	return false;
}

int
console_sync(struct console *con)
{
	char token[32];
	size_t from = 0;

	snprintf(token, sizeof(token), "@@%" PRIu32, ++con->token);
	console_put(con, "echo %s", token);
	con->in.n = 0;
	con->nlines = 0;
	while (!con->gone) {
		struct pollfd fds[] = {
			{ .fd = con->pty, .events = POLLIN },
			{ .fd = con->out.n ? con->commands : -1,
			  .events = POLLOUT },
		};

		if (con->out.n)
			commands_write(con);
		if (answers_read(con)) {
			if (lines_cut(con, &from, token))
				return HOST_OK;
			continue;
		}
		if (!con->gone && poll(fds, 2, -1) < 0)
			con->woken = true;
	}
	return HOST_GONE;
}

const char *
console_line(const struct console *con, size_t i)
{
	return i < con->nlines ? con->in.bytes + con->lines[i] : NULL;
}

bool
console_woken(struct console *con)
{
	bool woken = con->woken;

	con->woken = false;
	return woken;
}

/* ---- memory */

static int
file_fill(int fd, const void *buf, size_t n)
{
	if (ftruncate(fd, 0) < 0 || pwrite(fd, buf, n, 0) != (ssize_t)n)
		return fail("cannot write a file in memory: %s",
			    strerror(errno));
	return 0;
}

int
console_write(struct console *con, uint32_t addr, const void *buf, size_t n)
{
	const uint8_t *p = buf;
	int status;

	if (n < CONSOLE_LOAD_MIN) {
		for (size_t i = 0; i < n; i++)
			console_put(con, "d -b %08" PRIx32 " %02x",
				    addr + (uint32_t)i, p[i]);
		return HOST_OK;
	}
	if (file_fill(con->load, buf, n) < 0)
		return HOST_ERROR;
	console_put(con, "load -o /dev/fd/%d %08" PRIx32, FD_LOAD, addr);
	/* The next load must not overwrite the file before this one is read. */
	status = console_sync(con);
	if (!status && console_line(con, 0))
		return fail("the simulator says: %s", console_line(con, 0));
	return status;
}

/* Take one longword of what was asked for, from "6800000:\t0123ABCD". */
static bool
longword_take(const char *line, uint32_t addr, uint8_t *buf, size_t n)
{
	char *end;
	uint32_t at = (uint32_t)strtoul(line, &end, 16) - addr, value;

	if (end == line || strncmp(end, ":\t", 2) || at % 4 || at >= n)
		return false;
	value = (uint32_t)strtoul(end + 2, NULL, 16);
	for (size_t i = 0; i < 4 && at + i < n; i++)
		buf[at + i] = (uint8_t)(value >> 8 * i);
	return true;
}

static int
file_longwords(struct console *con, uint32_t addr, uint8_t *buf, size_t n)
{
	off_t size = lseek(con->dump, 0, SEEK_END);
	char *text, *line, *end;
	size_t got = 0;

	text = mem_alloc(size > 0 ? (size_t)size + 1 : 1);
	if (size > 0 && pread(con->dump, text, (size_t)size, 0) != size)
		size = 0;
	for (line = text; (end = strchr(line, '\n')); line = end + 1)
		got += longword_take(line, addr, buf, n);
	free(text);
	return 4 * got == n ? 0 :
			      fail("the simulator did not print its "
				   "memory");
}

/* Read n bytes; addr and n are multiples of 4. */
static int
longwords_read(struct console *con, uint32_t addr, uint8_t *buf, size_t n)
{
	bool file = n >= CONSOLE_LOAD_MIN;
	size_t got = 0;
	char where[32] = "";
	int status;

	if (file && ftruncate(con->dump, 0) < 0)
		return fail("cannot empty a file in memory: %s",
			    strerror(errno));
	if (file)
		snprintf(where, sizeof(where), "@/dev/fd/%d ", FD_DUMP);
	console_put(con, "e %s-l %08" PRIx32 "-%08" PRIx32, where, addr,
		    addr + (uint32_t)n - 4);
	status = console_sync(con);
	if (status)
		return status;
	if (file)
		return file_longwords(con, addr, buf, n);
	for (size_t i = 0; console_line(con, i); i++)
		got += longword_take(console_line(con, i), addr, buf, n);
	return 4 * got == n ? 0 :
			      fail("the simulator did not print its "
				   "memory");
}

int
console_read(struct console *con, uint32_t addr, void *buf, size_t n)
{
	uint32_t lo = addr & ~3u;
	size_t size = (addr + n - lo + 3) & ~(size_t)3;
	uint8_t *bytes;
	int status;

	if (!n)
		return HOST_OK;
	bytes = mem_alloc(size);
	status = longwords_read(con, lo, bytes, size);
	if (!status)
		memcpy(buf, bytes + (addr - lo), n);
	free(bytes);
	return status;
}
