/*
 * Takes looks at the counts of another pmon, by its control socket, and makes
 * rates of two of them.  Never writes to the terminal.
 */
#include "monitor/live_look.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/ask.h"
#include "util/mem.h"
#include "util/sort.h"

/* ---- the answer */

static void
items_free(struct items *items)
{
	for (size_t i = 0; i < items->n; i++)
		free(items->items[i].name);
	free(items->items);
}

void
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

struct look *
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
				.stale = true,
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

void
look_compare(struct look *now, const struct look *before)
{
	double seconds = now->time - before->time;

	/* A reset sets the time back to 0. */
	if (seconds <= 0)
		return;
	rates_make(&now->funcs, &before->funcs, seconds);
	rates_make(&now->lines, &before->lines, seconds);
}
