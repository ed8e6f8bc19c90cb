/*
 * vaxrun HOW FUNC PROGRAM [ARG...]: run a VAX program and print how often each
 * instruction of FUNC ("*": of all) began, and
 * its branch was taken.  HOW is plain, step, pass, inside
 * or break: see tests/lib/vaxrun.h.
 */
#include <unistd.h>

#include "tests/lib/vaxrun.h"

#include "util/fail.h"

static int
how_set(struct vaxrun *v, const char *how)
{
	static const char *const names[] = {
		"plain", "step", "pass", "inside", "break",
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(how, names[i])) {
			v->how = i;
			return 0;
		}
	return fail("%s: not a way of counting", how);
}

static void
report(const struct vaxrun *v)
{
	uint64_t total = 0;
	char *const *remarks;
	size_t n;

	for (size_t i = 0; i < v->n; i++) {
		fprintf(stderr, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
			v->sites[i].va, v->sites[i].hits, v->sites[i].taken);
		total += v->sites[i].hits;
	}
	remarks = simh_remarks(&n);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "# %s\n", remarks[i]);
	fprintf(stderr, "# %s %d, %" PRIu64 " counts, %" PRIu64 " events, "
		"%.3f s, %.0f counts/s\n",
		v->end.kind == EVENT_EXITED ? "exit" : "signal",
		v->end.value, total, v->events, v->seconds,
		(double)total / v->seconds);
}

int
main(int argc, char **argv)
{
	struct vaxrun v = { .how = VAXRUN_PLAIN };
	struct image *image;

	if (argc < 4)
		return 2;
	image = image_open(argv[3], NULL, 0, NULL, NULL);
	if (!image || how_set(&v, argv[1]) < 0) {
		fprintf(stderr, "vaxrun: %s\n", fail_message());
		return 125;
	}
	vaxrun_sites(&v, image, strcmp(argv[2], "*") ? argv[2] : NULL);
	if (vaxrun(&v, argv[3], argv + 3)) {
		fprintf(stderr, "vaxrun: %s\n", fail_message());
		return 125;
	}
	report(&v);
	simh_close();
	vaxrun_free(&v);
	image_close(image);
	return v.end.kind == EVENT_EXITED ? v.end.value : 128 + v.end.value;
}
