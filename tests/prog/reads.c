/*
 * To be loaded into pmon: how many bytes of files it has read by pread when it
 * seizes its first thread, and how many more in the end, are written to $READS.
 * The memory of processes is no such file.
 */
#define _GNU_SOURCE
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ptraced.h"

static long before, after;
static int seized;

static long
ptraced(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	seized |= request == PTRACE_SEIZE;
	return ptrace_really(request, pid, addr, data);
}

ssize_t
pread64(int fd, void *buf, size_t n, off64_t offset)
{
	ssize_t got = syscall(SYS_pread64, fd, buf, n, offset);
	struct statfs fs;

	if (!fstatfs(fd, &fs) && fs.f_type != PROC_SUPER_MAGIC)
		*(seized ? &after : &before) += got;
	return got;
}

__attribute__((destructor)) static void
tell(void)
{
	FILE *out = fopen(getenv("READS"), "w");

	if (!out)
		return;
	fprintf(out, "%ld %ld\n", before, after);
	fclose(out);
}
