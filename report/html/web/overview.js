// The first view: what was run, how much of it, and where the work is.
"use strict";

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

// Who did the work, and how much of the program that is.
function headline_node()
{
	const { funcs, totals } = pmon.index, total = insns_total();
	const parts = [];

	if (total) {
		const most = funcs.map((row) => known(row[FUNC.IE]) ?
			Number(row[FUNC.IE]) : 0).sort((a, b) => b - a);
		let n = 0, sum = 0;

		while (sum < total / 2)
			sum += most[n++];
		parts.push(`${n} of ${funcs.length} functions did ` +
			`${share_text(sum, total)} of the `,
			count_node(total), " instructions executed. ");
	}
	for (const unit of ["functions", "lines"]) {
		const rows = totals.filter(([what]) => what === unit);
		const add = (i) => rows.reduce((sum, row) => sum + row[i], 0);

		if (rows.length)
			parts.push(`${share_text(add(3), add(2) - add(5))} ` +
				`of the ${unit} ran. `);
	}
	return make("p", { class: "headline" }, ...parts);
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
			headline_node(), treemap_node(),
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
