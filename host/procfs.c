/*
 * What Linux tells of a process under /proc: its maps, auxiliary vector, signal
 * sets, program.  Only reads; never stops or changes a process.
 */
#include "host/procfs.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/mem.h"

/* Room for a status, unless the task is in hundreds of groups. */
enum { TEXT_MIN = 4096 };

static FILE *
procfs_open(pid_t tid, const char *name)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	f = fopen(path, "re");
	/*
	 * Try again if this failed for another reason than that the task is
	 * gone.
	 */
	if (!f && errno != ENOENT && errno != ESRCH && errno != EACCES)
		f = fopen(path, "re");
	return f;
}

/* Parse a number, skip it and the character behind it. */
static bool
number_parse(char **at, int base, char behind, unsigned long *value)
{
	char *begin = *at;

	*value = strtoul(begin, at, base);
	return *at != begin && *(*at)++ == behind;
}

/*
 * Parses by hand: sscanf took a fifth of the time that a process stood still.
 */
static bool
mapping_parse(char *line, struct mapping *map)
{
	unsigned long lo, hi, offset, ino, major, minor;
	char *at = line, *prot;

	line[strcspn(line, "\n")] = '\0';
	if (!number_parse(&at, 16, '-', &lo) ||
	    !number_parse(&at, 16, ' ', &hi) || strlen(at) < 5)
		return false;
	prot = at;
	at += 5;
	if (!number_parse(&at, 16, ' ', &offset) ||
	    !number_parse(&at, 16, ':', &major) ||
	    !number_parse(&at, 16, ' ', &minor))
		return false;
	ino = strtoul(at, &at, 10);
	*map = (struct mapping){
		.lo = lo,
		.hi = hi,
		.offset = offset,
		.dev = makedev(major, minor),
		.ino = ino,
		.read = prot[0] == 'r',
		.write = prot[1] == 'w',
		.exec = prot[2] == 'x',
		.shared = prot[3] == 's',
		.path = mem_strdup(at + strspn(at, " ")),
	};
	return true;
}

int
procfs_maps(pid_t tid, struct mapping **maps, size_t *n)
{
	FILE *f = procfs_open(tid, "maps");
	char buffer[PAGE], *line = NULL;
	struct mapping map;
	size_t size = 0;

	*maps = NULL;
	*n = 0;
	if (!f)
		return HOST_GONE;
	/* The kernel gives a page at a time at most. */
	setvbuf(f, buffer, _IOFBF, sizeof(buffer));
	while (getline(&line, &size, f) > 0)
		if (mapping_parse(line, &map))
			*vec_push(*maps, *n) = map;
	free(line);
	fclose(f);
	return *n ? HOST_OK : HOST_GONE;
}

void
mappings_free(struct mapping *maps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(maps[i].path);
	free(maps);
}

/*
 * The auxiliary vector of the task that was asked for it last; tid 0: of none.
 * It is the same as long as the task executes no other program.
 */
static struct {
	pid_t tid;
	size_t n;
	uint64_t entries[64][2];
} vector;

/* Have the task's vector; whether it could be read. */
static bool
vector_have(pid_t tid)
{
	FILE *f;

	if (vector.tid == tid)
		return true;
	f = procfs_open(tid, "auxv");
	if (!f)
		return false;
	vector.n = fread(vector.entries, sizeof(vector.entries[0]),
			 sizeof(vector.entries) / sizeof(vector.entries[0]), f);
	vector.tid = vector.n ? tid : 0;
	fclose(f);
	return vector.n;
}

uint64_t
procfs_auxv(pid_t tid, uint64_t type)
{
	uint64_t value = 0;

	if (!vector_have(tid))
		return 0;
	for (size_t i = 0; i < vector.n && vector.entries[i][0] != AT_NULL; i++)
		if (vector.entries[i][0] == type)
			value = vector.entries[i][1];
	return value;
}

/*
 * A file of a task that is read at many stops.  It stays open for the task that
 * was asked last: reading it again takes half of the time that opening and
 * reading takes.  A file whose task has gone reads nothing, even if another
 * task has the id by then.
 */
struct cached_file {
	const char *name;	/* in /proc/PID/task/PID */
	pid_t tid;		/* 0: none is open */
	int fd;
	char *text;		/* what was read, and a 0 */
	size_t room;
	bool fresh;		/* no task has run since */
};

/* Read all of an open file; whether there was any. */
static bool
cached_reread(struct cached_file *file)
{
	ssize_t n;

	if (!file->text)
		file->text = mem_grow(NULL, file->room = TEXT_MIN, 1);
	while ((n = pread(file->fd, file->text, file->room - 1, 0)) ==
	       (ssize_t)file->room - 1)
		file->text = mem_grow(file->text, file->room *= 2, 1);
	file->text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The task's file, or NULL. */
static const char *
cached_read(struct cached_file *file, pid_t tid)
{
	char path[64];

	if (file->tid == tid && cached_reread(file))
		return file->text;
	if (file->tid)
		close(file->fd);
	/* A process's own file takes longer, the more threads there are. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)tid, (int)tid,
		 file->name);
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	file->tid = file->fd < 0 ? 0 : tid;
	return file->tid && cached_reread(file) ? file->text : NULL;
}

static struct cached_file status = { .name = "status" };

/*
 * The status of a task: lines that begin with a name.  That of the program comes
 * first, and has no line ends in it.
 */
static const char *
status_read(pid_t tid)
{
	const char *text = cached_read(&status, tid);

	status.fresh = text;
	return text;
}

void
procfs_ran(void)
{
	status.fresh = false;
}

void
procfs_renewed(void)
{
	vector.tid = 0;
}

/* The value of the line that begins with "\nNAME:"; false if there is none. */
static bool
status_value(const char *text, const char *name, int base, uint64_t *value)
{
	const char *line = strstr(text, name);

	if (line)
		*value = strtoull(line + strlen(name), NULL, base);
	return line;
}

uint64_t
procfs_status(pid_t tid, const char *name, int base, uint64_t dflt)
{
	const char *text = status_read(tid);
	uint64_t value = dflt;
	char line[32];

	snprintf(line, sizeof(line), "\n%s:", name);
	if (text)
		status_value(text, line, base, &value);
	return value;
}

int
procfs_signals(pid_t tid, struct signal_state *state)
{
	uint64_t *sets[] = {
		&state->pending, &state->pending, &state->blocked,
		&state->ignored, &state->caught,
	};
	static const char *const names[] = {
		"\nSigPnd:", "\nShdPnd:", "\nSigBlk:", "\nSigIgn:", "\nSigCgt:",
	};
	const char *text = status_read(tid);
	size_t found = 0;
	uint64_t set;

	if (!text)
		return HOST_GONE;
	*state = (struct signal_state){ 0 };
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		if (!status_value(text, names[i], 16, &set))
			continue;
		*sets[i] |= set;
		found++;
	}
	return found ? HOST_OK : HOST_GONE;
}

pid_t
procfs_parent(pid_t tid)
{
	if ((pid_t)procfs_status(tid, "Tgid", 10, 0) != tid)
		return 0;
	return (pid_t)procfs_status(tid, "PPid", 10, 0);
}

uint64_t
procfs_room(pid_t tid)
{
	struct rlimit limit;
	uint64_t used;

	if (prlimit(tid, RLIMIT_AS, NULL, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	used = procfs_status(tid, "VmSize", 10, 0) * 1024;
	return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

uint64_t
procfs_file_max(pid_t tid)
{
	struct rlimit limit;

	if (prlimit(tid, RLIMIT_FSIZE, NULL, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

bool
procfs_confined(pid_t tid)
{
	uint64_t mode = 0;

	/* A stopped task gets no filter. */
	if ((status.fresh && status.tid == tid) || status_read(tid))
		status_value(status.text, "\nSeccomp:", 10, &mode);
	return mode != 0;
}

char
procfs_state(pid_t tid)
{
	FILE *f = procfs_open(tid, "stat");
	char line[512], *end;
	char state = 0;

	if (!f)
		return 0;
	/* The name in parentheses may hold anything, parentheses too. */
	if (fgets(line, sizeof(line), f) && (end = strrchr(line, ')')))
		state = end[1] ? end[2] : 0;
	fclose(f);
	return state;
}

int
procfs_actions(pid_t tid, struct signal_state *state)
{
	/* Behind the name: from the state to the signals that are blocked. */
	enum { BLOCKED = 29 };
	static struct cached_file file = { .name = "stat" };
	const char *text = cached_read(&file, tid);
	char *at = text ? strrchr(text, ')') : NULL;

	for (int i = 0; at && i <= BLOCKED; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return HOST_GONE;
	*state = (struct signal_state){ 0 };
	state->blocked = strtoull(at, &at, 10);
	state->ignored = strtoull(at, &at, 10);
	state->caught = strtoull(at, NULL, 10);
	return HOST_OK;
}

bool
procfs_zombie(pid_t tid)
{
	return procfs_state(tid) == 'Z';
}

int
procfs_threads(pid_t pid, pid_t **tids, size_t *n)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return HOST_GONE;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			*vec_push(*tids, *n) = (pid_t)strtol(entry->d_name,
							     NULL, 10);
	closedir(dir);
	return HOST_OK;
}

int
procfs_children(pid_t pid, pid_t **pids, size_t *n)
{
	char name[64];
	int child;
	FILE *f;

	snprintf(name, sizeof(name), "task/%d/children", (int)pid);
	f = procfs_open(pid, name);
	if (!f)
		return HOST_GONE;
	while (fscanf(f, "%d", &child) == 1)
		if ((pid_t)procfs_status(child, "TracerPid", 10, 0) == getpid())
			*vec_push(*pids, *n) = child;
	fclose(f);
	return HOST_OK;
}

static bool
process_named(pid_t pid, const char *name)
{
	enum { COMM_MAX = 15 };		/* TASK_COMM_LEN, less the final 0 */
	FILE *f = procfs_open(pid, "comm");
	char line[64];
	bool named = false;

	if (!f)
		return false;
	if (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		named = !strncmp(line, name, COMM_MAX);
	}
	fclose(f);
	return named;
}

void
procfs_named(const char *name, pid_t **pids, size_t *n)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t pid;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0 && pid != getpid() && process_named(pid, name))
			*vec_push(*pids, *n) = pid;
	}
	closedir(dir);
}

static char *
link_read(const char *path)
{
	char buf[PATH_MAX];
	ssize_t n = readlink(path, buf, sizeof(buf) - 1);

	return n < 0 ? NULL : mem_strndup(buf, n);
}

/* Is the path of the open file one of that name?  One not known may be. */
static bool
file_named(const char *link, const char *name)
{
	char *path = link_read(link);
	const char *base = path ? strrchr(path, '/') : NULL;
	bool named = !path || (base && !strcmp(base + 1, name));

	free(path);
	return named;
}

bool
procfs_holds(pid_t tid, int fd, const char *name)
{
	enum { FILES_MAX = 256 };
	char path[64], *link;
	struct dirent *entry;
	bool holds = false;
	size_t n = 0;
	DIR *dir;

	if (fd >= 0) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, fd);
		return file_named(path, name);
	}
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)tid);
	dir = opendir(path);
	if (!dir)
		return true;
	while (!holds && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		link = mem_printf("%s/%s", path, entry->d_name);
		holds = ++n > FILES_MAX || file_named(link, name);
		free(link);
	}
	closedir(dir);
	return holds;
}

/* Do calls that use the descriptor wait (O_NONBLOCK)?  False if not known. */
static bool
file_waits(pid_t tid, int fd)
{
	char name[32], line[64];
	unsigned long flags = O_NONBLOCK;
	FILE *f;

	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	f = procfs_open(tid, name);
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "flags: %lo", &flags) == 1)
			break;
	if (f)
		fclose(f);
	return !(flags & O_NONBLOCK);
}

enum file_kind
procfs_file_kind(pid_t tid, int fd)
{
	struct statx st = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, fd);
	/* A file system in user space, which may stand still, is not asked. */
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &st) ||
	    !(st.stx_mask & STATX_TYPE) || !file_waits(tid, fd))
		return FILE_OTHER;
	return S_ISFIFO(st.stx_mode) ? FILE_PIPE :
	       S_ISSOCK(st.stx_mode) ? FILE_SOCKET :
	       S_ISCHR(st.stx_mode)  ? FILE_DEVICE :
				       FILE_OTHER;
}

char *
procfs_exe(pid_t tid, char **open_path)
{
	char *path;

	*open_path = mem_printf("/proc/%d/exe", (int)tid);
	path = link_read(*open_path);
	if (!path) {
		free(*open_path);
		*open_path = NULL;
	}
	return path;
}

char *
procfs_mapped(pid_t tid, const struct mapping *map)
{
	char *path = mem_printf("/proc/%d/map_files/%lx-%lx", (int)tid,
				(unsigned long)map->lo, (unsigned long)map->hi);

	if (access(path, R_OK) == 0)
		return path;
	/* That path needs a privilege; the file's name works in most cases. */
	free(path);
	return mem_printf("/proc/%d/root%s", (int)tid, map->path);
}
