/*
 * Measures what PROBE_RECORD costs, by running many of them in pmon itself, in
 * a page of its own.  Never touches another process.
 */
#include <asm/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/x86_64/x86.h"

enum {
	PROBES = 256,
	ROUNDS = 16,
	CODE_SIZE = PROBES * FRAGMENT_MAX,
};

/* Write PROBES probes, one behind the other, and a return. */
static int
code_write(uint8_t *code, const struct page_offsets *offsets)
{
	const struct fragment fragment = {
		.kind = FRAGMENT_PROBE,
		.op = PROBE_RECORD,
	};
	const struct fragment_at at = { .page = *offsets };

	for (unsigned i = 0; i < PROBES; i++)
		if (x86_record_write(&fragment, &at,
				     code + i * x86_record_size(PROBE_RECORD)))
			return -1;
	code[PROBES * x86_record_size(PROBE_RECORD)] = 0xc3;
	return mprotect(code, CODE_SIZE, PROT_READ | PROT_EXEC);
}

static uint64_t
code_run(const uint8_t *code, uint8_t *page, const struct page_offsets *offsets)
{
	const struct record *records = (const void *)(page + offsets->records -
						      RECORDS_SIZE);
	void (*run)(void) = (void (*)(void))(uintptr_t)code;
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t took;

		*(int64_t *)(void *)(page + offsets->room) = -RECORDS_SIZE;
		run();
		took = records[PROBES - 1].stamp - records[0].stamp;
		best = took < best ? took : best;
	}
	return best / (PROBES - 1);
}

uint64_t
x86_record_cost(const struct page_offsets *offsets)
{
	uint8_t *code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *page = mmap(NULL, offsets->records, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t own, cost = 0;

	if (code != MAP_FAILED && page != MAP_FAILED &&
	    !code_write(code, offsets) &&
	    !syscall(SYS_arch_prctl, ARCH_GET_GS, &own) &&
	    !syscall(SYS_arch_prctl, ARCH_SET_GS, page)) {
		cost = code_run(code, page, offsets);
		syscall(SYS_arch_prctl, ARCH_SET_GS, own);
	}
	if (code != MAP_FAILED)
		munmap(code, CODE_SIZE);
	if (page != MAP_FAILED)
		munmap(page, offsets->records);
	return cost;
}
