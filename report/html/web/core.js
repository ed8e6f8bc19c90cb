// What every view needs: the data, loaded when it is wanted; numbers; the
// elements that are made of them.  Text from the program becomes text nodes
// and nothing else.
"use strict";

const pmon = { data: new Map(), waiting: new Map(), views: {} };

// ---- data files: scripts that call pmon.put, or put_packed with the value's
// JSON, compressed by zlib, in Z85

pmon.put = (name, value) => {
	pmon.data.set(name, value);
};

const Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" +
	".-:+=^!/*?&<>()[]{}@%$#";

function bytes_of(size, text)
{
	const bytes = new DataView(new ArrayBuffer(text.length / 5 * 4));
	const digits = new Uint8Array(128);

	for (let i = 0; i < Z85.length; i++)
		digits[Z85.charCodeAt(i)] = i;
	for (let i = 0, at = 0; i < text.length; at += 4) {
		let four = 0;

		for (const end = i + 5; i < end; i++)
			four = four * 85 + digits[text.charCodeAt(i)];
		bytes.setUint32(at, four);
	}
	return new Uint8Array(bytes.buffer, 0, size);
}

pmon.put_packed = (name, size, text) => {
	const json = new Blob([bytes_of(size, text)]).stream().pipeThrough(
		new DecompressionStream("deflate"));

	pmon.data.set(name, new Response(json).json());
};

// A promise of what the data file (or other script) hands over.
pmon.load = (name, path = `data/${name}.js`) => {
	if (!pmon.waiting.has(name)) {
		pmon.waiting.set(name, new Promise((resolve, reject) => {
			const script = document.createElement("script");

			script.onload = () => resolve(pmon.data.get(name));
			script.onerror = () => {
				pmon.waiting.delete(name);
				reject(new Error(`${path} cannot be read`));
			};
			script.src = path;
			document.head.append(script);
		}));
	}
	return pmon.waiting.get(name);
};

// The code of a function, or null if it never ran.
pmon.code = async (id) => {
	const pack = pmon.index.funcs[id][FUNC.PACK];

	if (pack === undefined || pack < 0)
		return null;
	const code = (await pmon.load(`p${pack}`))[id];

	// A number is the distance from the address before.
	code.insns.forEach((insn, i, insns) => {
		if (typeof insn[INSN.ADDR] === "number")
			insn[INSN.ADDR] = (BigInt(insn[INSN.ADDR]) + BigInt(
				`0x${insns[i - 1][INSN.ADDR]}`)).toString(16);
	});
	return code;
};

// Where things are in the rows of data/index.js.
const FILE = { NAME: 0, PATH: 1, LINES: 2, RUN: 3, UNKNOWN: 4, MOST: 5,
	IE: 6, I: 7, INE: 8 };
// (Inlined functions have the first eight.)
const FUNC = { NAME: 0, OBJECT: 1, FILE: 2, LINE: 3, CALLS: 4, IE: 5, I: 6,
	INE: 7, BB: 8, BBNE: 9, PACK: 10 };

// ---- counts: a number, or a string of digits if it is large; a negative one
// says why it is not known

const known = (n) => typeof n === "string" || (n ?? -1) >= 0;
const why = (n) => pmon.index.reasons[-1 - n];
const ran = (n) => known(n) && n !== 0;

// Ascending; what is not known comes before all else.
function counts_compare(a, b)
{
	if (!known(a) || !known(b))
		return known(a) - known(b);
	if (typeof a === "string" || typeof b === "string") {
		const x = BigInt(a), y = BigInt(b);

		return x < y ? -1 : x > y ? 1 : 0;
	}
	return a - b;
}

function count_text(n)
{
	return n === null || n === undefined ? "–" : known(n) ? String(n) : "?";
}

// Its digits in groups, which are no characters: what is copied is plain.
function count_node(n)
{
	const text = count_text(n);

	if (!known(n)) {
		return text === "?" ? make("span", { class: "unknown",
			title: why(n), "aria-label": `not known: ${why(n)}` },
			text) : text;
	}
	if (text.length < 5)
		return text;
	const first = text.length % 3 || 3;
	const span = make("span", {}, text.slice(0, first));

	for (let i = first; i < text.length; i += 3) {
		span.append(make("span", { class: "digits" },
			text.slice(i, i + 3)));
	}
	return span;
}

// 0 and 100 are nothing and all.
function share_text(part, whole)
{
	const share = 100 * Number(part) / Number(whole);

	if (!Number(whole))
		return "–";
	if (part && share < 0.05)
		return "<0.1 %";
	if (Number(part) < Number(whole) && share >= 99.95)
		return ">99.9 %";
	return `${share.toFixed(1)} %`;
}

// The instructions that all functions executed.
function insns_total()
{
	pmon.total ??= pmon.index.funcs.reduce((sum, row) => sum +
		(known(row[FUNC.IE]) ? Number(row[FUNC.IE]) : 0), 0);
	return pmon.total;
}

// The share of them that a function has itself, without what it calls.
const self_text = (row) => known(row[FUNC.IE]) ?
	share_text(row[FUNC.IE], insns_total()) : "–";

// From 0 to 1, by orders of magnitude.
function heat(n, most)
{
	if (!ran(n) || !ran(most))
		return 0;
	return Math.log(Number(n) + 1) / Math.log(Number(most) + 1);
}

// Of two that are known.
function counts_sum(a, b)
{
	const sum = BigInt(a) + BigInt(b);

	return sum > Number.MAX_SAFE_INTEGER ? String(sum) : Number(sum);
}

// The greatest count, or 0.
function counts_most(counts)
{
	return counts.reduce((max, count) => ran(count) &&
		counts_compare(count, max) > 0 ? count : max, 0);
}

// Let the address say what is shown, so that it can be kept and sent; the view
// stays.
function address_set(hash)
{
	history.replaceState(null, "", hash);
}

// ---- elements

function make(name, attributes = {}, ...children)
{
	const element = document.createElement(name);

	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith("on"))
			element.addEventListener(key.slice(2), value);
		else if (value === true)
			element.setAttribute(key, "");
		else if (value !== undefined && value !== null &&
			 value !== false)
			element.setAttribute(key, value);
	}
	element.append(...children.filter((c) => c !== null &&
		c !== undefined));
	return element;
}

function bar(part, whole, kind = "")
{
	const fill = make("i");
	const share = Number(whole) ? Number(part) / Number(whole) : 0;

	fill.style.width = `${share ? Math.max(100 * share, 2) : 0}%`;
	return make("span", { class: `bar ${kind}`, "aria-hidden": "true" },
		fill);
}

function object_name(index)
{
	return pmon.index.objects[index].replace(/.*\/(?=.)/, "");
}

// A path may be broken behind its slashes.
function path_nodes(path)
{
	return path.split(/(?<=\/)/).flatMap((part) =>
		[part, make("wbr")]).slice(0, -1);
}

function file_link(file, line, name = pmon.index.files[file][FILE.NAME])
{
	const text = line ? `${name}:${line}` : name;

	if (!pmon.index.files[file][FILE.LINES])
		return make("span", {}, ...path_nodes(text));
	return make("a", { href: `#/file/${file}${line ? `/${line}` : ""}` },
		...path_nodes(text));
}

function func_link(id)
{
	return make("a", { href: `#/func/${id}` },
		name_node(pmon.index.funcs[id][FUNC.NAME]));
}
