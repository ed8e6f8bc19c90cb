/*
 * The files of web/, which are the same in every page.  The assembler includes
 * them in the program.
 */
#include "report/html/html_dir.h"

#include <stddef.h>

#define ASSET(symbol, file) \
	__asm__(".pushsection .rodata\n" \
		"asset_" #symbol ":\n" \
		".incbin \"report/html/web/" file "\"\n" \
		"asset_" #symbol "_end:\n" \
		".popsection\n"); \
	extern const char asset_##symbol[] \
		__attribute__((visibility("hidden"))); \
	extern const char asset_##symbol##_end[] \
		__attribute__((visibility("hidden")))

ASSET(index, "index.html");
ASSET(style, "pmon.css");
ASSET(core, "core.js");
ASSET(tables, "tables.js");
ASSET(syntax, "syntax.js");
ASSET(source, "source.js");
ASSET(names, "names.js");
ASSET(route, "route.js");
ASSET(graph, "graph.js");
ASSET(flow, "flow.js");
ASSET(func, "func.js");
ASSET(changes, "changes.js");
ASSET(calls, "calls.js");
ASSET(flame, "flame.js");
ASSET(dirs, "dirs.js");
ASSET(overview, "overview.js");
ASSET(treemap, "treemap.js");
ASSET(dagre, "dagre.js");
ASSET(start, "start.js");

const struct html_asset html_assets[] = {
	{ "index.html", asset_index, asset_index_end },
	{ "pmon.css", asset_style, asset_style_end },
	{ "core.js", asset_core, asset_core_end },
	{ "tables.js", asset_tables, asset_tables_end },
	{ "syntax.js", asset_syntax, asset_syntax_end },
	{ "source.js", asset_source, asset_source_end },
	{ "names.js", asset_names, asset_names_end },
	{ "route.js", asset_route, asset_route_end },
	{ "graph.js", asset_graph, asset_graph_end },
	{ "flow.js", asset_flow, asset_flow_end },
	{ "func.js", asset_func, asset_func_end },
	{ "changes.js", asset_changes, asset_changes_end },
	{ "calls.js", asset_calls, asset_calls_end },
	{ "flame.js", asset_flame, asset_flame_end },
	{ "dirs.js", asset_dirs, asset_dirs_end },
	{ "overview.js", asset_overview, asset_overview_end },
	{ "treemap.js", asset_treemap, asset_treemap_end },
	{ "dagre.js", asset_dagre, asset_dagre_end },
	{ "start.js", asset_start, asset_start_end },
	{ NULL },
};
