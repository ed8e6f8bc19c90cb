// Names of functions, which in C++ can have thousands of characters: lists and
// drawings show the short form, whose tooltip is the whole name.
"use strict";

const NAME_MAX = 96;

// The name with what is in more than `max` brackets replaced by "…".
// Characters of operators and arrows are no brackets.
function name_folded(name, max)
{
	const operator = /^operator(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|<=?|>=?)/;
	let text = "", depth = 0;

	for (let i = 0; i < name.length; i++) {
		const c = name[i];
		const sign = c === "o" ? operator.exec(name.slice(i, i + 12)) :
			null;
		const word = sign ? sign[0] : c;
		const opens = !sign && "<({".includes(c);

		i += word.length - 1;
		if (!sign && ">)}".includes(c) && name[i - 1] !== "-")
			depth = Math.max(depth - 1, 0);
		if (depth <= max)
			text += word;
		if (opens && depth++ === max && !">)}".includes(name[i + 1]))
			text += "…";
	}
	return text;
}

// At most max characters: of a longer name the innermost brackets lose what is
// in them first, and at last the middle goes.
function name_short(name, max = NAME_MAX)
{
	let text = name;

	for (let depth = 3; text.length > max && depth >= 0; depth--)
		text = name_folded(name, depth);
	if (text.length <= max)
		return text;
	const end = Math.floor(max / 2);

	return `${text.slice(0, max - end - 1)}…${text.slice(-end)}`;
}

// A name as text, in the short form if it is long.
function name_node(name, max)
{
	const text = name_short(name, max);

	return text === name ? name : make("span", { title: name }, text);
}

// The heading of a function: a long name is there on request.
function name_heading(name)
{
	const heading = make("h1", { class: "code" }, name_node(name));

	return name_short(name) === name ? heading : make("div", {}, heading,
		make("details", {}, make("summary", {}, "Whole name"),
			make("p", { class: "code whole" }, name)));
}
