// Drawings of graphs: laid out by dagre, drawn as SVG.  Colours of nodes go by
// their weights.  Widths of edges go by the cube roots of their counts, so that
// few and very many can be told apart from what lies between.
"use strict";

const GRAPH_FONT = 12, GRAPH_CHAR = 7.3, GRAPH_ROW = 16;
// Laying out more takes more than a second or two.
const GRAPH_MAX = 350;
// Room for an edge from a node to itself.
const LOOP = 34;
const ARROWS = { narrow: 8, wide: 15 };

function draw(name, attributes, ...children)
{
	const element = document.createElementNS("http://www.w3.org/2000/svg",
		name);

	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	element.append(...children);
	return element;
}

// Where everything is.  nodes: { id, rows: [text], count, weight, title, ... };
// edges: { from, to, count }.
function graph_layout(nodes, edges, options)
{
	const graph = new dagre.graphlib.Graph({ multigraph: true });

	graph.setGraph({ rankdir: options.across ? "LR" : "TB", nodesep: 18,
		ranksep: 48, marginx: 8, marginy: 8 });
	for (const node of nodes) {
		const widest = Math.max(...node.rows.map((row) => row.length));

		const width = Math.max(widest * GRAPH_CHAR + 14, 44);
		const height = node.rows.length * GRAPH_ROW + 8;

		graph.setNode(String(node.id), { node, width, height,
			box: { width, height } });
	}
	edges.forEach((edge, i) => {
		const text = count_text(edge.count);

		// dagre does not lay these out well: they get room.
		if (edge.from === edge.to) {
			const node = graph.node(String(edge.from));

			node.loop = edge;
			node.width += options.across ? 0 :
				2 * (LOOP + text.length * GRAPH_CHAR);
			node.height += options.across ? 2 * LOOP : 0;
			return;
		}
		graph.setEdge(String(edge.from), String(edge.to), { edge,
			width: text.length * GRAPH_CHAR + 6,
			height: 14, labelpos: "c" }, String(i));
	});
	dagre.layout(graph);
	return graph;
}

// A node that ran has some colour, however little it did.
function node_heat(weight, most)
{
	return ran(weight) && ran(most) ?
		0.08 + 0.92 * Math.min(Number(weight) / Number(most), 1) : 0;
}

function node_draw({ node, x, y, box: { width, height } }, most, chosen)
{
	const left = x - width / 2, top = y - height / 2;
	const rect = draw("rect", { x: left, y: top, width, height,
		rx: node.round ? height / 2 : 3 });
	const group = draw("g", { class: `node ${node.count === 0 ? "never" :
		""} ${node.klass ?? ""}`, ...node.block === undefined ? {} :
		{ "data-block": node.block } }, rect);

	if (node.title)
		group.prepend(draw("title", {}, node.title));
	rect.style.setProperty("--heat", node_heat(node.weight, most)
		.toFixed(3));
	node.rows.forEach((row, i) => {
		group.append(draw("text", { x,
			y: top + 4 + GRAPH_ROW * (i + 0.75),
			"text-anchor": "middle" }, row));
	});
	if (node.link) {
		const link = draw("a", { href: node.link });

		link.append(group);
		return link;
	}
	if (chosen && node.open)
		group.addEventListener("click", () => chosen(node));
	return group;
}

// At the right of its box, or below it.
function loop_place({ x, y, box: { width, height }, loop }, across)
{
	const right = x + width / 2, bottom = y + height / 2;
	const text = count_text(loop.count).length * GRAPH_CHAR;

	if (across) {
		return { edge: loop, x, y: bottom + LOOP - 6,
			path: `M${x + 12},${bottom} C${x + 16},` +
				`${bottom + LOOP} ${x - 16},${bottom + LOOP} ` +
				`${x - 12},${bottom}` };
	}
	return { edge: loop, x: right + LOOP - 8 + text / 2, y,
		path: `M${right},${y + 10} C${right + LOOP},${y + 14} ` +
			`${right + LOOP},${y - 14} ${right},${y - 10}` };
}

function edge_draw({ edge, path }, most)
{
	const width = 1 + (ran(edge.count) ?
		6 * Math.cbrt(Number(edge.count) / Number(most)) : 0);

	return draw("g", { class: `edge ${edge.count === 0 ? "never" : ""} ${
		edge.klass ?? ""}` },
		draw("title", {}, count_text(edge.count)),
		draw("path", { d: path, "stroke-width": width.toFixed(1),
			"stroke-dasharray": edge.dashed ?
				`${width + 4} ${width + 2}` : "none",
			"marker-end": `url(#${width > 3 ? "wide" : "narrow"}` +
				`${edge.klass ?? ""})` }));
}

// Counts lie above all edges.
function label_draw({ edge, x, y })
{
	return draw("text", { x, y: y + 4, "text-anchor": "middle",
		class: `label ${edge.count === 0 ? "never" : ""}` },
		count_text(edge.count));
}

// Behind nodes that belong together: { ids, title }; the larger ones first.
function bands_draw(graph, bands)
{
	const boxes = bands.filter(({ ids }) => ids.length).map((band) => {
		const nodes = band.ids.map((id) => graph.node(String(id)));
		const edge = (sign, at, size) => sign * Math.max(...nodes.map(
			(node) => sign * node[at] + node.box[size] / 2)) +
			6 * sign;
		const x = edge(-1, "x", "width"), y = edge(-1, "y", "height");

		return { band, x, y, width: edge(1, "x", "width") - x,
			height: edge(1, "y", "height") - y };
	});

	boxes.sort((a, b) => b.width * b.height - a.width * a.height);
	return boxes.map(({ band, ...box }) => draw("rect", { ...box,
		class: "band", rx: 8 }, draw("title", {}, band.title)));
}

function markers_draw()
{
	const marker = (id, size) => draw("marker", { id, viewBox: "0 0 8 8",
		refX: 7, refY: 4, markerWidth: size, markerHeight: size,
		markerUnits: "userSpaceOnUse", orient: "auto" },
	draw("path", { d: "M0,0 L8,4 L0,8 z" }));

	return draw("defs", {}, ...Object.entries(ARROWS).flatMap(
		([id, size]) => [marker(id, size), marker(`${id}hot`, size)]));
}

// All of a graph that has its layout.
function graph_draw(graph, options)
{
	const { width, height } = graph.graph();
	const ways = ways_find(graph, options.across);
	const nodes = graph.nodes().map((id) => graph.node(id));
	const edges = [...graph.edges().map((id, i) => ({
		...graph.edge(id), path: ways[i] })),
		...nodes.filter(({ loop }) => loop).map((node) =>
			loop_place(node, options.across))];
	const edge_most = counts_most(edges.map(({ edge }) => edge.count));
	const node_most = options.most ??
		counts_most(nodes.map(({ node }) => node.weight));
	const svg = draw("svg", { role: "img", "aria-label": options.label,
		viewBox: `0 0 ${width} ${height}`, width, height });

	svg.append(markers_draw(), ...bands_draw(graph, options.bands ?? []),
	...edges.map((edge) => edge_draw(edge, edge_most)),
	...nodes.map((node) => node_draw(node, node_most, options.chosen)),
	...edges.map(label_draw));
	return svg;
}

// Move what is in the frame with the pointer; a click stays one.
function frame_drag(frame)
{
	let from = null, moved = false;

	frame.addEventListener("pointerdown", (event) => {
		if (event.button || event.pointerType !== "mouse")
			return;
		moved = false;
		from = { x: event.clientX + frame.scrollLeft,
			y: event.clientY + frame.scrollTop };
	});
	frame.addEventListener("pointermove", (event) => {
		if (!from || !event.buttons)
			return;
		const dx = from.x - event.clientX, dy = from.y - event.clientY;

		moved ||= Math.hypot(dx - frame.scrollLeft,
			dy - frame.scrollTop) > 4;
		if (moved)
			frame.scrollTo(dx, dy);
	});
	frame.addEventListener("click", (event) => {
		from = null;
		if (!moved)
			return;
		event.preventDefault();
		event.stopPropagation();
	}, { capture: true });
	frame.addEventListener("dragstart", (event) => event.preventDefault());
}

// The drawing in a frame that scrolls, that a wheel zooms (with Ctrl, or when it
// has the focus) and that is dragged.  Options: label, across,
// chosen(node), most (weight; else the greatest of the nodes), bands.
async function graph_make(nodes, edges, options)
{
	await pmon.load("dagre", "dagre.js");
	const graph = graph_layout(nodes, edges, options);
	const { width, height } = graph.graph();
	const svg = graph_draw(graph, options);
	const frame = make("div", { class: "graph", tabindex: 0,
		role: "group", "aria-label": options.label }, svg);
	let scale = 1;
	// The point of the frame at x, y stays where it is.
	const zoom = (to, x = 0, y = 0) => {
		const old = scale;

		scale = Math.min(Math.max(to, 0.1), 3);
		svg.setAttribute("width", width * scale);
		svg.setAttribute("height", height * scale);
		frame.scrollLeft = (frame.scrollLeft + x) * scale / old - x;
		frame.scrollTop = (frame.scrollTop + y) * scale / old - y;
	};

	frame.addEventListener("wheel", (event) => {
		const box = frame.getBoundingClientRect();

		if (!event.ctrlKey && document.activeElement !== frame)
			return;
		event.preventDefault();
		zoom(scale * Math.exp(-event.deltaY / 500),
			event.clientX - box.left, event.clientY - box.top);
	}, { passive: false });
	frame_drag(frame);
	// It begins where its first node is.
	requestAnimationFrame(() => {
		frame.scrollLeft = graph.node(String(nodes[0].id)).x -
			frame.clientWidth / 2;
	});
	return make("div", {}, make("div", { class: "tools" },
		make("button", { type: "button",
			onclick: () => zoom(scale / 1.3) }, "Smaller"),
		make("button", { type: "button",
			onclick: () => zoom(scale * 1.3) }, "Larger"),
		make("button", { type: "button", onclick: () =>
			zoom((frame.clientWidth - 4) / width) },
			"Fit the width")), frame);
}

// The same when there is not too much of it, else a button that asks for it.
function graph_offer(nodes, edges, options)
{
	const place = make("div", { class: "drawing" });
	const show = async () => {
		try {
			place.replaceChildren(await graph_make(nodes, edges,
				options));
		} catch (error) {
			place.replaceChildren(make("p", { class: "note" },
				`It cannot be drawn: ${error.message}`));
		}
	};

	if (nodes.length <= GRAPH_MAX)
		show();
	else
		place.append(make("button", { type: "button", onclick: show },
			`Draw ${nodes.length} nodes, which takes a while`));
	return place;
}
