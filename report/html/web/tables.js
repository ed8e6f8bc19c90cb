// Lists that are sorted and searched, and the views that consist of them.
"use strict";

const ROWS_FIRST = 100, ROWS_MORE = 400;

function cell_make(column, row)
{
	return make("td", {
		class: `${column.num ? "num" : ""} ${column.minor ? "minor" :
			""} ${column.klass ?? ""}`,
	}, column.node ? column.node(row) :
		column.num ? count_node(column.value(row)) :
		column.value(row));
}

// Those that have all words searched for, in order; at most max.
function rows_choose(columns, rows, state, max)
{
	const { value, num } = columns[state.sort];
	const sign = state.down ? -1 : 1;
	const compare = num ? counts_compare :
		(a, b) => a < b ? -1 : a > b ? 1 : 0;
	const words = state.text.toLowerCase().split(/\s+/);
	const chosen = rows.filter((row) => words.every((word) =>
		columns.some((column) => !column.num &&
			column.value(row).toLowerCase().includes(word))));

	chosen.sort((a, b) => sign * compare(value(a), value(b)));
	return max ? chosen.slice(0, max) : chosen;
}

// columns: { title, value(row), node(row), num, minor, down, klass }; value is
// what is sorted by and, if it is text, searched.  Options: caption, search (a
// label), max.  It begins sorted by the last column.
function list_make(columns, rows, options)
{
	const state = { sort: columns.length - 1, text: "", shown: 0,
		rows: [] };
	const body = make("tbody");
	const heads = columns.map((column, i) => make("th", {
		scope: "col",
		class: `${column.num ? "num" : ""} ${column.minor ?
			"minor" : ""}`,
	}, make("button", { type: "button", onclick: () => turn(i) },
		column.title)));
	const table = make("table", { class: "list" },
		make("caption", {}, options.caption),
		make("thead", {}, make("tr", {}, ...heads)), body);
	const number = make("span", { class: "faint", role: "status" });
	const more = make("button", { type: "button",
		onclick: () => extend(ROWS_MORE) }, "Show more");

	function extend(n)
	{
		const end = Math.min(state.shown + n, state.rows.length);

		for (; state.shown < end; state.shown++) {
			body.append(make("tr", {}, ...columns.map((column) =>
				cell_make(column, state.rows[state.shown]))));
		}
		more.hidden = state.shown === state.rows.length || options.max;
		more.textContent =
			`Show more (${state.rows.length - state.shown})`;
	}

	function fill()
	{
		state.rows = rows_choose(columns, rows, state, options.max);
		heads.forEach((head, i) => {
			if (i !== state.sort)
				head.removeAttribute("aria-sort");
			else
				head.setAttribute("aria-sort", state.down ?
					"descending" : "ascending");
		});
		body.replaceChildren();
		state.shown = 0;
		extend(ROWS_FIRST);
		number.textContent = state.rows.length === rows.length ?
			`${rows.length}` :
			`${state.rows.length} of ${rows.length}`;
	}

	function turn(i)
	{
		state.down = i === state.sort ? !state.down :
			Boolean(columns[i].num);
		state.sort = i;
		fill();
	}

	state.down = Boolean(columns[state.sort].num);
	fill();
	if (!options.search)
		return make("div", {}, table, more);
	return make("div", {}, make("div", { class: "tools" },
		make("label", {}, `${options.search} `, make("input", {
			type: "search", class: "search",
			oninput: (event) => {
				state.text = event.target.value.trim();
				fill();
			},
		})), number), table, more);
}

// Short lists have the columns only that are always there.
function columns_chosen(columns, options)
{
	return options.max ? columns.filter((column) => !column.minor) :
		columns;
}

// ---- files

function coverage_node(row)
{
	const known_lines = row[FILE.LINES] - row[FILE.UNKNOWN];

	return make("span", {}, share_text(row[FILE.RUN], known_lines),
		bar(row[FILE.RUN], known_lines));
}

function files_list(options)
{
	const rows = pmon.index.files.filter((row) => row[FILE.LINES] ||
		row[FILE.I]);
	const ids = new Map(pmon.index.files.map((row, i) => [row, i]));
	const columns = [
		{ title: "File", value: (row) => row[FILE.NAME],
			node: (row) => file_link(ids.get(row)),
			klass: "name" },
		{ title: "Lines run", num: true,
			value: (row) => row[FILE.LINES] > row[FILE.UNKNOWN] ?
				row[FILE.RUN] / (row[FILE.LINES] -
					row[FILE.UNKNOWN]) : -1,
			node: coverage_node },
		{ title: "Run", num: true, minor: true,
			value: (row) => row[FILE.RUN] },
		{ title: "Lines", num: true, minor: true,
			value: (row) => row[FILE.LINES] },
		{ title: "Hottest line", num: true, minor: true,
			value: (row) => row[FILE.MOST] },
	];

	if (rows.some((row) => row.length > FILE.IE)) {
		const most = rows.reduce((max, row) => Math.max(max,
			known(row[FILE.IE]) ? Number(row[FILE.IE]) : 0), 0);

		columns.push({ title: "Executed", num: true,
			value: (row) => row[FILE.IE],
			node: (row) => make("span", {},
				count_node(row[FILE.IE]),
				options.max ? null : bar(known(row[FILE.IE]) ?
					row[FILE.IE] : 0, most,
					"heat minor")) });
	}
	return list_make(columns_chosen(columns, options), rows, options);
}

// ---- functions, and inlined ones, whose rows begin alike

const place_column = { title: "Declared at", minor: true, klass: "code",
	value: (row) => row[FUNC.FILE] < 0 ? "" :
		`${pmon.index.files[row[FUNC.FILE]][FILE.NAME]}:` +
		row[FUNC.LINE],
	node: (row) => row[FUNC.FILE] < 0 ? "" :
		file_link(row[FUNC.FILE], row[FUNC.LINE]) };
const object_column = { title: "Object", minor: true,
	value: (row) => object_name(row[FUNC.OBJECT]) };

// The count of all copies stands where functions have their calls.
function inlines_list()
{
	const columns = [
		{ title: "Function", value: (row) => row[FUNC.NAME],
			node: (row) => name_node(row[FUNC.NAME]),
			klass: "name" },
		place_column,
		{ title: "Run", num: true, value: (row) => row[FUNC.CALLS] },
	];

	if (pmon.index.objects.length > 1)
		columns.splice(1, 0, object_column);
	return list_make(columns, pmon.index.inlines, {
		caption: "How often control entered one of their copies",
		search: "Search inlined functions" });
}

function funcs_list(options)
{
	const rows = pmon.index.funcs;
	const ids = new Map(rows.map((row, i) => [row, i]));
	const most = rows.reduce((max, row) => Math.max(max,
		known(row[FUNC.IE]) ? Number(row[FUNC.IE]) : 0), 0);
	const columns = [
		{ title: "Function", value: (row) => row[FUNC.NAME],
			node: (row) => func_link(ids.get(row)),
			klass: "name" },
		place_column,
		{ title: "Calls", num: true, value: (row) => row[FUNC.CALLS] },
	];

	if (pmon.index.objects.length > 1)
		columns.splice(1, 0, object_column);
	if (rows.some((row) => row.length > FUNC.IE)) {
		columns.push({ title: "Blocks run", num: true, minor: true,
			value: (row) => row[FUNC.BB] ?
				1 - row[FUNC.BBNE] / row[FUNC.BB] : -1,
			node: (row) => row[FUNC.BB] ? make("span", {},
				share_text(row[FUNC.BB] - row[FUNC.BBNE],
					row[FUNC.BB]),
				bar(row[FUNC.BB] - row[FUNC.BBNE],
					row[FUNC.BB])) : "–" },
		{ title: "Executed", num: true,
			value: (row) => row[FUNC.IE],
			node: (row) => make("span", {},
				count_node(row[FUNC.IE]),
				options.max ? null : bar(known(row[FUNC.IE]) ?
					row[FUNC.IE] : 0, most,
					"heat minor")) });
	}
	return list_make(columns_chosen(columns, options), rows, options);
}

// ---- views

// Rows of [what, all, run, never, unknown].
function totals_table(rows, caption)
{
	const body = rows.map(([what, all, run, never, unknown]) => make("tr",
		{}, make("th", { scope: "row" }, what),
		make("td", { class: "num" }, count_node(run)),
		make("td", { class: "num" }, count_node(never)),
		make("td", { class: "num minor" }, count_node(unknown)),
		make("td", { class: "num minor" }, count_node(all)),
		make("td", { class: "num" }, share_text(run, all - unknown),
			bar(run, all - unknown))));

	return make("table", { class: "list" },
		make("caption", {}, caption),
		make("thead", {}, make("tr", {}, make("td"),
			...["run", "never run", "not known", "all", "share"]
			.map((title, i) => make("th", { scope: "col",
				class: i === 2 || i === 3 ? "num minor" :
				"num" }, title)))),
		make("tbody", {}, ...body));
}

// Of all objects together; and if there are several, of each.
function totals_node()
{
	const totals = pmon.index.totals, sums = new Map();

	for (const [what, , ...numbers] of totals) {
		const sum = sums.get(what) ?? [0, 0, 0, 0];

		sums.set(what, sum.map((n, i) => n + numbers[i]));
	}
	const whole = totals_table([...sums].map(([what, sum]) =>
		[what, ...sum]), "What was counted");

	if (pmon.index.objects.length < 2)
		return whole;
	return make("div", {}, whole, make("details", {},
		make("summary", {}, `By program and library (${
			pmon.index.objects.length})`),
		totals_table(totals.map(([what, object, ...numbers]) =>
			[`${what} of ${object_name(object)}`, ...numbers]),
			"What was counted of each")));
}

pmon.views[""] = () => {
	const index = pmon.index;
	const ended = [index.outcome, index.time,
		`${index.processes} process${index.processes === 1 ? "" :
			"es"}`,
		`${index.threads} thread${index.threads === 1 ? "" : "s"}`];

	return {
		title: "Overview",
		node: make("div", {}, make("h1", {}, "Overview"),
			make("p", { class: "code" }, index.command),
			make("p", { class: "faint" },
				ended.filter(Boolean).join(", ")),
			totals_node(),
			make("div", { class: "columns" },
				make("section", {}, make("h2", {},
					"Hottest functions"),
				funcs_list({ max: 10,
					caption: "By instructions executed" })),
				make("section", {}, make("h2", {},
					"Hottest files"),
				files_list({ max: 10, caption:
					"By instructions executed" }))),
			...index.remarks.map((remark) => make("p", {
				class: "note" }, remark))),
	};
};

pmon.views.files = () => ({
	title: "Files",
	node: make("div", {}, make("h1", {}, "Files"), files_list({
		caption: "Source files with counted code, and the " +
			"instructions executed in them",
		search: "Search files" })),
});

pmon.views.funcs = () => ({
	title: "Functions",
	node: make("div", {}, make("h1", {}, "Functions"),
		pmon.index.inlines.length ? make("p", {}, make("a",
			{ href: "#/inlines" }, "Inlined functions")) : null,
		funcs_list({
		caption: "All functions, called or not, and the " +
			"instructions executed in them",
		search: "Search functions" })),
});

pmon.views.inlines = () => ({
	title: "Inlined functions",
	node: make("div", {}, make("h1", {}, "Inlined functions"),
		inlines_list()),
});
