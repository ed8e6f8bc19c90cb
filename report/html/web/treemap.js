// A map of the program: directories, in them files, in them functions; the area
// of each is its share of the instructions executed, and the colour of a
// function the share of its own instructions that ran.
"use strict";

// Pixels: least area of a function that is drawn; room for a name.
const MAP_LEAST = 30, MAP_HEAD = 16, MAP_CHAR = 6.6;

// ---- what is in what

function map_leaf(id)
{
	const row = pmon.index.funcs[id];

	return { name: row[FUNC.NAME], id, size: Number(row[FUNC.IE]),
		ran: 1 - row[FUNC.INE] / row[FUNC.I] };
}

// A part that has one part only is one with it, unless that is a function.
function map_part(name, parts)
{
	if (parts.length === 1 && parts[0].parts) {
		parts[0].name = `${name}${parts[0].name}`;
		return parts[0];
	}
	parts.sort((a, b) => b.size - a.size);
	const sum = (value) => parts.reduce((n, part) => n + value(part), 0);
	const size = sum((part) => part.size);

	return { name, parts, size, ran: sum((part) => part.ran * part.size) /
		size };
}

function map_files(files, path)
{
	const dirs = new Map(), parts = [];

	for (const [file, leaves] of files) {
		const rest = file.slice(path.length);
		const name = rest.slice(0, rest.indexOf("/") + 1);

		if (!name)
			parts.push(map_part(rest, leaves));
		else if (dirs.has(name))
			dirs.get(name).push([file, leaves]);
		else
			dirs.set(name, [[file, leaves]]);
	}
	for (const [name, inside] of dirs)
		parts.push(map_part(name, map_files(inside, path + name)));
	return parts;
}

function map_tree()
{
	const files = new Map();

	pmon.index.funcs.forEach((row, id) => {
		if (!ran(row[FUNC.IE]) || row[FUNC.IE] === undefined)
			return;
		const path = row[FUNC.FILE] < 0 ?
			`${object_name(row[FUNC.OBJECT])} (no source)` :
			pmon.index.files[row[FUNC.FILE]][FILE.PATH];

		if (!files.has(path))
			files.set(path, []);
		files.get(path).push(map_leaf(id));
	});
	return map_part("", map_files([...files], ""));
}

// ---- where they are

// The worst of the ratios of sides if parts of these sizes share a strip.
function strip_worst(sizes, side)
{
	const sum = sizes.reduce((a, b) => a + b, 0);
	const at = (size) => Math.max(side * side * size / (sum * sum),
		sum * sum / (side * side * size));

	return Math.max(at(sizes[0]), at(sizes.at(-1)));
}

// Squarified (Bruls, Huizing, van Wijk 2000): strips along the shorter side,
// each with as many parts as make it the least elongated.  parts: descending
// sizes.  Calls put(part, box); small parts are left out.
function map_place(parts, box, put)
{
	const total = parts.reduce((sum, { size }) => sum + size, 0);
	const scale = box.w * box.h / total;
	let { x, y, w, h } = box;

	for (let i = 0; i < parts.length && parts[i].size * scale > MAP_LEAST;) {
		const side = Math.min(w, h), strip = [];
		let n = i;

		while (n < parts.length && (!strip.length ||
		       strip_worst([...strip, parts[n].size * scale], side) <=
		       strip_worst(strip, side)))
			strip.push(parts[n++].size * scale);
		const thick = strip.reduce((a, b) => a + b, 0) / side;
		let at = 0;

		for (const size of strip) {
			const long = size / thick;

			put(parts[i++], w < h ?
				{ x: x + at, y, w: long, h: thick } :
				{ x, y: y + at, w: thick, h: long });
			at += long;
		}
		if (w < h)
			[y, h] = [y + thick, h - thick];
		else
			[x, w] = [x + thick, w - thick];
	}
}

// ---- the drawing

function map_text(name, { x, y, w })
{
	const room = Math.floor((w - 8) / MAP_CHAR);

	return room < 6 ? "" : draw("text", { x: x + 4, y: y + 12 },
		name_short(name, room));
}

function map_rect(part, { x, y, w, h }, klass)
{
	const rect = draw("rect", { x, y, width: w, height: h, class: klass });

	rect.style.setProperty("--ran", part.ran.toFixed(3));
	return rect;
}

function map_leaf_draw(leaf, box)
{
	// Keys get to the same functions by the lists.
	return draw("a", { href: `#/func/${leaf.id}`, class: "leaf",
		tabindex: -1 },
		draw("title", {}, `${leaf.name}: ${share_text(leaf.size,
			insns_total())} of the instructions executed; ` +
			`${share_text(leaf.ran, 1)} of its own ran`),
		map_rect(leaf, box, ""),
		box.h > MAP_HEAD ? map_text(leaf.name, box) : "");
}

function map_draw(part, box, into)
{
	if (part.id !== undefined)
		return into.append(map_leaf_draw(part, box));
	const headed = part.name && box.h > 2 * MAP_HEAD && box.w > 30;
	const head = headed ? MAP_HEAD : 0;

	into.append(map_rect(part, box, "part"),
	headed ? map_text(part.name, box) : "");
	const inner = { x: box.x + 1, y: box.y + head + 1, w: box.w - 2,
		h: box.h - head - 2 };

	if (inner.w > 0 && inner.h > 0)
		map_place(part.parts, inner, (below, at) =>
			map_draw(below, at, into));
}

// Null if instructions were not counted.
function treemap_node()
{
	if (!insns_total())
		return null;
	const w = Math.min(Math.max(innerWidth - 40, 340), 1600);
	const h = innerWidth > 620 ? 380 : 440;
	const svg = draw("svg", { viewBox: `0 0 ${w} ${h}`, class: "treemap",
		role: "group", "aria-label": "Map of the program" });

	map_draw(map_tree(), { x: 0, y: 0, w, h }, svg);
	return make("figure", {}, svg, make("figcaption", { class: "legend" },
		"Area: instructions executed, by directory, file and " +
		"function. Colour: share of the function's instructions that " +
		"ran, from none (red) to all (green)."));
}
