// A function: its figures and its instructions, also those of functions that are
// inlined into it; flow.js has its graph.
"use strict";

const BLOCKS_FIRST = 60, INLINE_NAME = 30;
const INLINED = { FIRST: 0, SIZE: 1, ID: 2 };

// ---- inlined functions

// Per instruction, the number of the inlined function that it is of.
function inlines_of(code)
{
	const ids = [];

	for (const run of code.inlines ?? [])
		for (let i = 0; i < run[INLINED.SIZE]; i++)
			ids[run[INLINED.FIRST] + i] = run[INLINED.ID];
	return ids;
}

// What each inlined function executed here: [number, instructions executed,
// instructions], or null if there is none.
function inlines_section(code, row)
{
	const sums = new Map(), ids = inlines_of(code);
	const add = (id, count) => {
		const sum = sums.get(id) ?? [id, 0, 0];

		sum[1] = !known(sum[1]) ? sum[1] : !known(count) ? count :
			counts_sum(sum[1], count);
		sum[2]++;
		sums.set(id, sum);
	};

	for (const block of code.blocks) {
		const end = block[BLOCK.FIRST] + block[BLOCK.SIZE];

		for (let i = block[BLOCK.FIRST]; i < end; i++)
			if (!block[BLOCK.PADDING] && ids[i] !== undefined)
				add(ids[i], code.insns[i][INSN.COUNT]);
	}
	if (!sums.size)
		return null;
	const inlined = (sum) => pmon.index.inlines[sum[0]];
	const columns = [
		{ title: "Function", klass: "name",
			value: (sum) => inlined(sum)[FUNC.NAME],
			node: (sum) => name_node(inlined(sum)[FUNC.NAME]) },
		{ ...place_column, value: (sum) =>
			place_column.value(inlined(sum)),
		node: (sum) => place_column.node(inlined(sum)) },
		{ title: "Instructions", num: true, minor: true,
			value: (sum) => sum[2] },
		{ title: "Share", num: true, value: (sum) => sum[1],
			node: (sum) => known(sum[1]) && known(row[FUNC.IE]) ?
				share_text(sum[1], row[FUNC.IE]) : "–" },
		{ title: "Executed", num: true, value: (sum) => sum[1] },
	];

	return make("section", { class: "inlines" }, make("h2", {},
		"Inlined here"), list_make(columns, [...sums.values()], {
		caption: "Functions that the compiler inlined, and the " +
			"instructions executed in them, which are part of " +
			"this function's" }));
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

function block_body(code, b, inlines)
{
	const count = code.blocks[b][BLOCK.COUNT];
	const columns = inlines.length ? 5 : 4;
	const body = make("tbody", { id: `B${b}`, "data-block": b,
		tabindex: -1,
		class: count === 0 ? "idle" : "" },
		make("tr", {}, make("th", { colspan: columns,
			scope: "rowgroup" },
			"block, entered ", count_node(count),
			`; ${edges_text(code, b)}`)));
	let place = "", last, i = code.blocks[b][BLOCK.FIRST];

	for (const insn of block_insns(code, b)) {
		const [, , , file, line] = insn;
		const here = line ? `${file}:${line}` : "";
		const id = inlines[i++];

		body.append(make("tr", {},
			make("td", { class: "num" },
				count_node(insn[INSN.COUNT])),
			make("td", { class: "faint" }, insn[INSN.ADDR]),
			make("td", {}, here && here !== place ?
				file_link(file, line) : ""),
			inlines.length ? make("td", { class: "faint" },
				id !== undefined && id !== last ? name_node(
					pmon.index.inlines[id][FUNC.NAME],
					INLINE_NAME) : "") : null,
			make("td", {}, insn[INSN.TEXT])));
		place = here;
		last = id;
	}
	return body;
}

function insns_section(code)
{
	const blocks = code.blocks.map((block, b) => b).filter((b) =>
		!code.blocks[b][BLOCK.PADDING]);
	const inlines = inlines_of(code);
	const table = make("table", { class: "insns wide" }, make("thead", {},
		make("tr", {},
			make("th", { class: "num", scope: "col" }, "count"),
			make("th", { scope: "col" }, "address"),
			make("th", { scope: "col" }, "line"),
			inlines.length ? make("th", { scope: "col" },
				"inlined from") : null,
			make("th", { scope: "col" }, "instruction"))));
	const more = make("button", { type: "button",
		onclick: () => extend(shown + 4 * BLOCKS_FIRST) });
	let shown = 0;

	function extend(end)
	{
		for (; shown < Math.min(end, blocks.length); shown++)
			table.append(block_body(code, blocks[shown], inlines));
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
			code ? inlines_section(code, row) : null,
			code ? insns.node : null),
	};
};
