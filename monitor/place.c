/*
 * The places of control sockets: directories that are the user's alone, and
 * the sockets in them.  Removes sockets of pmons that were killed.  Never sends
 * or receives anything.
 */
#include "monitor/place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"
#include "util/user_dir.h"

enum { BACKLOG = 8, LOCK_TRIES = 200, LOCK_WAIT_NS = 10000000 };

/*
 * A pmon listens in one of the first two.  The third is where clients find the
 * PLACE_RUNTIME of another user's pmon.
 */
enum place { PLACE_RUNTIME, PLACE_TMP, PLACE_USER };

/* The directory, owned by the caller, or NULL. */
static char *
directory(uid_t uid, enum place place)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	switch (place) {
	case PLACE_RUNTIME:
		if (!runtime || *runtime != '/' || uid != geteuid())
			return NULL;
		return mem_printf("%s/pmon", runtime);
	case PLACE_TMP:
		return mem_printf("/tmp/pmon-%u", (unsigned)uid);
	default:
		return mem_printf("/run/user/%u/pmon", (unsigned)uid);
	}
}

char *
place_path(pid_t pid, uid_t uid, unsigned which)
{
	for (enum place place = 0; place <= PLACE_USER; place++) {
		char *dir = directory(uid, place);
		char *path;

		if (dir && !which--) {
			path = mem_printf("%s/%d.sock", dir, (int)pid);
			free(dir);
			return path;
		}
		free(dir);
	}
	return NULL;
}

/*
 * Lock the directory.  A pmon makes and removes sockets only with the lock, so
 * no pmon removes a socket that is bound but does not listen yet.  Any process
 * that may open the directory could hold the lock for ever, so the wait is
 * limited.
 */
static int
directory_lock(int fd, const char *dir)
{
	const struct timespec wait = { .tv_nsec = LOCK_WAIT_NS };

	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB); i++) {
		if (i == LOCK_TRIES)
			return fail("%s stays locked", dir);
		nanosleep(&wait, NULL);
	}
	return 0;
}

static bool
address_make(struct sockaddr_un *addr, const char *path)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(addr->sun_path))
		return false;
	strcpy(addr->sun_path, path);
	return true;
}

/* Does the kernel say that no process listens there? */
static bool
socket_deserted(const char *path)
{
	struct sockaddr_un addr;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool deserted = fd >= 0 && address_make(&addr, path) &&
			connect(fd, (struct sockaddr *)&addr, sizeof(addr)) &&
			errno == ECONNREFUSED;

	if (fd >= 0)
		close(fd);
	return deserted;
}

/* The process id in a name like 123.sock, or 0. */
static pid_t
name_pid(const char *name)
{
	char *end;
	long pid = isdigit((unsigned char)*name) ? strtol(name, &end, 10) : 0;

	return pid > 0 && pid == (pid_t)pid && !strcmp(end, ".sock") ?
		       (pid_t)pid :
		       0;
}

/* Remove sockets of pmons that were killed; the directory is locked. */
static void
sockets_sweep(const char *dir)
{
	DIR *entries = opendir(dir);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		pid_t pid = name_pid(entry->d_name);
		struct stat st;
		char *path;

		if (!pid || !kill(pid, 0) || errno != ESRCH)
			continue;
		path = mem_printf("%s/%s", dir, entry->d_name);
		if (!lstat(path, &st) && S_ISSOCK(st.st_mode) &&
		    st.st_uid == geteuid() && socket_deserted(path))
			unlink(path);
		free(path);
	}
	if (entries)
		closedir(entries);
}

/* Make a socket that listens at the path; the directory is locked. */
static int
socket_listen(const char *path)
{
	struct sockaddr_un addr;
	bool bound;
	mode_t mask;
	int fd;

	if (!address_make(&addr, path))
		return fail("%s: %s", path, strerror(ENAMETOOLONG));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail("%s: %s", path, strerror(errno));
	/* A socket there is of an earlier process with this id. */
	unlink(path);
	mask = umask(0177);
	bound = !bind(fd, (struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (bound && !listen(fd, BACKLOG))
		return fd;
	fail("%s: %s", path, strerror(errno));
	if (bound)
		unlink(path);
	close(fd);
	return -1;
}

static int
directory_listen(const char *dir, char **path)
{
	int lock = user_dir_open(dir), fd = -1;

	if (lock < 0)
		return -1;
	*path = mem_printf("%s/%d.sock", dir, (int)getpid());
	if (!directory_lock(lock, dir)) {
		sockets_sweep(dir);
		fd = socket_listen(*path);
	}
	close(lock);
	if (fd < 0)
		free(*path);
	return fd;
}

/* Append the message to *reasons, and make the message of all of them. */
static void
reason_add(char **reasons)
{
	char *all = *reasons ? mem_printf("%s; %s", *reasons, fail_message()) :
			       mem_strdup(fail_message());

	free(*reasons);
	*reasons = all;
	fail("%s", all);
}

int
place_listen(char **path)
{
	char *reasons = NULL;
	int fd = -1;

	for (enum place place = 0; fd < 0 && place <= PLACE_TMP; place++) {
		char *dir = directory(geteuid(), place);

		if (!dir)
			continue;
		fd = directory_listen(dir, path);
		if (fd < 0)
			reason_add(&reasons);
		free(dir);
	}
	free(reasons);
	return fd;
}

int
place_check(uid_t uid)
{
	char *reasons = NULL;
	bool found = false;

	for (enum place place = 0; !found && place <= PLACE_TMP; place++) {
		char *dir = directory(uid, place);
		struct stat st;

		if (!dir)
			continue;
		found = lstat(dir, &st) || !user_dir_check(dir, &st, uid);
		if (!found)
			reason_add(&reasons);
		free(dir);
	}
	free(reasons);
	return found ? 0 : -1;
}
