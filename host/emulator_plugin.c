/*
 * Finds pmon's plugin by where pmon itself is, and prepares a simulator to load
 * it.  Starts no simulator.
 */
#include "host/emulator_plugin.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"

/* Where the plugin is, from pmon's directory: built, and installed. */
static const char *const places[] = {
	"pmon-qemu.so",
	"../lib/pmon/pmon-qemu.so",
};

static const int outputs[] = { STDOUT_FILENO, STDERR_FILENO };

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

struct emulator_plugin *
emulator_plugin_open(int counts, char **why)
{
	char *path = plugin_find();
	struct emulator_plugin *plugin;

	if (!path) {
		*why = mem_strdup("pmon-qemu.so is not where pmon is");
		return NULL;
	}
	path = path_quoted(path);
	plugin = mem_alloc(sizeof(*plugin));
	plugin->counts = counts;
	for (int i = 0; i < 2; i++)
		plugin->outputs[i] = fcntl(outputs[i], F_DUPFD_CLOEXEC, 3);
	plugin->arg = mem_printf("%s,fd=%d,out=%d,err=%d", path, counts,
				 plugin->outputs[0], plugin->outputs[1]);
	free(path);
	return plugin;
}

void
emulator_plugin_close(struct emulator_plugin *plugin)
{
	if (!plugin)
		return;
	for (int i = 0; i < 2; i++)
		if (plugin->outputs[i] >= 0)
			close(plugin->outputs[i]);
	free(plugin->arg);
	free(plugin);
}

void
emulator_plugin_inherit(const struct emulator_plugin *plugin)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fcntl(plugin->counts, F_SETFD, 0);
	for (int i = 0; i < 2; i++)
		if (plugin->outputs[i] >= 0) {
			fcntl(plugin->outputs[i], F_SETFD, 0);
			dup2(null, outputs[i]);
		}
}

bool
emulator_plugin_loaded(const struct emulator_plugin *plugin)
{
	struct stat st;

	return !fstat(plugin->counts, &st) && st.st_size;
}
