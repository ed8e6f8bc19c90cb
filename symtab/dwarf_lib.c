/*
 * Lends libdwarf the sections of an ELF file.  Interprets nothing in them.
 */
#include "symtab/dwarf_lib.h"

enum { SECTION_TYPE = 1 };	/* SHT_PROGBITS */

#ifdef DW_LIBDWARF_VERSION
typedef Dwarf_Unsigned lib_index;
typedef Dwarf_Obj_Access_Section_a lib_info;
typedef Dwarf_Obj_Access_Methods_a lib_methods;
typedef Dwarf_Small lib_order;
#define ORDER_BIG DW_END_big
#define ORDER_LITTLE DW_END_little
#define info_field(name) as_##name
#define method(name) om_##name
#define interface_object ai_object
#define interface_methods ai_methods
#define object_finish(dbg) dwarf_object_finish(dbg)
#else
typedef Dwarf_Half lib_index;
typedef Dwarf_Obj_Access_Section lib_info;
typedef Dwarf_Obj_Access_Methods lib_methods;
typedef Dwarf_Endianness lib_order;
#define ORDER_BIG DW_OBJECT_MSB
#define ORDER_LITTLE DW_OBJECT_LSB
#define info_field(name) name
#define method(name) name
#define interface_object object
#define interface_methods methods
#define object_finish(dbg) dwarf_object_finish(dbg, NULL)
#endif

static int
section_info(void *object, lib_index i, lib_info *info, int *err)
{
	const struct lib *lib = object;

	if (i >= lib->nsections)
		return DW_DLV_NO_ENTRY;
	*info = (lib_info){
		.info_field(name) = lib->sections[i].name,
		.info_field(type) = i ? SECTION_TYPE : 0,
		.info_field(addr) = lib->sections[i].addr,
		.info_field(size) = lib->sections[i].bytes.n,
	};
	return DW_DLV_OK;
}

static int
section_load(void *object, lib_index i, Dwarf_Small **data, int *err)
{
	const struct lib *lib = object;

	if (i >= lib->nsections || !lib->sections[i].bytes.n)
		return DW_DLV_NO_ENTRY;
	*data = (Dwarf_Small *)lib->sections[i].bytes.p;
	return DW_DLV_OK;
}

static lib_order
byte_order(void *object)
{
	const struct lib *lib = object;

	return lib->big_endian ? ORDER_BIG : ORDER_LITTLE;
}

static Dwarf_Small
word_size(void *object)
{
	const struct lib *lib = object;

	return lib->wide ? 8 : 4;
}

static Dwarf_Unsigned
section_count(void *object)
{
	const struct lib *lib = object;

	return lib->nsections;
}

#ifdef DW_LIBDWARF_VERSION
/* The size of a file that would have nothing but these sections. */
static Dwarf_Unsigned
file_size(void *object)
{
	const struct lib *lib = object;
	Dwarf_Unsigned size = 0;

	for (size_t i = 0; i < lib->nsections; i++)
		size += lib->sections[i].bytes.n;
	return size;
}
#endif

static const lib_methods methods_of_lib = {
	.method(get_section_info) = section_info,
	.method(get_byte_order) = byte_order,
	.method(get_length_size) = word_size,
	.method(get_pointer_size) = word_size,
#ifdef DW_LIBDWARF_VERSION
	.method(get_filesize) = file_size,
#endif
	.method(get_section_count) = section_count,
	.method(load_section) = section_load,
};

int
lib_open(struct lib *lib, struct elf *elf, const char *const *names,
	 Dwarf_Debug *dbg, Dwarf_Error *err)
{
	*lib = (struct lib){
		.sections = { { .name = "" } },
		.nsections = 1,
		.big_endian = elf_big_endian(elf),
		.wide = elf_wide(elf),
		.interface = {
			.interface_object = lib,
			.interface_methods = &methods_of_lib,
		},
	};
	for (; *names && lib->nsections < LIB_SECTIONS_MAX; names++) {
		struct lib_section *sec = &lib->sections[lib->nsections];

		sec->name = *names;
		sec->bytes = elf_section(elf, *names, &sec->addr);
		lib->nsections += sec->bytes.n > 0;
	}
	return dwarf_object_init_b(&lib->interface, NULL, NULL,
				   DW_GROUPNUMBER_ANY, dbg, err);
}

void
lib_close(Dwarf_Debug dbg)
{
	if (dbg)
		object_finish(dbg);
}
