/*
 * A toy CPU's decoder and its text.
 */
#include "tests/lib/toy.h"

uint8_t toy_text[TOY_TEXT];

static int
toy_decode(const uint8_t *code, size_t size, uint64_t addr, struct insn *insn)
{
	if (size < TOY_LEN || code[0] == TOY_BAD || code[1] > size)
		return -1;
	*insn = (struct insn){
		.addr = addr,
		.kind = code[0],
		.len = code[1],
		.target = (uint64_t)(code[2] | code[3] << 8),
	};
	return 0;
}

const struct arch toy = { .name = "toy", .decode = toy_decode };

const uint8_t *
toy_read(void *ctx, uint64_t addr, size_t *avail)
{
	if (addr < TOY_BASE || addr >= TOY_BASE + TOY_TEXT)
		return NULL;
	*avail = TOY_BASE + TOY_TEXT - addr;
	return toy_text + (addr - TOY_BASE);
}

uint64_t
toy_put(uint64_t addr, int kind, unsigned len, uint64_t target)
{
	uint8_t *p = toy_text + (addr - TOY_BASE);

	p[0] = (uint8_t)kind;
	p[1] = (uint8_t)len;
	p[2] = (uint8_t)target;
	p[3] = (uint8_t)(target >> 8);
	return addr + len;
}

struct cfg *
toy_cfg(const uint64_t *lo, const uint64_t *hi, size_t n,
	const uint64_t *leaders, size_t nleaders)
{
	return cfg_make(&(struct cfg_input){
		.arch = &toy,
		.lo = lo,
		.hi = hi,
		.n = n,
		.leaders = leaders,
		.nleaders = nleaders,
		.text = toy_read,
	});
}

uint64_t
toy_addr(unsigned i)
{
	return TOY_BASE + i * TOY_LEN;
}
