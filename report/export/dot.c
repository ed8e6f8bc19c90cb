/*
 * Writes control-flow graphs with counts for Graphviz: one graph, with a
 * cluster for each function.
 */
#include "report/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/kinds.h"
#include "report/printable.h"
#include "util/fail.h"

enum { LABEL_MAX = 60 };

/* Write one line of a label, which `end` aligns: \n centred, \l left. */
static void
label_write(FILE *out, const char *text, const char *end)
{
	char *clean;
	size_t size;
	FILE *mem = open_memstream(&clean, &size);

	must(mem);
	text_print(mem, text, strlen(text), LABEL_MAX);
	fclose(mem);
	for (const char *s = clean; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', out);
		putc(*s, out);
	}
	fputs(end, out);
	free(clean);
}

/* Write the name of a vertex; each function has its own ROOT and EXIT. */
static void
vert_write(const struct view *view, uint32_t v, FILE *out)
{
	fprintf(out, "\"%u.%u.%u\"", view->plan_index, view->fplan_index, v);
}

static void
count_write(const struct figure *count, FILE *out)
{
	figure_write(out, count, 1);
}

/* The attributes of a count: grey if it never ran. */
static const char *
shade(const struct figure *count)
{
	return !count->why && !count->n ? ", color=gray, fontcolor=gray" : "";
}

static void
block_write(const struct view *view, uint32_t b, FILE *out)
{
	const struct cfg *cfg = view->fplan->cfg;
	const struct block *block = &cfg->blocks[b];
	const struct insn *last = &cfg->insns[view_last(view, b)];
	struct figure count = view_block(view, b);
	char *lines = view_lines(view, block->first,
				 block->first + block->count);

	fputs("\t\t", out);
	vert_write(view, FLOW_BLOCK + b, out);
	fprintf(out, " [label=\"%" PRIx64 "-%" PRIx64 "\\l",
		cfg->insns[block->first].addr, last->addr + last->len - 1);
	if (*lines)
		label_write(out, lines, "\\l");
	count_write(&count, out);
	fprintf(out, "\\r\"%s];\n", shade(&count));
	free(lines);
}

static void
edge_write(const struct view *view, uint32_t e, FILE *out)
{
	const struct flow_edge *edge = &view->fplan->flow->edges[e];
	struct figure count = view_edge(view, e);

	fputs("\t\t", out);
	vert_write(view, edge->from, out);
	fputs(" -> ", out);
	vert_write(view, edge->to, out);
	fputs(" [label=\"", out);
	count_write(&count, out);
	fprintf(out, "\"%s%s];\n", shade(&count),
		edge->by == BY_FALL ? ", style=dashed" : "");
}

/* Write the vertices ROOT and EXIT, if an edge leads from or to them. */
static void
outside_write(const struct view *view, FILE *out)
{
	const struct flow *flow = view->fplan->flow;
	static const char *const names[] = {
		[FLOW_ROOT] = "entry",
		[FLOW_EXIT] = "exit",
	};
	bool used[FLOW_BLOCK] = { false };

	for (uint32_t e = 0; e < flow->nedges; e++) {
		if (!view_edge_drawn(view, e))
			continue;
		if (flow->edges[e].from == FLOW_ROOT)
			used[FLOW_ROOT] = true;
		if (flow->edges[e].to == FLOW_EXIT)
			used[FLOW_EXIT] = true;
	}
	for (uint32_t v = 0; v < FLOW_BLOCK; v++) {
		if (!used[v])
			continue;
		fputs("\t\t", out);
		vert_write(view, v, out);
		fprintf(out, " [label=\"%s\", shape=ellipse];\n", names[v]);
	}
}

static void
fplan_write(const struct view *view, FILE *out)
{
	const struct flow *flow = view->fplan->flow;
	char *name = view_name(view);

	fprintf(out, "\tsubgraph \"cluster.%u.%u\" {\n\t\tlabel=\"",
		view->plan_index, view->fplan_index);
	label_write(out, name, "\";\n");
	free(name);
	outside_write(view, out);
	for (uint32_t b = 0; b < view->fplan->cfg->nblocks; b++)
		if (!view->padding[b])
			block_write(view, b, out);
	for (uint32_t e = 0; e < flow->nedges; e++)
		if (view_edge_drawn(view, e))
			edge_write(view, e, out);
	fputs("\t}\n", out);
}

void
cfg_write(struct table *table, FILE *out)
{
	struct view *view = NULL;

	fputs("digraph \"", out);
	label_write(out, table->report_input->command, "\" {\n");
	fputs("\tnode [shape=box, fontname=monospace];\n"
	      "\tedge [fontname=monospace];\n",
	      out);
	while ((view = view_next(table, view, VIEW_BLOCKS | VIEW_EDGES)))
		fplan_write(view, out);
	fputs("}\n", out);
}
