// A source file: its lines with their counts, and what is asked for of a
// line.  Lines come in chunks, which are filled when they come into view.
"use strict";

const LINE = { LINE: 0, COUNT: 1, IE: 2, I: 3, FUNCS: 4, BRANCHES: 5 };
const BRANCH = { FUNC: 0, ADDR: 1, TAKEN: 2, FALL: 3 };
const INSN = { ADDR: 0, COUNT: 1, TEXT: 2, FILE: 3, LINE: 4 };
const CHUNK = 200, LINE_HEIGHT = 20;
// A line is hot if it has this share of what the hottest line has.
const HOT_SHARE = 0.1, STRIP_SLICES = 200;

// ---- what a line is made of

// Both ways taken, one never, or never there; one sign for each branch.
function ways_node(branches)
{
	const span = make("span", { class: "ways" });

	for (const branch of branches.slice(0, 5)) {
		const taken = branch[BRANCH.TAKEN], fall = branch[BRANCH.FALL];
		const both = ran(taken) && ran(fall);
		const none = taken === 0 && fall === 0;
		const unknown = !known(taken) || !known(fall);

		span.append(make("span", {
			class: unknown ? "unknown" : both ? "both" :
				none ? "never" : "half",
			title: `taken ${count_text(taken)}, not taken ` +
				count_text(fall),
		}, unknown ? "?" : both ? "◆" : none ? "◇" :
			taken === 0 ? "◣" : "◥"));
	}
	if (branches.length > 5)
		span.append("+");
	return span;
}

function count_cell(view, entry)
{
	const count = entry[LINE.COUNT], zero = count === 0;
	const funcs = entry[LINE.FUNCS] ?? [];
	const cell = make(funcs.length ? "button" : "span", {
		class: `count${zero ? " zero" : ""}`, role: funcs.length ?
			undefined : "cell",
		title: known(count) ? undefined : why(count),
		"aria-expanded": funcs.length ? "false" : undefined,
		"aria-label": `line ${entry[LINE.LINE]}: ${zero ? "never run" :
			known(count) ? `run ${count} times` :
			`not known, ${why(count)}`}`,
		tabindex: funcs.length ? -1 : undefined,
		onclick: funcs.length ? (event) =>
			detail_toggle(event.currentTarget, view, entry) :
			undefined,
	}, zero ? "0" : count_text(count));

	cell.style.setProperty("--heat", heat(count, view.most).toFixed(3));
	return cell;
}

function line_node(view, i)
{
	const [number, text, entry] = view.rows[i];
	const line = make("div", { class: "line", role: "row",
		id: `L${number}` },
		make("a", { class: "no", role: "rowheader", tabindex: -1,
			href: `#/file/${view.file}/${number}`,
			onclick: (event) => {
				event.preventDefault();
				line_show(view, row_index(view, number));
			} }, number));

	if (entry) {
		line.append(count_cell(view, entry));
		if (view.changes)
			line.append(delta_node(view.changes.get(number),
				entry[LINE.COUNT]));
		if (view.works)
			line.append(make("span", { class: "work",
				role: "cell" }, entry[LINE.I] ?
				count_text(entry[LINE.IE]) : ""),
				ways_node(entry[LINE.BRANCHES] ?? []));
		if (entry[LINE.COUNT] === 0)
			line.classList.add("idle");
	} else {
		line.append(make("span", { class: "count", role: "cell" }));
		if (view.changes)
			line.append(delta_node());
		if (view.works)
			line.append(make("span", { class: "work",
				role: "cell" }),
				make("span", { class: "ways" }));
	}
	line.append(make("code", { role: "cell" }, ...view.comments ?
		syntax_nodes(text, view.comments.has(i)) : [text]));
	return line;
}

// What the columns are; it stays while the lines scroll.
function gutter_head(view)
{
	const columns = [["no", "line"], ["count", "count"],
		...view.changes ? [["delta", "change"]] : [],
		...view.works ? [["work", "executed"], ["ways", "branches"]] :
			[], ["text", "source"]];

	return make("div", { class: "gutter", role: "row" }, ...columns.map(
		([klass, title]) => make("span", { class: klass,
			role: "columnheader" }, title)));
}

// ---- what is asked for of a line

function insns_table(insns, caption)
{
	const body = make("tbody");

	for (const insn of insns) {
		body.append(make("tr", { class: insn[INSN.COUNT] === 0 ?
			"never" : "" },
			make("td", { class: "num" },
				count_node(insn[INSN.COUNT])),
			make("td", { class: "faint" }, insn[INSN.ADDR]),
			make("td", {}, insn[INSN.TEXT])));
	}
	return make("table", { class: "insns" },
		make("caption", { class: "faint" }, caption),
		make("thead", {}, make("tr", {},
			make("th", { class: "num", scope: "col" }, "count"),
			make("th", { scope: "col" }, "address"),
			make("th", { scope: "col" }, "instruction"))), body);
}

function branches_nodes(entry)
{
	return (entry[LINE.BRANCHES] ?? []).map((branch) => make("p", {},
		`Branch at ${branch[BRANCH.ADDR]}: taken `,
		count_node(branch[BRANCH.TAKEN]), ", not taken ",
		count_node(branch[BRANCH.FALL]), "."));
}

async function detail_make(view, entry)
{
	const nodes = [make("p", {}, `Line ${entry[LINE.LINE]}: `,
		count_node(entry[LINE.IE]), " instructions executed, of ",
		count_node(entry[LINE.I]), " that it has.")];

	nodes.push(...branches_nodes(entry));
	for (const id of entry[LINE.FUNCS]) {
		const code = await pmon.code(id);
		const title = make("p", {}, "In ", func_link(id));

		if (!code) {
			title.append(", which never ran.");
			nodes.push(title);
			continue;
		}
		nodes.push(title, insns_table(code.insns.filter((insn) =>
			insn[INSN.FILE] === view.file &&
			insn[INSN.LINE] === entry[LINE.LINE]), ""));
	}
	return make("div", { class: "detail", role: "region",
		"aria-label": `Instructions of line ${entry[LINE.LINE]}` },
		...nodes);
}

async function detail_toggle(button, view, entry)
{
	const line = button.parentNode;
	const open = button.getAttribute("aria-expanded") === "true";

	button.setAttribute("aria-expanded", String(!open));
	line_mark(view, row_index(view, entry[LINE.LINE]));
	line.parentNode.style.height = "auto";
	if (open) {
		if (line.nextSibling?.className === "detail")
			line.nextSibling.remove();
		return;
	}
	const detail = await detail_make(view, entry);

	if (button.getAttribute("aria-expanded") === "true" &&
	    line.nextSibling?.className !== "detail")
		line.after(detail);
}

// ---- chunks

// The rows: [number, text, entry]; without text only lines with code.
function rows_of(data)
{
	const entries = new Map(data.lines.map((entry) =>
		[entry[LINE.LINE], entry]));

	if (data.text === undefined)
		return data.lines.map((entry) => [entry[LINE.LINE], "",
			entry]);
	const texts = data.text.split("\n");

	texts.pop();
	const last = data.lines.length ? data.lines.at(-1)[LINE.LINE] : 0;
	const rows = texts.map((text, i) => [i + 1, text, entries.get(i + 1)]);

	// Lines that the text does not have.
	for (const entry of data.lines)
		if (entry[LINE.LINE] > texts.length && last > texts.length)
			rows.push([entry[LINE.LINE], "", entry]);
	return rows;
}

function chunk_fill(view, chunk)
{
	if (chunk.childElementCount)
		return;
	const first = Number(chunk.dataset.first);

	chunk.append(...view.rows.slice(first, first + CHUNK).map((row, i) =>
		line_node(view, first + i)));
}

function chunks_make(view)
{
	const chunks = [];
	const observer = new IntersectionObserver((events) => {
		for (const event of events) {
			if (!event.isIntersecting)
				continue;
			observer.unobserve(event.target);
			chunk_fill(view, event.target);
		}
	}, { root: view.source, rootMargin: "1500px" });

	for (let first = 0; first < view.rows.length; first += CHUNK) {
		const chunk = make("div", { class: "chunk", role: "rowgroup",
			"data-first": first });
		const n = Math.min(CHUNK, view.rows.length - first);

		chunk.style.height = `${n * LINE_HEIGHT}px`;
		chunks.push(chunk);
		observer.observe(chunk);
	}
	return chunks;
}

// ---- going from line to line

function row_index(view, number)
{
	let lo = 0, hi = view.rows.length;

	while (lo < hi) {
		const mid = lo + hi >> 1;

		if (view.rows[mid][0] < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return Math.min(lo, view.rows.length - 1);
}

// Mark it as the current one, also in the address.
function line_mark(view, index)
{
	const line = document.getElementById(`L${view.rows[index][0]}`);
	const button = line.querySelector("button.count");

	for (const other of view.source.querySelectorAll(".found"))
		other.classList.remove("found");
	line.classList.add("found");
	for (const other of view.source.querySelectorAll('[tabindex="0"]'))
		other.tabIndex = -1;
	if (button)
		button.tabIndex = 0;
	view.current = index;
	address_set(`#/file/${view.file}/${view.rows[index][0]}`);
	return { line, button };
}

function line_show(view, index, focus)
{
	const chunk = view.chunks[Math.floor(index / CHUNK)];

	if (!chunk)
		return;
	chunk_fill(view, chunk);
	const { line, button } = line_mark(view, index);

	line.scrollIntoView({ block: focus ? "nearest" : "center" });
	if (focus && button)
		button.focus({ preventScroll: true });
}

// The next line from the current one that is wanted, in this direction; after
// the last one comes the first if `around`.
function line_step(view, direction, wanted, around = false)
{
	const n = view.rows.length;

	for (let step = 1; step <= n; step++) {
		let i = view.current + direction * step;

		if (around)
			i = (i + n) % n;
		if (i < 0 || i >= n)
			return;
		if (view.rows[i][2] && wanted(view.rows[i][2])) {
			line_show(view, i, true);
			return;
		}
	}
}

function keys(view, event)
{
	const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];

	if (!step || event.altKey || event.ctrlKey || event.metaKey)
		return;
	event.preventDefault();
	line_step(view, step, () => true);
}

// What lines are the hotter for: instructions executed, or counts.
const line_weight = (view) => (entry) => view.works ? entry[LINE.IE] :
	entry[LINE.COUNT];

function line_hottest(view)
{
	const weight = line_weight(view);

	return view.rows.reduce((max, [, , entry], i) => entry &&
		ran(weight(entry)) && (!view.rows[max][2] || counts_compare(
			weight(entry), weight(view.rows[max][2])) > 0) ? i :
		max, 0);
}

// Where the keys lead, which buttons do, too: [key, title, how it is done].
function moves_make(view)
{
	const weight = line_weight(view), best = view.rows[view.hottest]?.[2];
	const hot = (entry) => ran(weight(entry)) &&
		Number(weight(entry)) >= Number(weight(best)) * HOT_SHARE;
	const never = (entry) => entry[LINE.COUNT] === 0;
	const changed = (entry) => view.changes.has(entry[LINE.LINE]);
	const step = (direction, wanted) => () =>
		line_step(view, direction, wanted, true);

	return [["h", "Next hot line", step(1, hot)],
		["H", "Previous hot line", step(-1, hot)],
		["n", "Next line never run", step(1, never)],
		["N", "Previous line never run", step(-1, never)],
		...view.changes ? [["c", "Next change", step(1, changed)],
			["C", "Previous change", step(-1, changed)]] : []];
}

function tools_make(view)
{
	return make("div", { class: "tools" },
		make("button", { type: "button", onclick: () =>
			line_show(view, view.hottest, true) }, "Hottest line"),
		...view.moves.filter(([key]) => key === key.toLowerCase())
			.map(([key, title, act]) => make("button", {
				type: "button", onclick: act,
				title: `key: ${key}` }, title)),
		make("label", {}, "Line ", make("input", { type: "number",
			min: 1, max: view.rows.at(-1)?.[0] ?? 1,
			onchange: (event) => line_show(view, row_index(view,
				Number(event.target.value)), true) })));
}

// ---- the map beside the scroll bar

// One slice for as many lines as have the height of a pixel or some more: as
// hot as the hottest of them, and marked if one never ran.
function strip_make(view)
{
	const weight = line_weight(view), n = view.rows.length;
	const slices = Math.min(n, STRIP_SLICES);
	const best = view.rows[view.hottest]?.[2];
	const strip = make("div", { class: "strip", "aria-hidden": "true",
		title: "Hot lines, and lines that never ran; click to go there",
		onclick: (event) => line_show(view, Math.min(Math.floor(n *
			event.offsetY / strip.clientHeight), n - 1)) });

	for (let i = 0; i < slices; i++) {
		const entries = view.rows.slice(Math.floor(i * n / slices),
			Math.floor((i + 1) * n / slices))
			.map(([, , entry]) => entry).filter(Boolean);
		const slice = make("i", { class: entries.some((entry) =>
			entry[LINE.COUNT] === 0) ? "idle" : "" });

		slice.style.setProperty("--heat", heat(counts_most(
			entries.map(weight)), best && weight(best)).toFixed(2));
		strip.append(slice);
	}
	return strip;
}

// ---- the view

const legend = "Counts are how often control entered the line; click one, or " +
	"press Enter on it, for its instructions. ";
const legend_ways = "Executed are instructions.  Branches: ◆ went both ways, " +
	"◥ was always taken, ◣ never, ◇ was not reached.";

function source_make(view)
{
	const width = (least, n) =>
		`${Math.max(count_text(n).length, least)}ch`;
	const column = (key) => counts_most(view.entries.map((entry) =>
		entry[key]));
	const changes = counts_most(view.changes ? view.entries.map((entry) =>
		change_most(view.changes.get(entry[LINE.LINE]),
			entry[LINE.COUNT])) : []);

	view.source = make("div", { class: "source", role: "table",
		"aria-label": "Source", tabindex: 0,
		onkeydown: (event) => keys(view, event) }, gutter_head(view));
	view.chunks = chunks_make(view);
	view.source.append(...view.chunks);
	for (const [name, value] of [
		["--counts", width(5, column(LINE.COUNT))],
		["--works", width(8, column(LINE.IE))],
		["--lines", width(4, view.rows.at(-1)?.[0] ?? 1)],
		["--deltas", width(6, changes)]])
		view.source.style.setProperty(name, value);
	return make("div", { class: "pane" }, view.source, strip_make(view));
}

// It opens at its hottest line.
function source_open(view, number)
{
	if (number)
		return line_show(view, row_index(view, Number(number)));
	view.current = view.hottest;
	view.source.scrollTop = view.hottest * LINE_HEIGHT -
		view.source.clientHeight / 2;
}

pmon.views.file = async (id, number) => {
	const file = pmon.index.files[id];

	if (!file?.[FILE.LINES])
		throw new Error("no lines of that file were counted");
	const data = await pmon.load(`f${id}`);
	const view = {
		file: Number(id), changes: await changes_of(Number(id)),
		most: file[FILE.MOST], current: 0, entries: data.lines,
		works: data.lines.some((entry) => entry.length > LINE.IE),
		rows: rows_of(data),
	};

	view.comments = syntax_find(file[FILE.PATH], view.rows);
	view.hottest = line_hottest(view);
	view.moves = moves_make(view);
	return {
		title: file[FILE.NAME],
		keys: view.moves,
		node: make("div", {}, make("h1", { class: "code" },
			file[FILE.NAME]),
			make("p", { class: "faint code" }, file[FILE.PATH]),
			make("p", {}, `${file[FILE.RUN]} of ` +
				`${file[FILE.LINES]} lines run `,
				coverage_node(file)),
			data.remark ? make("p", { class: "note" },
				data.remark) : null,
			make("p", { class: "legend" }, legend,
				view.works ? legend_ways : ""),
			tools_make(view), source_make(view)),
		after: () => source_open(view, number),
	};
};
