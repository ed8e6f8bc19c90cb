/*
 * Writes the code of filters (arch/switch_filter.h): what those of switches and
 * those of entries have in common.  Private to arch/x86_64/.
 */
#ifndef ARCH_X86_64_SWITCH_PUT_H
#define ARCH_X86_64_SWITCH_PUT_H

#include "arch/switch_filter.h"
#include "arch/x86_64/x86.h"

/* Encodings of registers. */
enum { RAX = 0, RCX = 1, RSP = 4, RBP = 5, R10 = 10, R11 = 11 };

/* A filter that is being written. */
struct making {
	const struct switch_input *in;
	struct switch_filter *filter;
};

/* The registers of encodings 0 to 15 are saved in that order. */
extern const uint8_t x86_saved_regs[SWITCH_REGS];

void x86_bytes_put(struct switch_filter *filter, const void *bytes, size_t n);
void x86_word_put(struct switch_filter *filter, uint32_t word);

#define PUT(filter, ...) \
	x86_bytes_put(filter, (const uint8_t[]){ __VA_ARGS__ }, \
		      sizeof((const uint8_t[]){ __VA_ARGS__ }))

enum scratch_way { STORE = 0x89, LOAD = 0x8b, COMPARE = 0x39 };

/* op %reg, %gs:scratch[word]; or a load the other way. */
void x86_scratch_put(struct making *m, enum scratch_way way, unsigned reg,
		     unsigned word);
/* Whether instructions do the same anywhere, and use no thread counter page. */
bool x86_code_moves(const uint8_t *code, size_t len);

#endif
