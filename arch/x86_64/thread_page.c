/*
 * Encodes accesses to a thread counter page, to which gs leads.  Knows nothing of
 * what is there.
 *
 * Encodings: Intel SDM volume 2.
 */
#include <string.h>

#include "arch/x86_64/x86.h"

unsigned
x86_imm_size(int32_t operand)
{
	return operand == (int8_t)operand ? 1 : 4;
}

int
x86_gs_put(uint8_t *p, uint8_t opcode, unsigned reg, uint64_t disp)
{
	uint8_t modrm = (uint8_t)(0x04 | reg << 3);

	memcpy(p, (uint8_t[]){ 0x65, 0x48, opcode, modrm, 0x25 }, 5);
	memcpy(p + 5, &disp, 4);
	return fits_int32(disp) ? 0 : -1;
}

void
x86_gs_store(uint8_t *p, unsigned reg, uint64_t disp)
{
	uint32_t low = (uint32_t)disp;

	memcpy(p, (uint8_t[]){ 0x65, 0x89, (uint8_t)(0x04 | reg << 3), 0x25 },
	       4);
	memcpy(p + 4, &low, 4);
}
