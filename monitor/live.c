/*
 * The live view: shows on the terminal which functions and lines run most just
 * now, how often each has run, and how coverage grows.  Asks for the counts by
 * the control socket, so it never touches a run.  The only user of ncurses.
 */
#include "monitor/live.h"

#include <ctype.h>
#include <curses.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/ask.h"
#include "monitor/live_look.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/sort.h"

enum {
	INTERVAL_MS = 1000,
	STILL_EVERY = 10,	/* every tenth look is exact: "live still" */
	RATE_WIDTH = 9,
	COUNT_WIDTH = 16,
	HEAD_ROWS = 4,		/* rows above the first list */
	FILTER_LEN = 40,
	ESCAPE = 27,
};

/* What the user has chosen by keys. */
struct view {
	enum order { ORDER_RATE, ORDER_COUNT, ORDER_NAME, ORDERS } order;
	enum show { SHOW_ALL, SHOW_FUNCS, SHOW_LINES, SHOWS } show;
	bool paused;
	bool typing;		/* keys go to the filter */
	char filter[FILTER_LEN + 1];	/* names have this in them */
};

/* ---- the order */

static enum order sort_order;

/* By rate, then count, or by count alone, the largest first; or by name. */
static int
by_order(const void *va, const void *vb)
{
	const struct item *a = va, *b = vb;

	if (sort_order == ORDER_RATE && a->rate != b->rate)
		return a->rate > b->rate ? -1 : 1;
	if (sort_order != ORDER_NAME && a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* ---- the screen */

/* Format a rate like "12.3M", in up to six columns. */
static void
rate_text(double rate, char *text, size_t size)
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	size_t unit = 0;

	while (rate >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units)) {
		rate /= 1000;
		unit++;
	}
	if (rate > 0 && rate < 0.05)
		snprintf(text, size, "<0.1");
	else if (rate == 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.*f%s", rate < 9.95 || unit ? 1 : 0,
			 rate, units[unit]);
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

/* The items that the filter leaves, in order; owned by the caller. */
static struct items
items_choose(const struct items *items, const struct view *view)
{
	struct items chosen = { 0 };

	for (size_t i = 0; i < items->n; i++)
		if (strcasestr(items->items[i].name, view->filter))
			*vec_push(chosen.items, chosen.n) = items->items[i];
	sort_order = view->order;
	if (chosen.n)
		sort(chosen.items, chosen.n, sizeof(*chosen.items), by_order);
	return chosen;
}

/* A count of an earlier look has a star. */
static void
item_show(const struct item *item, bool tail)
{
	char rate[32];

	rate_text(item->rate, rate, sizeof(rate));
	if (item->rate > 0)
		attron(A_BOLD);
	if (item->stale)
		attron(A_DIM);
	printw("%*s %*" PRIu64 "%c ", RATE_WIDTH, rate, COUNT_WIDTH,
	       item->count, item->stale ? '*' : ' ');
	attroff(A_BOLD);
	name_show(item->name, COLS - RATE_WIDTH - COUNT_WIDTH - 3, tail);
	attroff(A_DIM);
}

static void
items_show(const struct items *items, const struct view *view, int row,
	   int rows, const char *title)
{
	struct items chosen = items_choose(items, view);

	attron(A_REVERSE);
	mvhline(row, 0, ' ', COLS);
	mvprintw(row, 0, "%*s %*s  %s", RATE_WIDTH, "PER SEC", COUNT_WIDTH,
		 "COUNT", title);
	attroff(A_REVERSE);
	for (int i = 1; i < rows; i++) {
		move(row + i, 0);
		clrtoeol();
		if ((size_t)i <= chosen.n)
			item_show(&chosen.items[i - 1], title[0] == 'L');
	}
	free(chosen.items);
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

static bool
stale_any(const struct items *items)
{
	for (size_t i = 0; i < items->n; i++)
		if (items->items[i].stale)
			return true;
	return false;
}

/* The last row: keys, and what they have chosen. */
static void
keys_show(const struct look *look, const struct view *view)
{
	static const char *const orders[] = { "rate", "count", "name" };
	static const char *const shows[] = { "all", "functions", "lines" };

	move(LINES - 1, 0);
	clrtoeol();
	if (view->typing) {
		printw("filter: %s_  Enter keep  Esc clear", view->filter);
		return;
	}
	printw("q quit  s order: %s  u show: %s  f filter%s%s  space %s",
	       orders[view->order], shows[view->show],
	       *view->filter ? ": " : "", view->filter,
	       view->paused ? "resume" : "hold");
	if (look->outcome && strcmp(look->outcome, "still running"))
		printw("  %s", look->outcome);
	else if (stale_any(&look->funcs) || stale_any(&look->lines))
		printw("  * counted before");
}

static void
look_show(const struct look *look, const struct view *view)
{
	int rows = LINES - HEAD_ROWS - 1, half = (rows + 1) / 2;
	bool funcs = view->show != SHOW_LINES && look->funcs.n;
	bool lines = view->show != SHOW_FUNCS && look->lines.n;

	erase();
	mvprintw(0, 0, "pmon  %.1f s  %zu process%s  %zu thread%s  ",
		 look->time, look->processes, look->processes == 1 ? "" : "es",
		 look->threads, look->threads == 1 ? "" : "s");
	name_show(look->command, COLS - getcurx(stdscr), false);
	coverage_show(1, "functions", look->nfuncs, look->funcs.n);
	coverage_show(2, "lines", look->nlines, look->lines.n);
	if (funcs && lines) {
		items_show(&look->funcs, view, HEAD_ROWS, half, "FUNCTION");
		items_show(&look->lines, view, HEAD_ROWS + half, rows - half,
			   "LINE");
	} else if (lines) {
		items_show(&look->lines, view, HEAD_ROWS, rows, "LINE");
	} else {
		items_show(&look->funcs, view, HEAD_ROWS, rows, "FUNCTION");
	}
	keys_show(look, view);
	refresh();
}

/* The text of the screen, without the row of keys; owned by the caller. */
static char *
screen_text(void)
{
	char *text = mem_strdup(""), *row = mem_alloc((size_t)COLS * 8 + 1);
	int last = 0;

	for (int y = 0; y < LINES - 1; y++) {
		char *more;
		int end;

		if (mvinnstr(y, 0, row, COLS * 8) == ERR)
			*row = '\0';
		for (end = (int)strlen(row); end && row[end - 1] == ' '; end--)
			row[end - 1] = '\0';
		more = mem_printf("%s%s\n", text, row);
		free(text);
		text = more;
		if (*row)
			last = (int)strlen(text);
	}
	text[last] = '\0';
	free(row);
	return text;
}

/* ---- the loop */

/* A key that goes to the filter. */
static void
filter_type(struct view *view, int key)
{
	size_t len = strlen(view->filter);

	if (key == ESCAPE)
		*view->filter = '\0';
	if (key == ESCAPE || key == '\n' || key == '\r' || key == KEY_ENTER)
		view->typing = false;
	else if (len && (key == KEY_BACKSPACE || key == '\b' || key == 127))
		view->filter[len - 1] = '\0';
	else if (len < FILTER_LEN && key < 127 && isprint(key))
		view->filter[len] = (char)key;
}

/* Do what a key says; false to quit. */
static bool
key_act(struct view *view, int key)
{
	if (view->typing) {
		filter_type(view, key);
		return true;
	}
	switch (key) {
	case 'q':
	case 'Q':
	case 3:
		return false;
	case 's':
		view->order = (view->order + 1) % ORDERS;
		break;
	case 'u':
		view->show = (view->show + 1) % SHOWS;
		break;
	case 'f':
	case '/':
		view->typing = true;
		break;
	case ' ':
		view->paused = !view->paused;
		break;
	default:
		break;
	}
	return true;
}

/* Handle keys until the next look is due; false to quit. */
static bool
keys_wait(const struct look *look, struct view *view)
{
	for (;;) {
		int key = getch();

		if (key == ERR && !view->paused)
			return true;
		if (key == ERR)
			continue;
		if (!key_act(view, key))
			return false;
		look_show(look, view);
	}
}

/* Until the user quits or counting ends; -1 with the message if never begun. */
static int
looks_show(int fd)
{
	struct look *last = NULL, *look;
	struct view view = { 0 };
	unsigned number = 0;
	int err = -1;

	while ((look = look_take(fd, number++ % STILL_EVERY == 0))) {
		err = 0;
		if (last)
			look_compare(look, last);
		look_free(last);
		last = look;
		look_show(look, &view);
		if (!keys_wait(look, &view))
			break;
	}
	look_free(last);
	return err;
}

int
live_show(const struct options *opts)
{
	SCREEN *screen;
	char *text;
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
	set_escdelay(25);
	err = looks_show(fd);
	/* It goes with the screen where the terminal has two of them. */
	text = err ? NULL : screen_text();
	endwin();
	delscreen(screen);
	if (text)
		fputs(text, stdout);
	free(text);
	close(fd);
	return err;
}
