// What changed since an earlier run: lists of functions and of files, and the
// change of each line of a source file.
"use strict";

const CHANGE = { FUNC: 0, NAME: 1, INSNS: 2, BEFORE: 3, AFTER: 4 };
// The earlier command may be empty, but is there if there was one.
const is_compared = (index) => typeof index.compared === "string";
const CHANGED = { FILE: 0, WON: 1, LOST: 2, CHANGED: 3, ALONE: 4 };

// The difference without its sign, exactly.
function change_size(before, after)
{
	const change = BigInt(after) - BigInt(before);

	return String(change < 0n ? -change : change);
}

function change_node(before, after)
{
	const klass = counts_compare(after, before) > 0 ? "more" : "less";

	return make("span", { class: klass },
		klass === "more" ? "+" : "−",
		count_node(change_size(before, after)));
}

// The change in percent of what was before; from nothing there is none.
function change_share(before, after)
{
	const share = 100 * (Number(after) / Number(before) - 1);

	return !known(before) || !known(after) ? null :
		Number(before) === 0 ? (Number(after) ? Infinity : 0) : share;
}

function change_share_text(before, after)
{
	const share = change_share(before, after);

	if (share === null)
		return "?";
	if (share === Infinity)
		return "only now";
	if (share === -100)
		return "only before";
	if (share && Math.abs(share) < 0.05)
		return share < 0 ? "−0.0 %" : "+0.0 %";
	return `${share < 0 ? "−" : "+"}${Math.abs(share).toFixed(1)} %`;
}

// A number that has at least as many digits as the change has characters.
const change_most = (before, after) => known(before) && known(after) ?
	counts_most([before, after]) : 0;

// What a line has beside its count; before is undefined if nothing changed,
// null if it was not counted then.
function delta_node(before, after)
{
	const cell = make("span", { class: "delta", role: "cell" });

	if (before === undefined)
		return cell;
	if (before === null)
		cell.append(make("span", { class: "faint" }, "new"));
	else if (!known(before) || !known(after))
		cell.append(make("span", { class: "unknown",
			title: `before: ${count_text(before)}` }, "?"));
	else {
		cell.append(change_node(before, after));
		cell.title = `before: ${before}, ` + (before === 0 ?
			"never run" : after === 0 ? "no longer run" :
			change_share_text(before, after));
	}
	return cell;
}

// The lines of a file that have changed: line => count before.
async function changes_of(file)
{
	if (!is_compared(pmon.index))
		return null;
	const diff = await pmon.load("diff");

	if (!diff.lines)
		return null;
	if (!diff.files.some((row) => row[CHANGED.FILE] === file))
		return new Map();
	return new Map(await pmon.load(`d${file}`));
}

function changed_funcs_list(diff)
{
	const columns = [
		{ title: "Function", value: (row) => row[CHANGE.NAME],
			node: (row) => row[CHANGE.FUNC] < 0 ?
				name_node(row[CHANGE.NAME]) :
				func_link(row[CHANGE.FUNC]),
			klass: "name" },
		{ title: "Of", value: (row) => row[CHANGE.INSNS] ?
			"instructions" : "calls", minor: true },
		{ title: "Before", num: true, minor: true,
			value: (row) => row[CHANGE.BEFORE] },
		{ title: "After", num: true,
			value: (row) => row[CHANGE.AFTER] },
		{ title: "Change", num: true,
			value: (row) => change_size(row[CHANGE.BEFORE],
				row[CHANGE.AFTER]),
			node: (row) => change_node(row[CHANGE.BEFORE],
				row[CHANGE.AFTER]) },
		{ title: "In %", num: true,
			value: (row) => change_share(row[CHANGE.BEFORE],
				row[CHANGE.AFTER]),
			node: (row) => change_share_text(row[CHANGE.BEFORE],
				row[CHANGE.AFTER]) },
	];

	return list_make(columns, diff.funcs, { sort: 4,
		caption: "Functions that changed, by how much they did",
		search: "Search functions" });
}

function changed_files_list(diff)
{
	const number = (title, key, minor) => ({ title, num: true, minor,
		value: (row) => row[key] });
	const columns = [
		{ title: "File", klass: "name", value: (row) =>
			pmon.index.files[row[CHANGED.FILE]][FILE.NAME],
			node: (row) => file_link(row[CHANGED.FILE]) },
		number("Not counted before", CHANGED.ALONE, true),
		number("Run only now", CHANGED.WON),
		number("Run only before", CHANGED.LOST),
		number("Changed", CHANGED.CHANGED),
	];

	return list_make(columns, diff.files, { id: "lines",
		caption: "Lines whose counts changed",
		search: "Search files" });
}

function notes_of(diff)
{
	const rebuilt = "objects rebuilt: their functions are compared by name";

	return [[diff.funcs.length, "functions changed"],
		[diff.same, "functions unchanged"],
		[diff.unknown, "functions not known in one of the files"],
		[diff.before, "functions only in the first file, or sharing " +
			"a name"],
		[diff.after, "functions only in the second file, or sharing " +
			"a name"],
		[diff.rebuilt, rebuilt]].filter(([n]) => n)
		.map(([n, text]) => make("li", {}, `${n} ${text}`));
}

// What a function's page says of its change, or null.
async function change_figure(id)
{
	if (!is_compared(pmon.index))
		return null;
	const row = (await pmon.load("diff")).funcs.find((func) =>
		func[CHANGE.FUNC] === id);

	return row ? make("span", {}, change_node(row[CHANGE.BEFORE],
		row[CHANGE.AFTER]), ` (${change_share_text(row[CHANGE.BEFORE],
		row[CHANGE.AFTER])})`) : "none";
}

pmon.views.changes = async () => {
	const diff = await pmon.load("diff");

	return {
		title: "Changes",
		node: make("div", {}, make("h1", {}, "Changes"),
			make("p", {}, "From ", make("span", { class: "code" },
				diff.command), " to ", make("span",
				{ class: "code" }, pmon.index.command)),
			make("ul", {}, ...notes_of(diff)),
			make("section", {}, make("h2", {}, "Functions"),
				changed_funcs_list(diff)),
			make("section", {}, make("h2", {}, "Lines"),
				diff.lines ? changed_files_list(diff) :
				make("p", { class: "note" }, "The programs " +
				"of the first file are no longer there, so " +
				"lines are not compared."))),
	};
};
