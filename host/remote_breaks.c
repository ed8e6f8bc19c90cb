/*
 * Breakpoints of stubs that do not let text be written, or whose machine does
 * not stop at a trap instruction: those of the protocol (packets Z0, z0).  Code
 * that reads or writes memory through host_remote sees them as trap
 * instructions in the text.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "host/remote_state.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

/* The index of va in the list, or where it would be inserted. */
static size_t
index_of(uint64_t va)
{
	return search_first(remote.nbroken, i, remote.broken[i] >= va);
}

bool
remote_breaks_at(uint64_t va)
{
	size_t i = index_of(va);

	return i < remote.nbroken && remote.broken[i] == va;
}

static int
packet_z(char z, uint64_t va)
{
	return remote_ok(remote_ask("%c0,%" PRIx64 ",%x", z, va,
				    (unsigned)remote.arch->trap_len)) ?
		       HOST_OK :
		       HOST_GONE;
}

int
remote_break_set(uint64_t va)
{
	size_t i = index_of(va);

	if (packet_z('Z', va))
		return HOST_GONE;
	*vec_push(remote.broken, remote.nbroken) = 0;
	memmove(remote.broken + i + 1, remote.broken + i,
		(remote.nbroken - 1 - i) * sizeof(*remote.broken));
	remote.broken[i] = va;
	return HOST_OK;
}

int
remote_break_clear(uint64_t va)
{
	size_t i = index_of(va);

	if (packet_z('z', va))
		return HOST_GONE;
	remote.nbroken--;
	memmove(remote.broken + i, remote.broken + i + 1,
		(remote.nbroken - i) * sizeof(*remote.broken));
	return HOST_OK;
}

void
remote_breaks_show(uint64_t va, uint8_t *text, size_t n)
{
	const struct arch *arch = remote.arch;
	uint64_t lo = va < arch->trap_len ? 0 : va - arch->trap_len + 1;

	for (size_t i = index_of(lo);
	     i < remote.nbroken && remote.broken[i] < va + n; i++)
		for (size_t k = 0; k < arch->trap_len; k++)
			if (remote.broken[i] + k - va < n)
				text[remote.broken[i] + k - va] = arch->trap[k];
}

int
remote_breaks_write(uint64_t va, const uint8_t *now, const uint8_t *text,
		    size_t n)
{
	const struct arch *arch = remote.arch;
	size_t i = 0, len = arch->trap_len;

	while (i < n) {
		bool fits = n - i >= len;
		bool trap = fits && !memcmp(text + i, arch->trap, len);
		bool there = fits && remote_breaks_at(va + i);

		if (trap && !there && memcmp(now + i, arch->trap, len)) {
			if (remote_break_set(va + i))
				return HOST_GONE;
			i += len;
		} else if (there && !trap) {
			if (remote_break_clear(va + i))
				return HOST_GONE;
			i += len;
		} else if (text[i] != now[i]) {
			return HOST_GONE;
		} else {
			i++;
		}
	}
	return HOST_OK;
}

/*
 * A trap instruction made for debuggers stops under every stub that lets it be
 * written.  An illegal instruction may be handled by the program's kernel.
 */
int
remote_breaks_try(const char *name)
{
	const struct arch *arch = remote.arch;
	uint8_t text[sizeof(arch->trap)];
	uint64_t pc;

	if (remote_reg_get(remote.tid, arch->reg_pc, &pc) ||
	    remote_mem_read(0, remote.tid, pc, text, arch->trap_len))
		return fail("%s: the stub does not let pmon read the program",
			    name);
	if (arch->trap_signal == SIGTRAP &&
	    !remote_mem_write(0, remote.tid, pc, text, arch->trap_len))
		return 0;
	if (packet_z('Z', pc) || packet_z('z', pc))
		return fail("%s: the stub refuses breakpoints", name);
	remote.breaks = true;
	return 0;
}
