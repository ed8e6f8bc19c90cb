/*
 * Makes the source coverage of a table: files with their functions, lines and
 * branches.  Never prints.
 */
#include "report/cover.h"

#include <stdlib.h>
#include <string.h>

#include "report/inline_frames.h"
#include "report/view.h"
#include "util/mem.h"

struct making {
	struct table *table;
	struct cover *cover;
	uint8_t **marks;	/* per file: what markers exclude, by line */
	size_t *nmarks;
	const struct plan *plan;	/* the plan of the frames */
	struct frames *frames;
};

/* ---- exclusion markers */

static void
marks_read(struct making *m, size_t file)
{
	struct file_entry *entry = &m->table->files[file];
	struct source *source = table_source(m->table, entry);

	if (source)
		m->marks[file] = markers_read(source, &m->nmarks[file]);
	table_source_drop(entry);
}

static bool
marked(const struct making *m, size_t file, uint32_t line, uint8_t mark)
{
	return line < m->nmarks[file] && m->marks[file][line] & mark;
}

/* ---- functions */

static void
func_gather(struct making *m, const struct func_entry *entry, bool inlined)
{
	const struct image *image =
		m->table->report_input->plans[entry->plan]->image;
	struct cover_file *file;

	if (entry->file == FILE_NONE || !entry->line ||
	    foreign_left(m->table, entry->file) ||
	    marked(m, entry->file, entry->line, MARK_LINE))
		return;
	file = &m->cover->files[entry->file];
	*vec_push(file->funcs, file->nfuncs) = (struct cover_func){
		.name = inlined ? image->inlines[entry->ref].name :
				  image->funcs[entry->ref].name,
		.line = entry->line,
		.end = entry->line,
		.count = entry->count,
	};
}

static int
by_name(const void *va, const void *vb)
{
	const struct cover_func *a = va, *b = vb;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int
by_place(const void *va, const void *vb)
{
	const struct cover_func *a = va, *b = vb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return strcmp(a->name, b->name);
}

/*
 * Leave one function of each name.  Several functions of one name, which the
 * preprocessor may make on different lines, are added up at the first line.
 */
static void
funcs_merge(struct cover_file *file)
{
	size_t n = 0;

	if (file->nfuncs)
		qsort(file->funcs, file->nfuncs, sizeof(*file->funcs), by_name);
	for (size_t i = 0; i < file->nfuncs; i++)
		if (n && !strcmp(file->funcs[n - 1].name, file->funcs[i].name))
			figure_add(&file->funcs[n - 1].count,
				   &file->funcs[i].count);
		else
			file->funcs[n++] = file->funcs[i];
	file->nfuncs = n;
	if (n)
		qsort(file->funcs, n, sizeof(*file->funcs), by_place);
}

/* Find a function by name and line; FUNC_NONE if the file has it not. */
static uint32_t
func_find(const struct cover_file *file, const char *name, uint32_t line)
{
	const struct cover_func key = { .name = name, .line = line };
	const struct cover_func *func = !file->nfuncs || !name ?
						NULL :
						bsearch(&key, file->funcs,
							file->nfuncs,
							sizeof(key), by_place);

	return func ? (uint32_t)(func - file->funcs) : FUNC_NONE;
}

/* ---- lines */

static void
line_gather(struct making *m, const struct line_entry *entry)
{
	struct cover_file *file = &m->cover->files[entry->file];

	if (!marked(m, entry->file, entry->line, MARK_LINE))
		*vec_push(file->lines, file->nlines) = (struct cover_line){
			.line = entry->line,
			.count = entry->count,
			.func = FUNC_NONE,
		};
}

static int
by_line(const void *va, const void *vb)
{
	const struct cover_line *a = va, *b = vb;

	return a->line < b->line ? -1 : a->line > b->line;
}

static struct cover_line *
line_find(const struct cover_file *file, uint32_t line)
{
	const struct cover_line key = { .line = line };

	return !file->nlines ? NULL :
			       bsearch(&key, file->lines, file->nlines,
				       sizeof(key), by_line);
}

/*
 * Add the first line of each function to which no code belongs, with the
 * function's count.  Not for --line, which chooses lines one by one.
 */
static void
lines_first(struct cover_file *file)
{
	size_t n = file->nlines;

	for (uint32_t i = 0; i < file->nfuncs; i++) {
		struct cover_func *func = &file->funcs[i];
		const struct cover_line key = { .line = func->line };
		struct cover_line *line = !n ? NULL :
					       bsearch(&key, file->lines, n,
						       sizeof(key), by_line);

		if (line)
			continue;
		line = file->nlines > n ? &file->lines[file->nlines - 1] : NULL;
		if (line && line->line == func->line)
			figure_add(&line->count, &func->count);
		else
			*vec_push(file->lines,
				  file->nlines) = (struct cover_line){
				.line = func->line,
				.count = func->count,
				.func = i,
			};
	}
	if (file->nlines)
		qsort(file->lines, file->nlines, sizeof(*file->lines), by_line);
}

/* ---- code: branches, and the functions that lines belong to */

/* A function: its file, and its index there. */
struct owner {
	uint32_t file, func;
};

static struct owner
owner_of(const struct making *m, const struct view *view, uint64_t addr)
{
	const struct image *image = view->plan->image;
	uint32_t frame = frames_at(m->frames, addr);
	struct owner owner = { FILE_NONE, FUNC_NONE };
	const char *name = NULL;
	uint32_t line = 0;

	if (frame != FRAME_NONE) {
		const struct inlined *inlined =
			&image->inlines[m->frames->frames[frame].inlined];

		owner.file = inlined->file;
		name = inlined->name;
		line = inlined->line;
	} else if (view->fplan->func != FUNC_NONE) {
		const struct func *func = &image->funcs[view->fplan->func];

		owner.file = func->file;
		name = func->name;
		line = func->line;
	}
	owner.file = table_file(m->table, view->plan_index, owner.file);
	if (owner.file != FILE_NONE)
		owner.func = func_find(&m->cover->files[owner.file], name,
				       line);
	return owner;
}

/* The line of the coverage that an instruction belongs to, or NULL. */
static struct cover_line *
insn_line(const struct making *m, const struct view *view, uint32_t insn,
	  uint32_t *file)
{
	const struct row *row = view->owners[insn];

	*file = row ? table_file(m->table, view->plan_index, row->file) :
		      FILE_NONE;
	return *file == FILE_NONE ?
		       NULL :
		       line_find(&m->cover->files[*file], row->line);
}

static void
insn_take(struct making *m, const struct view *view, uint32_t insn)
{
	struct owner owner = owner_of(m, view,
				      view->fplan->cfg->insns[insn].addr);
	struct cover_func *func;
	struct cover_line *line;
	uint32_t file;

	line = insn_line(m, view, insn, &file);
	if (!line || file != owner.file || owner.func == FUNC_NONE)
		return;
	func = &m->cover->files[file].funcs[owner.func];
	if (line->func == FUNC_NONE)
		line->func = owner.func;
	if (line->line > func->end)
		func->end = line->line;
}

static void
way_add(struct cover_file *file, struct cover_branch branch,
	struct figure count)
{
	branch.count = count;
	branch.way += file->nbranches;	/* until branches_number */
	*vec_push(file->branches, file->nbranches) = branch;
}

static void
block_take(struct making *m, const struct view *view, uint32_t block)
{
	const struct block *b = &view->fplan->cfg->blocks[block];
	struct figure count = view_block(view, block);
	struct cover_line *line;
	uint32_t file;

	for (uint32_t i = 0; i < b->count; i++)
		insn_take(m, view, b->first + i);
	line = insn_line(m, view, b->first, &file);
	if (line && !count.why && !count.n)
		line->idle = true;
}

static void
branch_take(struct making *m, const struct view *view, uint32_t block)
{
	const struct flow *flow = view->fplan->flow;
	uint32_t last = view_last(view, block), file;
	const struct insn *insn = &view->fplan->cfg->insns[last];
	struct cover_line *line = insn_line(m, view, last, &file);
	struct cover_branch branch;
	struct figure taken, fall;
	struct cover_file *into;
	uint32_t v = FLOW_BLOCK + block;

	if (!line || marked(m, file, line->line, MARK_BRANCH))
		return;
	into = &m->cover->files[file];
	branch = (struct cover_branch){
		.line = line->line,
		.branch = (uint32_t)into->nbranches,
		.begun = view_insn(view, last),
		.func = line->func,
	};
	if (insn->kind == INSN_BRANCH &&
	    view_way(view, block, BY_LAST) == ARC_NONE) {
		view_branch(view, block, &taken, &fall);
		branch.falls = true;
		way_add(into, branch, fall);
		branch.falls = false;
		way_add(into, branch, taken);
	}
	if (insn->kind != INSN_JUMP_INDIRECT || insn->flow != FLOW_TABLE)
		return;
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++)
		if (flow->edges[e].by == BY_TABLE)
			way_add(into, branch, view_edge(view, e));
}

static void
func_blocks(struct making *m, const struct view *view)
{
	const struct image *image = view->plan->image;
	const struct cfg *cfg = view->fplan->cfg;
	const struct func *func;
	struct cover_file *file;
	uint32_t index, at;

	if (view->fplan->func == FUNC_NONE)
		return;
	func = &image->funcs[view->fplan->func];
	index = table_file(m->table, view->plan_index, func->file);
	if (index == FILE_NONE)
		return;
	file = &m->cover->files[index];
	at = func_find(file, func->name, func->line);
	for (uint32_t b = 0; at != FUNC_NONE && b < cfg->nblocks; b++) {
		struct figure count = view_block(view, b);

		if (view->padding[b])
			continue;
		file->funcs[at].blocks++;
		file->funcs[at].run += figure_ran(&count);
	}
}

static void
view_take(struct making *m, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;
	bool edges = view->fplan->units & view->plan->units & VIEW_EDGES;

	if (m->plan != view->plan) {
		frames_free(m->frames);
		m->frames = frames_make(view->plan->image);
		m->plan = view->plan;
	}
	func_blocks(m, view);
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		if (view->padding[b])
			continue;
		block_take(m, view, b);
		if (edges)
			branch_take(m, view, b);
	}
}

static int
by_branch(const void *va, const void *vb)
{
	const struct cover_branch *a = va, *b = vb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->way < b->way ? -1 : a->way > b->way;
}

/*
 * Number the branches of each line, and their ways.  Before this a way's number
 * is its index in the file, and its branch's that of the branch's first way.
 */
static void
branches_number(struct cover_file *file)
{
	struct cover_line *line = NULL;
	uint32_t branch = 0, way = 0, first = 0;

	if (file->nbranches)
		qsort(file->branches, file->nbranches, sizeof(*file->branches),
		      by_branch);
	for (size_t i = 0; i < file->nbranches; i++) {
		struct cover_branch *this = &file->branches[i];

		if (!line || line->line != this->line) {
			line = line_find(file, this->line);
			line->branch = i;
			branch = way = 0;
		} else if (this->branch == first) {
			way++;
		} else {
			branch++;
			way = 0;
		}
		first = this->branch;
		this->branch = branch;
		this->way = way;
		line->nbranches++;
	}
}

/* ---- all of it */

static void
units_take(struct making *m)
{
	struct table *table = m->table;
	struct cover *cover = m->cover;
	bool chosen = false;

	for (size_t i = 0; i < table->nfiles; i++) {
		cover->files[i].path = source_shown(table->opts,
						    table->files[i].path);
		marks_read(m, i);
	}
	for (size_t i = 0; i < table->report_input->nplans; i++) {
		const struct selection *sel =
			table->report_input->plans[i]->options.sel;

		chosen |= sel && sel->lines.n;
	}
	for (size_t i = 0; i < table->nlines; i++)
		line_gather(m, &table->lines[i]);
	for (size_t i = 0; i < table->funcs.n; i++)
		func_gather(m, &table->funcs.entries[i], false);
	for (size_t i = 0; i < table->inlines.n; i++)
		func_gather(m, &table->inlines.entries[i], true);
	for (size_t i = 0; i < cover->nfiles; i++) {
		funcs_merge(&cover->files[i]);
		if (!chosen && cover->files[i].nlines)
			lines_first(&cover->files[i]);
	}
}

struct cover *
cover_make(struct table *table)
{
	struct cover *cover = mem_alloc(sizeof(*cover));
	struct making m = {
		.table = table,
		.cover = cover,
		.marks = mem_alloc(table->nfiles * sizeof(*m.marks)),
		.nmarks = mem_alloc(table->nfiles * sizeof(*m.nmarks)),
	};
	struct view *view = NULL;

	cover->nfiles = table->nfiles;
	cover->files = mem_alloc(cover->nfiles * sizeof(*cover->files));
	units_take(&m);
	while ((view = view_next(table, view, VIEW_UNITS)))
		view_take(&m, view);
	for (size_t i = 0; i < cover->nfiles; i++) {
		branches_number(&cover->files[i]);
		free(m.marks[i]);
	}
	frames_free(m.frames);
	free(m.marks);
	free(m.nmarks);
	return cover;
}

void
cover_file_free(struct cover_file *file)
{
	free(file->path);
	free(file->funcs);
	free(file->lines);
	free(file->branches);
}

void
cover_free(struct cover *cover)
{
	if (!cover)
		return;
	for (size_t i = 0; i < cover->nfiles; i++)
		cover_file_free(&cover->files[i]);
	free(cover->files);
	free(cover);
}

void
cover_totals_add(struct cover_totals *totals, const struct cover_file *file)
{
	for (size_t i = 0; i < file->nfuncs; i++)
		totals_add(&totals->funcs, &file->funcs[i].count);
	for (size_t i = 0; i < file->nlines; i++)
		totals_add(&totals->lines, &file->lines[i].count);
	for (size_t i = 0; i < file->nbranches; i++)
		totals_add(&totals->branches, &file->branches[i].count);
}
