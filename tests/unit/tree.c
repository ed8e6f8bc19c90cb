/*
 * Trees of DIEs, of bytes that are written here: which DIEs there are, and where
 * the next sibling of each is, whatever DW_AT_sibling says.
 */
#include <libdwarf/dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "symtab/dwarf_tree.h"
#include "symtab/reading.h"

#include <cmocka.h>

enum { HEADER = 11, UNIT = 1, FUNC = 2, PLAIN = 3, WIDE = 4 };

/* Codes 1, 2, 3, 4 and, out of order, 300. */
static const uint8_t abbrevs[] = {
	0xff,
	0xff, /* not of this table */
	UNIT,
	DW_TAG_compile_unit,
	1,
	0,
	0,
	FUNC,
	DW_TAG_subprogram,
	1,
	DW_AT_sibling,
	DW_FORM_ref4,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_external,
	DW_FORM_flag_present,
	0,
	0,
	PLAIN,
	DW_TAG_variable,
	0,
	DW_AT_name,
	DW_FORM_string,
	DW_AT_type,
	DW_FORM_udata,
	DW_AT_location,
	DW_FORM_exprloc,
	DW_AT_decl_line,
	DW_FORM_implicit_const,
	0xff,
	0x7e,
	0,
	0,
	WIDE,
	DW_TAG_lexical_block,
	1,
	DW_AT_type,
	DW_FORM_indirect,
	0,
	0,
	0xac,
	0x02,
	DW_TAG_member,
	0,
	DW_AT_name,
	DW_FORM_strp,
	0,
	0,
	0,
};

/* What is in .debug_info, from the unit's header on. */
struct info {
	uint8_t bytes[256];
	size_t n;
};

static void
put(struct info *info, int byte)
{
	assert_true(info->n < sizeof(info->bytes));
	info->bytes[info->n++] = (uint8_t)byte;
}

static void
put_func(struct info *info, uint32_t sibling)
{
	put(info, FUNC);
	for (unsigned i = 0; i < 4; i++)
		put(info, (int)(sibling >> 8 * i & 0xff));
	for (unsigned i = 0; i < 8; i++)
		put(info, 0x11);
}

static void
put_plain(struct info *info)
{
	static const int bytes[] = { PLAIN, 'a', 0, 0x81, 1, 2, 0xaa, 0xaa };

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++)
		put(info, bytes[i]);
}

/*
 * A function whose DW_AT_sibling is `sibling`, with a variable, a block and a
 * member in that; then a variable.  Returns where the variable is.
 */
static size_t
info_make(struct info *info, uint32_t sibling)
{
	size_t behind;

	*info = (struct info){ .n = HEADER };
	put(info, UNIT);
	put_func(info, sibling);
	put_plain(info);
	put(info, WIDE);
	put(info, DW_FORM_data2);
	put(info, 0);
	put(info, 0);
	put(info, 0xac);	/* 300 */
	put(info, 2);
	for (unsigned i = 0; i < 4; i++)
		put(info, 0x22);
	put(info, 0);		/* ends the block, then the function */
	put(info, 0);
	behind = info->n;
	put_plain(info);
	put(info, 0);
	return behind;
}

struct opened {
	struct reading reading;
	struct effort effort;
	struct tree tree;
};

static void
opened_make(struct opened *opened, const struct info *info)
{
	*opened = (struct opened){
		.effort = { .r = &opened->reading, .size = 1 << 20 },
		.tree = {
			.info = { info->bytes, info->n },
			.abbrev = { abbrevs, sizeof(abbrevs) },
			.effort = &opened->effort,
		},
	};
	assert_int_equal(tree_enter(&opened->tree,
				    &(struct tree_unit){
					    .die = HEADER,
					    .end = info->n,
					    .abbrevs = 2,
					    .sizes = { 8, 4, 5 },
				    }),
			 0);
}

/* The function is found, and what is behind it. */
static void
check_function(const struct info *info, size_t behind)
{
	struct opened opened;
	struct tree_die unit, func, next;

	opened_make(&opened, info);
	assert_int_equal(tree_die(&opened.tree, HEADER, &unit), 1);
	assert_int_equal(unit.tag, DW_TAG_compile_unit);
	assert_true(unit.has_children && !unit.has_code);
	assert_int_equal(unit.behind, HEADER + 1);
	assert_int_equal(tree_next(&opened.tree, &unit), info->n);
	assert_int_equal(tree_die(&opened.tree, unit.behind, &func), 1);
	assert_int_equal(func.tag, DW_TAG_subprogram);
	assert_true(func.has_children && func.has_code);
	assert_int_equal(func.behind, unit.behind + 13);
	assert_int_equal(tree_next(&opened.tree, &func), behind);
	assert_int_equal(tree_die(&opened.tree, behind, &next), 1);
	assert_int_equal(next.tag, DW_TAG_variable);
	assert_false(next.has_children || next.has_code);
	assert_int_equal(tree_next(&opened.tree, &next), behind + 8);
	assert_int_equal(tree_die(&opened.tree, behind + 8, &next), 0);
	tree_close(&opened.tree);
}

static void
test_siblings(void **state)
{
	struct info info;
	size_t behind = info_make(&info, 0);
	/* To itself, back, into the header, behind the unit, far away. */
	uint32_t wrong[] = { HEADER + 1, HEADER,	   3,
			     0,		 (uint32_t)info.n, UINT32_MAX };

	info_make(&info, (uint32_t)behind);
	check_function(&info, behind);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		info_make(&info, wrong[i]);
		check_function(&info, behind);
	}
}

/* What a right DW_AT_sibling leads past is not read. */
static void
test_passed_over(void **state)
{
	struct info info;
	size_t behind = info_make(&info, 0);

	info_make(&info, (uint32_t)behind);
	info.bytes[HEADER + 14] = 99;	/* no such abbreviation */
	check_function(&info, behind);
}

static void
test_damage(void **state)
{
	struct opened opened;
	struct tree_die die;
	struct info info;

	info_make(&info, 0);
	info.bytes[HEADER + 14] = 99;
	opened_make(&opened, &info);
	assert_int_equal(tree_die(&opened.tree, HEADER + 1, &die), 1);
	assert_int_equal(tree_next(&opened.tree, &die), 0);
	assert_int_equal(tree_die(&opened.tree, HEADER + 14, &die), -1);
	tree_close(&opened.tree);
	/* The unit ends in the function, or in its attributes. */
	info_make(&info, 0);
	info.n = HEADER + 14 + 8;
	opened_make(&opened, &info);
	assert_int_equal(tree_die(&opened.tree, HEADER + 1, &die), 1);
	assert_int_equal(tree_next(&opened.tree, &die), info.n);
	tree_close(&opened.tree);
	info.n = HEADER + 5;
	opened_make(&opened, &info);
	assert_int_equal(tree_die(&opened.tree, HEADER + 1, &die), -1);
	tree_close(&opened.tree);
}

/* A table is read once for units that share it, but counts for each. */
static void
test_effort(void **state)
{
	struct opened opened;
	struct info info;
	struct tree_unit unit;
	uint64_t once;

	info_make(&info, 0);
	opened_make(&opened, &info);
	once = opened.effort.spent[EFFORT_ABBREV];
	assert_int_equal(once, sizeof(abbrevs) - 2);
	unit = opened.tree.unit;
	assert_int_equal(tree_enter(&opened.tree, &unit), 0);
	assert_int_equal(opened.effort.spent[EFFORT_ABBREV], 2 * once);
	opened.effort.over = true;
	assert_int_equal(tree_enter(&opened.tree, &unit), -1);
	tree_close(&opened.tree);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_passed_over),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_effort),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
