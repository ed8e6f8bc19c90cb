// A function: its figures, its control-flow graph and its instructions.
"use strict";

const BLOCK = { FIRST: 0, SIZE: 1, COUNT: 2, PADDING: 3 };
const EDGE = { FROM: 0, TO: 1, FALL: 2, COUNT: 3 };
// Vertices of edges: from outside, to there, and blocks.
const VERTEX = { ROOT: 0, EXIT: 1, BLOCK: 2 };
const BLOCKS_FIRST = 60, GRAPH_WHOLE = 60;

function block_insns(code, b)
{
	const block = code.blocks[b];

	return code.insns.slice(block[BLOCK.FIRST],
		block[BLOCK.FIRST] + block[BLOCK.SIZE]);
}

// "x.c:3-5,9": of the first file that the block has.
function block_lines(code, b)
{
	const insns = block_insns(code, b).filter((insn) => insn[INSN.LINE]);
	const file = insns[0]?.[INSN.FILE];
	const lines = [...new Set(insns.filter((insn) =>
		insn[INSN.FILE] === file).map((insn) => insn[INSN.LINE]))]
		.sort((x, y) => x - y);
	const parts = [];

	for (const line of lines) {
		const last = parts.at(-1);

		if (last && line === last[1] + 1)
			last[1] = line;
		else
			parts.push([line, line]);
	}
	if (!parts.length)
		return "";
	const text = parts.map(([lo, hi]) => lo === hi ? lo : `${lo}-${hi}`)
		.join(",");

	return `${pmon.index.files[file][FILE.NAME].replace(/.*\//, "")}:` +
		(text.length > 24 ? `${text.slice(0, 23)}…` : text);
}

// ---- the graph

function cfg_nodes(code, whole)
{
	const nodes = [];

	code.blocks.forEach((block, b) => {
		if (block[BLOCK.PADDING] ||
		    (!whole && block[BLOCK.COUNT] === 0))
			return;
		const lines = block_lines(code, b);

		nodes.push({ id: VERTEX.BLOCK + b, open: true, block: b,
			count: block[BLOCK.COUNT],
			weight: block[BLOCK.COUNT],
			rows: [block_insns(code, b)[0][INSN.ADDR],
				...lines ? [lines] : [],
				count_text(block[BLOCK.COUNT])] });
	});
	return nodes;
}

function cfg_make(code, whole, chosen, name)
{
	const nodes = cfg_nodes(code, whole);
	const ids = new Set(nodes.map(({ id }) => id));
	const inside = (v) => v < VERTEX.BLOCK || ids.has(v);
	const edges = code.edges.filter((edge) => inside(edge[EDGE.FROM]) &&
		inside(edge[EDGE.TO]) && (whole || edge[EDGE.COUNT] !== 0))
		.map((edge) => ({ from: edge[EDGE.FROM], to: edge[EDGE.TO],
			dashed: edge[EDGE.FALL], count: edge[EDGE.COUNT] }));

	if (edges.some(({ from }) => from === VERTEX.ROOT))
		nodes.unshift({ id: VERTEX.ROOT, rows: ["entry"],
			round: true });
	if (edges.some(({ to }) => to === VERTEX.EXIT))
		nodes.push({ id: VERTEX.EXIT, rows: ["exit"], round: true });
	return graph_offer(nodes, edges, { chosen,
		label: `Control-flow graph of ${name}` });
}

function cfg_section(code, chosen, name)
{
	const never = code.blocks.filter((block) => block[BLOCK.COUNT] === 0 &&
		!block[BLOCK.PADDING]).length;
	let whole = code.blocks.length <= GRAPH_WHOLE || !never;
	const place = make("div", {}, cfg_make(code, whole, chosen, name));
	const box = make("input", { type: "checkbox", checked: whole,
		onchange: (event) => place.replaceChildren(cfg_make(code,
			event.target.checked, chosen, name)) });

	return make("section", { class: "flow" },
		make("h2", {}, "Control flow"),
		make("p", { class: "legend" }, "Each block has its address, " +
			"lines and count. The more often control took an " +
			"edge, the wider it is; the edge of a branch not " +
			"taken is dashed. The same is below, with the " +
			"instructions."),
		never ? make("label", {}, box, ` with ${never} block` +
			`${never === 1 ? "" : "s"} that never ran`) : null,
		place);
}

// ---- instructions

function edges_text(code, b)
{
	const address = (v) => v === VERTEX.ROOT ? "outside" :
		v === VERTEX.EXIT ? "exit" :
		block_insns(code, v - VERTEX.BLOCK)[0][INSN.ADDR];
	const list = (edges, end) => edges.map((edge) =>
		`${address(edge[end])} (${count_text(edge[EDGE.COUNT])})`)
		.join(", ");
	const from = code.edges.filter((edge) =>
		edge[EDGE.TO] === VERTEX.BLOCK + b);
	const to = code.edges.filter((edge) =>
		edge[EDGE.FROM] === VERTEX.BLOCK + b);

	return `from ${list(from, EDGE.FROM) || "nowhere known"}; to ` +
		(list(to, EDGE.TO) || "nowhere");
}

function block_body(code, b)
{
	const count = code.blocks[b][BLOCK.COUNT];
	const body = make("tbody", { id: `B${b}`, tabindex: -1,
		class: count === 0 ? "idle" : "" },
		make("tr", {}, make("th", { colspan: 4, scope: "rowgroup" },
			"block, entered ", count_node(count),
			`; ${edges_text(code, b)}`)));
	let place = "";

	for (const insn of block_insns(code, b)) {
		const [, , , file, line] = insn;
		const here = line ? `${file}:${line}` : "";

		body.append(make("tr", {},
			make("td", { class: "num" },
				count_node(insn[INSN.COUNT])),
			make("td", { class: "faint" }, insn[INSN.ADDR]),
			make("td", {}, here && here !== place ?
				file_link(file, line) : ""),
			make("td", {}, insn[INSN.TEXT])));
		place = here;
	}
	return body;
}

function insns_section(code)
{
	const blocks = code.blocks.map((block, b) => b).filter((b) =>
		!code.blocks[b][BLOCK.PADDING]);
	const table = make("table", { class: "insns wide" }, make("thead", {},
		make("tr", {},
			make("th", { class: "num", scope: "col" }, "count"),
			make("th", { scope: "col" }, "address"),
			make("th", { scope: "col" }, "line"),
			make("th", { scope: "col" }, "instruction"))));
	const more = make("button", { type: "button",
		onclick: () => extend(shown + 4 * BLOCKS_FIRST) });
	let shown = 0;

	function extend(end)
	{
		for (; shown < Math.min(end, blocks.length); shown++)
			table.append(block_body(code, blocks[shown]));
		more.hidden = shown === blocks.length;
		more.textContent = `Show more blocks (${blocks.length -
			shown})`;
	}

	extend(BLOCKS_FIRST);
	return {
		node: make("section", {}, make("h2", {}, "Instructions"),
			make("div", { class: "scroll" }, table), more),
		show: (b) => {
			extend(blocks.indexOf(b) + 1);
			const body = document.getElementById(`B${b}`);

			body.scrollIntoView({ block: "center" });
			body.focus({ preventScroll: true });
		},
	};
}

// ---- the view

async function figures_node(id, row)
{
	const parts = [];

	if (row[FUNC.CALLS] !== null)
		parts.push(["Calls", row[FUNC.CALLS]]);
	if (row.length > FUNC.IE) {
		parts.push(["Instructions executed", row[FUNC.IE]],
			["Instructions", row[FUNC.I]],
			["never executed", row[FUNC.INE]],
			["Blocks", row[FUNC.BB]],
			["never entered", row[FUNC.BBNE]]);
	}
	const change = await change_figure(id);
	const figure = (title, node) => make("div", {}, make("dt", {}, title),
		make("dd", {}, node));

	return make("dl", { class: "figures" },
		...parts.map(([title, n]) => figure(title, count_node(n))),
		row.length > FUNC.IE ? figure("Of all instructions executed",
			self_text(row)) : null,
		change ? figure("Change", change) : null);
}

pmon.views.func = async (id) => {
	const row = pmon.index.funcs[id], name = row?.[FUNC.NAME];

	if (!row)
		throw new Error("no such function");
	const code = await pmon.code(id);
	const insns = code && insns_section(code);
	const calls = await calls_section(Number(id));
	const places = make("p", { class: "faint" });

	if (row[FUNC.FILE] >= 0)
		places.append("Declared at ", make("span", { class: "code" },
			file_link(row[FUNC.FILE], row[FUNC.LINE])), "; ");
	places.append(`in ${object_name(row[FUNC.OBJECT])}`);
	return {
		title: name_short(name),
		node: make("div", {}, name_heading(name), places,
			await figures_node(Number(id), row),
			code ? null : make("p", { class: "note" },
				row.length > FUNC.IE ? "It never ran: the " +
				"page does not have its instructions." :
				"Its instructions were not counted."),
			calls,
			code ? cfg_section(code, (node) =>
				insns.show(node.block), name) : null,
			code ? insns.node : null),
	};
};
