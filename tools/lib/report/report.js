/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws a plan from the JSON that report_data.c writes: SVG throughout, a
 * canvas for the topology when it has too many links for that.
 */
const plan = JSON.parse(document.getElementById("data").textContent);
const n = plan.servers.length;

servers = plan.servers;

/* --- the graph ----------------------------------------------------------- */

const links = plan.links.map(([a, aPort, b, bPort, use, ring, tree, bandwidth], index) =>
	({ index, a, aPort, b, bPort, use: plan.uses[use], ring, tree, bandwidth, arcs: [] }));
const arcs = plan.arcs.map(([from, to, link, rings, mp], index) =>
	({ index, from, to, link: links[link], rings, mp, load: rings + mp }));
const arcsFrom = plan.servers.map(() => []);

for (const arc of arcs) {
	arcsFrom[arc.from].push(arc);
	arc.link.arcs.push(arc);
}

/* Hops from @source to every server, Infinity without a path. */
function hopsFrom(source) {
	const hops = new Array(n).fill(Infinity), queue = [source];

	hops[source] = 0;
	for (const server of queue)
		for (const arc of arcsFrom[server])
			if (hops[arc.to] === Infinity) {
				hops[arc.to] = hops[server] + 1;
				queue.push(arc.to);
			}
	return hops;
}

const pairGroup = new Map();

for (const [server, table] of (plan.tables || []).entries())
	for (const [src, dst, group] of table.pairs)
		pairGroup.set((server * n + src) * n + dst, group);

/* Next hops at @server of packets from @src to @dst: [[arc, share], ...]. */
function nextHops(server, src, dst) {
	const table = plan.tables[server];
	const own = pairGroup.get((server * n + src) * n + dst);
	const group = table.groups[own === undefined ? table.route[dst] : own] || [];
	let sum = 0;

	for (let i = 1; i < group.length; i += 2)
		sum += group[i];
	return group.flatMap((arc, i) => i % 2 ? [] : [[arcs[arc], group[i + 1] / sum]]);
}

/* Share of the packets from @src to @dst on every arc they take: Map. */
function shares(src, dst) {
	const order = [], state = new Map(), share = new Map(), at = new Map([[src, 1]]);
	const visit = (server) => {
		if (state.has(server) || server === dst)
			return;
		state.set(server, nextHops(server, src, dst));
		for (const [arc] of state.get(server))
			visit(arc.to);
		order.push(server);
	};

	visit(src);
	for (const server of order.reverse())
		for (const [arc, part] of state.get(server)) {
			const flow = (at.get(server) || 0) * part;

			share.set(arc, (share.get(arc) || 0) + flow);
			at.set(arc.to, (at.get(arc.to) || 0) + flow);
		}
	return share;
}

/* The paths from @src to @dst, most used first: [{ servers, share }]. */
function pathsBetween(src, dst) {
	const found = [];
	const extend = (servers, share) => {
		const here = servers[servers.length - 1];

		if (here === dst)
			found.push({ servers, share });
		else if (servers.length <= n && found.length < 200)
			for (const [arc, part] of nextHops(here, src, dst))
				extend([...servers, arc.to], share * part);
	};

	extend([src], 1);
	return found.sort((a, b) => b.share - a.share);
}

/* --- topology ------------------------------------------------------------ */

const LABEL = 12;		/* characters of a name on the circle */
const RADIUS = 400;
const place = [];		/* of servers on the circle: { x, y, angle } */
const inside = n <= 24 && plan.servers.every((server) => server.name.length <= 4);
const longest = Math.min(LABEL, Math.max(...plan.servers.map((server) => server.name.length)));
const labelSize = Math.min(15, 2 * Math.PI * (RADIUS + 14) / n * 0.92);
const margin = inside ? 40 : n > 256 ? 20 : 24 + longest * labelSize * 0.62;
const extent = RADIUS + margin;
const view = { x: 0, y: 0, half: extent };	/* what of the drawing is shown */
const hidden = new Set();	/* kinds of links that are switched off */
let byLoad = false, source = -1, target = -1, hovered = -1;

/* What a link is for, as the legend has it. */
function kindOf(link) {
	return link.ring >= 0 ? "ring " + link.ring : link.tree >= 0 ? "tree " + link.tree : link.use;
}

function classOf(link) {
	const index = Math.max(link.ring, link.tree);

	return index < 0 ? link.use : "color" + index % 6 + (index < 6 ? "" : " again");
}

const kinds = [...new Map(links.map((link) => [kindOf(link), link])).entries()]
	.sort(([, a], [, b]) => (classOf(a) === a.use) - (classOf(b) === b.use) ||
		a.ring - b.ring || a.tree - b.tree);
const mostLoad = Math.max(...arcs.map((arc) => arc.load), 1);
const leastLoad = scaleStart(arcs.map((arc) => arc.load));
const loadOf = (link) => Math.max(...link.arcs.map((arc) => arc.load));

function arrange(order) {
	order.forEach((server, i) => {
		const angle = 2 * Math.PI * i / n - Math.PI / 2;

		place[server] = { angle, x: RADIUS * Math.cos(angle), y: RADIUS * Math.sin(angle) };
	});
}

/* Order of the servers around the circle: along a ring, then the others. */
function circleOrder(ring) {
	const first = ring < 0 ? [] : plan.rings[ring].order;
	const taken = new Set(first);

	return [...first, ...plan.servers.keys()].filter((server, i) =>
		i < first.length || !taken.has(server));
}

/* Links that join the same two servers lie side by side. */
const beside = new Map();

for (const link of links) {
	const key = Math.min(link.a, link.b) * n + Math.max(link.a, link.b);

	link.beside = beside.get(key) || [];
	link.beside.push(link);
	beside.set(key, link.beside);
}

function pathOf(link) {
	const a = place[link.a], b = place[link.b];
	const aside = (link.beside.indexOf(link) - (link.beside.length - 1) / 2) *
		(link.a < link.b ? 26 : -26);
	const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
	const middle = Math.hypot(a.x + b.x, a.y + b.y) / 2 || 1;
	const bend = n <= 8 ? 1 : 1 - Math.min(0.1, 0.2 * length / middle);
	const x = (a.x + b.x) / 2 * bend - (b.y - a.y) / length * aside;
	const y = (a.y + b.y) / 2 * bend + (b.x - a.x) / length * aside;
	const f = (value) => value.toFixed(1);

	return `M${f(a.x)} ${f(a.y)}Q${f(x)} ${f(y)} ${f(b.x)} ${f(b.y)}`;
}

function strokeOf(link) {
	return byLoad ? css(color((loadOf(link) - leastLoad) / (mostLoad - leastLoad))) : "";
}

function linkTip(link) {
	const what = { allreduce: "AllReduce", mp: "for MP transfers", repair: "for connectivity",
		fixed: "as cabled" }[link.use] || link.use;
	const direction = (arc) => `${nameOf(arc.from)} → ${nameOf(arc.to)}: ${bytesText(arc.load)}` +
		(arc.rings && arc.mp ? ` (AllReduce ${bytesText(arc.rings)}, MP ${bytesText(arc.mp)})` : "");

	return `${portOf(link.a, link.aPort)} – ${portOf(link.b, link.bPort)}, ${what}` +
		`${kindOf(link) === link.use ? "" : ", " + kindOf(link)}\n${link.arcs.map(direction).join("\n")}`;
}

/*
 * Which links stand out now, and how much: Map of link to 0..1, or null when
 * all are alike.
 */
function emphasis() {
	const on = new Map();
	const add = (link, share) => on.set(link, Math.max(on.get(link) || 0, share));
	const from = source < 0 ? hovered : source;

	if (from < 0)
		return null;
	if (source < 0 || !plan.tables) {
		for (const link of links)
			if (link.a === from || link.b === from)
				add(link, 1);
	} else if (target < 0) {
		const sum = new Map();

		for (let dst = 0; dst < n; dst++)
			for (const [arc, share] of dst === from ? [] : shares(from, dst))
				sum.set(arc, (sum.get(arc) || 0) + share);
		const most = Math.max(...sum.values());
		for (const [arc, share] of sum)
			add(arc.link, Math.sqrt(share / most));
	} else {
		for (const [arc, share] of shares(from, target))
			add(arc.link, share);
	}
	return on;
}

/*
 * Two painters with the same interface: redraw() everything, emphasize() what is selected,
 * or look() at what of the drawing the view shows.
 */

function svgPainter(drawing) {
	const root = svg("svg", { class: n <= 8 ? "few handful" : n <= 32 ? "few" : "", role: "group",
		"aria-label": "Servers on a circle and the links between them" });
	const paths = links.map((link) => svg("path",
		{ class: "link " + classOf(link), "data-link": link.index }));
	const size = n <= 8 && inside ? 40 : inside ? 24 : Math.max(3, Math.min(9, 700 / n));
	const arrow = svg("marker", { id: "arrow", viewBox: "0 0 12 12", markerUnits: "userSpaceOnUse",
		markerWidth: 14, markerHeight: 14, refX: 12 + size, refY: 6, orient: "auto" },
	svg("path", { d: "M0 1L12 6L0 11Z", fill: "context-stroke" }));
	const servers = plan.servers.map((server, i) => svg("g",
		{ class: "server" + (inside ? " inside" : ""), tabindex: 0, "data-server": i,
			role: "button", "aria-pressed": false, "aria-label": server.name },
		svg("title", {}, server.name), svg("circle", { r: size }),
		svg("text", { "font-size": inside ? size * 0.63 : labelSize }, short(server.name, LABEL))));

	root.append(arrow, svg("g", plan.duplex || n > 64 ? {} : { class: "directed" }, ...paths),
		svg("g", {}, ...servers));
	drawing.append(root);
	paths.forEach((path, i) => {
		path.onmousemove = (event) => showTip(event, linkTip(links[i]));
		path.onmouseleave = (event) => showTip(event, "");
	});
	servers.forEach((element, i) => {
		element.onmouseenter = () => point(i);
		element.onmouseleave = () => point(-1);
		element.onfocus = () => point(i);
		element.onblur = () => point(-1);
		element.onclick = (event) => {
			event.stopPropagation();
			select(i);
		};
		element.onkeydown = (event) => {
			if (event.key !== "Enter" && event.key !== " ")
				return;
			event.preventDefault();	/* of the space, which scrolls */
			select(i);
		};
	});
	root.onclick = () => select(-1);

	return {
		redraw() {
			paths.forEach((path, i) => {
				path.setAttribute("d", pathOf(links[i]));
				path.style.display = hidden.has(kindOf(links[i])) ? "none" : "";
				path.style.stroke = strokeOf(links[i]);
			});
			servers.forEach((element, i) => {
				const { x, y, angle } = place[i], left = Math.cos(angle) < -1e-9;
				const text = element.querySelector("text");

				element.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
				if (inside) {
					text.setAttribute("text-anchor", "middle");
					text.setAttribute("y", size * 0.21);
				} else {
					text.setAttribute("text-anchor", left ? "end" : "start");
					text.setAttribute("transform", `rotate(${(angle * 180 / Math.PI + (left ? 180 : 0)).toFixed(2)})`);
					text.setAttribute("x", (left ? -1 : 1) * (size + 5));
					text.setAttribute("y", labelSize * 0.35);
				}
			});
		},
		emphasize() {
			const on = emphasis(), from = source < 0 ? hovered : source;
			const near = new Set();

			root.classList.toggle("hot", !!on);
			paths.forEach((path, i) => {
				const share = on && on.get(links[i]);

				path.classList.toggle("on", !!share);
				path.style.strokeWidth = share ? (source < 0 ? 3 : 1 + 5 * share) : "";
				if (share)
					near.add(links[i].a).add(links[i].b);
			});
			servers.forEach((element, i) => {
				element.classList.toggle("from", i === from);
				element.setAttribute("aria-pressed", i === source);
				element.classList.toggle("to", i === target);
				element.classList.toggle("far", !!on && !near.has(i));
			});
		},
		look() {
			root.setAttribute("viewBox",
				[view.x - view.half, view.y - view.half, 2 * view.half, 2 * view.half].join(" "));
		},
	};
}

function canvasPainter(drawing) {
	const canvas = html("canvas", { width: 1720, height: 1720, role: "img",
		"aria-label": "Servers on a circle and the links between them" });
	const context = canvas.getContext("2d");
	let curves = [];
	const variable = (name) => getComputedStyle(canvas).getPropertyValue(name);
	const paint = () => {
		const on = emphasis();
		const stroke = (link, alpha, width) => {
			context.strokeStyle = strokeOf(link) || variable("--" + classOf(link).split(" ")[0]);
			context.globalAlpha = alpha;
			context.lineWidth = width;
			context.stroke(curves[link.index]);
		};

		context.setTransform(1, 0, 0, 1, 0, 0);
		context.clearRect(0, 0, canvas.width, canvas.height);
		const scale = canvas.width / (2 * view.half);

		context.setTransform(scale, 0, 0, scale, canvas.width / 2 - view.x * scale,
			canvas.height / 2 - view.y * scale);
		for (const link of links)
			if (!hidden.has(kindOf(link)))
				stroke(link, on ? 0.04 : 0.35, 0.6);
		for (const [link, share] of on || [])
			stroke(link, 1, 1 + 2 * share);
		context.globalAlpha = 1;
		context.fillStyle = variable("--ink");
		for (const [i, { x, y }] of place.entries()) {
			context.beginPath();
			context.arc(x, y, i === source || i === hovered ? 6 : 1.8, 0, 7);
			context.fill();
		}
	};
	const nearest = (event) => {
		const box = canvas.getBoundingClientRect();
		const x = ((event.clientX - box.left) / box.width * 2 - 1) * view.half + view.x;
		const y = ((event.clientY - box.top) / box.height * 2 - 1) * view.half + view.y;
		const gap = place.map((at) => Math.hypot(at.x - x, at.y - y));
		const least = Math.min(...gap);

		return least < 24 * view.half / extent ? gap.indexOf(least) : -1;
	};

	drawing.append(canvas);
	canvas.onmousemove = (event) => {
		const at = nearest(event);

		showTip(event, at < 0 ? "" : nameOf(at));
		if (at !== hovered)
			point(at);
	};
	canvas.onmouseleave = (event) => {
		showTip(event, "");
		point(-1);
	};
	canvas.onclick = (event) => select(nearest(event));
	return {
		redraw() {
			curves = links.map((link) => new Path2D(pathOf(link)));
			paint();
		},
		emphasize: paint,
		look: paint,
	};
}

const about = html("div", { class: "about", "aria-live": "polite" });
const painter = (n > 256 ? canvasPainter : svgPainter)(document.querySelector("#topology .drawing"));

function describe(server) {
	const mine = [...arcsFrom[server]].sort((a, b) => portAt(a) - portAt(b));
	const hops = hopsFrom(server).filter((hop) => hop > 0 && hop < Infinity);
	const into = arcs.filter((arc) => arc.to === server);
	const sum = (list) => bytesText(list.reduce((total, arc) => total + arc.load, 0));

	function portAt(arc) {
		return arc.link.a === server ? arc.link.aPort : arc.link.bPort;
	}
	about.append(html("b", {}, nameOf(server)),
		html("div", {}, (!hops.length ? "reaches nobody; " :
			`mean hops ${(hops.reduce((a, b) => a + b, 0) / hops.length).toFixed(2)}, ` +
			`farthest ${Math.max(...hops)}; `) + `sends ${sum(mine)}, receives ${sum(into)}, transit included`),
		html("table", {}, html("tbody", {}, ...mine.map((arc) => html("tr", {},
			html("td", {}, plan.servers[server].ports[portAt(arc)]),
			html("td", {}, "→ " + short(nameOf(arc.to), 20)), html("td", {}, bytesText(arc.load)))))));
}

function describeWays(src, dst) {
	const found = pathsBetween(src, dst);

	about.append(html("h3", {}, `From ${nameOf(src)} to ${nameOf(dst)}`),
		html("ol", {}, ...found.slice(0, 6).map(({ servers, share }) => html("li", {},
			`${servers.map(nameOf).join(" → ")} (${+(100 * share).toFixed(1)} %)`))),
		found.length > 6 ? `and ${found.length - 6} more` : "");
}

function explain() {
	about.replaceChildren();
	if (source >= 0) {
		describe(source);
		if (target >= 0)
			describeWays(source, target);
		else if (plan.tables)
			about.append(html("p", { class: "hint" },
				"Thick links carry routes to many servers. Point at another server to see the " +
				"path to it; click outside to release."));
	} else if (hovered >= 0) {
		describe(hovered);
	} else {
		about.append(html("p", { class: "hint" }, "Point at a server to see its links, " +
			(plan.tables ? "click it to see its routes to all others. Point at a link to see its load." :
				"click it to keep them.")));
	}
}

function point(server) {
	hovered = server;
	target = source >= 0 && server >= 0 && server !== source && plan.tables ? server : -1;
	painter.emphasize();
	explain();
}

function select(server) {
	source = server === source ? -1 : server;
	target = -1;
	painter.emphasize();
	explain();
}

/* Look at a part of the drawing, @factor of what was seen, and within the drawing. */
function zoom(factor) {
	const at = source < 0 ? view : place[source];

	view.half = Math.min(extent, Math.max(extent / 16, view.half * factor));
	moveTo(at.x, at.y);
}

function moveTo(x, y) {
	const far = extent - view.half;

	view.x = Math.min(far, Math.max(-far, x));
	view.y = Math.min(far, Math.max(-far, y));
	painter.look();
}

/* Buttons to zoom, and dragging, which moves what is zoomed. */
function zoomButtons() {
	const drawing = document.querySelector("#topology .drawing");
	const button = (text, label, factor) => {
		const element = html("button", { type: "button", "aria-label": label, title: label }, text);

		element.onclick = () => zoom(factor);
		return element;
	};

	drawing.onpointermove = (event) => {
		const shown = drawing.firstElementChild.getBoundingClientRect();
		const scale = 2 * view.half / Math.min(shown.width, shown.height);

		if (event.buttons & 1 && view.half < extent)
			moveTo(view.x - event.movementX * scale, view.y - event.movementY * scale);
	};
	return html("div", { class: "choice", role: "group", "aria-label": "Zoom" },
		button("+", "Zoom in", 0.5), button("\u2212", "Zoom out", 2), button("whole", "Show all", Infinity));
}

/* Select a server by its name. */
function search() {
	const input = html("input", { type: "search", list: "names", size: 12 });

	input.oninput = () => {
		const found = plan.servers.findIndex((server) => server.name === input.value);

		if (found < 0 || found === source)
			return;
		select(found);
		moveTo(place[found].x, place[found].y);
	};
	return html("label", { class: "hint" }, "Find server", input, html("datalist", { id: "names" },
		...plan.servers.map((server) => html("option", { value: server.name }))));
}

function topology() {
	const side = document.querySelector("#topology aside");
	const words = { allreduce: "for all trees", mp: "MP transfers", repair: "for connectivity",
		fixed: "as cabled" };
	const legend = kinds.map(([kind, link]) => {
		const box = html("input", { type: "checkbox", checked: "" });
		const ring = plan.rings[link.ring];
		const count = links.filter((other) => kindOf(other) === kind).length;

		box.onchange = () => {
			hidden[box.checked ? "delete" : "add"](kind);
			painter.redraw();
		};
		return html("label", {}, box, svg("svg", { viewBox: "0 0 34 12" },
			svg("path", { class: classOf(link), d: "M0 6H34", "stroke-width": 3 })),
			(ring ? `${kind}, ${ring.jump ? (ring.reverse ? "±" : "+") + ring.jump : "irregular"}` :
				words[kind] || kind) + ` (${count})`);
	});
	const order = html("select", {}, html("option", { value: -1 }, "in order"),
		...plan.rings.map((ring, i) => html("option", { value: i }, "along ring " + i)));
	const scale = html("div", {});

	order.onchange = () => {
		arrange(circleOrder(+order.value));
		painter.redraw();
	};
	side.append(choice(["by use", "by load"], (load) => {
		byLoad = !!load;
		scale.hidden = !byLoad;
		painter.redraw();
	}), html("div", { class: "kinds" }, ...legend), scale,
	html("label", { class: "hint" }, "Servers", order), search(), zoomButtons(), about);
	scale.hidden = true;
	draw(() => {
		const stops = [...Array(11).keys()].map((i) => css(color(i / 10))).join(",");

		scale.replaceChildren(html("div", { style: `height:12px;background:linear-gradient(90deg,${stops})` }),
			html("div", { class: "legend", style: "justify-content:space-between" },
				html("span", {}, leastLoad ? bytesText(leastLoad) : "0"),
				html("span", {}, bytesText(mostLoad))));
		painter.redraw();
		painter.emphasize();
		painter.look();
	});
	explain();
}
