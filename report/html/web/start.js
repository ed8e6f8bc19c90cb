// Which view the address asks for, and the first one.
"use strict";

const places = [["", "Overview"], ["files", "Files"],
	["funcs", "Functions"]];

async function view_show()
{
	const [, name = "", ...rest] = (location.hash || "#/").split("/");
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

// "/" is for the search, as everywhere.
function search_focus(event)
{
	const search = document.querySelector("input[type=search]");

	if (event.key !== "/" || !search || event.target.tagName === "INPUT" ||
	    event.ctrlKey || event.metaKey)
		return;
	event.preventDefault();
	search.focus();
}

pmon.load("index").then((index) => {
	pmon.index = index;
	if (index.calls)
		places.push(["calls", "Calls"]);
	if (index.compared)
		places.push(["changes", "Changes"]);
	document.getElementById("command").textContent = index.command;
	document.getElementById("nav").append(...places.map(([name, title]) =>
		make("a", { href: `#/${name}` }, title)));
	document.getElementById("footer").textContent =
		`Exact counts by pmon ${index.version}.`;
	addEventListener("hashchange", view_show);
	addEventListener("keydown", search_focus);
	return view_show();
}).catch((error) => {
	document.getElementById("main").textContent =
		`The counts cannot be shown: ${error.message}`;
});
