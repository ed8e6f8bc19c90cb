/*
 * The control socket: takes requests and answers them from the run as it is at
 * that moment.  Never waits for a client: SIGIO (see notice.c) tells that a
 * request has come, or that more of an answer can be sent.
 */
#include "monitor/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/client/count.h"
#include "monitor/client/save.h"
#include "monitor/client/slow.h"
#include "monitor/client/times.h"
#include "monitor/client/tracing.h"
#include "monitor/patch/host_counters.h"
#include "monitor/patch/lift.h"
#include "monitor/place.h"
#include "monitor/process/events.h"
#include "monitor/process/object.h"
#include "monitor/run.h"
#include "monitor/stop.h"
#include "monitor/unwind/abnormal.h"
#include "probe/counts.h"
#include "report/printable.h"
#include "report/table.h"
#include "util/fail.h"
#include "util/mem.h"

enum { REQUEST_MAX = 4096, CONNECTIONS_MAX = 32, ROUNDS_MAX = 64 };

struct connection {
	int fd;
	char in[REQUEST_MAX];
	size_t nin;
	bool skipping;		/* the rest of a request that is too long */
	char *out;		/* the answer being sent, or NULL */
	size_t nout, sent;
};

struct control {
	int fd;
	char *path;
	dev_t dev;		/* of the socket: another file at path is not */
	ino_t ino;		/* removed */
	struct connection *connections[CONNECTIONS_MAX];
};

/* ---- the socket */

/* Have SIGIO sent when something happens at the socket. */
static int
signals_on(int fd)
{
	if (fcntl(fd, F_SETOWN, getpid()) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC))
		return -1;
	return 0;
}

void
control_open(struct run *run)
{
	struct control *control = mem_alloc(sizeof(*control));
	struct stat st;

	control->fd = place_listen(&control->path);
	if (control->fd < 0) {
		run_remark(run, "no control socket: %s", fail_message());
		free(control);
		return;
	}
	if (!lstat(control->path, &st)) {
		control->dev = st.st_dev;
		control->ino = st.st_ino;
	}
	run->control = control;
	if (!signals_on(control->fd)) {
		/* No signal tells of who was faster than signals_on. */
		raise(SIGIO);
		return;
	}
	run_remark(run, "no control socket: %s: %s", control->path,
		   strerror(errno));
	control_close(run);
}

static void
connection_close(struct connection *connection)
{
	close(connection->fd);
	free(connection->out);
	free(connection);
}

void
control_close(struct run *run)
{
	struct control *control = run->control;
	struct stat st;

	if (!control)
		return;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (control->connections[i])
			connection_close(control->connections[i]);
	if (!lstat(control->path, &st) && st.st_dev == control->dev &&
	    st.st_ino == control->ino)
		unlink(control->path);
	close(control->fd);
	free(control->path);
	free(control);
	run->control = NULL;
}

/* ---- requests: each writes its answer; 0, or -1 with the message */

/*
 * Let all tasks stand still, and enter their frames as left, so that the counts
 * are those of this moment.  abnormal_present ends it.
 */
static void
moment_begin(struct run *run)
{
	run_pause_all(run, STOP_ASKED);
	abnormal_present(run, PRESENT);
}

/* Parse "LIST [top=N] [no-demangle]". */
static int
query_parse(struct report_options *opts, char *args)
{
	for (char *word = strtok(args, " "); word; word = strtok(NULL, " ")) {
		unsigned long top;

		if (!strncmp(word, "top=", 4)) {
			if (option_number("top", word + 4, 1, 1000000, &top))
				return -1;
			opts->top = top;
		} else if (!strcmp(word, "no-demangle")) {
			opts->demangle = false;
		} else if (report_parse(opts, word)) {
			return -1;
		}
	}
	for (size_t i = 0; i < opts->nwants; i++)
		if (opts->wants[i].path)
			return fail("query: reports go to the client, not to "
				    "%s",
				    opts->wants[i].path);
	return report_counts_check(opts);
}

static int
on_query(struct run *run, char *args, FILE *out)
{
	struct report_options opts = run->opts->report;
	struct report_input *report_input;
	struct table *table;
	int err;

	opts.wants = NULL;
	opts.nwants = 0;
	opts.columns = COLUMNS_USUAL;
	err = query_parse(&opts, args);
	if (!err) {
		report_complete(&opts);
		moment_begin(run);
		report_input = report_input_make(run);
		report_propagate(&opts, report_input);
		table = table_make(&opts, report_input);
		err = report_write(table, out);
		table_free(table);
		report_input_free(report_input);
		abnormal_present(run, PRESENT_NOT);
	}
	for (size_t i = 0; i < opts.nwants; i++)
		free(opts.wants[i].path);
	free(opts.wants);
	if (!run->opts->report.events.n)
		events_free(&opts.events);
	return err;
}

static int
on_snapshot(struct run *run, char *args, FILE *out)
{
	struct report_input *report_input;
	uint8_t *bytes;
	size_t size;

	moment_begin(run);
	report_input = report_input_make(run);
	bytes = run_encode(run, report_input, &size);
	fwrite(bytes, 1, size, out);
	free(bytes);
	report_input_free(report_input);
	abnormal_present(run, PRESENT_NOT);
	return 0;
}

/*
 * Answer "live [still]".  Without "still" the counters are read while the
 * program adds to them; a simulator, however, tells its counts only when it
 * stands still.
 */
static int
on_live(struct run *run, char *args, FILE *out)
{
	bool still = !run->host->native || !strcmp(args, "still");
	struct report_input *report_input;

	if (*args && strcmp(args, "still"))
		return fail("live: unknown argument \"%s\"", args);
	if (still)
		moment_begin(run);
	report_input = report_input_make(run);
	for (size_t i = 0; i < report_input->nplans; i++) {
		struct counter_set *counter_set = count_peek(
			run, report_input->plans[i]);

		plan_propagate(report_input->plans[i], counter_set);
		counter_set_free(counter_set);
	}
	live_write(&run->opts->report, report_input, out);
	report_input_free(report_input);
	if (still)
		abnormal_present(run, PRESENT_NOT);
	return 0;
}

/* Count from 0 on, as if pmon attached to the processes now. */
static int
on_reset(struct run *run, char *args, FILE *out)
{
	moment_begin(run);
	host_counters_reset(run);
	for (size_t i = 0; i < run->nobjects; i++) {
		struct plan *plan = run->objects[i].plan;

		for (size_t k = 0; plan && k < plan->ncounter_sets; k++)
			counter_set_clear(plan->counter_sets[k]);
		if (plan && run->opts->once)
			plan_again(run, plan);
	}
	stops_reset(run);
	slow_reset(run);
	times_reset(run);
	run_begin(run);
	abnormal_present(run, PRESENT_ANEW);
	return 0;
}

static int
on_trace(struct run *run, char *args, FILE *out)
{
	int err;

	moment_begin(run);
	err = tracing_save(run);
	abnormal_present(run, PRESENT_NOT);
	if (!err)
		fprintf(out, "%s\n", run->opts->trace);
	return err;
}

static int
on_stop(struct run *run, char *args, FILE *out)
{
	if (!run->stopping)
		run_stop(run, 0);
	return 0;
}

static const struct {
	const char *name;
	int (*answer)(struct run *run, char *args, FILE *out);
} requests[] = {
	{ "query", on_query }, { "snapshot", on_snapshot },
	{ "reset", on_reset }, { "stop", on_stop },
	{ "live", on_live },   { "trace", on_trace },
};

static int
request_answer(struct run *run, char *line, FILE *out)
{
	size_t len = strcspn(line, " ");
	char *args = line + len + (line[len] != '\0');

	line[len] = '\0';
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (strcmp(line, requests[i].name))
			continue;
		if (run->stopping && requests[i].answer != on_stop)
			return fail("pmon has stopped counting");
		return requests[i].answer(run, args, out);
	}
	return fail("unknown request \"%s\"", line);
}

/*
 * Make the connection's answer: "ok SIZE\n" and SIZE bytes, or
 * "error MESSAGE\n".  line is NULL if the request was too long.
 */
static void
request_do(struct run *run, struct connection *connection, char *line)
{
	char *text = NULL, *head, *why;
	size_t size = 0, len;
	FILE *out = open_memstream(&text, &size);
	int err;

	must(out);
	err = line ? request_answer(run, line, out) :
		     fail("the request is too long: it must have less than %d "
			  "bytes",
			  REQUEST_MAX);
	must(!fclose(out));
	why = text_line(err ? fail_message() : "");
	head = err ? mem_printf("error %s\n", why) :
		     mem_printf("ok %zu\n", size);
	free(why);
	len = strlen(head);
	connection->nout = len + (err ? 0 : size);
	connection->sent = 0;
	connection->out = mem_alloc(connection->nout);
	memcpy(connection->out, head, len);
	memcpy(connection->out + len, text, connection->nout - len);
	free(head);
	free(text);
}

/* ---- clients */

/* Send as much as possible of the answer; false if the client is gone. */
static bool
connection_send(struct connection *connection)
{
	while (connection->out && connection->sent < connection->nout) {
		ssize_t n = send(connection->fd,
				 connection->out + connection->sent,
				 connection->nout - connection->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		connection->sent += (size_t)n;
	}
	free(connection->out);
	connection->out = NULL;
	return true;
}

enum served {
	SERVED_GONE,		/* the client has hung up */
	SERVED_NOTHING,		/* the client has to ask, or to read, first */
	SERVED_LONG,		/* part of a request that is too long */
	SERVED_ONE,		/* one request */
};

/* Take the next request, if all of it has come, into line. */
static enum served
request_take(struct connection *connection, char *line)
{
	char *end;
	size_t len;

	while (!(end = memchr(connection->in, '\n', connection->nin))) {
		ssize_t n;

		if (connection->nin == sizeof(connection->in))
			return SERVED_LONG;
		n = recv(connection->fd, connection->in + connection->nin,
			 sizeof(connection->in) - connection->nin,
			 MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return SERVED_NOTHING;
		if (n <= 0)
			return SERVED_GONE;
		connection->nin += (size_t)n;
	}
	len = (size_t)(end - connection->in);
	memcpy(line, connection->in, len);
	line[len] = '\0';
	connection->nin -= len + 1;
	memmove(connection->in, end + 1, connection->nin);
	return SERVED_ONE;
}

/* Answer one request, if the last answer is sent. */
static enum served
connection_serve(struct run *run, struct connection *connection)
{
	char line[REQUEST_MAX];
	enum served served;

	if (!connection_send(connection))
		return SERVED_GONE;
	if (connection->out)
		return SERVED_NOTHING;
	served = request_take(connection, line);
	if (served == SERVED_LONG)
		connection->nin = 0;
	if (served == SERVED_GONE || served == SERVED_NOTHING)
		return served;
	if (!connection->skipping)
		request_do(run, connection, served == SERVED_ONE ? line : NULL);
	connection->skipping = served == SERVED_LONG;
	return connection_send(connection) ? served : SERVED_GONE;
}

static bool
peer_allowed(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* A free place for a connection, perhaps of a client that hung up; or NULL. */
static struct connection **
connections_place(struct control *control)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (!control->connections[i])
			return &control->connections[i];
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct pollfd peer = { .fd = control->connections[i]->fd };

		if (poll(&peer, 1, 0) > 0 && peer.revents & POLLHUP) {
			connection_close(control->connections[i]);
			control->connections[i] = NULL;
			return &control->connections[i];
		}
	}
	return NULL;
}

static void
connections_accept(struct control *control)
{
	int fd;

	while ((fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		struct connection **place = connections_place(control);

		if (!place) {
			char *head = mem_printf("error pmon has %d clients "
						"already, which is the limit\n",
						CONNECTIONS_MAX);

			send(fd, head, strlen(head),
			     MSG_NOSIGNAL | MSG_DONTWAIT);
			free(head);
		}
		if (!place || !peer_allowed(fd) || signals_on(fd)) {
			close(fd);
			continue;
		}
		*place = mem_alloc(sizeof(struct connection));
		(*place)->fd = fd;
	}
}

/* Serve one request, or a part, of each client; false if there was none. */
static bool
connections_serve(struct run *run)
{
	struct control *control = run->control;
	bool more = false;

	connections_accept(control);
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = control->connections[i];
		enum served served = connection ?
					     connection_serve(run, connection) :
					     SERVED_NOTHING;

		more |= served == SERVED_ONE || served == SERVED_LONG;
		if (served == SERVED_GONE) {
			connection_close(connection);
			control->connections[i] = NULL;
		}
	}
	return more;
}

void
control_serve(struct run *run)
{
	unsigned rounds = 0;

	/* Clients that ask without end must not hold up the run. */
	while (run->control && connections_serve(run))
		if (++rounds == ROUNDS_MAX) {
			raise(SIGIO);
			break;
		}
}
