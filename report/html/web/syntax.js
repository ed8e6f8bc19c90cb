// Colours of comments, strings, numbers, keywords and directives, in languages
// that write them as C does.  What it takes wrongly has a wrong colour, no more.
"use strict";

const SYNTAX_FILES = /\.(?:[ch]|cc|cpp|cxx|c\+\+|hh|hpp|hxx|inl?|tcc|m|mm|rs|go|java|d|zig|swift|y|l)$/i;
// A longer line stays as it is.
const SYNTAX_LONG = 2000;
const SYNTAX_WORDS = "alignas|alignof|as|asm|async|auto|await|bool|break|case|" +
	"catch|chan|char|class|const|constexpr|consteval|continue|crate|" +
	"default|defer|delete|do|double|dyn|else|enum|explicit|extern|false|" +
	"final|float|fn|for|friend|func|go|goto|if|impl|import|in|inline|int|" +
	"interface|let|long|loop|map|match|mod|mut|mutable|namespace|new|nil|" +
	"noexcept|nullptr|operator|override|package|private|protected|pub|" +
	"public|range|register|restrict|return|select|self|short|signed|" +
	"sizeof|static|struct|super|switch|template|this|throw|trait|true|" +
	"try|type|typedef|typename|union|unsigned|unsafe|use|using|var|" +
	"virtual|void|volatile|where|while";
// In the order of the classes.
const SYNTAX_TOKEN = new RegExp("(\\/\\/.*|\\/\\*.*?(?:\\*\\/|$))|" +
	"(\"(?:[^\"\\\\]|\\\\.)*(?:\"|$)|'(?:[^'\\\\]|\\\\[^']+|\\\\')')|" +
	"(^\\s*#\\s*\\w+)|" +
	`\\b(${SYNTAX_WORDS})\\b|(\\b\\d(?:[\\w.]|[eEpP][+-])*)`, "g");
const SYNTAX_CLASSES = ["comment", "string", "directive", "word", "number"];

// Whether the line ends in a comment that goes on, if it begins so or not.
function syntax_open(text, open)
{
	let from = open ? text.indexOf("*/") + 2 : 0;

	if (open && from < 2)
		return true;
	if (!text.includes("/*", from))
		return false;
	if (text.length > SYNTAX_LONG)
		return text.lastIndexOf("/*") > text.lastIndexOf("*/");
	for (const [token, comment] of text.slice(from)
		.matchAll(SYNTAX_TOKEN))
		if (comment?.startsWith("/*"))
			open = !(token.length > 3 && token.endsWith("*/"));
		else
			open = false;
	return open;
}

// Of the rows of a source: the indexes of those that begin in a comment; null if
// the file is in another language.
function syntax_find(name, rows)
{
	const inside = new Set();
	let open = false;

	if (!SYNTAX_FILES.test(name))
		return null;
	rows.forEach(([, text], i) => {
		if (open)
			inside.add(i);
		open = syntax_open(text, open);
	});
	return inside;
}

function syntax_nodes(text, open)
{
	const nodes = [];
	const end = open ? text.indexOf("*/") : -2;
	const span = (klass, token) => make("span", { class: klass }, token);
	let at = end + 2;

	if (text.length > SYNTAX_LONG)
		return [text];
	if (open && end < 0)
		return [span("comment", text)];
	if (at)
		nodes.push(span("comment", text.slice(0, at)));
	const rest = text.slice(at);

	at = 0;
	for (const found of rest.matchAll(SYNTAX_TOKEN)) {
		const kind = found.slice(1).findIndex(Boolean);

		nodes.push(rest.slice(at, found.index),
			span(SYNTAX_CLASSES[kind], found[0]));
		at = found.index + found[0].length;
	}
	return [...nodes, rest.slice(at)];
}
