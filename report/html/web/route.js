// The ways of edges in a drawing.  dagre gives each edge a point in every rank
// between its ends, with room for its count in one of them.  An edge leaves its
// box in the middle of a side, passes straight through these points as far as
// the boxes of the rank reach, and bends between ranks only: so it starts and
// ends at boxes, and crosses neither boxes nor counts.
"use strict";

// Between the ends of edges at one side of a box; what is straight before it,
// so that an arrow does.
const PORT_GAP = 9, ARROW_ROOM = 10;

// Half the extent, along the ranks' direction, of what is in each rank.
function ranks_measure(graph, u, length)
{
	const halves = new Map();
	const add = (at, half) => halves.set(Math.round(at),
		Math.max(halves.get(Math.round(at)) ?? 0, half));

	for (const id of graph.nodes()) {
		const node = graph.node(id);

		add(node[u], node.box[length] / 2);
	}
	for (const id of graph.edges()) {
		const edge = graph.edge(id);

		add(edge[u], edge[length] / 2);
	}
	return (at) => halves.get(Math.round(at)) ?? 0;
}

// Where edges leave and enter their boxes, side by side in the order of the
// points to which they lead: "edge end" => offset from the side's middle.
function ports_place(graph, u, v, breadth)
{
	const sides = new Map(), offsets = new Map();
	const add = (id, key, point) => {
		const node = graph.node(id);
		const side = `${point[u] < node[u] ? "-" : "+"}${id}`;

		if (!sides.has(side))
			sides.set(side, []);
		sides.get(side).push({ key, at: point[v],
			room: node.box[breadth] - 12 });
	};

	graph.edges().forEach((id, i) => {
		const { points } = graph.edge(id);

		add(id.v, `${i} from`, points[1]);
		add(id.w, `${i} to`, points.at(-2));
	});
	for (const ends of sides.values()) {
		const gap = Math.min(PORT_GAP, ends[0].room / ends.length);

		ends.sort((a, b) => a.at - b.at);
		ends.forEach(({ key }, i) => offsets.set(key,
			gap * (i - (ends.length - 1) / 2)));
	}
	return offsets;
}

// Straight parts [from, to, v], in the order in which the edge passes them;
// curves connect them.
function way_text(parts, across)
{
	const at = (a, b) => across ? `${a.toFixed(1)},${b.toFixed(1)}` :
		`${b.toFixed(1)},${a.toFixed(1)}`;
	let text = "", before;

	for (const [from, to, v] of parts) {
		const middle = before && (before[1] + from) / 2;

		text += before ? ` C${at(middle, before[2])} ${at(middle, v)} ` +
			at(from, v) : `M${at(from, v)}`;
		// Without a length it would have no direction for an arrow.
		if (Math.abs(to - from) >= 1)
			text += ` L${at(to, v)}`;
		before = [from, to, v];
	}
	return text;
}

// The path of each edge, in the order of graph.edges().
function ways_find(graph, across)
{
	const [u, v] = across ? ["x", "y"] : ["y", "x"];
	const [length, breadth] = across ? ["width", "height"] :
		["height", "width"];
	const half = ranks_measure(graph, u, length);
	const offsets = ports_place(graph, u, v, breadth);

	return graph.edges().map((id, i) => {
		const from = graph.node(id.v), to = graph.node(id.w);
		const inner = graph.edge(id).points.slice(1, -1);
		const out = Math.sign(inner[0][u] - from[u]);
		const last = Math.sign(to[u] - inner.at(-1)[u]);
		const parts = inner.map((point) => [point[u] - out *
			half(point[u]), point[u] + out * half(point[u]),
			point[v]]);

		parts.unshift([from[u] + out * from.box[length] / 2,
			from[u] + out * half(from[u]),
			from[v] + offsets.get(`${i} from`)]);
		parts.push([to[u] - last * Math.max(half(to[u]),
				to.box[length] / 2 + ARROW_ROOM),
			to[u] - last * to.box[length] / 2,
			to[v] + offsets.get(`${i} to`)]);
		return way_text(parts, across);
	});
}
