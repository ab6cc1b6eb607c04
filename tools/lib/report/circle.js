/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Servers on a circle and the links between them, where links may change. */

const CIRCLE = 400, LABEL_MOST = 12;

/* Links of a plan, each with its name: both ports. */
function linksOf(plan) {
	const portName = (server, port) => `${plan.servers[server].name}:${plan.servers[server].ports[port]}`;

	return plan.links.map(([a, aPort, b, bPort, use, ring, tree, bandwidth], index) =>
		({ index, a, b, ends: [portName(a, aPort), portName(b, bPort)], bandwidth, arcs: [],
			name: `${portName(a, aPort)} – ${portName(b, bPort)}` }));
}

/* Colour of a link; an idle one can still be seen. */
const busyColor = (share) => css(color(0.35 + 0.65 * Math.min(1, share)));

/*
 * Draws into @drawing: make() the elements of links, whose tip is told by @tipOf, and
 * paint() how they are, whenever that changes. @select is told of a server, or of -1.
 */
function circle(drawing, select, tipOf) {
	let paths = [], points = [], root = null, links = [], place = [], chosen = -1;

	/* Links that join the same two servers, @same, lie side by side. */
	function curve(link, same) {
		const from = place[link.a], to = place[link.b];
		const aside = (same.indexOf(link) - (same.length - 1) / 2) * (link.a < link.b ? 26 : -26);
		const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
		const x = (from.x + to.x) / 2 * 0.95 - (to.y - from.y) / length * aside;
		const y = (from.y + to.y) / 2 * 0.95 + (to.x - from.x) / length * aside;

		return `M${from.x.toFixed(1)} ${from.y.toFixed(1)}Q${x.toFixed(1)} ${y.toFixed(1)} ${to.x.toFixed(1)} ${to.y.toFixed(1)}`;
	}

	function make(list) {
		const focus = drawing.contains(document.activeElement) && document.activeElement.dataset.server;
		const n = servers.length, inside = n <= 24 && servers.every((server) => server.name.length <= 4);
		const longest = Math.min(LABEL_MOST, Math.max(...servers.map((server) => server.name.length)));
		const font = Math.max(4, Math.min(16, 2 * Math.PI * (CIRCLE + 14) / n * 0.92));
		const extent = CIRCLE + (inside ? 40 : 24 + longest * font * 0.62);
		const size = n <= 8 && inside ? 40 : inside ? 24 : Math.max(3, Math.min(9, 700 / n));

		links = list;
		place = servers.map((server, i) => {
			const angle = 2 * Math.PI * i / n - Math.PI / 2;

			return { angle, x: CIRCLE * Math.cos(angle), y: CIRCLE * Math.sin(angle) };
		});
		const ends = (link) => Math.min(link.a, link.b) * n + Math.max(link.a, link.b);
		const beside = new Map();

		links.forEach((link) => beside.set(ends(link), [...beside.get(ends(link)) || [], link]));
		paths = links.map((link, i) => {
			const path = svg("path", { class: "link", "data-link": i, d: curve(link, beside.get(ends(link))) });

			path.onmousemove = (event) => showTip(event, tipOf(links[i]));
			path.onmouseleave = (event) => showTip(event, "");
			return path;
		});
		points = servers.map((server, i) => {
			const { x, y, angle } = place[i], left = Math.cos(angle) < -1e-9;
			const text = svg("text", inside ? { "text-anchor": "middle", y: size * 0.21, "font-size": size * 0.63 } :
				{ "text-anchor": left ? "end" : "start", y: font * 0.35, x: (left ? -1 : 1) * (size + 5),
					"font-size": font, transform: `rotate(${(angle * 180 / Math.PI + (left ? 180 : 0)).toFixed(2)})` },
			short(server.name, LABEL_MOST));
			const point = svg("g", { class: "server" + (inside ? " inside" : ""), tabindex: 0, role: "button",
				"data-server": i, "aria-pressed": i === chosen, "aria-label": server.name,
				transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
			svg("title", {}, server.name), svg("circle", { r: size }), text);

			point.onclick = () => select(i === chosen ? -1 : i);
			point.onkeydown = (event) => {
				if (event.key !== "Enter" && event.key !== " ")
					return;
				event.preventDefault();	/* of the space, which scrolls */
				select(i === chosen ? -1 : i);
			};
			return point;
		});
		root = svg("svg", { class: n <= 8 ? "few handful" : n <= 32 ? "few" : "", role: "group",
			viewBox: [-extent, -extent, 2 * extent, 2 * extent].join(" "),
			"aria-label": "Servers on a circle and the links between them" },
		svg("g", {}, ...paths), svg("g", {}, ...points));
		drawing.replaceChildren(root);
		if (focus)
			points[focus].focus();
	}

	/*
	 * @server: the one that is chosen, or -1. @looks: a link's "dark", "made" and "stroke"
	 * @lost: whether a server is.
	 */
	function paint(server, looks, lost) {
		chosen = server;
		root.classList.toggle("hot", chosen >= 0);
		paths.forEach((path, i) => {
			const { dark, made, stroke } = looks(links[i]);

			path.classList.toggle("dark", !!dark);
			path.classList.toggle("made", !!made);
			path.style.stroke = dark ? "" : stroke;
			path.classList.toggle("on", links[i].a === chosen || links[i].b === chosen);
		});
		points.forEach((point, i) => {
			const away = lost(i);

			point.setAttribute("aria-pressed", i === chosen);
			point.classList.toggle("from", i === chosen);
			point.classList.toggle("lost", away);
			point.setAttribute("aria-label", nameOf(i) + (away ? ", does not answer" : ""));
		});
	}

	return { make, paint };
}
