/*
 * Saves the counts so far every few seconds, so that a run whose pmon is killed
 * is not lost: `pmprint --recover` makes a data file from the saved one.  Tasks
 * stand still only until a forked child of pmon has a copy of the counts; the
 * child then writes them.  Never writes the data file itself.  doc/decisions/
 * 0001-saving-while-counting.md gives the reasons.
 */
#include "monitor/client/autosave.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/client/save.h"
#include "monitor/process/affinity.h"
#include "monitor/process/events.h"
#include "monitor/process/notice.h"
#include "monitor/unwind/abnormal.h"
#include "util/clock.h"
#include "util/mem.h"

/*
 * The program stands still for saves at most 1/STILL_SHARE of the time, and
 * writing takes at most 1/WRITING_SHARE of a processor's time.
 */
enum { STILL_SHARE = 100, WRITING_SHARE = 20 };

struct autosave {
	char *path;		/* of the saved file; NULL before the first */
	double due;		/* of the next save: monotonic seconds */
	double still;		/* how long the last standstill took */
	double begun;		/* when the last save began */
	int writer;		/* the writing child's pidfd, or -1 */
};

void
autosave_open(struct run *run)
{
	if (!run->opts->data || !run->opts->save_every)
		return;
	run->autosave = mem_alloc(sizeof(*run->autosave));
	*run->autosave = (struct autosave){
		.due = clock_seconds() + run->opts->save_every,
		.writer = -1,
	};
	notice_ticks(true);
}

/* Has the last writer ended, or does it end within `timeout` milliseconds? */
static bool
writer_ended(struct autosave *autosave, int timeout)
{
	struct pollfd fd = { .fd = autosave->writer, .events = POLLIN };
	siginfo_t info;

	if (autosave->writer < 0)
		return true;
	while (poll(&fd, 1, timeout) <= 0)
		if (timeout >= 0)
			return false;
	/* Fails if host->wait has reaped the writer already. */
	waitid(P_PIDFD, (id_t)autosave->writer, &info, WEXITED | WNOHANG);
	close(autosave->writer);
	autosave->writer = -1;
	return true;
}

/* In the child: write the file and exit. */
static void
writer_run(struct run *run, struct report_input *report_input, const char *path)
{
	run_remark(run,
		   "pmon ended before the run did: the counts are those "
		   "of the run's first %.1f seconds",
		   report_input->seconds);
	report_input->remarks = run_remarks(run, &report_input->nremarks);
	_exit(run_write(run, report_input, path) ? 1 : 0);
}

/*
 * Lock the saved file, which is empty before the first save, until the writer,
 * which inherits the descriptor, has ended: the writer may outlive pmon, and
 * `pmprint --recover` waits for it.  -1 if there can be no file.
 */
static int
saved_lock(const char *path)
{
	int fd = open(path,
		      O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		      0666);

	if (fd >= 0)
		flock(fd, LOCK_SH | LOCK_NB);
	return fd;
}

/*
 * Fork the writer: it traces nobody, so it changes nothing of the run.  The
 * counts of a simulator are fetched before the fork, as the child must not talk
 * to the simulator.
 */
static int
writer_start(struct run *run, const char *path)
{
	struct report_input *report_input = report_input_make(run);
	int saved = saved_lock(path);
	pid_t pid = fork();

	if (!pid) {
		affinity_child();
		writer_run(run, report_input, path);
	}
	if (saved >= 0)
		close(saved);
	report_input_free(report_input);
	return pid < 0 ? -1 : pidfd_open(pid, 0);
}

static double
greater(double a, double b)
{
	return a > b ? a : b;
}

static void
save(struct run *run, struct autosave *autosave)
{
	double begun = clock_seconds();

	if (!autosave->path)
		autosave->path = mem_printf("%s.%d.part", run_data(run),
					    (int)getpid());
	run_pause_all(run, STOP_ASKED);
	abnormal_present(run, PRESENT);
	autosave->writer = writer_start(run, autosave->path);
	abnormal_present(run, PRESENT_NOT);
	autosave->begun = begun;
	autosave->still = clock_seconds() - begun;
	/* Without a writer (fork failed) only this delays the next save. */
	autosave->due = begun + greater(run->opts->save_every,
					autosave->still * STILL_SHARE);
}

void
autosave_tick(struct run *run)
{
	struct autosave *autosave = run->autosave;
	double now = clock_seconds();

	if (!autosave || run->stopping)
		return;
	if (autosave->writer >= 0) {
		if (!writer_ended(autosave, 0))
			return;
		autosave->due = greater(autosave->due,
					autosave->begun +
						(now - autosave->begun) *
							WRITING_SHARE);
	}
	if (now >= autosave->due)
		save(run, autosave);
}

void
autosave_close(struct run *run)
{
	struct autosave *autosave = run->autosave;

	if (!autosave)
		return;
	writer_ended(autosave, -1);
	if (autosave->path && !run_unsaved(run))
		unlink(autosave->path);
	free(autosave->path);
	free(autosave);
	run->autosave = NULL;
}
