/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goes on where report.js ends: heat maps and charts, and then the page is drawn. */

/* --- heat maps ----------------------------------------------------------- */

function demand() {
	const section = byId("demand"), box = html("div", {});
	const mp = unroll(plan.mp), allreduce = unroll(plan.allreduce);
	const views = [mp.map((value, i) => value + allreduce[i]), mp, allreduce];
	const size = Math.round(Math.sqrt(mp.length));
	const total = (values) => bytesText(values.reduce((a, b) => a + b, 0));
	const says = html("p", {});
	let view = 0;
	const show = () => {
		says.textContent = `Bytes per iteration from server to server, ${total(views[view])} in total` +
			(plan.step > 1 ? `; a cell sums ${plan.step} × ${plan.step} servers` : "") +
			". AllReduce goes to neighbours on rings and trees.";
		heatmap(box, views[view].map((value) => value || undefined), size, plan.step, true,
			"Demand, from server to server");
	};

	section.append(says, choice(["all", "MP transfers", "AllReduce"], (i) => {
		view = i;
		show();
	}), box);
	draw(show);
}

function load() {
	const section = byId("load"), box = html("div", {}), says = html("p", {});
	const step = plan.step, size = Math.ceil(n / step);
	const fields = ["load", "mp", "rings"];
	let view = 0;
	const show = () => {
		const values = new Array(size * size).fill(undefined);

		for (const arc of arcs) {
			const at = Math.floor(arc.from / step) * size + Math.floor(arc.to / step);

			values[at] = Math.max(values[at] || 0, arc[fields[view]]);
		}
		says.textContent = "Bytes per iteration, in each direction, on the busiest link between two servers" +
			(step > 1 ? `; a cell shows the busiest link of ${step} × ${step} servers` : "") + ". Blank: no link.";
		heatmap(box, values, size, step, false, "Load of the links, from server to server");
	};

	section.append(says, choice(["all", "MP transfers", "AllReduce"], (i) => {
		view = i;
		show();
	}), box);
	draw(show);
}

/* --- charts -------------------------------------------------------------- */

const CHART = { width: 532, left: 70, right: 524, top: 12 };

/*
 * Axes of a chart of @what whose y goes to @most, with [[value, text], ...]; y() places a
 * value.
 */
function frame(what, height, most, marks, label) {
	const bottom = height - 40;
	const y = (value) => bottom - (bottom - CHART.top) * value / most;
	const root = svg("svg", { viewBox: `0 0 ${CHART.width} ${height}`, role: "img",
		"aria-label": what });

	for (const [value, text] of marks)
		root.append(svg("line", { x1: CHART.left, x2: CHART.right, y1: y(value), y2: y(value), class: "grid" }),
			svg("text", { x: CHART.left - 6, y: y(value) + 4, "text-anchor": "end", "font-size": 11.5 }, text));
	root.append(svg("line", { x1: CHART.left, x2: CHART.right, y1: bottom, y2: bottom, class: "axis" }),
		svg("text", { x: (CHART.left + CHART.right) / 2, y: height - 6, "text-anchor": "middle",
			class: "soft", "font-size": 13 }, label));
	return { root, y, bottom };
}

/* Link loads of one kind, sorted, beside their lower bound. */
function curve(title, field, bound, variable) {
	const sorted = arcs.map((arc) => arc[field]).sort((a, b) => b - a);
	const most = Math.max(sorted[0] || 0, bound);
	const top = most > 0 ? most * 1.04 : 1;
	const { root, y, bottom } = frame("Load of the links: " + title, 214, top, most > 0 ? byteTicks(top, 4) : [[0, "0"]],
		"link directions, most loaded first");
	const width = (CHART.right - CHART.left) / (sorted.length || 1);
	let path = `M${CHART.left} ${bottom}`;

	sorted.forEach((value, i) => {
		path += `V${y(value).toFixed(1)}H${(CHART.left + (i + 1) * width).toFixed(2)}`;
	});
	root.append(svg("path", { d: path + `V${bottom}Z`,
		style: "fill:var(--bar);fill-opacity:.3;stroke:var(--bar);stroke-width:1.5" }),
		svg("line", { x1: CHART.left, x2: CHART.right, y1: y(bound), y2: y(bound),
			style: "stroke:var(--second);stroke-width:2;stroke-dasharray:7 4" }));
	for (const mark of ticks(sorted.length, 5).filter((mark) => mark >= 1 && mark % 1 === 0))
		root.append(svg("text", { x: CHART.left + mark * width, y: bottom + 15,
			"text-anchor": mark < 0.96 * sorted.length ? "middle" : "end", "font-size": 11.5 }, mark));
	root.onmousemove = (event) => {
		const at = pointer(root, event);
		const i = Math.floor((at.x - CHART.left) / width);

		showTip(event, i in sorted ? `${i + 1} of ${sorted.length}: ${bytesText(sorted[i])}` : "");
	};
	root.onmouseleave = (event) => showTip(event, "");
	return [html("h3", {}, title), root, html("div", { class: "legend" },
		html("span", {}, html("i", {}), "max ", html("b", {}, bytesText(sorted[0] || 0))),
		html("span", {}, html("i", { class: "dashed" }), "lower bound for any topology ",
			html("b", {}, bytesText(bound))))];
}

/* How many link directions are busy for no more than so much of the communication time. */
function utilisation() {
	const busy = arcs.map((arc) => arc.load * 8 / (arc.link.bandwidth * plan.comm_time)).sort((a, b) => a - b);
	const { root, y, bottom } = frame("Link utilisation, cumulative", 214, 1.04,
		[0, 0.25, 0.5, 0.75, 1].map((value) => [value, 100 * value + " %"]),
		"busy, in % of the communication time");
	const x = (share) => CHART.left + (CHART.right - CHART.left) * share;
	let path = `M${x(0)} ${bottom}`;

	busy.forEach((share, i) => {
		path += `H${x(share).toFixed(2)}V${y((i + 1) / busy.length).toFixed(1)}`;
	});
	root.append(svg("path", { d: path + `H${x(1)}`, class: "cdf",
		style: "fill:none;stroke:var(--bar);stroke-width:1.5" }));
	for (const mark of [0, 20, 40, 60, 80, 100])
		root.append(svg("text", { x: x(mark / 100), y: bottom + 15, "text-anchor": "middle",
			"font-size": 11.5 }, mark));
	root.onmousemove = (event) => {
		const share = (pointer(root, event).x - CHART.left) / (CHART.right - CHART.left);
		const count = busy.filter((value) => value <= share).length;

		showTip(event, share < 0 || share > 1 ? "" :
			`${count} of ${busy.length} link directions: at most ${(100 * share).toFixed(0)} % busy`);
	};
	root.onmouseleave = (event) => showTip(event, "");
	return [html("h3", {}, "Utilisation"), root, html("div", { class: "legend" }, html("span", {}, "mean ",
		html("b", {}, (100 * busy.reduce((a, b) => a + b, 0) / busy.length).toFixed(1) + " %")))];
}

function curves() {
	byId("curves").append(html("p", {}, "Bytes per iteration. The flatter the curve, the less capacity " +
		"is idle while the busiest link sends."), ...curve("All", "load", plan.load_bound),
	...curve("MP transfers alone", "mp", plan.mp_load_bound),
	...arcs.length && plan.comm_time > 0 ? utilisation() : []);
}

function hops() {
	const bars = Math.max(plan.hops.length, plan.moore.length);
	const pairs = n * (n - 1) || 1;
	const most = Math.max(...plan.hops, ...plan.moore) / pairs * 100;
	const { root, y, bottom } = frame("Pairs of servers by hops", 500, most * 1.1,
		ticks(most * 1.1, 5).map((value) => [value, value + " %"]), "hops");
	const width = (CHART.right - CHART.left) / bars, bar = Math.min(width * 0.36, 60);
	const percent = (value) => value < 0.05 ? "" : value.toFixed(value < 10 ? 1 : 0);

	for (let i = 0; i < bars; i++) {
		const middle = CHART.left + (i + 0.5) * width;
		const mine = (plan.hops[i] || 0) / pairs * 100, theirs = (plan.moore[i] || 0) / pairs * 100;

		root.append(svg("text", { x: middle, y: bottom + 15, "text-anchor": "middle", "font-size": 12 }, i + 1),
			svg("rect", { x: middle - bar, y: y(mine), width: bar - 1, height: bottom - y(mine),
				style: "fill:var(--bar)" }),
			svg("rect", { x: middle + 2, y: y(theirs), width: bar - 2, height: bottom - y(theirs),
				style: "fill:none;stroke:var(--second);stroke-width:2" }),
			svg("text", { x: middle - bar / 2, y: y(mine) - 5, "text-anchor": "middle",
				"font-size": 11.5 }, percent(mine)),
			svg("text", { x: middle + bar / 2 + 1, y: y(theirs) - 5, "text-anchor": "middle", "font-size": 11.5,
				class: "soft" }, percent(theirs)));
	}
	byId("hops").append(html("p", {}, "Pairs of servers by the hops between them, beside Moore's bound: " +
		"no topology of this degree has fewer hops."),
		root, html("div", { class: "legend" }, html("span", {}, html("i", { class: "box" }), "this plan"),
			html("span", {}, html("i", { class: "box frame" }), "Moore's bound")));
}

document.body.append(tip);
arrange(circleOrder(-1));
topology();
demand();
load();
curves();
hops();
dark.addEventListener("change", () => themed.forEach((make) => make()));
for (const [event, now] of [["beforeprint", true], ["afterprint", false]])
	addEventListener(event, () => {
		printing = now;
		themed.forEach((make) => make());
	});
