/*
 * Simulators as child processes.  Each has a socket of its own in a directory
 * of its own; both are removed once pmon is connected.  Speaks no protocol.
 */
#include "host/emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/emulator_plugin.h"
#include "host/ptrace_forks.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/mem.h"

enum { CONNECT_SECONDS = 20 };

struct emulator {
	const struct arch *arch;
	const char *program;	/* found by PATH */
	const char *cpu;	/* its name for the arch; NULL: its default */
};

static const struct emulator emulators[] = {
	{ &arch_m68k, "qemu-m68k", NULL },
	{ &arch_m68000, "qemu-m68k", "m68000" },
	{ &arch_aarch64, "qemu-aarch64", NULL },
};

/* Of the running simulator. */
static struct forks forks = { .fd = -1 };

static const struct emulator *
emulator_of(const struct arch *arch)
{
	for (size_t i = 0; i < sizeof(emulators) / sizeof(*emulators); i++)
		if (emulators[i].arch == arch)
			return &emulators[i];
	return NULL;
}

bool
emulator_known(const struct arch *arch)
{
	return emulator_of(arch) != NULL;
}

/*
 * The simulator's arguments, plugin being NULL or that of -plugin.  The caller
 * owns the array, but not the strings.
 */
static char **
arguments(const struct emulator *emulator, const struct emulated *emulated,
	  const char *socket, const char *plugin)
{
	char **args = NULL;
	size_t n = 0;

	*vec_push(args, n) = (char *)emulator->program;
	if (emulator->cpu) {
		*vec_push(args, n) = "-cpu";
		*vec_push(args, n) = (char *)emulator->cpu;
	}
	if (plugin) {
		*vec_push(args, n) = "-plugin";
		*vec_push(args, n) = (char *)plugin;
	}
	*vec_push(args, n) = "-g";
	*vec_push(args, n) = (char *)socket;
	*vec_push(args, n) = "-0";
	*vec_push(args, n) = emulated->argv[0];
	*vec_push(args, n) = (char *)emulated->path;
	for (char **arg = emulated->argv + 1; *arg; arg++)
		*vec_push(args, n) = *arg;
	*vec_push(args, n) = NULL;
	return args;
}

static _Noreturn void
child(char **args, pid_t parent, int report,
      const struct emulator_plugin *plugin)
{
	int err = 0;

	/* Die with pmon, even if pmon has ended already. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	forks_allow(forks.watcher);
	if (plugin)
		emulator_plugin_inherit(plugin);
	if (getppid() == parent) {
		execvp(args[0], args);
		err = errno;
	}
	while (write(report, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/*
 * Start the simulator, with the plugin unless that is NULL.  Its process id, or
 * -1 with the message set.
 */
static pid_t
child_start(const struct emulator *emulator, char **args,
	    const struct emulator_plugin *plugin)
{
	pid_t parent = getpid(), pid;
	int report[2], err = 0;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC))
		return fail("cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		child(args, parent, report[1], plugin);
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return fail("cannot fork: %s", strerror(errno));
	}
	while ((n = read(report[0], &err, sizeof(err))) < 0 && errno == EINTR)
		;
	close(report[0]);
	if (n <= 0)
		return pid;
	waitpid(pid, NULL, 0);
	if (err == ENOENT)
		return fail("%s is not installed: install the package "
			    "qemu-user",
			    emulator->program);
	return fail("%s: %s", emulator->program, strerror(err));
}

static void
moment(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000 * 1000 }, NULL);
}

/* Connect to the simulator, which makes its socket sooner or later. */
static int
child_connect(const struct emulator *emulator, pid_t pid, const char *socket,
	      struct link *link)
{
	double start = clock_seconds();

	while (link_open(link, socket)) {
		siginfo_t info = { 0 };

		if (errno != ENOENT && errno != ECONNREFUSED)
			return -1;
		if (!waitid(P_PID, (id_t)pid, &info,
			    WEXITED | WNOHANG | WNOWAIT) &&
		    info.si_pid)
			return fail("%s ended before the program began",
				    emulator->program);
		if (clock_seconds() - start > CONNECT_SECONDS)
			return fail("%s does not answer on %s",
				    emulator->program, socket);
		moment();
	}
	return 0;
}

static int
child_watch(const struct emulator *emulator, pid_t pid)
{
	int err = forks_watch(&forks, pid);

	return err ? fail("%s cannot be watched for forks: %s",
			  emulator->program, strerror(err)) :
		     0;
}

/* Returns -1. */
static pid_t
child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	forks_close(&forks);
	return -1;
}

/* Start the simulator, with the plugin unless that is NULL, and connect. */
static pid_t
start_with(const struct emulator *emulator, const struct emulated *emulated,
	   const struct emulator_plugin *plugin, const char *socket,
	   struct link *link)
{
	char **args = arguments(emulator, emulated, socket,
				plugin ? plugin->arg : NULL);
	pid_t pid = -1;

	if (!forks_open(&forks, emulator->arch, emulated->path))
		pid = child_start(emulator, args, plugin);
	if (pid > 0 && (child_watch(emulator, pid) ||
			child_connect(emulator, pid, socket, link)))
		pid = child_end(pid);
	else if (pid < 0)
		forks_close(&forks);
	unlink(socket);
	free(args);
	return pid;
}

/* A simulator that does not load the plugin is started again without. */
static pid_t
start_in(const struct emulator *emulator, struct emulated *emulated,
	 const char *dir, struct link *link)
{
	char *socket = mem_printf("%s/stub", dir);
	struct emulator_plugin *plugin = NULL;
	pid_t pid = -1;

	if (emulated->counts >= 0)
		plugin = emulator_plugin_open(emulated->counts,
					      &emulated->uncounting);
	if (plugin)
		pid = start_with(emulator, emulated, plugin, socket, link);
	if (plugin && !emulator_plugin_loaded(plugin)) {
		if (pid > 0) {
			link_close(link);
			child_end(pid);
		}
		emulated->uncounting = mem_printf(
			"%s does not load pmon-qemu.so", emulator->program);
		emulator_plugin_close(plugin);
		plugin = NULL;
	}
	if (!plugin)
		pid = start_with(emulator, emulated, NULL, socket, link);
	emulator_plugin_close(plugin);
	free(socket);
	return pid;
}

pid_t
emulator_start(struct emulated *emulated, struct link *link)
{
	const struct emulator *emulator = emulator_of(emulated->arch);
	const char *tmp = getenv("TMPDIR");
	char *dir;
	pid_t pid;

	emulated->uncounting = NULL;
	if (!emulator)
		return fail("%s: no simulator is known for %s programs",
			    emulated->path, emulated->arch->name);
	dir = mem_printf("%s/pmon-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	/* mkdtemp's directories are the user's alone. */
	if (!mkdtemp(dir)) {
		fail("%s: %s", dir, strerror(errno));
		free(dir);
		return -1;
	}
	pid = start_in(emulator, emulated, dir, link);
	rmdir(dir);
	free(dir);
	return pid;
}

bool
emulator_threads(void)
{
	return forks_threads(&forks);
}

int
emulator_signal(void)
{
	return forks_signal(&forks);
}

void
emulator_leave(void)
{
	forks_leave(&forks);
}

bool
emulator_wait(pid_t pid, bool *killed, int *value)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return false;
	forks_close(&forks);
	*killed = WIFSIGNALED(status);
	*value = *killed ? WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}
