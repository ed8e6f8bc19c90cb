/*
 * Moves 1 MB to its standard output, a pipe, in one system call: write, sendto
 * (to a child, which writes), or several of sendfile or splice, which move what
 * the pipe has room for.  The exit status is 0 if the calls returned the whole
 * size, and the registers of their arguments are as they were.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 20, PERIOD = 10 };

static char data[SIZE];

/* The call, whose registers must come back as they were given. */
static long
call(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = 0;
	long result, di = a, si = b, dx = c;

	__asm__ volatile("syscall"
			 : "=a"(result), "+D"(di), "+S"(si), "+d"(dx),
			   "+r"(r10), "+r"(r8), "+r"(r9)
			 : "0"(nr) : "rcx", "r11", "memory");
	if (di != a || si != b || dx != c || r10 != d || r8 != e || r9)
		exit(3);
	return result;
}

static int
file_make(void)
{
	int fd = (int)syscall(SYS_memfd_create, "data", 0);

	if (fd < 0 || write(fd, data, SIZE) != SIZE || lseek(fd, 0, SEEK_SET))
		exit(4);
	return fd;
}

static long
send_all(void)
{
	int fds[2], status;
	long n;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		exit(4);
	if (!fork()) {
		static char got[4096];

		close(fds[1]);
		while ((n = read(fds[0], got, sizeof(got))) > 0)
			if (write(1, got, (size_t)n) != n)
				_exit(5);
		_exit(0);
	}
	close(fds[0]);
	n = call(SYS_sendto, fds[1], (long)data, SIZE, 0, 0);
	close(fds[1]);
	wait(&status);
	return status ? -1 : n;
}

static long
sendfile_all(void)
{
	int fd = file_make();
	long n;

	for (long sum = 0; sum < SIZE; sum += n) {
		n = call(SYS_sendfile, 1, fd, 0, SIZE - sum, 0);
		if (n <= 0)
			return -1;
	}
	return SIZE;
}

static long
splice_all(void)
{
	int fds[2];
	long n;

	if (pipe(fds))
		exit(4);
	if (!fork()) {
		close(fds[0]);
		_exit(write(fds[1], data, SIZE) != SIZE);
	}
	close(fds[1]);
	for (long sum = 0; sum < SIZE; sum += n) {
		n = call(SYS_splice, fds[0], 0, 1, 0, SIZE - sum);
		if (n <= 0)
			return -1;
	}
	return SIZE;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long n = -1;

	memcpy(data, "0123456789", PERIOD);
	/* Few rounds, as each may take traps. */
	for (size_t n = PERIOD; n < SIZE; n *= 2)
		memcpy(data + n, data, n < SIZE - n ? n : SIZE - n);
	if (!strcmp(how, "write"))
		n = call(SYS_write, 1, (long)data, SIZE, 0, 0);
	else if (!strcmp(how, "sendto"))
		n = send_all();
	else if (!strcmp(how, "sendfile"))
		n = sendfile_all();
	else if (!strcmp(how, "splice"))
		n = splice_all();
	return n == SIZE ? 0 : 2;
}
