/*
 * uprobe OFFSET PROGRAM [ARG ...]: run the program with the kernel counting
 * the arrivals at this offset in its file, in all processes, by a uprobe, as
 * perf does.  The count goes to the standard error output.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	struct perf_event_attr attr = { .size = sizeof attr };
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t count, total = 0;
	int kind, status, fds[256];
	pid_t pid;

	if (argc < 3 || cpus > 256)
		return 2;
	if (!type || fscanf(type, "%d", &kind) != 1) {
		fprintf(stderr, "the kernel has no uprobes\n");
		return 1;
	}
	attr.type = kind;
	attr.uprobe_path = (uintptr_t)argv[2];
	attr.probe_offset = strtoull(argv[1], NULL, 0);
	for (int cpu = 0; cpu < cpus; cpu++) {
		fds[cpu] = syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
				   PERF_FLAG_FD_CLOEXEC);
		if (fds[cpu] < 0 && errno != ENODEV) {
			fprintf(stderr, "perf_event_open: %s\n",
				strerror(errno));
			return 1;
		}
	}
	pid = fork();
	if (pid == 0) {
		execv(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	for (int cpu = 0; cpu < cpus; cpu++)
		if (fds[cpu] >= 0 &&
		    read(fds[cpu], &count, sizeof count) == sizeof count)
			total += count;
	fprintf(stderr, "%llu\n", (unsigned long long)total);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
