// The call graph: all of it as a list, its hottest part as a drawing, and the
// calls of and by one function.
"use strict";

const CALL = { FROM: 0, TO: 1, COUNT: 2, HOW: 3 };
// Calls that are drawn: of the whole program; on each side of a function.
const CALLS_DRAWN = 50, CALLS_BESIDE = 12, CALLS_NAME = 34;

const callee_name = (to) => typeof to === "number" ?
	pmon.index.funcs[to][FUNC.NAME] : to;
const callee_node = (to) => typeof to === "number" ? func_link(to) :
	name_node(to);

function calls_list(calls, options)
{
	const columns = [
		{ title: "Caller", klass: "name",
			value: (call) => callee_name(call[CALL.FROM]),
			node: (call) => func_link(call[CALL.FROM]) },
		{ title: "Callee", klass: "name",
			value: (call) => callee_name(call[CALL.TO]),
			node: (call) => callee_node(call[CALL.TO]) },
		{ title: "How", minor: true,
			value: (call) => call[CALL.HOW] ?? "" },
		{ title: "Times", num: true,
			value: (call) => call[CALL.COUNT] },
	];

	// Most are plain calls, and often all.
	return list_make(columns.filter(({ title }) => title !==
		options.without && (title !== "How" ||
		calls.some((call) => call[CALL.HOW]))), calls, options);
}

// ---- drawings

// What a function's colour goes by: the instructions executed in it, or its
// calls if these were not counted.
const func_weight = (row) => row[FUNC.IE] ?? row[FUNC.CALLS];

// A node for each function, an edge for each pair of them.
function calls_draw(calls, options)
{
	const nodes = new Map(), edges = new Map();
	const node = (id, outside) => {
		const key = outside ? `:${id}` : `${id}`;
		const name = callee_name(id);
		const short = name_short(name, CALLS_NAME);
		const count = outside ? null : pmon.index.funcs[id][FUNC.CALLS];

		if (!nodes.has(key))
			nodes.set(key, { id: key, count,
				title: short === name ? null : name,
				weight: outside ? null :
					func_weight(pmon.index.funcs[id]),
				link: outside ? null : `#/func/${id}`,
				klass: key === String(options.here) ? "here" :
					"",
				rows: [short,
				...count === null ? [] :
					[count_text(count)]] });
		return key;
	};

	if (options.here !== undefined)
		node(options.here);
	for (const call of calls) {
		const from = node(call[CALL.FROM]);
		const to = node(call[CALL.TO],
			typeof call[CALL.TO] !== "number");
		const key = `${from} ${to}`, edge = edges.get(key);

		if (!edge)
			edges.set(key, { from, to, count: call[CALL.COUNT] });
		else if (known(edge.count) && known(call[CALL.COUNT]))
			edge.count = String(BigInt(edge.count) +
				BigInt(call[CALL.COUNT]));
		else if (known(edge.count))
			edge.count = call[CALL.COUNT];
	}
	return graph_offer([...nodes.values()], [...edges.values()],
		{ across: innerWidth > 620, label: options.label,
			most: counts_most(pmon.index.funcs.map(func_weight)) });
}

const calls_hottest = (calls, n) => [...calls].sort((a, b) =>
	counts_compare(b[CALL.COUNT], a[CALL.COUNT])).slice(0, n);

// ---- views

// What a function's page has of them, or null.
async function calls_section(id)
{
	if (!pmon.index.calls)
		return null;
	const calls = await pmon.load("calls");
	const by = calls.filter((call) => call[CALL.FROM] === id);
	const of = calls.filter((call) => call[CALL.TO] === id);
	// A call of itself is in both.
	const near = [...calls_hottest(of, CALLS_BESIDE),
		...calls_hottest(by.filter((call) => call[CALL.TO] !== id),
			CALLS_BESIDE)];
	const all = new Set([...of, ...by]).size;

	if (!all)
		return null;
	return make("section", {}, make("h2", {}, "Calls"),
		near.length ? calls_draw(near, { here: id,
			label: "Callers and callees" }) : null,
		all > near.length ? make("p", { class: "legend" },
			"The drawing shows the most frequent ones.") :
			null,
		make("div", { class: "columns" },
			of.length ? calls_list(of, { caption: "Called by",
				without: "Callee" }) : null,
			by.length ? calls_list(by, { caption: "Calls",
				without: "Caller" }) : null));
}

pmon.views.calls = async () => {
	const calls = await pmon.load("calls");
	const hottest = calls_hottest(calls, CALLS_DRAWN);

	return {
		title: "Calls",
		node: make("div", {}, make("h1", {}, "Calls"),
			make("p", { class: "legend" }, calls.length >
				CALLS_DRAWN ? "The drawing shows the " +
				`${CALLS_DRAWN} most frequent calls, the ` +
				"list shows all." :
				"All calls that were made."),
			hottest.length ? calls_draw(hottest, {
				label: "The most frequent calls" }) : null,
			calls_list(calls, { caption: "Calls that were made",
				search: "Search calls" })),
	};
};
