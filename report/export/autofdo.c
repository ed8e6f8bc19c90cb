/*
 * Writes LLVM's sample profile as text, for clang -fprofile-sample-use (Clang
 * manual, "Sample Profile Text Format").  A line's count is that of its most
 * frequent instruction, as in create_llvm_prof.  Counts are exact, and those of
 * machine code.  Discriminators are not known, and left out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/callees.h"
#include "report/inline_frames.h"
#include "report/kinds.h"
#include "report/printable.h"
#include "util/mem.h"
#include "util/search.h"

/* A function's code: its own, or that of an inlined copy. */
struct scope {
	const char *name;
	uint32_t file, line;	/* of its declaration */
	uint32_t outer;		/* the scope around it, or SCOPE_NONE */
	uint32_t call;		/* the line there that calls it */
	uint64_t total;		/* of its lines and of the scopes in it */
	uint64_t head;
};

static const uint32_t SCOPE_NONE = UINT32_MAX;

/* A line of a scope, or a function called there. */
struct entry {
	uint32_t scope;
	uint32_t offset;	/* from the scope's declaration */
	char *callee;		/* NULL: n is the line's count */
	uint64_t n;
};

struct page {
	FILE *out;
	const struct plan *plan;
	struct frames *frames;
	struct callees callees;
	struct scope *scopes;	/* of the current function, which is 0 */
	size_t nscopes;
	struct entry *entries;
	size_t nentries;
	uint32_t frame, scope;	/* looked up last */
};

/* ---- gathering */

static uint32_t
scope_find(struct page *page, const struct scope *scope)
{
	for (uint32_t i = 0; i < page->nscopes; i++) {
		const struct scope *this = &page->scopes[i];

		if (this->outer == scope->outer && this->call == scope->call &&
		    !strcmp(this->name, scope->name))
			return i;
	}
	*vec_push(page->scopes, page->nscopes) = *scope;
	return (uint32_t)page->nscopes - 1;
}

/* Find or add the scope of an inlined copy, and those around it. */
static uint32_t
scope_of(struct page *page, uint32_t frame)
{
	const struct frame *f = &page->frames->frames[frame];
	const struct inlined *in = &page->plan->image->inlines[f->inlined];
	struct scope scope = {
		.name = in->name,
		.file = in->file,
		.line = in->line,
		.call = in->call_line,
	};

	scope.outer = f->outer == FRAME_NONE ? 0 : scope_of(page, f->outer);
	return scope_find(page, &scope);
}

/* LLVM's readers keep 16 bits, also of lines before the declaration. */
static uint32_t
line_offset(const struct page *page, uint32_t scope, uint32_t line)
{
	return (line - page->scopes[scope].line) & UINT16_MAX;
}

static void
entry_add(struct page *page, uint32_t scope, uint32_t line, char *callee,
	  uint64_t n)
{
	*vec_push(page->entries, page->nentries) = (struct entry){
		.scope = scope,
		.offset = line_offset(page, scope, line),
		.callee = callee,
		.n = n,
	};
}

/* The linkage name of a callee, owned by the caller; NULL if not known. */
static char *
callee_name(const struct callee *call)
{
	const struct func *func = call->where == CALLEE_AT ?
					  plan_func_at(call->plan, call->addr) :
					  NULL;

	if (!func || (call->name && strstr(call->name, "@plt")))
		return NULL;
	return mem_strdup(func->name);
}

static void
insn_take(struct page *page, const struct view *view, uint32_t insn,
	  size_t *call)
{
	const struct row *row = view->rows[insn];
	struct figure count = view_insn(view, insn);
	uint32_t frame = frames_at(page->frames,
				   view->fplan->cfg->insns[insn].addr);
	uint32_t scope = frame == FRAME_NONE  ? 0 :
			 frame == page->frame ? page->scope :
						scope_of(page, frame);
	bool known = row && row->file == page->scopes[scope].file;

	page->frame = frame;
	page->scope = scope;
	if (known && figure_ran(&count))
		entry_add(page, scope, row->line, NULL, count.n);
	for (;
	     *call < page->callees.n && page->callees.calls[*call].insn == insn;
	     ++*call) {
		const struct callee *c = &page->callees.calls[*call];
		char *name = known && figure_ran(&c->count) ? callee_name(c) :
							      NULL;

		if (name)
			entry_add(page, scope, row->line, name, c->count.n);
	}
}

/* ---- sorting */

/* By scope and line; a line's count before its calls, the greatest first. */
static int
by_place(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	int order;

	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (!a->callee != !b->callee)
		return a->callee ? 1 : -1;
	order = a->callee ? strcmp(a->callee, b->callee) : 0;
	if (order)
		return order;
	return a->n > b->n ? -1 : a->n < b->n;
}

/* Leave one entry for each line and each callee of a line. */
static void
entries_merge(struct page *page)
{
	size_t n = 0;

	if (page->nentries)
		qsort(page->entries, page->nentries, sizeof(*page->entries),
		      by_place);
	for (size_t i = 0; i < page->nentries; i++) {
		struct entry *last = n ? &page->entries[n - 1] : NULL;
		struct entry *this = &page->entries[i];

		if (!last || last->scope != this->scope ||
		    last->offset != this->offset ||
		    !last->callee != !this->callee ||
		    (this->callee && strcmp(last->callee, this->callee))) {
			page->entries[n++] = *this;
			continue;
		}
		/* Of a line's own counts the greatest, which came first. */
		if (this->callee)
			last->n += this->n;
		free(this->callee);
	}
	page->nentries = n;
}

/* The first entry of a scope. */
static size_t
entries_of(const struct page *page, uint32_t scope)
{
	return search_first(page->nentries, i, page->entries[i].scope >= scope);
}

/* Set the scopes' totals, backwards, as inner scopes come behind outer ones. */
static void
totals_make(struct page *page)
{
	for (size_t i = 0; i < page->nentries; i++)
		if (!page->entries[i].callee)
			page->scopes[page->entries[i].scope].total +=
				page->entries[i].n;
	for (size_t i = page->nscopes; i-- > 1;)
		page->scopes[page->scopes[i].outer].total +=
			page->scopes[i].total;
}

/* ---- writing */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Write " name:12", with '_' for characters that mean something else: a blank
 * separates names, a colon before a digit ends one, no name begins with a
 * digit, a bracket begins a list of callers, and # a comment.
 */
static void
name_put(const struct page *page, const char *before, const char *name,
	 uint64_t n)
{
	char *text = text_line(name);

	for (char *c = text; *c; c++)
		if (*c == ' ' || (*c == ':' && (!c[1] || is_digit(c[1]))))
			*c = '_';
	if (*text == '[' || *text == '#' || is_digit(*text))
		*text = '_';
	fprintf(page->out, "%s%s:%" PRIu64, before, text, n);
	free(text);
}

/* Write a line with its calls; returns the index of the entry behind it. */
static size_t
line_put(const struct page *page, size_t at, int depth)
{
	const struct entry *first = &page->entries[at], *entry = first;
	const struct entry *end = page->entries + page->nentries;
	uint64_t n = 0;

	for (; entry < end && entry->scope == first->scope &&
	       entry->offset == first->offset;
	     entry++)
		if (entry->n > n)
			n = entry->n;
	fprintf(page->out, "%*s%u: %" PRIu64, depth, "", first->offset, n);
	for (const struct entry *e = first; e < entry; e++)
		if (e->callee)
			name_put(page, " ", e->callee, e->n);
	putc('\n', page->out);
	return (size_t)(entry - page->entries);
}

/* Write a scope: its lines, then inlined copies, as LLVM's writer does. */
static void
scope_put(const struct page *page, uint32_t scope, int depth)
{
	size_t at = entries_of(page, scope);

	while (at < page->nentries && page->entries[at].scope == scope)
		at = line_put(page, at, depth);
	for (uint32_t i = scope + 1; i < page->nscopes; i++) {
		const struct scope *inner = &page->scopes[i];

		if (inner->outer != scope || !inner->total)
			continue;
		fprintf(page->out, "%*s%u: ", depth, "",
			line_offset(page, scope, inner->call));
		name_put(page, "", inner->name, inner->total);
		putc('\n', page->out);
		scope_put(page, i, depth + 1);
	}
}

static void
view_put(struct page *page, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;
	const struct func *func = &view->plan->image->funcs[view->fplan->func];
	struct figure calls = figure_of(&view->fplan->calls);
	size_t call = 0;

	page->nscopes = page->nentries = 0;
	page->frame = FRAME_NONE;
	*vec_push(page->scopes, page->nscopes) = (struct scope){
		.name = func->name,
		.file = func->file,
		.line = func->line,
		.outer = SCOPE_NONE,
	};
	callees_clear(&page->callees);
	if (view->fplan->units & view->plan->units & VIEW_CALLS)
		callees_find(&page->callees, view);
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		for (uint32_t i = 0;
		     i < cfg->blocks[b].count && !view->padding[b]; i++)
			insn_take(page, view, cfg->blocks[b].first + i, &call);
	entries_merge(page);
	totals_make(page);
	if (page->scopes[0].total) {
		name_put(page, "", func->name, page->scopes[0].total);
		fprintf(page->out, ":%" PRIu64 "\n", calls.n);
		scope_put(page, 0, 1);
	}
	for (size_t i = 0; i < page->nentries; i++)
		free(page->entries[i].callee);
}

void
autofdo_write(struct table *table, FILE *out)
{
	struct page page = { .out = out };
	struct view *view = NULL;

	while ((view = view_next(table, view, VIEW_INSNS))) {
		if (view->fplan->func == FUNC_NONE ||
		    !view->plan->image->funcs[view->fplan->func].line)
			continue;
		if (page.plan != view->plan) {
			frames_free(page.frames);
			page.frames = frames_make(view->plan->image);
			page.plan = view->plan;
		}
		view_put(&page, view);
	}
	frames_free(page.frames);
	callees_free(&page.callees);
	free(page.scopes);
	free(page.entries);
}
