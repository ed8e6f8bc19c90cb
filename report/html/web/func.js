// A function: its figures and its instructions; flow.js has its graph.
"use strict";

const BLOCKS_FIRST = 60;

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
	const body = make("tbody", { id: `B${b}`, "data-block": b,
		tabindex: -1,
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
			code ? await flow_section(code, insns, row) :
				null,
			code ? insns.node : null),
	};
};
