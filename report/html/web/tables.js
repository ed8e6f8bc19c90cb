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

// What the address says of a list: "?sort=Calls&order=up&search=words", each name
// with the list's id and a dot before it if it has one.
const address_names = (options) => ["sort", "order", "search"].map((name) =>
	options.id ? `${options.id}.${name}` : name);

function state_read(columns, options)
{
	const given = new URLSearchParams(location.hash.split("?")[1]);
	const [sort, order, search] = address_names(options)
		.map((name) => given.get(name));
	const found = columns.findIndex(({ title }) => title === sort);
	const column = found >= 0 ? found : options.sort ?? columns.length - 1;

	return { sort: column, text: search ?? "", shown: 0, rows: [],
		down: order ? order === "down" : Boolean(columns[column].num) };
}

function state_write(columns, state, options)
{
	const [view, old] = location.hash.split("?");
	const given = new URLSearchParams(old);
	const [sort, order, search] = address_names(options);

	given.set(sort, columns[state.sort].title);
	given.set(order, state.down ? "down" : "up");
	given.set(search, state.text);
	if (!state.text)
		given.delete(search);
	address_set(`${view || "#/"}?${given}`);
}

// Rows in order, each with those below it, if these are shown.
function rows_nest(columns, rows, state, nest)
{
	return rows_choose(columns, rows, { ...state, text: "" })
		.flatMap((row) => [row, ...nest.open.has(row) ?
			rows_nest(columns, nest.below.get(row), state, nest) :
			[]]);
}

// columns: { title, value(row), node(row), num, minor, down, klass }; value is
// what is sorted by and, if it is text, searched.  Options: caption, search (a
// label), max, sort (the column that it begins with, else the last), id (if a
// view has several lists), nest (dirs_nest), rows in others, which a
// search leaves out.
function list_make(columns, rows, options)
{
	const state = options.search ? state_read(columns, options) :
		{ sort: options.sort ?? columns.length - 1, down: true,
			text: "", shown: 0, rows: [] };
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
		state.rows = options.nest && !state.text ?
			rows_nest(columns, options.nest.top, state,
				options.nest) :
			rows_choose(columns, rows, state, options.max);
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
		number.textContent = state.rows.length === rows.length ||
			(options.nest && !state.text) ? `${rows.length}` :
			`${state.rows.length} of ${rows.length}`;
	}

	function turn(i)
	{
		state.down = i === state.sort ? !state.down :
			Boolean(columns[i].num);
		state.sort = i;
		changed();
	}

	function changed()
	{
		fill();
		if (options.search)
			state_write(columns, state, options);
	}

	if (options.nest) {
		options.nest.change = fill;
		options.nest.flat = () => Boolean(state.text);
	}
	fill();
	if (!options.search)
		return make("div", {}, table, more);
	return make("div", {}, make("div", { class: "tools" },
		make("label", {}, `${options.search} `, make("input", {
			type: "search", class: "search",
			value: state.text,
			oninput: (event) => {
				state.text = event.target.value.trim();
				changed();
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

// Without a limit, files are in their directories.
function files_list(options)
{
	const rows = pmon.index.files.filter((row) => row[FILE.LINES] ||
		row[FILE.I]);
	const ids = new Map(pmon.index.files.map((row, i) => [row, i]));

	if (!options.max)
		options = { ...options, nest: dirs_nest(rows) };
	const columns = [
		{ title: "File", value: (row) => row[FILE.NAME],
			node: (row) => options.nest ? nest_node(row,
				ids.get(row), options.nest) :
				file_link(ids.get(row)),
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

const call_insns = (row) => known(row[FUNC.IE]) && ran(row[FUNC.CALLS]) ?
	Number(row[FUNC.IE]) / Number(row[FUNC.CALLS]) : null;

// What is known of functions whose instructions were counted.
function work_columns(rows, options)
{
	const most = counts_most(rows.map((row) => row[FUNC.IE]));
	const blocks = (row) => row[FUNC.BB] - row[FUNC.BBNE];

	return [{ title: "Blocks run", num: true, minor: true,
			value: (row) => row[FUNC.BB] ?
				blocks(row) / row[FUNC.BB] : -1,
			node: (row) => row[FUNC.BB] ? make("span", {},
				share_text(blocks(row), row[FUNC.BB]),
				bar(blocks(row), row[FUNC.BB])) : "–" },
		{ title: "A call", num: true, minor: true, value: call_insns,
			node: (row) => call_insns(row)?.toFixed(1) ?? "–" },
		{ title: "Self", num: true, value: (row) => row[FUNC.IE],
			node: self_text },
		{ title: "Executed", num: true,
			value: (row) => row[FUNC.IE],
			node: (row) => make("span", {},
				count_node(row[FUNC.IE]),
				options.max || !known(row[FUNC.IE]) ? null :
					bar(row[FUNC.IE], most,
						"heat minor")) }];
}

// An inlined function's calls are the entries of all its copies; what these
// executed is part of the functions that they are in.
function funcs_list(options)
{
	const funcs = pmon.index.funcs;
	const ids = new Map(funcs.map((row, i) => [row, i]));
	const rows = options.max ? funcs : [...funcs, ...pmon.index.inlines];
	const columns = [
		{ title: "Function", value: (row) => ids.has(row) ?
			row[FUNC.NAME] : `${row[FUNC.NAME]} (inlined)`,
			node: (row) => ids.has(row) ? func_link(ids.get(row)) :
				make("span", {}, name_node(row[FUNC.NAME]),
					make("span", { class: "faint" },
						" (inlined)")),
			klass: "name" },
		place_column,
		{ title: "Calls", num: true, value: (row) => row[FUNC.CALLS] },
	];

	if (pmon.index.objects.length > 1)
		columns.splice(1, 0, object_column);
	if (rows.some((row) => row.length > FUNC.IE))
		columns.push(...work_columns(rows, options));
	return list_make(columns_chosen(columns, options), rows, options);
}

// ---- views

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
		funcs_list({
		caption: "All functions, called or not, and the " +
			"instructions executed in them, without those of " +
			"functions that they called",
		search: "Search functions" })),
});
