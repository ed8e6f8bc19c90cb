/*
 * Goes through trees of DIEs.  libdwarf could, too, but reads all that a DIE has
 * below it once for each sibling, unless it follows DW_AT_sibling, and then it
 * follows one that points to its own DIE for ever.  Both would be most of what
 * pmon does with a program that has much DWARF.  Always goes forward.
 */
#include "symtab/dwarf_tree.h"

int
tree_enter(struct tree *tree, const struct tree_unit *unit)
{
	tree->unit = *unit;
	if (tree->unit.end > tree->info.n)
		tree->unit.end = tree->info.n;
	return abbrevs_read(&tree->abbrevs, &tree->abbrev, unit->abbrevs,
			    unit->sizes, tree->effort);
}

void
tree_close(struct tree *tree)
{
	abbrevs_free(&tree->abbrevs);
}

/* The DIE at the cursor, which comes behind its attributes. */
static int
die_take(const struct tree *tree, struct cursor *c, struct tree_die *die)
{
	const struct abbrev *abbrev;
	uint64_t code, sibling;

	*die = (struct tree_die){
		.offset = (uint64_t)(c->p - tree->info.p),
	};
	if (c->p == c->end)
		return 0;
	code = cursor_uleb(c);
	if (!code && !c->bad)
		return 0;
	abbrev = abbrevs_find(&tree->abbrevs, code);
	if (!abbrev)
		return -1;
	sibling = abbrev_pass(&tree->abbrevs, abbrev, c);
	if (c->bad)
		return -1;
	die->tag = abbrev->tag;
	die->has_children = abbrev->has_children;
	die->has_code = abbrev->has_code;
	die->behind = (uint64_t)(c->p - tree->info.p);
	if (sibling > die->behind - tree->unit.header &&
	    sibling < tree->unit.end - tree->unit.header)
		die->sibling = tree->unit.header + sibling;
	return 1;
}

static struct cursor
cursor_in(const struct tree *tree, uint64_t offset)
{
	const struct bytes bytes = { tree->info.p, tree->unit.end };

	return cursor_at(&bytes, offset, tree->big_endian);
}

int
tree_die(const struct tree *tree, uint64_t offset, struct tree_die *die)
{
	struct cursor c = cursor_in(tree, offset);

	/* A last 0 may be missing. */
	return c.bad ? 0 : die_take(tree, &c, die);
}

uint64_t
tree_next(const struct tree *tree, const struct tree_die *die)
{
	struct cursor c;
	struct tree_die inner;
	uint64_t depth = 1;
	int got;

	if (!die->has_children)
		return die->behind;
	if (die->sibling)
		return die->sibling;
	c = cursor_in(tree, die->behind);
	if (c.bad)
		return tree->unit.end;
	while (depth && !c.bad) {
		got = die_take(tree, &c, &inner);
		if (got < 0)
			return 0;
		if (!got && c.p == c.end)
			break;
		if (!got)
			depth--;
		else if (inner.has_children && inner.sibling)
			c = cursor_in(tree, inner.sibling);
		else if (inner.has_children)
			depth++;
	}
	return c.bad ? 0 : (uint64_t)(c.p - tree->info.p);
}
