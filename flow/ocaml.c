/*
 * Tells return addresses and exception handlers of OCaml's code from labels.
 * Makes no graph.
 */
#include "flow/ocaml.h"

#include "util/addrs.h"

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
				news |= addrs_add(handlers, n, addr);
		}
	}
	return news;
}
