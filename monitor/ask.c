/*
 * The client's end of the control socket: finds the pmon that is meant, checks
 * that it is that process, sends the request, and prints or saves the answer.
 * Never changes a run by itself.
 */
#include "monitor/ask.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/procfs.h"
#include "monitor/place.h"
#include "report/target.h"
#include "util/fail.h"
#include "util/mem.h"

/* Connect to process pid of user uid, which must be the listener; or -1. */
static int
socket_connect(const char *path, pid_t pid, uid_t uid)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -1;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&addr, sizeof(addr)) &&
	    !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	    peer.pid == pid && peer.uid == uid)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Connect to the pmon with process id pid; -1 without a message. */
static int
pmon_connect(pid_t pid)
{
	char proc[64], *path;
	struct stat st;
	int fd = -1;

	snprintf(proc, sizeof(proc), "/proc/%d", (int)pid);
	if (stat(proc, &st))
		return -1;
	for (unsigned i = 0; fd < 0 && (path = place_path(pid, st.st_uid, i));
	     i++) {
		fd = socket_connect(path, pid, st.st_uid);
		free(path);
	}
	return fd;
}

/* Could a pmon of that process's user listen?  0, or -1 with the message. */
static int
pmon_check(pid_t pid)
{
	char proc[64];
	struct stat st;

	snprintf(proc, sizeof(proc), "/proc/%d", (int)pid);
	return stat(proc, &st) ? 0 : place_check(st.st_uid);
}

int
ask_connect(pid_t pid)
{
	pid_t tracer = (pid_t)procfs_status(pid, "TracerPid", 10, 0);
	int fd = pmon_connect(pid);
	char *why;

	if (fd < 0 && tracer > 0)
		fd = pmon_connect(tracer);
	if (fd >= 0)
		return fd;
	if (kill(pid, 0) && errno == ESRCH)
		return fail("process %d: %s", (int)pid, strerror(ESRCH));
	if (pmon_check(tracer > 0 ? tracer : pid)) {
		why = mem_strdup(fail_message());
		fail("process %d: no pmon of its user has a control socket: "
		     "%s",
		     (int)pid, why);
		free(why);
		return -1;
	}
	return fail("process %d: neither a pmon with a control socket nor a "
		    "process that a pmon counts",
		    (int)pid);
}

/* ---- asking */

static int
request_send(int fd, const char *request)
{
	char *line = mem_printf("%s\n", request);
	size_t len = strlen(line), sent = 0;

	while (sent < len) {
		ssize_t n = send(fd, line + sent, len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		/* pmon has hung up, but may have answered why. */
		if (n < 0 && errno == EPIPE)
			n = (ssize_t)(len - sent);
		if (n < 0)
			break;
		sent += (size_t)n;
	}
	free(line);
	return sent == len ? 0 :
			     fail("cannot send the request to pmon: %s",
				  strerror(errno));
}

/* Receive n bytes; fewer if the other end is closed. */
static size_t
bytes_receive(int fd, char *bytes, size_t n)
{
	size_t have = 0;

	while (have < n) {
		ssize_t more = recv(fd, bytes + have, n - have, 0);

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			break;
		have += (size_t)more;
	}
	return have;
}

char *
ask_request(int fd, const char *request, size_t *size)
{
	char head[1024], *answer, *end;
	size_t n = 0;

	if (request_send(fd, request))
		return NULL;
	while (n < sizeof(head) - 1 && bytes_receive(fd, head + n, 1) &&
	       head[n] != '\n')
		n++;
	head[n] = '\0';
	if (!strncmp(head, "error ", 6)) {
		fail("%s", head + 6);
		return NULL;
	}
	*size = strtoul(head + (strncmp(head, "ok ", 3) ? n : 3), &end, 10);
	if (strncmp(head, "ok ", 3) || !head[3] || *end) {
		fail("pmon ended without an answer");
		return NULL;
	}
	answer = mem_alloc(*size + 1);
	if (bytes_receive(fd, answer, *size) == *size)
		return answer;
	fail("pmon ended in the middle of its answer");
	free(answer);
	return NULL;
}

/* The request that the options make, owned by the caller. */
static char *
request_text(const struct options *opts)
{
	switch (opts->request) {
	case REQUEST_QUERY:
		return mem_printf("query %s top=%zu%s",
				  opts->query ? opts->query : "summary",
				  opts->report.top,
				  opts->report.demangle ? "" : " no-demangle");
	case REQUEST_SNAPSHOT:
		return mem_strdup("snapshot");
	case REQUEST_TRACE:
		return mem_strdup("trace");
	case REQUEST_RESET:
		return mem_strdup("reset");
	default:
		return mem_strdup("stop");
	}
}

static int
file_write(const char *path, const char *bytes, size_t size)
{
	struct target *target = target_open(path);

	if (!target)
		return -1;
	signal(SIGXFSZ, SIG_IGN);
	fwrite(bytes, 1, size, target->out);
	return target_close(target);
}

int
ask(const struct options *opts, FILE *out)
{
	char *request = request_text(opts), *answer = NULL;
	int fd, err = -1;
	size_t size;

	if (opts->snapshot && target_check(opts->snapshot)) {
		free(request);
		return -1;
	}
	fd = ask_connect(opts->asked);
	if (fd >= 0) {
		answer = ask_request(fd, request, &size);
		close(fd);
	}
	if (answer && opts->snapshot)
		err = file_write(opts->snapshot, answer, size);
	else if (answer)
		err = fwrite(answer, 1, size, out) == size ?
			      0 :
			      fail("standard output: %s", strerror(errno));
	free(answer);
	free(request);
	return err;
}
