/*
 * Reads line tables of DWARF 2 to 5.  Does not use libdwarf: Debian 12's
 * starts the line programs of DWARF 5 at file 0, where the standard says 1
 * (6.2.2), and so takes lines of a header for lines of the source file.
 * Pure: bytes in, rows out, whatever the bytes.
 */
#include "symtab/dwarf_lines.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum {
	FORMATS_MAX = 16,
	STEP = 1 << 10,		/* bytes between checks of the effort */
};

struct line_file {
	const char *name;
	uint64_t dir;
	uint32_t index;		/* in image->files, once it is known */
	bool known;
};

struct line_table {
	const struct line_sections *sections;
	const char *comp_dir;
	struct cursor program;
	unsigned version;
	unsigned offset_size;	/* 4 or 8 */
	uint8_t min_insn, opcode_base, line_range, default_is_stmt;
	int8_t line_base;
	const uint8_t *operands;	/* of standard opcodes, from 1 */
	const char **dirs;	/* numbered from 1; from 0 in DWARF 5 */
	size_t ndirs;
	struct line_file *files;	/* numbered likewise */
	size_t nfiles;
};

/* The registers of a line program, and where its rows go. */
struct machine {
	struct line_table *table;
	struct reading *r;
	size_t first;		/* the sequence's first row */
	uint64_t addr, file;
	uint32_t line;
	bool is_stmt;
};

/* The string at offset of the section; "", and c bad, if there is none. */
static const char *
string_at(struct line_table *t, struct cursor *c, const struct bytes *section,
	  uint64_t offset)
{
	struct cursor at = cursor_at(section, offset, c->big_endian);
	const uint8_t *start = at.p;
	const char *s = at.bad ? "" : cursor_string(&at);

	c->bad |= at.bad || !effort_spend(t->sections->effort, EFFORT_STR,
					  (uint64_t)(at.p - start));
	return s;
}

/* A field of a DWARF 5 entry: returns its string, or sets *number. */
static const char *
take_form(struct line_table *t, struct cursor *c, uint64_t form,
	  uint64_t *number)
{
	*number = 0;
	switch (form) {
	case DW_FORM_string:
		return cursor_string(c);
	case DW_FORM_line_strp:
		return string_at(t, c, &t->sections->line_str,
				 cursor_take(c, t->offset_size));
	case DW_FORM_strp:
		return string_at(t, c, &t->sections->str,
				 cursor_take(c, t->offset_size));
	case DW_FORM_data1:
	case DW_FORM_strx1:
		*number = cursor_take(c, 1);
		break;
	case DW_FORM_data2:
	case DW_FORM_strx2:
		*number = cursor_take(c, 2);
		break;
	case DW_FORM_data4:
	case DW_FORM_strx4:
		*number = cursor_take(c, 4);
		break;
	case DW_FORM_data8:
		*number = cursor_take(c, 8);
		break;
	case DW_FORM_udata:
	case DW_FORM_strx:
		*number = cursor_uleb(c);
		break;
	case DW_FORM_data16:
		cursor_skip(c, 16);
		break;
	case DW_FORM_block:
		cursor_skip(c, cursor_uleb(c));
		break;
	default:
		c->bad = true;
	}
	return "?";
}

static void
dir_add(struct line_table *t, const char *name)
{
	*vec_push(t->dirs, t->ndirs) = name;
}

static void
file_add(struct line_table *t, const char *name, uint64_t dir)
{
	*vec_push(t->files, t->nfiles) = (struct line_file){
		.name = name,
		.dir = dir,
	};
}

/* Read the directories, or the files, of DWARF 5 (6.2.4.1). */
static void
entries_read(struct line_table *t, struct cursor *c, bool files)
{
	uint64_t types[FORMATS_MAX], forms[FORMATS_MAX], count, number;
	size_t nformats = (size_t)cursor_take(c, 1);

	if (nformats > FORMATS_MAX) {
		c->bad = true;
		return;
	}
	for (size_t i = 0; i < nformats; i++) {
		types[i] = cursor_uleb(c);
		forms[i] = cursor_uleb(c);
	}
	count = cursor_uleb(c);
	if (!nformats && count)
		c->bad = true;
	/* This ends, since every form takes at least a byte. */
	while (count-- && !c->bad) {
		const char *name = "?";
		uint64_t dir = 0;

		for (size_t i = 0; i < nformats; i++) {
			const char *s = take_form(t, c, forms[i], &number);

			if (types[i] == DW_LNCT_path)
				name = s;
			else if (types[i] == DW_LNCT_directory_index)
				dir = number;
		}
		if (files)
			file_add(t, name, dir);
		else
			dir_add(t, name);
	}
}

static void
file_take(struct line_table *t, struct cursor *c, const char *name)
{
	uint64_t dir = cursor_uleb(c);

	cursor_uleb(c);		/* time */
	cursor_uleb(c);		/* size */
	file_add(t, name, dir);
}

/* Read the directories and files of DWARF 2 to 4. */
static void
names_read(struct line_table *t, struct cursor *c)
{
	const char *name;

	while (*(name = cursor_string(c)))
		dir_add(t, name);
	while (*(name = cursor_string(c)))
		file_take(t, c, name);
}

static void
header_read(struct line_table *t, struct cursor *c)
{
	uint64_t length = cursor_take(c, 4);

	t->offset_size = 4;
	if (length == 0xffffffff) {
		length = cursor_take(c, 8);
		t->offset_size = 8;
	}
	if (length > (uint64_t)(c->end - c->p))
		c->bad = true;
	else
		c->end = c->p + length;
	t->version = (unsigned)cursor_take(c, 2);
	if (t->version < 2 || t->version > 5) {
		c->bad = true;
		return;
	}
	if (t->version >= 5)
		cursor_skip(c, 2);	/* sizes of address and selector */
	length = cursor_take(c, t->offset_size);
	t->program = *c;
	cursor_skip(&t->program, length);
	t->min_insn = (uint8_t)cursor_take(c, 1);
	if (t->version >= 4)
		cursor_skip(c, 1);	/* operations in an instruction */
	t->default_is_stmt = (uint8_t)cursor_take(c, 1);
	t->line_base = (int8_t)cursor_take(c, 1);
	t->line_range = (uint8_t)cursor_take(c, 1);
	t->opcode_base = (uint8_t)cursor_take(c, 1);
	t->operands = c->p;
	cursor_skip(c, t->opcode_base ? t->opcode_base - 1u : 0);
	if (!t->line_range || !t->opcode_base || t->program.bad ||
	    t->program.p < c->p) {
		c->bad = true;
		return;
	}
	c->end = t->program.p;
	if (t->version < 5) {
		names_read(t, c);
		return;
	}
	entries_read(t, c, false);
	entries_read(t, c, true);
}

struct line_table *
lines_open(const struct line_sections *sections, uint64_t offset,
	   const char *comp_dir)
{
	struct line_table *t;
	struct cursor c = cursor_at(&sections->line, offset,
				    sections->big_endian);
	const uint8_t *start;

	if (c.bad)
		return NULL;
	t = mem_alloc(sizeof(*t));
	t->sections = sections;
	t->comp_dir = comp_dir;
	start = c.p;
	header_read(t, &c);
	if (effort_spend(sections->effort, EFFORT_LINE,
			 (uint64_t)(c.p - start)) &&
	    !c.bad)
		return t;
	lines_close(t);
	return NULL;
}

void
lines_close(struct line_table *table)
{
	if (!table)
		return;
	free(table->dirs);
	free(table->files);
	free(table);
}

/* The directory of that number, "" if there is none. */
static const char *
dir_name(const struct line_table *t, uint64_t number)
{
	if (t->version >= 5)
		return number < t->ndirs ? t->dirs[number] : "";
	return number && number <= t->ndirs ? t->dirs[number - 1] : "";
}

static char *
path_make(const struct line_table *t, const struct line_file *file)
{
	const char *dir = dir_name(t, file->dir);
	const char *base = t->comp_dir ? t->comp_dir : "";

	/* Directory 0 of DWARF 5 is the compiler's own, like comp_dir. */
	if (t->version >= 5 && t->ndirs)
		base = file->dir ? t->dirs[0] : "";
	if (*file->name == '/')
		base = dir = "";
	else if (*dir == '/')
		base = "";
	return mem_printf("%s%s%s%s%s", base, *base ? "/" : "", dir,
			  *dir ? "/" : "", file->name);
}

uint32_t
lines_file(struct line_table *table, struct reading *r, uint64_t number)
{
	struct line_file *file;
	char *path;

	if (table->version < 5)
		number--;
	if (number >= table->nfiles || table->sections->effort->over)
		return FILE_NONE;
	file = &table->files[number];
	if (!file->known) {
		path = path_make(table, file);
		effort_spend(table->sections->effort, EFFORT_STR, strlen(path));
		file->index = reading_file(r, path);
		file->known = true;
		free(path);
	}
	return file->index;
}

static void
sequence_begin(struct machine *m)
{
	m->first = m->r->image->nrows;
	m->addr = 0;
	m->file = 1;
	m->line = 1;
	m->is_stmt = m->table->default_is_stmt;
}

static void
row_add(struct machine *m)
{
	struct image *image = m->r->image;

	*vec_push(image->rows, image->nrows) = (struct row){
		.addr = m->addr,
		.file = lines_file(m->table, m->r, m->file),
		.line = m->line,
		.is_stmt = m->is_stmt,
	};
}

/*
 * Finish the sequence: set where its rows end and drop those outside the text
 * it begins in, or all of them if it begins in no text.
 */
static void
sequence_end(struct machine *m)
{
	struct image *image = m->r->image;
	size_t n = image->nrows - m->first, kept = 0;
	const struct text *text;
	struct row *rows;
	uint64_t key;

	if (!n)
		return;
	rows = image->rows + m->first;
	text = reading_text(m->r, rows->addr);
	image->nrows = m->first;
	if (!text || !rows->addr)
		return;
	/* The rows of copies that the linker dropped are the same again. */
	key = rows->addr * (uint64_t)0x9e3779b97f4a7c15 ^ m->addr;
	if (!map_put(&m->r->sequences, key, 0))
		return;
	for (size_t i = 0; i < n; i++) {
		struct row row = rows[i];

		row.end = i + 1 < n ? rows[i + 1].addr : m->addr;
		if (row.addr < text->lo || row.addr >= text->hi)
			continue;
		if (row.end < row.addr)
			row.end = row.addr;
		if (row.end > text->hi)
			row.end = text->hi;
		rows[kept++] = row;
	}
	image->nrows += kept;
}

static void
advance(struct machine *m, uint64_t operations)
{
	m->addr += operations * m->table->min_insn;
}

static void
extended(struct machine *m, struct cursor *c)
{
	uint64_t len = cursor_uleb(c);
	struct cursor arg = *c;
	uint8_t opcode;

	cursor_skip(c, len);
	if (!len || c->bad)
		return;
	arg.end = c->p;
	opcode = (uint8_t)cursor_take(&arg, 1);
	switch (opcode) {
	case DW_LNE_end_sequence:
		sequence_end(m);
		sequence_begin(m);
		break;
	case DW_LNE_set_address:
		m->addr = cursor_take(&arg, len - 1 <= 8 ? len - 1 : 0);
		break;
	case DW_LNE_define_file:
		if (m->table->version < 5)
			file_take(m->table, &arg, cursor_string(&arg));
		break;
	}
}

static void
standard(struct machine *m, struct cursor *c, uint8_t opcode)
{
	struct line_table *t = m->table;

	switch (opcode) {
	case DW_LNS_copy:
		row_add(m);
		return;
	case DW_LNS_advance_pc:
		advance(m, cursor_uleb(c));
		return;
	case DW_LNS_advance_line:
		m->line += (uint32_t)cursor_sleb(c);
		return;
	case DW_LNS_set_file:
		m->file = cursor_uleb(c);
		return;
	case DW_LNS_negate_stmt:
		m->is_stmt = !m->is_stmt;
		return;
	case DW_LNS_const_add_pc:
		advance(m, (255u - t->opcode_base) / t->line_range);
		return;
	case DW_LNS_fixed_advance_pc:
		m->addr += cursor_take(c, 2);
		return;
	}
	for (uint8_t i = t->operands[opcode - 1]; i; i--)
		cursor_uleb(c);
}

int
lines_read(struct line_table *table, struct reading *r)
{
	struct machine m = { .table = table, .r = r };
	struct cursor c = table->program;
	const uint8_t *told = c.p;

	sequence_begin(&m);
	while (c.p < c.end && !c.bad) {
		uint8_t opcode = (uint8_t)cursor_take(&c, 1);

		if (!opcode) {
			extended(&m, &c);
		} else if (opcode < table->opcode_base) {
			standard(&m, &c, opcode);
		} else {
			opcode -= table->opcode_base;
			advance(&m, opcode / table->line_range);
			m.line += (uint32_t)(table->line_base +
					     opcode % table->line_range);
			row_add(&m);
		}
		if (c.p - told < STEP && c.p < c.end)
			continue;
		c.bad |= !effort_spend(table->sections->effort, EFFORT_LINE,
				       (uint64_t)(c.p - told));
		told = c.p;
	}
	if (r->image->nrows == m.first && !c.bad)
		return 0;
	/* The last sequence has no end. */
	r->image->nrows = m.first;
	return -1;
}
