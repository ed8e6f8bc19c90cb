/*
 * The live view: shows on the terminal which functions and lines run most just
 * now, how often each has run, and how coverage grows.  Asks for the counts by
 * the control socket, so it never touches a run.  The only user of ncurses.
 */
#include "monitor/live.h"

#include <curses.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/ask.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/sort.h"

enum {
	INTERVAL_MS = 1000,
	STILL_EVERY = 10,	/* every tenth look is exact: "live still" */
	RATE_WIDTH = 9,
	COUNT_WIDTH = 16,
	HEAD_ROWS = 4,		/* rows above the first list */
};

/* A function or a line. */
struct item {
	char *name;		/* owned */
	uint64_t count;
	double rate;		/* per second, since the last look */
};

struct items {
	struct item *items;
	size_t n;
};

/* One look at the counts. */
struct look {
	char *answer;		/* owns command and outcome */
	double time;
	const char *command, *outcome;
	size_t processes, threads;
	size_t nfuncs, nlines;	/* counted, whether they ran or not */
	struct items funcs, lines;	/* those that ran, ascending name */
};

/* ---- the answer */

static void
items_free(struct items *items)
{
	for (size_t i = 0; i < items->n; i++)
		free(items->items[i].name);
	free(items->items);
}

static void
look_free(struct look *look)
{
	if (!look)
		return;
	items_free(&look->funcs);
	items_free(&look->lines);
	free(look->answer);
	free(look);
}

static void
item_parse(struct items *items, char *s)
{
	char *end;
	uint64_t count = strtoull(s, &end, 10);

	*vec_push(items->items, items->n) = (struct item){
		.name = mem_strdup(end + strspn(end, " ")),
		.count = count,
	};
}

static void
line_parse(struct look *look, char *line)
{
	char *rest = line + strcspn(line, " ");

	if (*rest)
		*rest++ = '\0';
	if (!strcmp(line, "f"))
		item_parse(&look->funcs, rest);
	else if (!strcmp(line, "l"))
		item_parse(&look->lines, rest);
	else if (!strcmp(line, "time"))
		look->time = strtod(rest, NULL);
	else if (!strcmp(line, "command"))
		look->command = rest;
	else if (!strcmp(line, "outcome"))
		look->outcome = rest;
	else if (!strcmp(line, "processes"))
		look->processes = strtoul(rest, NULL, 10);
	else if (!strcmp(line, "threads"))
		look->threads = strtoul(rest, NULL, 10);
	else if (!strcmp(line, "funcs"))
		look->nfuncs = strtoul(rest, NULL, 10);
	else if (!strcmp(line, "lines"))
		look->nlines = strtoul(rest, NULL, 10);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->name,
		      ((const struct item *)b)->name);
}

static void
items_sort(struct items *items)
{
	if (items->n)
		sort(items->items, items->n, sizeof(struct item), by_name);
}

/* Ask for the counts; NULL with the message. */
static struct look *
look_take(int fd, bool still)
{
	struct look *look = mem_alloc(sizeof(*look));
	size_t size;

	look->command = look->outcome = "";
	look->answer = ask_request(fd, still ? "live still" : "live", &size);
	if (!look->answer) {
		free(look);
		return NULL;
	}
	for (char *next, *s = look->answer; s && *s; s = next) {
		next = strchr(s, '\n');
		if (next)
			*next++ = '\0';
		line_parse(look, s);
	}
	items_sort(&look->funcs);
	items_sort(&look->lines);
	return look;
}

/* ---- rates */

/*
 * Fill in the rates of `now`.  Both lists ascend by name, and items of the same
 * name pair up in order.  An item that is missing now keeps its old count: a
 * look without "still" does not see calls that have not ended.
 */
static void
rates_make(struct items *now, const struct items *before, double seconds)
{
	size_t k = 0, n = now->n;

	for (size_t i = 0; i < n || k < before->n;) {
		const struct item *old = &before->items[k];
		int order = i == n ? 1 :
			    k == before->n ?
				     -1 :
				     strcmp(now->items[i].name, old->name);

		if (order > 0) {
			*vec_push(now->items, now->n) = (struct item){
				.name = mem_strdup(old->name),
				.count = old->count,
			};
			k++;
			continue;
		}
		if (order || now->items[i].count < old->count)
			now->items[i].rate =
				order ? (double)now->items[i].count / seconds :
					0;
		else
			now->items[i].rate = (double)(now->items[i].count -
						      old->count) /
					     seconds;
		k += !order;
		i++;
	}
	items_sort(now);
}

/* A reset sets the time back to 0: then there are no rates. */
static void
look_compare(struct look *now, const struct look *before)
{
	double seconds = now->time - before->time;

	if (seconds <= 0)
		return;
	rates_make(&now->funcs, &before->funcs, seconds);
	rates_make(&now->lines, &before->lines, seconds);
}

static bool by_count;

/* Orders by rate, then count, or by count alone; the largest first. */
static int
by_heat(const void *va, const void *vb)
{
	const struct item *a = va, *b = vb;

	if (!by_count && a->rate != b->rate)
		return a->rate > b->rate ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* ---- the screen */

/* Format a rate like "12.3M", in up to six columns. */
static void
rate_text(double rate, char *text, size_t size)
{
	static const char units[] = " kMGT";
	size_t unit = 0;

	while (rate >= 999.5 && unit + 2 < sizeof(units)) {
		rate /= 1000;
		unit++;
	}
	if (rate > 0 && rate < 0.05)
		snprintf(text, size, "<0.1");
	else if (rate == 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.*f%.1s", rate < 9.95 || unit ? 1 : 0,
			 rate, unit ? &units[unit] : "");
}

/*
 * Show a name that may be too long.  tail keeps its end, which tells more of a
 * path with a line number.
 */
static void
name_show(const char *name, int width, bool tail)
{
	int len = (int)strlen(name);

	if (width <= 0)
		return;
	if (len <= width || !tail)
		printw("%.*s", width, name);
	else
		printw("<%s", name + len - width + 1);
}

static void
items_show(const struct items *items, int row, int rows, const char *title)
{
	struct item *rank = mem_alloc(items->n * sizeof(*rank));
	char rate[32];
	bool tail = title[0] == 'L';

	if (items->n) {
		memcpy(rank, items->items, items->n * sizeof(*rank));
		sort(rank, items->n, sizeof(*rank), by_heat);
	}
	attron(A_REVERSE);
	mvhline(row, 0, ' ', COLS);
	mvprintw(row, 0, "%*s %*s  %s", RATE_WIDTH, "PER SEC", COUNT_WIDTH,
		 "COUNT", title);
	attroff(A_REVERSE);
	for (int i = 1; i < rows; i++) {
		move(row + i, 0);
		clrtoeol();
		if ((size_t)i > items->n)
			continue;
		rate_text(rank[i - 1].rate, rate, sizeof(rate));
		if (rank[i - 1].rate > 0)
			attron(A_BOLD);
		printw("%*s %*" PRIu64 "  ", RATE_WIDTH, rate, COUNT_WIDTH,
		       rank[i - 1].count);
		attroff(A_BOLD);
		name_show(rank[i - 1].name, COLS - RATE_WIDTH - COUNT_WIDTH - 3,
			  tail);
	}
	free(rank);
}

/* Show a row like "lines      43.1 %  430 of 1000 ran  [#####.....]". */
static void
coverage_show(int row, const char *what, size_t all, size_t ran)
{
	size_t share = all ? ran * 1000 / all : 0;
	int bar, width;

	move(row, 0);
	clrtoeol();
	if (!all) {
		printw("%-10s none counted", what);
		return;
	}
	printw("%-10s %3zu.%zu %%  %zu of %zu ran", what, share / 10,
	       share % 10, ran, all);
	bar = 45;
	width = COLS - bar - 2;
	if (width < 10 || getcurx(stdscr) >= bar)
		return;
	mvaddch(row, bar, '[');
	for (int i = 0; i < width; i++)
		addch((size_t)i * all < ran * (size_t)width ? '#' : '.');
	addch(']');
}

static void
look_show(const struct look *look, bool paused)
{
	int rows = LINES - HEAD_ROWS - 1, half = (rows + 1) / 2;

	erase();
	mvprintw(0, 0, "pmon  %.1f s  %zu process%s  %zu thread%s  ",
		 look->time, look->processes, look->processes == 1 ? "" : "es",
		 look->threads, look->threads == 1 ? "" : "s");
	name_show(look->command, COLS - getcurx(stdscr), false);
	coverage_show(1, "functions", look->nfuncs, look->funcs.n);
	coverage_show(2, "lines", look->nlines, look->lines.n);
	if (look->funcs.n && look->lines.n) {
		items_show(&look->funcs, HEAD_ROWS, half, "FUNCTION");
		items_show(&look->lines, HEAD_ROWS + half, rows - half, "LINE");
	} else if (look->lines.n) {
		items_show(&look->lines, HEAD_ROWS, rows, "LINE");
	} else {
		items_show(&look->funcs, HEAD_ROWS, rows, "FUNCTION");
	}
	mvprintw(LINES - 1, 0, "q quit  s sort by %s  space %s",
		 by_count ? "rate" : "count", paused ? "resume" : "hold");
	if (look->outcome && strcmp(look->outcome, "still running"))
		printw("  %s", look->outcome);
	refresh();
}

/* ---- the loop */

/* Handle keys until the next look is due; false to quit. */
static bool
keys_wait(const struct look *look, bool *paused)
{
	for (;;) {
		int key = getch();

		switch (key) {
		case 'q':
		case 'Q':
		case 3:
			return false;
		case 's':
			by_count = !by_count;
			break;
		case ' ':
			*paused = !*paused;
			break;
		case KEY_RESIZE:
			break;
		case ERR:
			if (!*paused)
				return true;
			continue;
		default:
			continue;
		}
		look_show(look, *paused);
	}
}

/* Until the user quits or counting ends; -1 with the message if never begun. */
static int
looks_show(int fd)
{
	struct look *last = NULL, *look;
	bool paused = false;
	unsigned number = 0;
	int err = -1;

	while ((look = look_take(fd, number++ % STILL_EVERY == 0))) {
		err = 0;
		if (last)
			look_compare(look, last);
		look_free(last);
		last = look;
		look_show(look, paused);
		if (!keys_wait(look, &paused))
			break;
	}
	look_free(last);
	return err;
}

int
live_show(const struct options *opts)
{
	SCREEN *screen;
	int fd, err;

	if (!isatty(0) || !isatty(1))
		return fail("--live needs a terminal");
	fd = ask_connect(opts->asked);
	if (fd < 0)
		return -1;
	setlocale(LC_CTYPE, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		close(fd);
		return fail("--live: unknown terminal type \"%s\"",
			    getenv("TERM") ? getenv("TERM") : "");
	}
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	timeout(INTERVAL_MS);
	err = looks_show(fd);
	endwin();
	delscreen(screen);
	close(fd);
	return err;
}
