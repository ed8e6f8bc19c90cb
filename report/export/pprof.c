/*
 * Writes a profile of pprof (profile.proto of github.com/google/pprof),
 * compressed.  A sample is a run of instructions of one block and one line: how
 * often it was begun, and the number of instructions executed.  Stacks show
 * inlining only, as counts do not tell callers.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/inline_frames.h"
#include "report/export/gzip.h"
#include "report/export/interned.h"
#include "report/kinds.h"
#include "report/names.h"
#include "report/export/pprof.pb-c.h"
#include "report/printable.h"
#include "report/view.h"
#include "util/build_id.h"
#include "util/mem.h"

struct page {
	struct table *table;
	Pprof__Profile profile;
	struct interned strings, funcs;
	struct frames *frames;
	uint64_t mapping;	/* id of the current object, or 0 */
	size_t unknown;
};

/* ---- parts of a profile */

static int64_t
string_id(struct page *page, const char *s)
{
	char *text = text_line(s);
	int64_t id = intern(&page->strings, text);

	free(text);
	return id;
}

static void
type_add(struct page *page, const char *type)
{
	Pprof__Profile *profile = &page->profile;
	Pprof__ValueType *value = mem_alloc(sizeof(*value));

	pprof__value_type__init(value);
	value->type = string_id(page, type);
	value->unit = string_id(page, "count");
	*vec_push(profile->sample_type, profile->n_sample_type) = value;
}

static void
mapping_add(struct page *page, const struct image *image)
{
	Pprof__Profile *profile = &page->profile;
	Pprof__Mapping *mapping = mem_alloc(sizeof(*mapping));
	char *id = build_id_text(image->build_id, image->build_id_len);

	pprof__mapping__init(mapping);
	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *segment = &image->segments[i];

		if (!segment->bytes || mapping->memory_limit)
			continue;
		mapping->memory_start = segment->addr;
		mapping->memory_limit = segment->addr + segment->memsz;
		mapping->file_offset = segment->offset;
	}
	mapping->filename = string_id(page, image->path);
	mapping->build_id = string_id(page, id);
	free(id);
	mapping->has_functions = mapping->has_filenames = true;
	mapping->has_line_numbers = image->has_dwarf;
	mapping->has_inline_frames = image->ninlines;
	*vec_push(profile->mapping, profile->n_mapping) = mapping;
	page->mapping = mapping->id = profile->n_mapping;
}

static uint64_t
func_id(struct page *page, const char *name, uint32_t file, uint32_t line)
{
	Pprof__Profile *profile = &page->profile;
	const char *path = file == FILE_NONE ? "" :
					       page->table->files[file].path;
	char *key = mem_printf("%s\n%s", name, path);
	uint64_t id = intern(&page->funcs, key) + 1;
	Pprof__Function *func;
	char *shown;

	free(key);
	if (id <= profile->n_function)
		return id;
	func = mem_alloc(sizeof(*func));
	pprof__function__init(func);
	shown = name_shown(name, page->table->opts->demangle);
	func->id = id;
	func->name = string_id(page, shown);
	func->system_name = string_id(page, name);
	func->filename = string_id(page, path);
	func->start_line = line;
	*vec_push(profile->function, profile->n_function) = func;
	free(shown);
	return id;
}

static void
line_add(Pprof__Location *location, uint64_t func, uint32_t number)
{
	Pprof__Line *line = mem_alloc(sizeof(*line));

	pprof__line__init(line);
	line->function_id = func;
	line->line = number;
	*vec_push(location->line, location->n_line) = line;
}

/* Add the lines of inlined copies, innermost first, and the function's. */
static void
lines_add(struct page *page, const struct view *view, uint32_t insn,
	  uint32_t frame, Pprof__Location *location)
{
	const struct image *image = view->plan->image;
	const struct row *row = view->rows[insn];
	uint32_t line = row ? row->line : 0, file = FILE_NONE;
	char *name;

	for (; frame != FRAME_NONE; frame = page->frames->frames[frame].outer) {
		const struct inlined *in =
			&image->inlines[page->frames->frames[frame].inlined];

		file = table_file(page->table, view->plan_index, in->file);
		line_add(location, func_id(page, in->name, file, in->line),
			 line);
		line = in->call_line;
	}
	if (view->fplan->func != FUNC_NONE) {
		const struct func *func = &image->funcs[view->fplan->func];

		file = table_file(page->table, view->plan_index, func->file);
		line_add(location, func_id(page, func->name, file, func->line),
			 line);
		return;
	}
	name = view_name(view);
	line_add(location, func_id(page, name, FILE_NONE, 0), line);
	free(name);
}

static void
sample_add(struct page *page, const struct view *view, uint32_t insn,
	   uint32_t frame, uint64_t times, uint64_t insns)
{
	Pprof__Profile *profile = &page->profile;
	Pprof__Location *location = mem_alloc(sizeof(*location));
	Pprof__Sample *sample = mem_alloc(sizeof(*sample));

	pprof__location__init(location);
	pprof__sample__init(sample);
	*vec_push(profile->location, profile->n_location) = location;
	location->id = profile->n_location;
	location->mapping_id = page->mapping;
	location->address = view->fplan->cfg->insns[insn].addr;
	lines_add(page, view, insn, frame, location);
	*vec_push(sample->location_id, sample->n_location_id) = location->id;
	*vec_push(sample->value, sample->n_value) = (int64_t)times;
	*vec_push(sample->value, sample->n_value) = (int64_t)insns;
	*vec_push(profile->sample, profile->n_sample) = sample;
}

/* ---- walking */

/*
 * Add the sample of the instructions from `first` on that have its line and
 * its nesting of inlined copies; returns the first instruction behind them.
 */
static uint32_t
run_take(struct page *page, const struct view *view, uint32_t first,
	 uint32_t end)
{
	const struct cfg *cfg = view->fplan->cfg;
	uint32_t frame = frames_at(page->frames, cfg->insns[first].addr), i;
	const struct row *row = view->rows[first];
	struct figure times = view_insn(view, first), insns = { 0 };

	for (i = first; i < end; i++) {
		const struct row *this = view->rows[i];
		struct figure count = view_insn(view, i);

		if (frames_at(page->frames, cfg->insns[i].addr) != frame ||
		    !this != !row ||
		    (row &&
		     (this->line != row->line || this->file != row->file)))
			break;
		figure_add(&insns, &count);
	}
	if (times.why || insns.why || insns.n > INT64_MAX)
		page->unknown += i - first;
	else if (insns.n)
		sample_add(page, view, first, frame, times.n, insns.n);
	return i;
}

static void
view_take(struct page *page, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		uint32_t i = cfg->blocks[b].first;
		uint32_t end = i + cfg->blocks[b].count;

		while (i < end && !view->padding[b])
			i = run_take(page, view, i, end);
	}
}

/* ---- all of it */

static void
profile_put(struct page *page, FILE *out)
{
	Pprof__Profile *profile = &page->profile;
	FILE *zipped = gzip_open(out);
	uint8_t *bytes;
	size_t size;

	if (page->unknown) {
		char *text = mem_printf("not known and left out: the counts "
					"of %zu instructions",
					page->unknown);

		*vec_push(profile->comment,
			  profile->n_comment) = string_id(page, text);
		free(text);
	}
	profile->string_table = page->strings.strings;
	profile->n_string_table = page->strings.n;
	size = pprof__profile__get_packed_size(profile);
	bytes = mem_alloc(size);
	pprof__profile__pack(profile, bytes);
	fwrite(bytes, 1, size, zipped);
	fclose(zipped);
	free(bytes);
}

static void
profile_clear(Pprof__Profile *profile)
{
	for (size_t i = 0; i < profile->n_location; i++) {
		Pprof__Location *location = profile->location[i];
		Pprof__Sample *sample = profile->sample[i];

		for (size_t l = 0; l < location->n_line; l++)
			free(location->line[l]);
		free(location->line);
		free(location);
		free(sample->location_id);
		free(sample->value);
		free(sample);
	}
	for (size_t i = 0; i < profile->n_function; i++)
		free(profile->function[i]);
	for (size_t i = 0; i < profile->n_mapping; i++)
		free(profile->mapping[i]);
	for (size_t i = 0; i < profile->n_sample_type; i++)
		free(profile->sample_type[i]);
	free(profile->location);
	free(profile->sample);
	free(profile->function);
	free(profile->mapping);
	free(profile->sample_type);
	free(profile->comment);
}

void
pprof_write(struct table *table, FILE *out)
{
	struct page page = { .table = table };
	const struct plan *plan = NULL;
	struct view *view = NULL;

	pprof__profile__init(&page.profile);
	string_id(&page, "");
	type_add(&page, "times");
	type_add(&page, "instructions");
	page.profile.default_sample_type = string_id(&page, "instructions");
	page.profile.duration_nanos = (int64_t)(table->report_input->seconds *
						1e9);
	*vec_push(page.profile.comment, page.profile.n_comment) = string_id(
		&page, table->report_input->command);
	while ((view = view_next(table, view, VIEW_INSNS))) {
		if (plan != view->plan) {
			plan = view->plan;
			frames_free(page.frames);
			page.frames = frames_make(plan->image);
			mapping_add(&page, plan->image);
		}
		view_take(&page, view);
	}
	profile_put(&page, out);
	profile_clear(&page.profile);
	frames_free(page.frames);
	interned_free(&page.strings);
	interned_free(&page.funcs);
}
