/*
 * The library that disassembles for CPUs other than this machine's.
 */
#ifndef ARCH_CAPSTONE_H
#define ARCH_CAPSTONE_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

/* Load the library, if it is not loaded yet: 0, or -1 with the message set. */
MUST_CHECK int capstone_load(void);

/*
 * A handle for a CPU, and room for an instruction; both stay.  The library can
 * be loaded.
 */
csh capstone_open(cs_arch arch, cs_mode mode, cs_insn **insn);

/* As cs_disasm_iter. */
bool capstone_next(csh handle, const uint8_t **code, size_t *size,
		   uint64_t *addr, cs_insn *insn);

#endif
