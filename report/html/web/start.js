// Which view the address asks for, and the first one.
"use strict";

const places = [["", "Overview"], ["files", "Files"],
	["funcs", "Functions"]];

// What the keys do, always and in the view that is shown: [key, title, act].
const keys_always = [["/", "Search", () =>
	document.querySelector("input[type=search]")?.focus()],
	["?", "Show the keys", () => keys_show()]];
let keys_here = [];

async function view_show()
{
	const [, name = "", ...rest] = (location.hash || "#/").split("?")[0]
		.split("/");
	const main = document.getElementById("main");
	let view;

	if (location.hash === "#main")
		return main.focus();
	try {
		view = await (pmon.views[name] ?? pmon.views[""])(...rest);
	} catch (error) {
		view = { title: "Error", node: make("p", { class: "note" },
			`This cannot be shown: ${error.message}`) };
	}
	main.replaceChildren(view.node);
	keys_here = view.keys ?? [];
	document.title = `${view.title} – pmon`;
	for (const link of document.querySelectorAll("nav a")) {
		if (link.hash === `#/${name}`)
			link.setAttribute("aria-current", "page");
		else
			link.removeAttribute("aria-current");
	}
	scrollTo(0, 0);
	main.focus({ preventScroll: true });
	view.after?.();
	main.dataset.view = location.hash;
}

function keys_show()
{
	const rows = [["Tab", "Next link or button"],
		...keys_here.length ? [["↑ ↓", "Next or previous line with " +
			"code"], ["Enter", "Instructions of the line"]] : [],
		...keys_here, ...keys_always, ["Esc", "Close this"]];
	const dialog = make("dialog", { onclose: () => dialog.remove() },
		make("h2", {}, "Keys"), make("table", { class: "list" },
			...rows.map(([key, title]) => make("tr", {},
				make("td", {}, make("kbd", {}, key)),
				make("td", {}, title)))),
		make("form", { method: "dialog" },
			make("button", {}, "Close")));

	document.body.append(dialog);
	dialog.showModal();
}

function key_act(event)
{
	const found = [...keys_here, ...keys_always].find(([key]) =>
		key === event.key);

	if (!found || /^(INPUT|SELECT)$/.test(event.target.tagName) ||
	    event.ctrlKey || event.metaKey || event.altKey ||
	    document.querySelector("dialog"))
		return;
	event.preventDefault();
	found[2]();
}

// A page that compares two runs says so in every view.
function banner_show({ compared, command })
{
	const banner = document.getElementById("banner");

	banner.hidden = false;
	banner.append(make("strong", {}, "Comparison of two runs. "),
		"Counts are those of ", make("code", {}, command),
		", changes since ", make("code", {}, compared), ": ",
		make("a", { href: "#/changes" }, "what changed"));
}

pmon.load("index").then((index) => {
	pmon.index = index;
	if (index.calls)
		places.push(["calls", "Calls"]);
	if (index.calls && insns_total())
		places.push(["flame", "Icicle"]);
	if (is_compared(index)) {
		places.push(["changes", "Changes"]);
		banner_show(index);
	}
	document.getElementById("command").textContent = index.command;
	document.getElementById("nav").append(...places.map(([name, title]) =>
		make("a", { href: `#/${name}` }, title)));
	document.getElementById("footer").textContent =
		`Exact counts by pmon ${index.version}. Press ? for keys.`;
	addEventListener("hashchange", view_show);
	addEventListener("keydown", key_act);
	return view_show();
}).catch((error) => {
	document.getElementById("main").textContent =
		`The counts cannot be shown: ${error.message}`;
});
