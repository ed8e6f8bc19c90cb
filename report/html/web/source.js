// A source file: its lines with their counts, and what is asked for of a
// line.  Lines come in chunks, which are filled when they come into view.
"use strict";

const LINE = { LINE: 0, COUNT: 1, IE: 2, I: 3, FUNCS: 4, BRANCHES: 5 };
const BRANCH = { FUNC: 0, ADDR: 1, TAKEN: 2, FALL: 3 };
const INSN = { ADDR: 0, COUNT: 1, TEXT: 2, FILE: 3, LINE: 4 };
const CHUNK = 200, LINE_HEIGHT = 20;

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

function line_node(view, number, text, entry)
{
	const line = make("div", { class: "line", role: "row",
		id: `L${number}` },
		make("a", { class: "no", role: "rowheader", tabindex: -1,
			href: `#/file/${view.file}/${number}` }, number));

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
	line.append(make("code", { role: "cell" }, text));
	return line;
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

	chunk.append(...view.rows.slice(first, first + CHUNK).map((row) =>
		line_node(view, ...row)));
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
	}, { rootMargin: "1500px" });

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

function line_show(view, index, focus)
{
	const chunk = view.chunks[Math.floor(index / CHUNK)];

	if (!chunk)
		return;
	chunk_fill(view, chunk);
	const line = document.getElementById(`L${view.rows[index][0]}`);

	for (const other of view.source.querySelectorAll(".found"))
		other.classList.remove("found");
	line.classList.add("found");
	line.scrollIntoView({ block: focus ? "nearest" : "center" });
	const button = line.querySelector("button.count");

	for (const other of view.source.querySelectorAll('[tabindex="0"]'))
		if (other !== view.source)
			other.tabIndex = -1;
	if (button)
		button.tabIndex = 0;
	if (focus && button)
		button.focus({ preventScroll: true });
	view.current = index;
}

// The next line from the current one that is wanted, in this direction.
function line_step(view, direction, wanted)
{
	let i = view.current + direction;

	while (i >= 0 && i < view.rows.length &&
	       !(view.rows[i][2] && wanted(view.rows[i][2])))
		i += direction;
	if (i >= 0 && i < view.rows.length)
		line_show(view, i, true);
}

function keys(view, event)
{
	const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];

	if (!step || event.altKey || event.ctrlKey || event.metaKey)
		return;
	event.preventDefault();
	line_step(view, step, () => true);
}

function tools_make(view)
{
	const never = (entry) => entry[LINE.COUNT] === 0;
	const hottest = () => {
		const best = view.rows.reduce((max, row, i) => row[2] &&
			counts_compare(row[2][LINE.COUNT],
				view.rows[max][2]?.[LINE.COUNT]) > 0 ? i :
			max, 0);

		line_show(view, best, true);
	};

	return make("div", { class: "tools" },
		make("button", { type: "button", onclick: hottest },
			"Hottest line"),
		make("button", { type: "button",
			onclick: () => line_step(view, 1, never) },
			"Next line never run"),
		view.changes ? make("button", { type: "button",
			onclick: () => line_step(view, 1, (entry) =>
				view.changes.has(entry[LINE.LINE])) },
			"Next change") : null,
		make("button", { type: "button",
			onclick: () => line_step(view, -1, never) },
			"Previous"),
		make("label", {}, "Line ", make("input", { type: "number",
			min: 1, max: view.rows.at(-1)?.[0] ?? 1,
			onchange: (event) => line_show(view, row_index(view,
				Number(event.target.value)), true) })));
}

const legend = "Counts are how often control entered the line; click one, or " +
	"press Enter on it, for its instructions. ";
const legend_ways = "Behind them are instructions executed, and branches: " +
	"◆ went both ways, ◥ was always taken, ◣ never, ◇ was not reached.";

pmon.views.file = async (id, number) => {
	const file = pmon.index.files[id];

	if (!file?.[FILE.LINES])
		throw new Error("no lines of that file were counted");
	const data = await pmon.load(`f${id}`);
	const changes = await changes_of(Number(id));
	const widest = (column) => data.lines.reduce((max, entry) =>
		Math.max(max, count_text(entry[column]).length), 4);
	const view = {
		file: Number(id), changes, most: file[FILE.MOST], current: 0,
		works: data.lines.some((entry) => entry.length > LINE.IE),
		rows: rows_of(data),
	};

	view.chunks = chunks_make(view);
	view.source = make("div", { class: "source", role: "table",
		"aria-label": "Source", tabindex: 0,
		onkeydown: (event) => keys(view, event) }, ...view.chunks);
	view.source.style.setProperty("--counts", `${widest(LINE.COUNT)}ch`);
	view.source.style.setProperty("--works", `${widest(LINE.IE)}ch`);
	view.source.style.setProperty("--lines",
		`${String(view.rows.at(-1)?.[0] ?? 1).length}ch`);
	return {
		title: file[FILE.NAME],
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
			tools_make(view), view.source),
		after: () => number && line_show(view, row_index(view,
			Number(number)), false),
	};
};
