/*
 * Makes the code that records the entry of a function that switches stacks: a
 * ring of callers in the thread counter page.  Never writes a process's memory.
 */
#include <stdlib.h>
#include <string.h>

#include "arch/x86_64/switch_put.h"
#include "util/mem.h"

/* The registers that are recorded, by their encodings, from ENTRY_SP on. */
static const uint8_t entry_regs[] = { RSP, RBP, 3, 12, 13, 14, 15 };

/* mov %reg, %gs:word(,%r11,2) */
static void
record_put(struct making *m, unsigned reg, unsigned word)
{
	PUT(m->filter, 0x65, 0x4a | (reg >> 3) << 2, 0x89,
	    0x04 | (reg & 7) << 3, 0x5d);
	x86_word_put(m->filter, m->in->scratch + 8 * (SWITCH_ENTRIES + word));
}

int
x86_entry_make(const struct entry_input *in, uint64_t va,
	       struct entry_filter *entry)
{
	const struct switch_input where = { .scratch = in->scratch };
	struct switch_filter *filter;
	struct making m = { &where, NULL };
	int err = -1;

	if (!x86_code_moves(in->code, in->moved))
		return -1;
	m.filter = filter = mem_alloc(sizeof(*filter));
	x86_scratch_put(&m, STORE, R10, R10);
	x86_scratch_put(&m, STORE, R11, R11);
	entry->saved = filter->len;
	x86_scratch_put(&m, LOAD, R11, SWITCH_ENTRY);
	PUT(filter, 0x4d, 0x8d, 0x5b, 0x20);	/* lea 32(%r11), %r11 */
	PUT(filter, 0x45, 0x0f, 0xb6, 0xdb);	/* movzx %r11b, %r11d */
	PUT(filter, 0x4c, 0x8b, 0x14, 0x24);	/* mov (%rsp), %r10 */
	record_put(&m, R10, ENTRY_RETURN);
	for (unsigned i = 0; i < sizeof(entry_regs); i++)
		record_put(&m, entry_regs[i], ENTRY_SP + i);
	x86_scratch_put(&m, STORE, R11, SWITCH_ENTRY);
	x86_scratch_put(&m, LOAD, R10, R10);
	x86_scratch_put(&m, LOAD, R11, R11);
	entry->moved = filter->len;
	x86_bytes_put(filter, in->code, in->moved);
	entry->moved_end = filter->len;
	PUT(filter, 0xe9, 0, 0, 0, 0);
	entry->len = filter->len;
	if (entry->len <= sizeof(entry->bytes)) {
		err = x86_jump_write(va + entry->moved_end, in->va + in->moved,
				     arch_x86_64.emit.jump_len,
				     filter->bytes + entry->moved_end);
		memcpy(entry->bytes, filter->bytes, entry->len);
		if (in->off)
			entry->bytes[0] = 0xcc;
	}
	free(filter);
	return err;
}

enum switch_inside
x86_entry_leave(const struct entry_filter *entry, uint32_t offset,
		const uint64_t *scratch, struct regs *regs)
{
	if (offset > entry->moved)
		return SWITCH_MOVED;
	if (offset >= entry->saved) {
		regs->r[X86_R10] = scratch[R10];
		regs->r[X86_R11] = scratch[R11];
	}
	return SWITCH_BEFORE;
}

void
x86_entry_regs(const uint64_t *record, struct regs *regs, uint32_t *known)
{
	*known = 0;
	for (unsigned i = 0; i < sizeof(entry_regs); i++) {
		unsigned reg = x86_saved_regs[entry_regs[i]];

		regs->r[reg] = record[ENTRY_SP + i];
		*known |= UINT32_C(1) << reg;
	}
}
