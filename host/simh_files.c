/*
 * The system calls of 4.2BSD that are about files.  The program's files are
 * pmon's, under descriptors of their own.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "host/simh_call.h"
#include "util/mem.h"

enum {
	PATH_SIZE = 1024,
	IO_MAX = 1 << 20,		/* bytes per read or write */
};

static int
path_in(struct call *call, uint32_t va, char path[PATH_SIZE])
{
	size_t n = 0;

	while (n < PATH_SIZE) {
		size_t some = 64 - (va + n) % 64;
		int err;

		if (some > PATH_SIZE - n)
			some = PATH_SIZE - n;
		err = call_copy_in(call, va + (uint32_t)n, path + n, some);
		if (err)
			return err;
		if (memchr(path + n, '\0', some))
			return 0;
		n += some;
	}
	return call_error(ENAMETOOLONG);
}

static int
file_of(const struct call *call, uint32_t fd)
{
	return fd < PROGRAM_FILES ? call->p->files[fd] : -1;
}

/* Give the program a descriptor for one of pmon's, which it takes over. */
static int
file_new(struct call *call, int here)
{
	if (here < 0)
		return call_outcome(call, here);
	for (uint32_t fd = 0; fd < PROGRAM_FILES; fd++)
		if (call->p->files[fd] < 0) {
			call->p->files[fd] = here;
			call->result = fd;
			return 0;
		}
	close(here);
	return EMFILE;
}

/* Close a descriptor; pmon's own 0, 1 and 2 are lent, and stay open. */
static void
file_close(struct program *p, uint32_t fd)
{
	if (p->files[fd] > STDERR_FILENO)
		close(p->files[fd]);
	p->files[fd] = -1;
}

void
files_close(struct program *p)
{
	for (uint32_t fd = 0; fd < PROGRAM_FILES; fd++)
		file_close(p, fd);
}

int
call_read(struct call *call)
{
	int fd = file_of(call, call->args[0]), err;
	size_t n = call->args[2];
	char *buf;

	if (fd < 0)
		return EBADF;
	if (n > INT32_MAX)
		return EINVAL;
	n = n < IO_MAX ? n : IO_MAX;
	/* Data that is read but cannot be stored would be lost. */
	if (!machine_mapped(call->p->m, call->args[1], (uint32_t)n, PAGE_WRITE))
		return VAX_EFAULT;
	buf = mem_alloc(n + 1);
	err = call_outcome(call, read(fd, buf, n));
	if (!err)
		err = call_copy_out(call, call->args[1], buf, call->result);
	free(buf);
	return err;
}

int
call_write(struct call *call)
{
	int fd = file_of(call, call->args[0]), err;
	size_t n = call->args[2];
	char *buf;

	if (fd < 0)
		return EBADF;
	if (n > INT32_MAX)
		return EINVAL;
	n = n < IO_MAX ? n : IO_MAX;
	buf = mem_alloc(n + 1);
	err = call_copy_in(call, call->args[1], buf, n);
	if (!err)
		err = call_outcome(call, write(fd, buf, n));
	if (err == EPIPE)
		call->signal = signal_there(SIGPIPE);
	free(buf);
	return err;
}

static int
path_open(struct call *call, int flags, uint32_t mode)
{
	char path[PATH_SIZE];
	int err = path_in(call, call->args[0], path);

	return err ? err : file_new(call, open(path, flags | O_CLOEXEC, mode));
}

int
call_open(struct call *call)
{
	static const struct {
		uint32_t there;
		int here;
	} bits[] = {
		{ 0x4, O_NONBLOCK }, { 0x8, O_APPEND }, { 0x200, O_CREAT },
		{ 0x400, O_TRUNC },  { 0x800, O_EXCL },
	};
	uint32_t there = call->args[1];
	int flags = there & 3;

	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		if (there & bits[i].there)
			flags |= bits[i].here;
	return path_open(call, flags, call->args[2] & 0777);
}

int
call_creat(struct call *call)
{
	return path_open(call, O_WRONLY | O_CREAT | O_TRUNC,
			 call->args[1] & 0777);
}

int
call_close(struct call *call)
{
	if (file_of(call, call->args[0]) < 0)
		return EBADF;
	file_close(call->p, call->args[0]);
	return 0;
}

int
call_unlink(struct call *call)
{
	char path[PATH_SIZE];
	int err = path_in(call, call->args[0], path);

	return err ? err : call_outcome(call, unlink(path));
}

int
call_access(struct call *call)
{
	char path[PATH_SIZE];
	int err = path_in(call, call->args[0], path);

	return err ? err : call_outcome(call, access(path, call->args[1] & 7));
}

int
call_lseek(struct call *call)
{
	int fd = file_of(call, call->args[0]);
	off_t at;

	if (fd < 0)
		return EBADF;
	if (call->args[2] > SEEK_END)
		return EINVAL;
	at = lseek(fd, (int32_t)call->args[1], (int)call->args[2]);
	if (at > INT32_MAX)
		return EINVAL;
	return call_outcome(call, at);
}

int
call_dup(struct call *call)
{
	int fd = file_of(call, call->args[0]);

	if (fd < 0)
		return EBADF;
	return file_new(call, fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/* Write 4.2BSD's struct stat, in longwords. */
static int
stat_out(struct call *call, const struct stat *st, uint32_t va)
{
	uint32_t words[16] = {
		[0] = (uint16_t)st->st_dev,
		[1] = (uint32_t)st->st_ino,
		[2] = (st->st_mode & 0xffff) | (uint32_t)st->st_nlink << 16,
		[3] = (st->st_uid & 0xffff) | (uint32_t)st->st_gid << 16,
		[4] = (uint16_t)st->st_rdev,
		[5] = (uint32_t)st->st_size,
		[6] = (uint32_t)st->st_atime,
		[8] = (uint32_t)st->st_mtime,
		[10] = (uint32_t)st->st_ctime,
		[12] = (uint32_t)st->st_blksize,
		[13] = (uint32_t)st->st_blocks,
	};

	return call_copy_out(call, va, words, sizeof(words));
}

int
call_fstat(struct call *call)
{
	int fd = file_of(call, call->args[0]), err;
	struct stat st;

	if (fd < 0)
		return EBADF;
	err = call_outcome(call, fstat(fd, &st));
	return err ? err : stat_out(call, &st, call->args[1]);
}

int
call_stat(struct call *call)
{
	char path[PATH_SIZE];
	struct stat st;
	int err = path_in(call, call->args[0], path);

	if (!err)
		err = call_outcome(call, stat(path, &st));
	return err ? err : stat_out(call, &st, call->args[1]);
}

/* Answers what isatty(3) asks, and the size of the window. */
int
call_ioctl(struct call *call)
{
	enum { TIOCGETP_THERE = 0x40067408, TIOCGWINSZ_THERE = 0x40087468 };
	/* struct sgttyb: speeds, erase, kill, and flags: ECHO | CRMOD. */
	static const uint8_t sgttyb[] = { 13, 13, 0x7f, 0x15, 0x18, 0 };
	int fd = file_of(call, call->args[0]);
	struct winsize size;

	if (fd < 0)
		return EBADF;
	if (!isatty(fd))
		return ENOTTY;
	switch (call->args[1]) {
	case TIOCGETP_THERE:
		return call_copy_out(call, call->args[2], sgttyb,
				     sizeof(sgttyb));
	case TIOCGWINSZ_THERE:
		if (ioctl(fd, TIOCGWINSZ, &size))
			return call_error(errno);
		return call_copy_out(call, call->args[2], &size, sizeof(size));
	}
	return EINVAL;
}
