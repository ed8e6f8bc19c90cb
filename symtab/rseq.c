/*
 * Reads where a program has restartable sequences: code that the kernel begins
 * anew if it was interrupted (linux/rseq.h, struct rseq_cs).  Leaves out what is
 * damaged; never fails.
 */
#include "symtab/rseq.h"

#include <stdlib.h>

#include "symtab/image.h"
#include "util/mem.h"
#include "util/sort.h"

/* Of struct rseq_cs: its size, and where it says what the sequence is. */
enum { ENTRY = 32, START = 8, WORD = 8 };

static int
by_beginning(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	return (a->lo > b->lo) - (a->lo < b->lo);
}

/* Have sequences ascending, those that overlap as one. */
static void
sequences_sort(struct image *image)
{
	struct range *all = image->sequences;
	size_t n = 0;

	if (all)
		sort(all, image->nsequences, sizeof(*all), by_beginning);
	for (size_t i = 0; i < image->nsequences; i++) {
		if (!n || all[i].lo > all[n - 1].hi)
			all[n++] = all[i];
		else if (all[i].hi > all[n - 1].hi)
			all[n - 1].hi = all[i].hi;
	}
	image->nsequences = n;
}

void
rseq_read(struct elf *elf, struct image *image)
{
	uint64_t addr;
	struct bytes section = elf_section(elf, "__rseq_cs", &addr);

	for (size_t at = 0; at + ENTRY <= section.n; at += ENTRY) {
		size_t avail = 0;
		/* With the dynamic linker's relocations done, if there are any. */
		const uint8_t *p = image_data(image, addr + at, &avail);
		struct bytes entry = { p && avail >= ENTRY ? p : section.p + at,
				       ENTRY };
		struct cursor c = cursor_at(&entry, START, false);
		struct range sequence;

		sequence.lo = cursor_take(&c, WORD);
		sequence.hi = sequence.lo + cursor_take(&c, WORD);
		/*
		 * With the store in front, which tells the kernel of it: the
		 * kernel forgets a sequence if the task is interrupted between
		 * the two.
		 */
		if (sequence.lo < sequence.hi && sequence.lo--)
			*vec_push(image->sequences,
				  image->nsequences) = sequence;
	}
	sequences_sort(image);
}
