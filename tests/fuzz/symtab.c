/*
 * Fuzz target: opens the input as an image, reads all of it and asks it
 * questions.  Whatever the input, nothing must crash, hang or take memory
 * without bounds.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symtab/image.h"
#include "tests/fuzz/target.h"
#include "util/fail.h"

bool target_accepted;

/* What image.h promises of any image. */
static void
check(const struct image *image)
{
	size_t avail;

	for (size_t i = 0; i < image->nfuncs; i++) {
		const struct func *func = &image->funcs[i];

		must(func->nranges >= 1 && func->ranges[0].lo == func->addr);
		must(i == 0 || func[-1].addr < func->addr);
		must(func->file == FILE_NONE || func->file < image->nfiles);
		for (size_t k = 0; k < func->nranges; k++) {
			must(func->ranges[k].lo < func->ranges[k].hi);
			must(image_func(image, func->ranges[k].lo) == func);
			must(image_func(image, func->ranges[k].hi - 1) == func);
			must(image_text(image, func->ranges[k].lo, &avail));
			must(avail >= func->ranges[k].hi - func->ranges[k].lo);
		}
	}
	for (size_t i = 0; i < image->nrows; i++) {
		const struct row *row = &image->rows[i];

		must(row->addr <= row->end);
		must(i == 0 || row[-1].addr <= row->addr);
		must(row->file == FILE_NONE || row->file < image->nfiles);
		must(image_text(image, row->addr, &avail));
		must(avail >= row->end - row->addr);
	}
	for (size_t i = 0; i < image->ninlines; i++) {
		must(image->inlines[i].name);
		must(image->inlines[i].nranges);
		must(image_text(image, image->inlines[i].addr, &avail));
	}
}

static void
check_sparse(const struct image *image)
{
	size_t avail;

	for (size_t i = 0; i < image->nhints; i++) {
		must(i == 0 || image->hints[i - 1].addr < image->hints[i].addr);
		must(image_text(image, image->hints[i].addr, &avail));
	}
	for (size_t i = 0; i < image->nfuncs; i++)
		must(image_text(image, image->funcs[i].addr, &avail));
	for (size_t i = 0; i < image->ndata; i++)
		must(image_data(image, image->data[i].addr, &avail));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *image;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	must(fd >= 0);
	must(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	image = image_open(path, NULL, IMAGE_LINES | IMAGE_INLINES | IMAGE_FLOW,
			   NULL, NULL);
	target_accepted |= image != NULL;
	if (image)
		check(image);
	else
		must(*fail_message());
	image_close(image);
	image = image_open(path, NULL, IMAGE_SPARSE, NULL, NULL);
	if (image)
		check_sparse(image);
	image_close(image);
	close(fd);
	return 0;
}
