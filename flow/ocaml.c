/*
 * Tells return addresses and exception handlers of OCaml's code from labels.
 * Makes no graph.
 */
#include "flow/ocaml.h"

#include <string.h>

#include "util/addrs.h"
#include "util/mem.h"
#include "util/search.h"

bool
ocaml_returns(const struct cfg *cfg, const struct cfg_input *in, uint64_t addr)
{
	const struct insn *call;
	size_t i;

	if (!in->calls_end || !addrs_has(in->frames, in->nframes, addr))
		return false;
	i = cfg_insn_from(cfg, addr);
	if (!i)
		return false;
	call = &cfg->insns[i - 1];
	return call->addr + call->len == addr && insn_comes_back(call) &&
	       call->kind != INSN_SYSCALL && cfg_proven(cfg, i - 1);
}

bool
ocaml_handles(const struct cfg_input *in, uint64_t addr)
{
	return addrs_has(in->handlers, in->nhandlers, addr);
}

/* Insert addr; false if it is there. */
static bool
addr_add(uint64_t **addrs, size_t *n, uint64_t addr)
{
	size_t at = search_first(*n, i, (*addrs)[i] >= addr);

	if (at < *n && (*addrs)[at] == addr)
		return false;
	(void)vec_push(*addrs, *n);
	memmove(*addrs + at + 1, *addrs + at, (*n - 1 - at) * sizeof(addr));
	(*addrs)[at] = addr;
	return true;
}

bool
ocaml_handlers(const struct cfg *cfg, const struct cfg_input *in,
	       uint64_t **handlers, size_t *n)
{
	bool news = false;

	if (!in->ocaml || !in->arch->handler)
		return false;
	for (size_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		for (uint32_t i = 0;
		     block->proof == PROOF_FLOW && i < block->count; i++) {
			uint64_t addr = cfg->insns[block->first + i].addr;
			size_t avail;
			const uint8_t *code = in->text(in->ctx, addr, &avail);

			if (!code)
				continue;
			addr = in->arch->handler(code, avail, addr);
			if (addr && cfg_inside(in, addr))
				news |= addr_add(handlers, n, addr);
		}
	}
	return news;
}
