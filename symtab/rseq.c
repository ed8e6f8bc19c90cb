/*
 * Reads where a program has restartable sequences: code that the kernel begins
 * anew if it was interrupted (linux/rseq.h, struct rseq_cs).  Leaves out what is
 * damaged; never fails.
 */
#include "symtab/rseq.h"

#include <endian.h>
#include <string.h>

#include "symtab/image.h"
#include "util/mem.h"

/* Of struct rseq_cs: its size, where the sequence begins, and how long it is. */
enum { ENTRY = 32, START = 8, LENGTH = 16 };

static uint64_t
word_get(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

void
rseq_read(struct elf *elf, struct image *image)
{
	uint64_t addr;
	struct bytes section = elf_section(elf, "__rseq_cs", &addr);

	for (size_t at = 0; at + ENTRY <= section.n; at += ENTRY) {
		size_t avail = 0;
		const uint8_t *p = image_data(image, addr + at, &avail);
		struct range sequence;

		/* With the dynamic linker's relocations done, if there are any. */
		if (!p || avail < ENTRY)
			p = section.p + at;
		sequence.lo = word_get(p + START);
		sequence.hi = sequence.lo + word_get(p + LENGTH);
		if (sequence.lo < sequence.hi)
			*vec_push(image->sequences,
				  image->nsequences) = sequence;
	}
}
