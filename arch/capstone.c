/*
 * Loads capstone when the first program for another CPU is looked at.  Its
 * tables have 77,000 addresses to relocate, a sixth of pmon's start if it were
 * linked to pmon.  Knows no CPU.
 */
#include "arch/capstone.h"

#include <dlfcn.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* The version that the header is of. */
static const char name[] = "libcapstone.so." TEXT(CS_API_MAJOR);

static struct {
	cs_err (*open)(cs_arch arch, cs_mode mode, csh *handle);
	cs_insn *(*malloc)(csh handle);
	bool (*disasm_iter)(csh handle, const uint8_t **code, size_t *size,
			    uint64_t *addr, cs_insn *insn);
} library;

int
capstone_load(void)
{
	void *handle;

	if (library.disasm_iter)
		return 0;
	handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return fail("capstone: %s", dlerror());
	library.open = (cs_err(*)(cs_arch, cs_mode, csh *))dlsym(handle,
								 "cs_open");
	library.malloc = (cs_insn * (*)(csh)) dlsym(handle, "cs_malloc");
	library.disasm_iter = (bool (*)(csh, const uint8_t **, size_t *,
					uint64_t *,
					cs_insn *))dlsym(handle,
							 "cs_disasm_iter");
	if (library.open && library.malloc && library.disasm_iter)
		return 0;
	library.disasm_iter = NULL;
	return fail("capstone: %s lacks a function", name);
}

csh
capstone_open(cs_arch arch, cs_mode mode, cs_insn **insn)
{
	csh handle;

	must(!capstone_load());
	must(library.open(arch, mode, &handle) == CS_ERR_OK);
	*insn = library.malloc(handle);
	must(*insn);
	return handle;
}

bool
capstone_next(csh handle, const uint8_t **code, size_t *size, uint64_t *addr,
	      cs_insn *insn)
{
	return library.disasm_iter(handle, code, size, addr, insn);
}
