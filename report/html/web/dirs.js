// The directories of source files, with what their files have together.
"use strict";

// Up to this many files all directories are open at first.
const DIRS_OPEN = 200;

// As a file's row, but for its sums; the rows below it are in `below`.
function dir_row(name, below)
{
	const row = [name, name, 0, 0, 0, 0, 0, 0, 0];

	for (const file of below) {
		for (const i of [FILE.LINES, FILE.RUN, FILE.UNKNOWN])
			row[i] += file[i];
		row[FILE.MOST] = counts_most([row[FILE.MOST],
			file[FILE.MOST]]);
		if (file.length <= FILE.IE)
			continue;
		if (known(file[FILE.IE]))
			row[FILE.IE] += Number(file[FILE.IE]);
		row[FILE.I] += file[FILE.I];
		row[FILE.INE] += file[FILE.INE];
	}
	return row;
}

// The rows of a directory, those of directories in it before files; those that
// have nothing but one directory are one row with it.  path ends in a slash.
function dir_rows(files, path, nest)
{
	const dirs = new Map(), rows = [];

	for (const file of files) {
		const rest = file[FILE.PATH].slice(path.length);
		const name = rest.slice(0, rest.indexOf("/") + 1);

		if (!name)
			rows.push(file);
		else if (dirs.has(name))
			dirs.get(name).push(file);
		else
			dirs.set(name, [file]);
	}
	return [...[...dirs].map(([name, inside]) => {
		const below = dir_rows(inside, path + name, nest);

		if (below.length === 1 && nest.below.has(below[0])) {
			below[0][FILE.NAME] = name + below[0][FILE.NAME];
			return below[0];
		}
		const row = dir_row(name, below);

		nest.below.set(row, below);
		return row;
	}), ...rows];
}

function depths_set(rows, depth, nest)
{
	for (const row of rows) {
		nest.depth.set(row, depth);
		if (nest.below.has(row))
			depths_set(nest.below.get(row), depth + 1, nest);
	}
}

// Files in their directories, for list_make, which sets two functions: change
// shows the list anew, flat says whether it is without directories just now.
function dirs_nest(files)
{
	const nest = { below: new Map(), open: new Set(), depth: new Map() };

	nest.top = dir_rows(files, "", nest);
	depths_set(nest.top, 0, nest);
	for (const row of nest.below.keys())
		if (files.length <= DIRS_OPEN || !nest.depth.get(row))
			nest.open.add(row);
	return nest;
}

// The name in its column; id: of a file, undefined for a directory.
function nest_node(row, id, nest)
{
	if (nest.flat())
		return file_link(id);
	const name = row[FILE.NAME].replace(/.*\/(?=.)/, "");
	const node = id !== undefined ? file_link(id, 0, name) :
		make("button", { type: "button", class: "dir",
			"aria-expanded": String(nest.open.has(row)),
			onclick: () => {
				if (!nest.open.delete(row))
					nest.open.add(row);
				nest.change();
			} }, ...path_nodes(row[FILE.NAME]));
	const span = make("span", { class: "nest" }, node);

	span.style.paddingLeft = `${1.6 * nest.depth.get(row)}em`;
	return span;
}
