/*
 * Finds pmon's plugin by where pmon itself is, and tries whether
 * simulators load it.  Starts no program but simulators that end at once.
 */
#include "host/emulator_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mem.h"

/* Where the plugin is, from pmon's directory: built, and installed. */
static const char *const places[] = {
	"pmon-qemu.so",
	"../lib/pmon/pmon-qemu.so",
};

/* The plugin's path, owned by the caller, or NULL. */
static char *
plugin_find(void)
{
	char *exe = realpath("/proc/self/exe", NULL), *end, *path = NULL;

	if (!exe)
		return NULL;
	end = strrchr(exe, '/');
	*end = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !path; i++) {
		path = mem_printf("%s/%s", exe, places[i]);
		if (access(path, R_OK)) {
			free(path);
			path = NULL;
		}
	}
	free(exe);
	return path;
}

/* The path as qemu's options have it: each comma twice.  Takes it over. */
static char *
path_quoted(char *path)
{
	char *quoted = mem_alloc(2 * strlen(path) + 1);
	size_t n = 0;

	for (const char *p = path; *p; p++) {
		quoted[n++] = *p;
		if (*p == ',')
			quoted[n++] = ',';
	}
	free(path);
	return quoted;
}

/*
 * Does the simulator load the plugin?  Without a file the plugin has it exit
 * with status 0.
 */
static bool
plugin_loads(const char *program, const char *path)
{
	char *arg = mem_printf("%s,fd=-1", path);
	int status = -1, null;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp(program, program, "-plugin", arg, "/dev/null", NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	free(arg);
	return !status;
}

char *
emulator_plugin(const char *program, int fd, char **why)
{
	char *path = plugin_find(), *arg = NULL;

	if (!path) {
		*why = mem_strdup("pmon-qemu.so is not where pmon is");
		return NULL;
	}
	path = path_quoted(path);
	if (plugin_loads(program, path))
		arg = mem_printf("%s,fd=%d", path, fd);
	else
		*why = mem_printf("%s does not load pmon-qemu.so", program);
	free(path);
	return arg;
}
