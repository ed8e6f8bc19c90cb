/*
 * Writes coverage as gcov --json-format does, in format version 2 (GCC manual,
 * "Invoking gcov") and as gcovr reads it.  Columns are not known and 0; calls
 * are left out; blocks are numbered by line.  Compressed, like gcov's files.
 */
#include "report/export/json_value.h"

#include <stdlib.h>
#include <unistd.h>

#include "report/cover.h"
#include "report/export/gzip.h"
#include "report/kinds.h"
#include "report/names.h"

static void
flag_put(struct json_object *into, const char *key, bool flag)
{
	json_object_object_add(into, key, json_object_new_boolean(flag));
}

/* Write a function.  One with only inlined copies is taken for one block. */
static void
func_put(struct json_object *funcs, const struct cover_func *func)
{
	struct json_object *object;
	char *name;

	if (func->count.why)
		return;
	object = json_element_put(funcs);
	name = name_shown(func->name, true);
	json_text_put(object, "name", func->name);
	json_text_put(object, "demangled_name", name);
	json_number_put(object, "start_line", func->line);
	json_number_put(object, "start_column", 0);
	json_number_put(object, "end_line", func->end);
	json_number_put(object, "end_column", 0);
	json_number_put(object, "blocks", func->blocks ? func->blocks : 1);
	json_number_put(object, "blocks_executed",
			func->blocks ? func->run : func->count.n != 0);
	json_number_put(object, "execution_count", func->count.n);
	free(name);
}

static void
branches_put(struct json_object *into, const struct cover_file *file,
	     const struct cover_line *line)
{
	struct json_object *branches = json_array_put(into, "branches");

	for (size_t i = 0; i < line->nbranches; i++) {
		const struct cover_branch *branch =
			&file->branches[line->branch + i];
		struct json_object *object;

		if (branch->count.why)
			continue;
		object = json_element_put(branches);
		json_number_put(object, "count", branch->count.n);
		flag_put(object, "throw", false);
		flag_put(object, "fallthrough", branch->falls);
		json_number_put(object, "source_block_id", branch->branch);
		json_number_put(object, "destination_block_id", i);
	}
}

static void
line_put(struct json_object *lines, const struct cover_file *file,
	 const struct cover_line *line)
{
	struct json_object *object, *blocks;
	uint32_t nblocks = 1;

	if (line->count.why)
		return;
	object = json_element_put(lines);
	json_number_put(object, "line_number", line->line);
	if (line->func != FUNC_NONE)
		json_text_put(object, "function_name",
			      file->funcs[line->func].name);
	json_number_put(object, "count", line->count.n);
	flag_put(object, "unexecuted_block", line->idle);
	if (line->nbranches)
		nblocks = file->branches[line->branch + line->nbranches - 1]
				  .branch +
			  1;
	blocks = json_array_put(object, "block_ids");
	for (uint32_t i = 0; i < nblocks; i++)
		json_object_array_add(blocks, json_object_new_uint64(i));
	branches_put(object, file, line);
	json_array_put(object, "calls");
	json_array_put(object, "conditions");
}

static struct json_object *
file_make(const struct cover_file *file)
{
	struct json_object *object = json_object_new_object(), *array;

	json_text_put(object, "file", file->path);
	array = json_array_put(object, "functions");
	for (size_t i = 0; i < file->nfuncs; i++)
		func_put(array, &file->funcs[i]);
	array = json_array_put(object, "lines");
	for (size_t i = 0; i < file->nlines; i++)
		line_put(array, file, &file->lines[i]);
	return object;
}

void
gcov_json_write(struct table *table, FILE *out)
{
	struct cover *cover = cover_make(table);
	const struct report_input *report_input = table->report_input;
	char *cwd = get_current_dir_name();
	FILE *zipped = gzip_open(out);
	bool first = true;

	fputs("{", zipped);
	json_member_write(zipped, "format_version",
			  json_object_new_string("2"));
	json_member_write(zipped, "gcc_version",
			  json_object_new_string("pmon " PMON_VERSION));
	json_member_write(zipped, "current_working_directory",
			  json_object_new_string(cwd ? cwd : "/"));
	json_member_write(zipped, "data_file",
			  json_object_new_string(
				  report_input->nplans ?
					  report_input->plans[0]->image->path :
					  ""));
	fputs("\"files\":[", zipped);
	for (size_t i = 0; i < cover->nfiles; i++)
		if (cover->files[i].nlines)
			json_element_write(zipped, file_make(&cover->files[i]),
					   &first);
	fputs("]}\n", zipped);
	fclose(zipped);
	free(cwd);
	cover_free(cover);
}
