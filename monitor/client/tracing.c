/*
 * Owns the file of a trace, and what its functions and threads are called.
 * Measures nothing: times.c does.
 */
#include "monitor/client/tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "monitor/process/task.h"
#include "report/target.h"
#include "report/trace/trace_write.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/stamp.h"

/* What is held back is written so often. */
enum { FLUSH_NS = 1000000000 };

struct tracing {
	struct trace_writer *writer;
	const char *path;
	int fd;
	uint64_t began, flushed;	/* clock_ns() */
	struct traced_plan *plans;
	size_t nplans;
	size_t nuntraced;	/* functions whose calls are not in it */
	char *untraced;		/* the first one's name, and why; or NULL */
};

/* The object that a plan is. */
struct traced_plan {
	const struct plan *plan;
	uint32_t object;
};

/* ---- the file */

static int
bytes_write(void *ctx, const uint8_t *bytes, size_t n)
{
	const struct tracing *tracing = ctx;

	while (n) {
		ssize_t some = write(tracing->fd, bytes, n);

		if (some < 0 && errno == EINTR)
			continue;
		if (some < 0)
			return fail("%s: %s; the trace ends before",
				    tracing->path, strerror(errno));
		bytes += some;
		n -= (size_t)some;
	}
	return 0;
}

/*
 * Empty the file, unless another pmon writes to it; devices stay as they are.
 * 0, or -1 with errno set.
 */
static int
file_take(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (!S_ISREG(st.st_mode))
		return 0;
	/* Some file systems have no locks. */
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return -1;
	return ftruncate(fd, 0);
}

/*
 * Open the file at once: what is written stays if pmon is killed.  Its
 * descriptor, or -1 with the message.
 */
static int
file_open(const char *path)
{
	int fd;

	if (target_check(path))
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail("%s: %s", path, strerror(errno));
	if (!file_take(fd))
		return fd;
	fail("%s: %s", path,
	     errno == EWOULDBLOCK ? "another pmon writes its trace to it" :
				    strerror(errno));
	close(fd);
	return -1;
}

static char *
command_of(const struct options *opts)
{
	char *text = mem_strdup("");

	for (size_t i = 0; opts->argv && opts->argv[i]; i++) {
		char *longer = mem_printf("%s%s%s", text, i ? " " : "",
					  opts->argv[i]);

		free(text);
		text = longer;
	}
	for (size_t i = 0; i < opts->npids; i++) {
		char *longer = mem_printf("%s%s%d", text, i ? " " : "",
					  (int)opts->pids[i]);

		free(text);
		text = longer;
	}
	return text;
}

int
tracing_open(struct run *run, uint64_t cost)
{
	const char *path = run->opts->trace;
	struct trace_run about = { .cost = cost };
	struct tracing *tracing;
	struct moment clock;
	struct timespec now;
	int fd;

	if (!path)
		return 0;
	fd = run->opts->ring ? -1 : file_open(path);
	if (run->opts->ring ? target_check(path) : fd < 0)
		return -1;
	tracing = mem_alloc(sizeof(*tracing));
	clock_gettime(CLOCK_REALTIME, &now);
	about.start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	about.command = command_of(run->opts);
	about.version = mem_strdup(PMON_VERSION);
	tracing->path = path;
	tracing->fd = fd;
	clock = moment_now();
	about.stamp = clock.stamp;
	tracing->began = tracing->flushed = clock.ns;
	tracing->writer = trace_writer_open(about, run->opts->ring, bytes_write,
					    tracing);
	run->tracing = tracing;
	return 0;
}

void
tracing_close(struct run *run)
{
	struct tracing *tracing = run->tracing;

	if (!tracing)
		return;
	trace_writer_close(tracing->writer);
	if (tracing->fd >= 0)
		close(tracing->fd);
	free(tracing->plans);
	free(tracing->untraced);
	free(tracing);
	run->tracing = NULL;
}

static void
clock_tell(struct tracing *tracing)
{
	struct moment clock = moment_now();

	clock.ns -= tracing->began;
	trace_writer_clock(tracing->writer, clock);
}

static int
bytes_buffer(void *ctx, const uint8_t *bytes, size_t n)
{
	/* Errors are found in the end. */
	fwrite(bytes, 1, n, ctx);
	return 0;
}

int
tracing_save(struct run *run)
{
	struct tracing *tracing = run->tracing;
	struct target *target;

	if (!tracing || !run->opts->ring)
		return fail("this pmon keeps no trace (--ring)");
	target = target_open(tracing->path);
	if (!target)
		return -1;
	clock_tell(tracing);
	if (!trace_writer_save(tracing->writer, bytes_buffer, target->out))
		return target_close(target);
	target_drop(target);
	return -1;
}

int
tracing_end(struct run *run)
{
	struct tracing *tracing = run->tracing;

	if (!tracing)
		return 0;
	if (tracing->untraced && tracing->nuntraced == 1)
		run_remark(run, "the trace lacks the calls of %s",
			   tracing->untraced);
	else if (tracing->untraced)
		run_remark(run,
			   "the trace lacks the calls of %zu functions, "
			   "as of %s",
			   tracing->nuntraced, tracing->untraced);
	if (run->opts->ring)
		return tracing_save(run);
	clock_tell(tracing);
	return trace_writer_end(tracing->writer);
}

void
tracing_look(struct run *run)
{
	struct tracing *tracing = run->tracing;
	uint64_t now;

	if (!tracing)
		return;
	clock_tell(tracing);
	now = clock_ns();
	/* A ring's chunks are better large. */
	if (run->opts->ring || now - tracing->flushed < FLUSH_NS)
		return;
	tracing->flushed = now;
	trace_writer_flush(tracing->writer);
}

/* ---- functions */

static uint32_t
object_of(struct tracing *tracing, const struct plan *plan)
{
	const struct image *image = plan->image;
	struct trace_object object = { .build_id_len = image->build_id_len };
	struct traced_plan *of;

	for (size_t i = 0; i < tracing->nplans; i++)
		if (tracing->plans[i].plan == plan)
			return tracing->plans[i].object;
	object.path = mem_strdup(image->path);
	memcpy(object.build_id, image->build_id, image->build_id_len);
	of = vec_push(tracing->plans, tracing->nplans);
	of->plan = plan;
	of->object = trace_writer_object(tracing->writer, object);
	return of->object;
}

void
tracing_func(struct tracing *tracing, const struct plan *plan, uint32_t fplan)
{
	const struct image *image = plan->image;
	const struct func *func = fplan_func(&plan->fplans[fplan], image);
	const char *file = func && func->file != FILE_NONE ?
				   image->files[func->file] :
				   "";

	trace_writer_func(tracing->writer,
			  (struct trace_func){
				  .object = object_of(tracing, plan),
				  .addr = func ? func->addr : 0,
				  .name = mem_strdup(func ? func->name : "?"),
				  .file = mem_strdup(file),
				  .line = func ? func->line : 0,
			  });
}

void
tracing_untraced(struct tracing *tracing, const struct plan *plan,
		 uint32_t fplan, const char *why)
{
	const struct func *func = fplan_func(&plan->fplans[fplan], plan->image);

	tracing->nuntraced++;
	if (!tracing->untraced)
		tracing->untraced = mem_printf("%s: %s",
					       func ? func->name : "?", why);
}

/* ---- threads */

/* The path of the program that a task runs, or ""; owned by the caller. */
static char *
program_of(const struct run *run, const struct task *task)
{
	char *open_path = NULL;
	char *program = run->host->exe(task->tid, &open_path);

	free(open_path);
	return program ? program : mem_strdup("");
}

void
tracing_program(const struct run *run, const struct task *task, uint32_t thread)
{
	trace_writer_program(run->tracing->writer, thread,
			     program_of(run, task));
}

uint32_t
tracing_thread(const struct run *run, const struct task *task)
{
	return trace_writer_thread(
		run->tracing->writer,
		(struct trace_thread){
			.pid = task->process ? (uint32_t)task->process->pid : 0,
			.tid = (uint32_t)task->tid,
			.began = stamp_now(),
			.program = program_of(run, task),
		});
}

void
tracing_item(struct tracing *tracing, const struct trace_item *item)
{
	trace_writer_item(tracing->writer, item);
}

void
tracing_forked(struct tracing *tracing, uint32_t maker, uint32_t child,
	       uint64_t now)
{
	tracing_item(tracing,
		     &(struct trace_item){
			     .kind = TRACE_FORK,
			     .thread = child,
			     /* Behind all that the maker did before. */
			     .stamp = trace_writer_last(tracing->writer, maker),
			     .now = now,
			     .value = maker,
		     });
}
