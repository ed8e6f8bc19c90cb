/*
 * Keeps which pages of memory stack switches have needed, by place.  A program
 * that switches stacks often does so from the same few places, so pmon reads all
 * that it needs at once.  Reads nothing itself.
 */
#include "monitor/unwind/stack_foreseen.h"

enum { FORESEEN = 64 };

struct stack_pages *
stack_foreseen(uint64_t pc, uint64_t sp)
{
	static struct foreseen {
		uint64_t pc, sp;
		struct stack_pages pages;
	} all[FORESEEN];
	struct foreseen *foreseen;

	sp /= PAGE;
	foreseen = &all[(pc ^ pc >> 8 ^ sp) % FORESEEN];
	if (foreseen->pc != pc || foreseen->sp != sp)
		*foreseen = (struct foreseen){ .pc = pc, .sp = sp };
	return &foreseen->pages;
}
