/*
 * The table of an image's lines and inlined functions: what was found of each.
 * Adds up no counts.
 */
#include "program/units.h"

#include <stdlib.h>

#include "program/code.h"
#include "util/mem.h"

void
unit_table_free(struct unit_table *table)
{
	if (!table)
		return;
	free(table->line_index);
	free(table->choices);
	free(table->stmts);
	free(table->copy_units);
	free(table->units);
	free(table->skips);
	free(table);
}

uint32_t
unit_add(struct unit_table *table, enum unit_kind kind, uint32_t ref,
	 uint32_t line)
{
	*vec_push(table->units, table->nunits) = (struct unit){
		.kind = kind,
		.ref = ref,
		.line = line,
		.func = kind == UNIT_LINE ? table->func : FUNC_NONE,
	};
	return table->nunits - 1;
}

void
unit_skip(struct unit_table *table, uint32_t unit, uint64_t addr,
	  const char *why)
{
	if (!table->keeping)
		return;
	*vec_push(table->skips, table->nskips) = (struct skip){
		.addr = addr,
		.why = why,
	};
	if (unit != UNIT_NONE && !table->units[unit].summed &&
	    !table->units[unit].why)
		table->units[unit].why = why;
}

void
unit_found(struct unit *unit)
{
	if (!unit->summed)
		unit->why = NULL;
	unit->summed = true;
}
