// The icicle: every function below the nearest one through which all calls of it
// came, by one call or by several ways.  So what stands below a function was
// executed only on its account.  Counts tell no more: a function with callers
// in several places stands below what these have in common.
"use strict";

// Pixels: height of a row, least width of a function that is drawn.
const FLAME_ROW = 20, FLAME_LEAST = 1, FLAME_CHAR = 6.6;

// ---- who is below whom

// Do the calls by counted functions account for all of this function's?  Stubs
// of the linker's have no count, but nothing else leads to them.
const flame_whole = (row, made) => row[FUNC.CALLS] === null ?
	row[FUNC.NAME].endsWith("@plt") :
	counts_compare(made, row[FUNC.CALLS]) === 0;

// { edges: from VERTEX.ROOT and from functions, callers: per function, those
// that are others }.  A function with calls that none of these made, such as
// main or a signal handler, has one from ROOT.
function flame_edges(calls)
{
	const { funcs } = pmon.index, edges = [];
	const callers = funcs.map(() => new Set());
	const made = new Array(funcs.length).fill(0);

	for (const call of calls) {
		const from = call[CALL.FROM], to = call[CALL.TO];

		if (typeof to !== "number" || call[CALL.COUNT] === 0)
			continue;
		made[to] = known(made[to]) && known(call[CALL.COUNT]) ?
			counts_sum(made[to], call[CALL.COUNT]) :
			call[CALL.COUNT];
		if (from === to)
			continue;
		callers[to].add(from);
		edges.push([from + VERTEX.BLOCK, to + VERTEX.BLOCK]);
	}
	funcs.forEach((row, id) => {
		if (!known(made[id]) || !callers[id].size ||
		    !flame_whole(row, made[id]))
			edges.push([VERTEX.ROOT, id + VERTEX.BLOCK]);
	});
	return { edges, callers };
}

// Set the sizes of the nodes below one, as calls are nested deeply; the largest
// first.
function flame_sizes(root)
{
	const order = [root];

	for (let i = 0; i < order.length; i++)
		for (const below of order[i].below)
			order.push(below);
	for (const node of order.reverse()) {
		node.size = node.below.reduce((sum, { size }) => sum + size,
			node.self);
		node.below.sort((a, b) => b.size - a.size);
	}
}

// The nodes, by number; the last one is all of the program.  A node: { id, self,
// size: instructions, below: nodes, above: a node, direct: only that calls it }.
function flame_nodes(calls)
{
	const { funcs } = pmon.index, { edges, callers } = flame_edges(calls);
	const doms = dominators_find(funcs.length + VERTEX.BLOCK, edges);
	const nodes = funcs.map((row, id) => ({ id, below: [],
		self: ran(row[FUNC.IE]) ? Number(row[FUNC.IE]) : 0 }));
	const all = { id: null, self: 0, below: [] };

	nodes.forEach((node, id) => {
		const above = doms[id + VERTEX.BLOCK];

		// Control never came from outside: it was inside at attach.
		node.above = above > VERTEX.ROOT ?
			nodes[above - VERTEX.BLOCK] : all;
		node.direct = callers[id].size === 1 &&
			callers[id].has(node.above.id);
		node.above.below.push(node);
	});
	flame_sizes(all);
	return [...nodes, all];
}

// ---- the drawing

const flame_name = (node) => node.id === null ? "all" :
	pmon.index.funcs[node.id][FUNC.NAME];
const flame_link = (node) => node.id === null ? "#/flame" :
	`#/flame/${node.id}`;

function flame_title(node)
{
	const total = insns_total();
	const above = node.above && node.above.id !== null ?
		flame_name(node.above) : null;

	return `${flame_name(node)}: ${share_text(node.size, total)} of the ` +
		"instructions executed with what stands below, " +
		`${share_text(node.self, total)} in itself` + (!above ? "" :
		node.direct ? `; called by ${above} only` :
		`; called in several ways, all below ${above}`);
}

function flame_box(node, { x, row, w }, most, klass)
{
	const room = Math.floor((w - 8) / FLAME_CHAR);
	const text = room < 3 ? "" : draw("text", { x: x + 4,
		y: (row + 0.7) * FLAME_ROW },
	name_short(flame_name(node), room));
	const rect = draw("rect", { x, y: row * FLAME_ROW, width: w,
		height: FLAME_ROW - 1 });

	rect.style.setProperty("--heat", node_heat(node.self, most).toFixed(3));
	// Keys get to the same functions by the list.
	return draw("a", { href: flame_link(node), tabindex: -1,
		class: `box ${node.direct || node.above?.id === null ||
			!node.above ? "" : "several"} ${klass}` },
	draw("title", {}, flame_title(node)), rect, text);
}

// Those above the chosen one have all the width, those below their shares.
function flame_draw(chosen, most)
{
	const w = Math.min(Math.max(innerWidth - 40, 340), 1600);
	const above = [], boxes = [];
	let depth = 0;

	for (let node = chosen.above; node; node = node.above)
		above.unshift(node);
	above.forEach((node, row) => boxes.push(flame_box(node,
		{ x: 0, row, w }, most, "above")));
	for (let rows = [[chosen, 0]], row = above.length; rows.length; row++) {
		const next = [];

		for (const [node, x] of rows) {
			let at = x;

			boxes.push(flame_box(node, { x, row,
				w: node.size / chosen.size * w }, most, ""));
			for (const below of node.below) {
				if (below.size / chosen.size * w < FLAME_LEAST)
					break;
				next.push([below, at]);
				at += below.size / chosen.size * w;
			}
		}
		rows = next;
		depth = row + 1;
	}
	return draw("svg", { viewBox: `0 0 ${w} ${depth * FLAME_ROW}`,
		class: "flame", role: "group", "aria-label": "Icicle" },
	...boxes);
}

function flame_list(chosen)
{
	const columns = [
		{ title: "Function", klass: "name", value: flame_name,
			node: (node) => make("a", { href: flame_link(node) },
				name_node(flame_name(node))) },
		{ title: "Called", minor: true, value: (node) =>
			node.above.id === null ? "" : node.direct ?
				"by it only" : "in several ways" },
		{ title: "Calls", num: true, minor: true, value: (node) =>
			pmon.index.funcs[node.id][FUNC.CALLS] },
		{ title: "Self", num: true, value: (node) => node.self,
			node: (node) => share_text(node.self, insns_total()) },
		{ title: "With below", num: true, value: (node) => node.size,
			node: (node) => share_text(node.size, insns_total()) },
	];

	return list_make(columns, chosen.below.filter(({ size }) => size), {
		caption: chosen.id === null ? "Where control came from outside" :
			`Below ${name_short(flame_name(chosen))}` });
}

// ---- the view

pmon.views.flame = async (id) => {
	const nodes = flame_nodes(await calls_load());
	const most = counts_most(pmon.index.funcs.map(func_weight));
	const chosen = id ? nodes[id] : nodes.at(-1);

	if (!chosen)
		throw new Error("no such function");
	const name = flame_name(chosen), figures = chosen.id === null ?
		[] : [make("p", {}, share_text(chosen.size, insns_total()),
			" of the instructions executed with what stands below, ",
			share_text(chosen.self, insns_total()), " in itself. ",
			make("a", { href: `#/func/${chosen.id}` },
				"Its page"), ", ",
			make("a", { href: `#/calls/${chosen.id}` },
				"its calls"), ", ",
			make("a", { href: "#/flame" }, "all of the program"),
			".")];

	return {
		title: chosen.id === null ? "Icicle" : name_short(name),
		node: make("div", {}, chosen.id === null ?
			make("h1", {}, "Icicle") : name_heading(name),
		make("p", { class: "legend" }, "Width: instructions executed " +
			"in a function and in what stands below it. A " +
			"function stands below the nearest one through which " +
			"all its calls came; with a dashed border, it was " +
			"called in several ways. Colour: instructions " +
			"executed in the function itself. A click zooms."),
		...figures, chosen.size ? flame_draw(chosen, most) :
			make("p", { class: "note" }, "It executed nothing."),
		flame_list(chosen)),
	};
};
