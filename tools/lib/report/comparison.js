/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws two plans for the same servers side by side, from what comparison.c writes. */

const sides = JSON.parse(byId("data").textContent);
let chosen = -1;

servers = sides[0].servers;

for (const side of sides) {
	side.list = linksOf(side);
	for (const [from, to, link, rings, mp] of side.arcs)
		side.list[link].arcs.push({ from, to, load: rings + mp });
}

const most = Math.max(1, ...sides.flatMap((side) => side.list.flatMap((link) => link.arcs.map((arc) => arc.load))));

function tipText(link) {
	return link.name + link.arcs.map((arc) =>
		`\n${nameOf(arc.from)} → ${nameOf(arc.to)}: ${bytesText(arc.load)}`).join("");
}

/* The same end to end is the same link, whichever end is named first. */
const linkKey = (link) => [...link.ends].sort().join(" ");

function topologies() {
	const keys = sides.map((side) => new Set(side.list.map(linkKey)));
	const drawings = [...document.querySelectorAll("#topologies .drawing")];
	const circles = drawings.map((drawing) => circle(drawing, select, tipText));
	const paint = () => circles.forEach((one, i) => one.paint(chosen, (link) => ({
		dark: !i && !keys[1].has(linkKey(link)), made: i && !keys[0].has(linkKey(link)),
		stroke: busyColor(Math.max(...link.arcs.map((arc) => arc.load)) / most) }), () => false));

	function select(server) {
		chosen = server;
		paint();
	}
	circles.forEach((one, i) => one.make(sides[i].list));
	draw(paint);
}

function loadMaps() {
	const step = sides[0].step, size = Math.ceil(servers.length / step);
	const matrix = (side) => {
		const values = new Array(size * size).fill(undefined);

		for (const link of side.list)
			for (const arc of link.arcs) {
				const at = Math.floor(arc.from / step) * size + Math.floor(arc.to / step);

				values[at] = Math.max(values[at] || 0, arc.load);
			}
		return values;
	};
	const matrices = sides.map(matrix), boxes = document.querySelectorAll("#loads .map");

	draw(() => matrices.forEach((values, i) => heatmap(boxes[i], values, size, step, false,
		`Link load of ${i ? "B" : "A"}, from server to server`, matrices.flat())));
}

/*
 * What each port sends and, where it has several links as on a packet switch, receives: that
 * is then not what another sends.
 */
function portLoads(side) {
	const ways = new Map();
	const add = (way, load) => ways.set(way, (ways.get(way) || []).concat(load));

	for (const link of side.list)
		for (const arc of link.arcs) {
			const [from, to] = arc.from === link.a ? link.ends : [...link.ends].reverse();

			add(`from ${from}`, arc.load);
			add(`to ${to}`, arc.load);
		}
	return [...ways].filter(([way, loads]) => way.startsWith("from") || loads.length > 1)
		.map(([, loads]) => loads.reduce((sum, load) => sum + load));
}

/* Loads of both, sorted: where one curve is lower, its ports have less to carry. */
function curves() {
	const loads = sides.map(portLoads), busiest = Math.max(1, ...loads.flat());
	const width = 1180, height = 240, left = 70, top = 12, bottom = height - 40;
	const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
		"aria-label": "Load of the ports of both plans, most loaded first" });
	const y = (value) => bottom - (bottom - top) * value / (busiest * 1.04);
	const longest = Math.max(1, ...loads.map((list) => list.length));
	const styles = ["stroke:var(--second);stroke-dasharray:7 4", "stroke:var(--bar)"];

	for (const [value, text] of byteTicks(busiest, 4))
		root.append(svg("line", { x1: left, x2: width - 8, y1: y(value), y2: y(value), class: "grid" }),
			svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end", "font-size": 12 }, text));
	loads.forEach((list, i) => {
		const path = [...list].sort((a, b) => b - a).map((value, k) =>
			`${k ? "V" : `M${left} `}${y(value).toFixed(1)}H${(left + (width - left - 8) * (k + 1) / longest).toFixed(1)}`);

		root.append(svg("path", { d: path.join(""), class: "curve", style: "fill:none;stroke-width:2;" + styles[i] }));
	});
	root.append(svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle", class: "soft",
		"font-size": 13 }, "ports, most loaded first"));
	byId("curves").append(root, html("div", { class: "legend" },
		html("span", {}, html("i", { class: "dashed" }), "A"), html("span", {}, html("i", {}), "B")));
}

document.body.append(tip);
topologies();
loadMaps();
curves();
dark.addEventListener("change", () => themed.forEach((make) => make()));
