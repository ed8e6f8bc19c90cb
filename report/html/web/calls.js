// The call graph: all of it as a list, its hottest part as a drawing; the calls
// of and by one function; and what is within some steps of one.
"use strict";

const CALL = { FROM: 0, TO: 1, COUNT: 2, HOW: 3 };
// Calls that are drawn: of the whole program; on each side of a function.
const CALLS_DRAWN = 50, CALLS_BESIDE = 12, CALLS_NAME = 34;
// Steps from a function, and functions that are drawn on each side of it.
const NEAR_STEPS = 3, NEAR_MOST = 24;

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

// ---- stubs of the linker's

// Per stub, the function of its name, if there is one such; and these functions
// with the calls by all of them.
function stubs_find(calls)
{
	const ids = new Map(), stubs = new Map(), made = new Map();

	pmon.index.funcs.forEach(({ [FUNC.NAME]: name }, id) =>
		ids.set(name, ids.has(name) ? undefined : id));
	for (const [name, id] of ids) {
		const to = ids.get(name.replace(/@plt$/, ""));

		if (id !== undefined && to !== undefined && to !== id &&
		    pmon.index.funcs[id][FUNC.CALLS] === null) {
			stubs.set(id, to);
			made.set(to, 0);
		}
	}
	for (const { [CALL.TO]: to, [CALL.COUNT]: count } of calls) {
		const id = stubs.get(to) ?? to;

		if (made.has(id))
			made.set(id, known(count) && known(made.get(id)) ?
				counts_sum(made.get(id), count) : -1);
	}
	return { stubs, made };
}

// A library calls its own functions by stubs, too, and where these lead was not
// recorded.  They lead to the function of the same name if the calls by all of
// them and those made directly are as many as it had.
function stubs_join(calls)
{
	const { stubs, made } = stubs_find(calls);

	for (const [id, to] of stubs)
		if (!known(made.get(to)) || counts_compare(made.get(to),
			pmon.index.funcs[to][FUNC.CALLS]) !== 0)
			stubs.delete(id);
	return calls.filter((call) => !stubs.has(call[CALL.FROM])).map(
		(call) => stubs.has(call[CALL.TO]) ? [call[CALL.FROM],
			stubs.get(call[CALL.TO]), call[CALL.COUNT],
			"by a stub"] : call);
}

// All calls, once they are loaded.
async function calls_load()
{
	pmon.calls ??= stubs_join(await pmon.load("calls"));
	return pmon.calls;
}

// ---- drawings

// What a function's colour goes by: the instructions executed in it, or its
// calls if these were not counted.
const func_weight = (row) => row[FUNC.IE] ?? row[FUNC.CALLS];

// A node for each function, an edge for each pair of them.  Options: label,
// here (a function), link (a function's, else to its page).
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
				link: outside ? null : options.link?.(id) ??
					`#/func/${id}`,
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
			edge.count = counts_sum(edge.count, call[CALL.COUNT]);
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
	const calls = await calls_load();
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
		make("p", {}, make("a", { href: `#/calls/${id}/2` },
			"Callers and callees of these, too")),
		all > near.length ? make("p", { class: "legend" },
			"The drawing shows the most frequent ones.") :
			null,
		make("div", { class: "columns" },
			of.length ? calls_list(of, { caption: "Called by",
				without: "Callee" }) : null,
			by.length ? calls_list(by, { caption: "Calls",
				without: "Caller" }) : null));
}

// The functions that calls lead to within some steps, in one direction: ends are
// [CALL.FROM, CALL.TO], or the other way round.  Those called most come first.
function calls_reach(calls, id, steps, [near, far])
{
	const reached = new Set([id]);
	let last = new Set([id]);

	for (let step = 0; step < steps; step++) {
		const next = calls.filter((call) => last.has(call[near]) &&
			!reached.has(call[far]) && call[CALL.COUNT] !== 0);

		last = new Set();
		for (const call of calls_hottest(next, next.length))
			if (reached.size <= NEAR_MOST)
				reached.add(call[far]), last.add(call[far]);
	}
	return reached;
}

// The calls among those that lead to the function, and among those that it
// leads to.
function calls_near(calls, id, steps)
{
	const above = calls_reach(calls, id, steps, [CALL.TO, CALL.FROM]);
	const below = calls_reach(calls, id, steps, [CALL.FROM, CALL.TO]);
	const near = calls.filter((call) => call[CALL.COUNT] !== 0 &&
		[above, below].some((some) => some.has(call[CALL.FROM]) &&
			some.has(call[CALL.TO])));

	return { near, cut: Math.max(above.size, below.size) > NEAR_MOST };
}

async function calls_focus(id, steps)
{
	const calls = await calls_load();
	const name = pmon.index.funcs[id]?.[FUNC.NAME];

	if (name === undefined)
		throw new Error("no such function");
	const { near, cut } = calls_near(calls, id, steps);
	const address = (n) => `#/calls/${id}/${n}`;
	const numbers = [...Array(NEAR_STEPS).keys()].map((i) => i + 1);

	return {
		title: `Calls of ${name_short(name)}`,
		keys: numbers.map((n) => [`${n}`, `Calls within ${n} step${
			n === 1 ? "" : "s"}`, () => location.hash = address(n)]),
		node: make("div", {}, name_heading(name), make("p", {
			class: "tools steps" }, "Calls within",
		...numbers.map((n) => make("a", { href: address(n),
			"aria-current": n === steps ? "true" : null }, n)),
		steps === 1 ? "step" : "steps",
		make("a", { href: `#/func/${id}` }, "Its page"),
		make("a", { href: "#/calls" }, "All calls")),
		make("p", { class: "legend" }, "A click on a function shows " +
			"its calls. ", cut ? "The drawing has the " +
			`${NEAR_MOST} functions on each side that are called ` +
			"or call most." : ""),
		near.length ? calls_draw(near, { here: id, link: (to) =>
			`#/calls/${to}/${steps}`, label:
			`Calls within ${steps} steps of ${name_short(name)}` }) :
			make("p", { class: "note" }, "There are no calls."),
		calls_list(near, { caption: "The calls that are drawn" })),
	};
}

pmon.views.calls = async (id, steps = 1) => {
	if (id)
		return calls_focus(Number(id), Math.min(Math.max(
			Number(steps) || 1, 1), NEAR_STEPS));
	const calls = await calls_load();
	const hottest = calls_hottest(calls, CALLS_DRAWN);

	return {
		title: "Calls",
		node: make("div", {}, make("h1", {}, "Calls"),
			make("p", { class: "legend" }, calls.length >
				CALLS_DRAWN ? "The drawing shows the " +
				`${CALLS_DRAWN} most frequent calls, the ` +
				"list shows all. " :
				"All calls that were made. ",
			"A click on a function shows its calls."),
			hottest.length ? calls_draw(hottest, {
				label: "The most frequent calls",
				link: (to) => `#/calls/${to}` }) : null,
			calls_list(calls, { caption: "Calls that were made",
				search: "Search calls" })),
	};
};
