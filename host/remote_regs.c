/*
 * Registers over the GDB remote protocol: fetched when first asked for, and
 * sent back when the program goes on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/remote_state.h"
#include "util/mem.h"

void
remote_regs_invalidate(void)
{
	remote.block_known = remote.pc_known = false;
	remote.changed = 0;
}

/* The register's number in the protocol, or nwire if it has none. */
static size_t
wire_of(unsigned reg)
{
	size_t i = 0;

	while (i < remote.arch->nwire && remote.arch->wire[i].reg != reg)
		i++;
	return i;
}

/* Where the register's digits are in the block. */
static char *
digits_of(size_t wire)
{
	size_t at = 0;

	for (size_t i = 0; i < wire; i++)
		at += 2u * remote.arch->wire[i].bytes;
	return remote.block + at;
}

static unsigned
digit(char c)
{
	if (c >= 'a')
		return (unsigned)(c - 'a' + 10) & 15;
	return (unsigned)(c >= 'A' ? c - 'A' + 10 : c - '0') & 15;
}

/*
 * Read a value in the target's byte order.  Digits 'x' mean not available, and
 * read as 0.
 */
static uint64_t
value_read(const char *digits, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++) {
		const char *p = digits + 2 * (remote.arch->big_endian ?
						      i :
						      bytes - 1 - i);

		if (*p != 'x')
			value |= (uint64_t)(digit(p[0]) << 4 | digit(p[1]))
				 << 8 * (bytes - 1 - i);
	}
	return value;
}

static void
value_write(char *digits, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++) {
		char *p = digits +
			  2 * (remote.arch->big_endian ? i : bytes - 1 - i);
		unsigned byte = value >> 8 * (bytes - 1 - i) & 0xff;

		p[0] = "0123456789abcdef"[byte >> 4];
		p[1] = "0123456789abcdef"[byte & 15];
	}
}

void
remote_regs_told(unsigned wire, const char *digits)
{
	const struct wire_reg *w = &remote.arch->wire[wire];

	if (wire >= remote.arch->nwire || w->reg != remote.arch->reg_pc ||
	    strspn(digits, "0123456789abcdefABCDEF") < 2u * w->bytes)
		return;
	remote.pc = value_read(digits, w->bytes);
	remote.pc_known = true;
}

/* Fetch the block if need be, and put a changed pc into it. */
static int
block_get(void)
{
	size_t pc = wire_of(remote.arch->reg_pc);
	int n;

	if (remote.block_known)
		return HOST_OK;
	n = remote_ask("g");
	if (n < 0)
		return HOST_GONE;
	if (n < digits_of(remote.arch->nwire) - remote.block)
		return HOST_GONE;
	free(remote.block);
	remote.block = mem_strdup(remote.link.reply);
	remote.block_known = true;
	if (remote.changed >> pc & 1)
		value_write(digits_of(pc), remote.arch->wire[pc].bytes,
			    remote.pc);
	return HOST_OK;
}

int
remote_regs_get(pid_t tid, struct regs *regs)
{
	const struct arch *arch = remote.arch;
	int err = block_get();

	if (err)
		return err;
	*regs = (struct regs){ 0 };
	for (size_t i = 0; i < arch->nwire; i++)
		if (arch->wire[i].reg != REG_NONE)
			regs->r[arch->wire[i].reg] = value_read(
				digits_of(i), arch->wire[i].bytes);
	return HOST_OK;
}

int
remote_regs_set(pid_t tid, const struct regs *regs)
{
	const struct arch *arch = remote.arch;
	struct regs old;
	int err = remote_regs_get(tid, &old);

	for (size_t i = 0; i < arch->nwire && !err; i++) {
		unsigned reg = arch->wire[i].reg;

		if (reg != REG_NONE && old.r[reg] != regs->r[reg])
			err = remote_reg_set(tid, reg, regs->r[reg]);
	}
	return err;
}

int
remote_reg_get(pid_t tid, unsigned reg, uint64_t *value)
{
	size_t wire = wire_of(reg);
	bool pc = reg == remote.arch->reg_pc;
	int n;

	if (wire == remote.arch->nwire)
		return HOST_GONE;
	if (pc && remote.pc_known) {
		*value = remote.pc;
		return HOST_OK;
	}
	if (!remote.block_known && remote.one_reg) {
		n = remote_ask("p%zx", wire);
		if (n < 2 * remote.arch->wire[wire].bytes)
			return HOST_GONE;
		*value = value_read(remote.link.reply,
				    remote.arch->wire[wire].bytes);
	} else {
		if (block_get())
			return HOST_GONE;
		*value = value_read(digits_of(wire),
				    remote.arch->wire[wire].bytes);
	}
	if (pc) {
		remote.pc = *value;
		remote.pc_known = true;
	}
	return HOST_OK;
}

int
remote_reg_set(pid_t tid, unsigned reg, uint64_t value)
{
	size_t wire = wire_of(reg);

	if (wire == remote.arch->nwire)
		return HOST_GONE;
	if (reg == remote.arch->reg_pc) {
		remote.pc = value;
		remote.pc_known = true;
	} else if (block_get()) {
		return HOST_GONE;
	}
	if (remote.block_known)
		value_write(digits_of(wire), remote.arch->wire[wire].bytes,
			    value);
	remote.changed |= UINT64_C(1) << wire;
	return HOST_OK;
}

bool
remote_pc_changed(void)
{
	return remote.changed >> wire_of(remote.arch->reg_pc) & 1;
}

static int
one_send(size_t wire)
{
	char digits[2 * sizeof(uint64_t) + 1] = "";
	unsigned bytes = remote.arch->wire[wire].bytes;

	if (remote.arch->wire[wire].reg == remote.arch->reg_pc)
		value_write(digits, bytes, remote.pc);
	else
		memcpy(digits, digits_of(wire), 2 * bytes);
	return remote_ok(remote_ask("P%zx=%s", wire, digits)) ? HOST_OK :
								HOST_GONE;
}

int
remote_regs_flush(bool leave_pc)
{
	int err = HOST_OK;

	if (leave_pc)
		remote.changed &= ~(UINT64_C(1)
				    << wire_of(remote.arch->reg_pc));
	if (remote.changed && !remote.one_reg) {
		err = block_get();
		if (!err && !remote_ok(remote_ask("G%s", remote.block)))
			err = HOST_GONE;
	} else {
		for (size_t i = 0; i < remote.arch->nwire && !err; i++)
			if (remote.changed >> i & 1)
				err = one_send(i);
	}
	remote.changed = 0;
	return err;
}
