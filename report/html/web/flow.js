// The control-flow graph of a function: its blocks with their source, its loops
// with their rounds, and the way that control took most often.
"use strict";

const BLOCK = { FIRST: 0, SIZE: 1, COUNT: 2, PADDING: 3 };
const EDGE = { FROM: 0, TO: 1, FALL: 2, COUNT: 3 };
// Vertices of edges: from outside, to there, and blocks.
const VERTEX = { ROOT: 0, EXIT: 1, BLOCK: 2 };
const GRAPH_WHOLE = 60;
// Of a function with more blocks no loops are sought.
const LOOPS_MAX = 3000;
// Of the source: lines in a block, characters of one.
const FLOW_LINES = 3, FLOW_CHARS = 44;
// Lines of a function whose source is shown below its graph; between those of
// its declaration and its first code.
const FLOW_SOURCE = 500, FLOW_HEAD = 20;

function block_insns(code, b)
{
	const block = code.blocks[b];

	return code.insns.slice(block[BLOCK.FIRST],
		block[BLOCK.FIRST] + block[BLOCK.SIZE]);
}

// The first file that a block has, and the lines of that, ascending.
function block_place(code, b)
{
	const insns = block_insns(code, b).filter((insn) => insn[INSN.LINE]);
	const file = insns[0]?.[INSN.FILE];

	return { file, lines: [...new Set(insns.filter((insn) =>
		insn[INSN.FILE] === file).map((insn) => insn[INSN.LINE]))]
		.sort((x, y) => x - y) };
}

// "x.c:3-5,9"
function block_lines({ file, lines })
{
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

// The first source lines of a block; texts: file => its lines, if there.
function block_source({ file, lines }, texts)
{
	const text = texts.get(file);
	const rows = text ? lines.slice(0, FLOW_LINES).map((line) =>
		(text[line - 1] ?? "").trim()).filter(Boolean) : [];

	return rows.map((row) => row.length > FLOW_CHARS ?
		`${row.slice(0, FLOW_CHARS - 1)}…` : row);
}

// ---- loops

// Per vertex, its immediate dominator (Cooper, Harvey, Kennedy 2001); those
// that the entry does not reach have none.
function dominators_find(n, edges)
{
	const out = Array.from({ length: n }, () => []);
	const into = Array.from({ length: n }, () => []);
	const number = new Array(n).fill(-1), doms = new Array(n).fill(-1);
	const order = [], stack = [[VERTEX.ROOT, 0]], seen = new Set([0]);

	for (const edge of edges) {
		out[edge[EDGE.FROM]].push(edge[EDGE.TO]);
		into[edge[EDGE.TO]].push(edge[EDGE.FROM]);
	}
	while (stack.length) {
		const top = stack.at(-1), to = out[top[0]][top[1]++];

		if (to === undefined)
			order.push(stack.pop()[0]);
		else if (!seen.has(to))
			seen.add(to), stack.push([to, 0]);
	}
	order.reverse().forEach((v, i) => number[v] = i);
	doms[VERTEX.ROOT] = VERTEX.ROOT;
	const meet = (a, b) => {
		while (a !== b) {
			while (number[a] > number[b])
				a = doms[a];
			while (number[b] > number[a])
				b = doms[b];
		}
		return a;
	};

	for (let changed = true; changed;) {
		changed = false;
		for (const v of order.slice(1)) {
			const dom = into[v].filter((from) => doms[from] >= 0)
				.reduce((a, b) => a < 0 ? b : meet(a, b), -1);

			changed ||= doms[v] !== dom;
			doms[v] = dom;
		}
	}
	return doms;
}

// Natural loops: { head, body: set of vertices, rounds: on average, or null if
// it was never entered or counts are not known }.
function loops_find(code)
{
	if (code.blocks.length > LOOPS_MAX)
		return [];
	const doms = dominators_find(code.blocks.length + VERTEX.BLOCK,
		code.edges);
	const loops = new Map(), into = new Map();
	const dominates = (head, v) => {
		while (v !== head && v !== VERTEX.ROOT && v >= 0)
			v = doms[v];
		return v === head;
	};

	for (const { [EDGE.FROM]: from, [EDGE.TO]: to } of code.edges)
		into.has(to) ? into.get(to).push(from) : into.set(to, [from]);
	for (const { [EDGE.FROM]: from, [EDGE.TO]: head } of code.edges) {
		if (doms[from] < 0 || !dominates(head, from))
			continue;
		const loop = loops.get(head) ?? { head, body: new Set([head]) };
		const work = [from];

		loops.set(head, loop);
		while (work.length) {
			const v = work.pop();

			if (loop.body.has(v))
				continue;
			loop.body.add(v);
			work.push(...into.get(v) ?? []);
		}
	}
	return [...loops.values()].map((loop) => ({ ...loop,
		rounds: loop_rounds(code, loop) }));
}

function loop_rounds(code, { head, body })
{
	const entries = code.edges.filter((edge) => edge[EDGE.TO] === head &&
		!body.has(edge[EDGE.FROM])).map((edge) => edge[EDGE.COUNT]);
	const count = code.blocks[head - VERTEX.BLOCK][BLOCK.COUNT];
	const sum = entries.reduce((n, entry) => n + Number(entry), 0);

	return sum && known(count) && entries.every(known) ?
		Number(count) / sum : null;
}

// The edges from the entry on, of those of each block the one that was taken
// most, until they lead out or back.
function path_hot(code)
{
	const path = new Set(), best = new Map();
	let edge;

	for (const other of code.edges)
		if (counts_compare(other[EDGE.COUNT], best.get(
			other[EDGE.FROM])?.[EDGE.COUNT] ?? 0) > 0)
			best.set(other[EDGE.FROM], other);
	for (edge = best.get(VERTEX.ROOT); edge && !path.has(edge);
		edge = best.get(edge[EDGE.TO]))
		path.add(edge);
	return path;
}

// ---- the graph

function flow_nodes(code, whole, texts, loops)
{
	const heads = new Map(loops.map((loop) => [loop.head, loop]));
	const nodes = [];

	code.blocks.forEach((block, b) => {
		const count = block[BLOCK.COUNT], id = VERTEX.BLOCK + b;

		if (block[BLOCK.PADDING] || (!whole && count === 0))
			return;
		const place = block_place(code, b), lines = block_lines(place);
		const rounds = heads.get(id)?.rounds;

		nodes.push({ id, open: true, block: b, count, weight: count,
			rows: [block_insns(code, b)[0][INSN.ADDR],
				...lines ? [lines] : [],
				...block_source(place, texts),
				...rounds ? [`loop: ${rounds.toFixed(1)} ` +
					"rounds"] : [],
				count_text(count)] });
	});
	return nodes;
}

function flow_make(code, whole, options)
{
	const loops = loops_find(code), hot = path_hot(code);
	const nodes = flow_nodes(code, whole, options.texts, loops);
	const ids = new Set(nodes.map(({ id }) => id));
	const inside = (v) => v < VERTEX.BLOCK || ids.has(v);
	const edges = code.edges.filter((edge) => inside(edge[EDGE.FROM]) &&
		inside(edge[EDGE.TO]) && (whole || edge[EDGE.COUNT] !== 0))
		.map((edge) => ({ from: edge[EDGE.FROM], to: edge[EDGE.TO],
			dashed: edge[EDGE.FALL], count: edge[EDGE.COUNT],
			klass: hot.has(edge) ? "hot" : "" }));

	if (edges.some(({ from }) => from === VERTEX.ROOT))
		nodes.unshift({ id: VERTEX.ROOT, rows: ["entry"],
			round: true });
	if (edges.some(({ to }) => to === VERTEX.EXIT))
		nodes.push({ id: VERTEX.EXIT, rows: ["exit"], round: true });
	return graph_offer(nodes, edges, { ...options,
		bands: loops.map(({ body, rounds }) => ({
			ids: [...body].filter((id) => ids.has(id)),
			title: rounds === null ? "a loop" :
				`a loop of ${rounds.toFixed(1)} rounds ` +
				"on average" })) });
}

// A block's box, its instructions and its source lines are marked together, and
// all blocks of a line.  data-block has the numbers of one or several.
function hover_link(sections)
{
	const lit = (event, on) => {
		const box = event.target.closest("[data-block]");

		for (const b of box?.dataset.block.split(" ") ?? [])
			for (const section of sections)
				for (const each of section.querySelectorAll(
					`[data-block~="${b}"]`))
					each.classList.toggle("lit", on);
	};

	for (const node of sections) {
		node.addEventListener("pointerover", (event) =>
			lit(event, true));
		node.addEventListener("pointerout", (event) =>
			lit(event, false));
	}
}

// The text of the file that the function is in, if it is there.
async function flow_texts(file)
{
	const texts = new Map();

	if (file >= 0 && pmon.index.files[file][FILE.LINES]) {
		const text = (await pmon.load(`f${file}`)).text;

		if (text !== undefined)
			texts.set(file, text.split("\n"));
	}
	return texts;
}

// The lines of the function in the file that it is in, each with the blocks that
// have its instructions; null if there are none, or too many.
async function flow_lines(code, { [FUNC.FILE]: file, [FUNC.LINE]: head }, texts)
{
	const blocks = new Map();

	code.blocks.forEach((block, b) => {
		for (const insn of block[BLOCK.PADDING] ? [] :
			block_insns(code, b)) {
			const line = insn[INSN.FILE] === file && insn[INSN.LINE];

			if (line && !blocks.has(line))
				blocks.set(line, new Set());
			if (line)
				blocks.get(line).add(b);
		}
	});
	const begin = Math.min(...blocks.keys());
	const first = head < begin && begin - head < FLOW_HEAD ? head : begin;
	const last = Math.max(...blocks.keys()), text = texts.get(file);

	if (!text || !blocks.size || last - first > FLOW_SOURCE)
		return null;
	const { lines } = await pmon.load(`f${file}`);
	const counts = new Map(lines.map((entry) => [entry[LINE.LINE],
		entry[LINE.COUNT]]));
	const body = make("tbody");

	for (let line = first; line <= last; line++)
		body.append(make("tr", { "data-block": blocks.has(line) ?
			[...blocks.get(line)].join(" ") : null,
		class: counts.get(line) === 0 ? "idle" : "" },
		make("td", { class: "num faint" }, make("a", {
			href: `#/file/${file}/${line}` }, line)),
		make("td", { class: "num" }, counts.has(line) ?
			count_node(counts.get(line)) : ""),
		make("td", {}, text[line - 1] ?? "")));
	return make("section", { class: "beside" }, make("h2", {}, "Source"),
		make("div", { class: "scroll" }, make("table", {
			class: "insns" }, make("thead", {}, make("tr", {},
			...["line", "count", "source"].map((title) => make(
				"th", { scope: "col" }, title)))), body)));
}

// insns: insns_section.
async function flow_section(code, insns, row)
{
	const never = code.blocks.filter((block) => block[BLOCK.COUNT] === 0 &&
		!block[BLOCK.PADDING]).length;
	const whole = code.blocks.length <= GRAPH_WHOLE || !never;
	const options = { texts: await flow_texts(row[FUNC.FILE]),
		label: `Control-flow graph of ${name_short(row[FUNC.NAME])}`,
		chosen: (node) => insns.show(node.block) };
	const place = make("div", {}, flow_make(code, whole, options));
	const box = make("input", { type: "checkbox", checked: whole,
		onchange: (event) => place.replaceChildren(flow_make(code,
			event.target.checked, options)) });
	const section = make("section", { class: "flow" },
		make("h2", {}, "Control flow"),
		make("p", { class: "legend" }, "Each block has its address, " +
			"lines and count, and more colour the more often it " +
			"ran. The more often control took an edge, the wider " +
			"it is; orange is the way from the entry that it " +
			"took most often, dashed the edge of a branch not " +
			"taken. Loops have a band, and their rounds on " +
			"average. What is below the pointer is marked in the " +
			"source and the instructions, too."),
		never ? make("label", {}, box, ` with ${never} block` +
			`${never === 1 ? "" : "s"} that never ran`) : null,
		place);

	const source = await flow_lines(code, row, options.texts);

	hover_link([section, insns.node, ...source ? [source] : []]);
	return make("div", {}, section, source);
}
