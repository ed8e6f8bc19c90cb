/* A function like those of entries_asm.S, for a library. */
#include "storing.h"

	.text
	storing	unloaded

	.section .note.GNU-stack, "", @progbits
