/*
 * Reads the table of functions that Go's linker puts into each program,
 * .gopclntab: Go's src/runtime/symtab.go (pcHeader, functab),
 * src/runtime/runtime2.go (_func) and src/debug/gosym/pclntab.go.  Knows the
 * formats of Go 1.2, 1.16, 1.18 and 1.20.  Never reads lines or frames.
 */
#include "symtab/gopclntab.h"

#include <string.h>

#include "symtab/effort.h"
#include "util/mem.h"

/* The header: 4 bytes of magic, 2 zeros, quantum, size of a word; words. */
enum {
	HEAD = 8,
	HEAD_QUANTUM = 6,
	WORD_COUNT = 0,		/* number of functions */
	WORD_START = 2,		/* Go 1.18: what addresses are relative to */
	ALIGN = 32,		/* of the table in its section */
};

static const struct format {
	uint32_t magic;
	uint8_t names;		/* word with the offset of the names */
	uint8_t pcs;		/* ... of values that go with addresses */
	uint8_t funcs;		/* ... of the functions; none in Go 1.2 */
	bool relative;		/* addresses are 4 bytes from the start */
} formats[] = {
	{ .magic = 0xfffffffb },
	{ .magic = 0xfffffffa, .names = 2, .pcs = 5, .funcs = 6 },
	{ .magic = 0xfffffff0,
	  .names = 3,
	  .pcs = 6,
	  .funcs = 7,
	  .relative = true },
	{ .magic = 0xfffffff1,
	  .names = 3,
	  .pcs = 6,
	  .funcs = 7,
	  .relative = true },
};

struct table {
	struct bytes bytes;
	uint64_t addr;		/* of the first byte */
	bool big_endian;
	const struct format *format;
	size_t word;		/* bytes of a word */
	uint64_t quantum;	/* addresses differ by multiples of it */
	size_t field;		/* bytes of an entry's address or offset */
	uint64_t start;		/* added to the entries' addresses */
	uint64_t entries;	/* offset of the first one */
	uint64_t funcs;		/* what the entries' offsets are relative to */
	uint64_t names;		/* ... those of the names */
	uint64_t pcs;		/* ... and those of values */
	uint64_t n;		/* functions; one more address follows */
};

struct go_func {
	uint64_t lo, hi;
	uint64_t name;		/* its offset in the table */
	uint64_t deferreturn;	/* from lo to a call; 0: none */
};

static struct cursor
cursor_of(const struct table *t, uint64_t offset)
{
	return cursor_at(&t->bytes, offset, t->big_endian);
}

/* The format of the header that the bytes begin with, or NULL. */
static const struct format *
format_of(const struct table *t)
{
	struct cursor c = cursor_of(t, 0);
	uint64_t magic = cursor_take(&c, 4), zeros = cursor_take(&c, 2);
	uint64_t quantum = cursor_take(&c, 1), word = cursor_take(&c, 1);

	if (c.bad || zeros || word != t->word ||
	    (quantum != 1 && quantum != 2 && quantum != 4))
		return NULL;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (formats[i].magic == magic)
			return &formats[i];
	return NULL;
}

/*
 * Set the table's bytes and format.  A position-independent program has it
 * among the data that the dynamic linker relocates.
 */
static bool
table_find(struct table *t, struct elf *elf)
{
	static const char *const names[] = {
		".gopclntab",
		".data.rel.ro.gopclntab",
		".data.rel.ro",
	};
	uint64_t skip;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		t->bytes = elf_section(elf, names[i], &t->addr);
		skip = -t->addr & (ALIGN - 1);
		while (t->bytes.n > skip) {
			t->bytes.p += skip;
			t->bytes.n -= skip;
			t->addr += skip;
			t->format = format_of(t);
			if (t->format)
				return true;
			skip = ALIGN;
		}
	}
	return false;
}

static uint64_t
word_get(const struct table *t, unsigned word, bool *bad)
{
	struct cursor c = cursor_of(t, HEAD + word * t->word);
	uint64_t value = cursor_take(&c, t->word);

	*bad |= c.bad;
	return value;
}

/* The address of entry i, or behind the last function; 0 if damaged. */
static uint64_t
entry_addr(const struct table *t, uint64_t i)
{
	struct cursor c = cursor_of(t, t->entries + i * 2 * t->field);
	uint64_t value = cursor_take(&c, t->field);

	return c.bad ? 0 : value + t->start;
}

/*
 * Find out what addresses are relative to.  Newer linkers leave it out; then
 * it is the text's start, if the program begins in a function of the table.
 */
static bool
start_find(struct table *t, const struct reading *r, struct elf *elf)
{
	const struct text *text = reading_text(r, r->image->entry);
	bool bad = false;
	uint64_t value = word_get(t, WORD_START, &bad);

	if (!t->format->relative)
		return true;
	if (bad)
		return false;
	if (!value)
		elf_relative(elf, t->addr + HEAD + WORD_START * t->word,
			     &value);
	t->start = value;
	if (reading_text(r, value))
		return true;
	if (!text)
		return false;
	t->start = text->lo;
	/* C's code, linked in front of Go's, may begin with the entry. */
	for (uint64_t i = 1; i < t->n; i++)
		if (entry_addr(t, i) == r->image->entry)
			return true;
	return false;
}

/* Read the header; false if there is no table, or *damaged is set. */
static bool
table_open(struct table *t, const struct reading *r, struct elf *elf,
	   bool *damaged)
{
	bool bad = false;

	*t = (struct table){
		.big_endian = elf_big_endian(elf),
		.word = elf_wide(elf) ? 8 : 4,
	};
	*damaged = false;
	if (!table_find(t, elf))
		return false;
	t->quantum = t->bytes.p[HEAD_QUANTUM];
	t->field = t->format->relative ? 4 : t->word;
	t->n = word_get(t, WORD_COUNT, &bad);
	t->entries = HEAD + t->word;
	if (t->format->funcs) {
		t->funcs = t->entries = word_get(t, t->format->funcs, &bad);
		t->names = word_get(t, t->format->names, &bad);
	}
	if (t->format->pcs)
		t->pcs = word_get(t, t->format->pcs, &bad);
	bad = bad || t->pcs > t->bytes.n || t->entries > t->bytes.n ||
	      t->names > t->bytes.n ||
	      t->n > (t->bytes.n - t->entries) / (2 * t->field);
	*damaged = bad || !start_find(t, r, elf);
	return !*damaged;
}

/*
 * The size of a function without the padding behind it: a list of values, here
 * the sizes of its frame, has differences of values and of addresses by turns,
 * and ends with the function.  `most` if that cannot be.
 */
static uint64_t
func_size(const struct table *t, uint64_t list, uint64_t most)
{
	struct cursor c = cursor_of(t, t->pcs + list);
	uint64_t size = 0, step;

	while (!c.bad && (cursor_uleb(&c) || !size)) {
		step = cursor_uleb(&c);
		if (!step || step > (most - size) / t->quantum)
			return most;
		size += step * t->quantum;
	}
	return c.bad ? most : size;
}

/* Read function i; false if it is damaged. */
static bool
func_get(const struct table *t, const struct reading *r, uint64_t i,
	 struct go_func *func)
{
	struct cursor c = cursor_of(t, t->entries + (i * 2 + 1) * t->field);
	uint64_t offset = cursor_take(&c, t->field);

	func->lo = entry_addr(t, i);
	func->hi = entry_addr(t, i + 1);
	if (c.bad || offset > t->bytes.n ||
	    !reading_is_code(r, func->lo, func->hi))
		return false;
	c = cursor_of(t, t->funcs + offset);
	cursor_skip(&c, t->field);	/* the address again */
	func->name = t->names + cursor_take(&c, 4);
	cursor_skip(&c, 4);		/* bytes of arguments */
	func->deferreturn = cursor_take(&c, 4);
	func->hi = func->lo +
		   func_size(t, cursor_take(&c, 4), func->hi - func->lo);
	return !c.bad;
}

/* Is there a call at addr?  Before Go 1.12 the table says something else. */
static bool
is_call(const struct image *image, uint64_t addr)
{
	struct insn insn;
	size_t avail;
	const uint8_t *text = image_text(image, addr, &avail);

	return text && !image->arch->decode(text, avail, addr, &insn) &&
	       insn.kind == INSN_CALL;
}

/*
 * Each goroutine begins as if goexit had called it, from behind a nop: there it
 * returns to in the end (newproc1 in Go's src/runtime/proc.go).  No code calls
 * goexit.
 */
static bool
is_goexit(const struct table *t, const struct go_func *func)
{
	static const char name[] = "runtime.goexit";
	struct cursor c = cursor_of(t, func->name);

	/* Not by cursor_string: there may be no end to the name. */
	return !c.bad && (size_t)(c.end - c.p) >= sizeof(name) &&
	       !memcmp(c.p, name, sizeof(name)) &&
	       t->quantum < func->hi - func->lo;
}

bool
gopclntab_pads(struct reading *r, struct elf *elf)
{
	struct image *image = r->image;
	struct go_func func;
	struct table t;
	bool damaged;

	if (!table_open(&t, r, elf, &damaged))
		return !damaged;
	for (uint64_t i = 0; i < t.n && reading_goes_on(r, 2 * t.field); i++) {
		if (!func_get(&t, r, i, &func)) {
			damaged = true;
			continue;
		}
		if (func.deferreturn && func.deferreturn < func.hi - func.lo &&
		    is_call(image, func.lo + func.deferreturn))
			*vec_push(image->pads, image->npads) = func.lo +
							       func.deferreturn;
		if (is_goexit(&t, &func))
			*vec_push(image->pads, image->npads) = func.lo +
							       t.quantum;
	}
	return !damaged;
}

/* The name in the pool, or NULL; false if no more must be read. */
static bool
name_get(const struct table *t, struct effort *effort, uint64_t at,
	 const char **name)
{
	struct cursor c = cursor_of(t, at);
	const char *s = c.bad ? "" : cursor_string(&c);
	size_t n = strlen(s);

	if (!effort_spend(effort, EFFORT_NAMES, n + 1))
		return false;
	*name = n ? pool_string(effort->r->pool, s, n) : NULL;
	return true;
}

bool
gopclntab_symbols(struct reading *r, struct elf *elf)
{
	struct effort effort = effort_begin(r, elf);
	struct go_func func;
	struct table t;
	const char *name;
	bool damaged;

	if (!table_open(&t, r, elf, &damaged))
		return !damaged;
	for (uint64_t i = 0; i < t.n; i++) {
		if (!func_get(&t, r, i, &func)) {
			damaged = true;
			continue;
		}
		if (!name_get(&t, &effort, func.name, &name))
			break;
		*vec_push(r->symbols, r->nsymbols) = (struct symbol){
			.addr = func.lo,
			.size = func.hi - func.lo,
			.name = name,
			.rank = RANK_GLOBAL,
			.origin = FUNC_GO,
		};
	}
	return !damaged;
}
