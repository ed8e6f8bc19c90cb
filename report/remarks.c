/*
 * Collects the notes of a report, and says once what is true of many objects.
 * Never makes a note of its own.
 */
#include "report/remarks.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/sort.h"

enum { NAMES_MAX = 8 };		/* objects that are named beside the first */

/* A note of an object. */
struct note {
	const struct image *image;
	const char *text;
	const char *what;	/* the text behind the object's path; NULL if
				   it does not begin with that */
	size_t order, first;	/* number; that of the first with the same
				   `what` */
};

static int
by_what(const void *va, const void *vb)
{
	const struct note *a = va, *b = vb;
	int order = strcmp(a->what ? a->what : "", b->what ? b->what : "");

	if (order)
		return order;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int
by_first(const void *va, const void *vb)
{
	const struct note *a = va, *b = vb;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static struct note *
notes_collect(const struct report_input *report_input, size_t *n)
{
	struct note *notes = NULL;

	*n = 0;
	for (size_t i = 0; i < report_input->nplans; i++) {
		const struct image *image = report_input->plans[i]->image;
		size_t len = strlen(image->path);

		for (size_t k = 0; k < image->nremarks; k++) {
			const char *text = image->remarks[k];
			bool begins = !strncmp(text, image->path, len);

			*vec_push(notes, *n) = (struct note){
				.image = image,
				.text = text,
				.what = begins ? text + len : NULL,
				.order = *n,
				.first = *n,
			};
		}
	}
	return notes;
}

/* Order the notes so that those with the same text behind the path meet. */
static void
notes_group(struct note *notes, size_t n)
{
	sort(notes, n, sizeof(*notes), by_what);
	for (size_t i = 1; i < n; i++)
		if (notes[i].what && notes[i - 1].what &&
		    !strcmp(notes[i].what, notes[i - 1].what))
			notes[i].first = notes[i - 1].first;
	sort(notes, n, sizeof(*notes), by_first);
}

/* The note that names the other objects of a group. */
static char *
others_name(const struct note *others, size_t n)
{
	char *names = mem_strdup(""), *text;

	for (size_t i = 0; i < n && i < NAMES_MAX; i++)
		names = mem_join(names, image_name(others[i].image));
	if (n == 1)
		text = mem_printf("The same is true of %s", names);
	else
		text = mem_printf("The same is true of %zu other objects: %s%s",
				  n, names, n > NAMES_MAX ? ", ..." : "");
	free(names);
	return text;
}

char **
report_remarks(const struct report_input *report_input, size_t *n)
{
	size_t nnotes, next;
	struct note *notes = notes_collect(report_input, &nnotes);
	char **remarks = NULL;

	*n = 0;
	if (nnotes)
		notes_group(notes, nnotes);
	for (size_t i = 0; i < nnotes; i = next) {
		for (next = i + 1;
		     next < nnotes && notes[next].first == notes[i].first;)
			next++;
		*vec_push(remarks, *n) = mem_strdup(notes[i].text);
		if (next > i + 1)
			*vec_push(remarks, *n) = others_name(&notes[i + 1],
							     next - i - 1);
	}
	free(notes);
	for (size_t i = 0; i < report_input->nremarks; i++)
		*vec_push(remarks, *n) = mem_strdup(report_input->remarks[i]);
	return remarks;
}

void
report_remarks_free(char **remarks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(remarks[i]);
	free(remarks);
}
