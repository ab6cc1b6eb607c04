/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The points of a sweep: iteration times over its axes, and ratios beside published ones. */

const swept = JSON.parse(byId("data").textContent);
const LEFT = 84, RIGHT = 1160;

/* What a label measures: "25G", "10us", "8"; NaN for words. */
function measure(label) {
	const units = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };
	const [, digits, unit] = /^([\d.]+)(|k|M|G|T|ns|us|ms|s)(?:bit)?$/.exec(label) || [];

	return digits === undefined ? NaN : digits * units[unit];
}

/* Which axis goes to the right, which is a line each; the others are a chart each. */
const axes = swept.axes.filter((axis) => axis.values.length > 1);
const graded = axes.filter((axis) => axis.values.every((label) => measure(label) > 0));
const across = graded[graded.length - 1] || axes[axes.length - 1] || { option: "", values: [""] };
const rest = axes.filter((axis) => axis !== across);
const lines = rest.find((axis) => axis.option === "fabric") ||
	[...rest].sort((a, b) => b.values.length - a.values.length)[0] || { option: "", values: [""] };
const panels = rest.filter((axis) => axis !== lines);

const timeText = (seconds) => seconds >= 1 ? `${+seconds.toPrecision(3)} s` : seconds >= 1e-3 ?
	`${+(1e3 * seconds).toPrecision(3)} ms` : `${+(1e6 * seconds).toPrecision(3)} µs`;
const valueOf = (point, axis) => axis.option ? point.values[axis.option] : "";
const lineColor = (i) => `var(--color${i % 6})`;
const dashes = (i) => ["", "7 4", "2 3", "12 3 2 3"][Math.floor(i / 6) % 4];

/* Marks of a logarithmic axis, 1, 2 and 5 of each power of ten where there is room. */
function logMarks(least, most) {
	const marks = [];

	for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); power++)
		marks.push(...[1, 2, 5].map((k) => k * 10 ** power));
	const shown = marks.filter((mark) => mark >= least * 0.999 && mark <= most * 1.001);

	return shown.length <= 8 ? shown : shown.filter((mark) => Math.abs(Math.log10(mark) % 1) < 1e-6);
}

/* Where the values of the axis across stand: by their logarithm, or words one after the other. */
function places() {
	const inner = [LEFT + 40, RIGHT - 40];
	const sizes = across.values.map(measure);

	if (!graded.includes(across))
		return across.values.map((_, i) => across.values.length < 2 ? (inner[0] + inner[1]) / 2 :
			inner[0] + (inner[1] - inner[0]) * i / (across.values.length - 1));
	const least = Math.log(Math.min(...sizes)), most = Math.log(Math.max(...sizes));

	return sizes.map((size) => inner[0] + (inner[1] - inner[0]) * (Math.log(size) - least) / (most - least || 1));
}

function panel(points, title) {
	const height = 360, bottom = height - 46, top = 14, at = places();
	const times = points.flatMap(({ iteration_time_s: t }) => [t.min, t.max, t.mean]).filter((time) => time > 0);
	const least = Math.min(...times) / 1.15, most = Math.max(...times) * 1.15;
	const y = (time) => bottom - (bottom - top) * Math.log(time / least) / Math.log(most / least);
	const root = svg("svg", { viewBox: `0 0 1180 ${height}`, role: "img",
		"aria-label": `Iteration time over ${across.option}${title && ", " + title}` });
	const what = (point) => `${valueOf(point, lines)} ${valueOf(point, across)}\n`.trimStart() +
		`${timeText(point.iteration_time_s.mean)} (${timeText(point.iteration_time_s.min)} to ` +
		`${timeText(point.iteration_time_s.max)}, ${point.iterations} iteration${point.iterations > 1 ? "s" : ""})`;

	for (const mark of logMarks(least, most))
		root.append(svg("line", { x1: LEFT, x2: RIGHT, y1: y(mark), y2: y(mark), class: "grid" }),
			svg("text", { x: LEFT - 8, y: y(mark) + 4, "text-anchor": "end", "font-size": 12 }, timeText(mark)));
	across.values.forEach((label, i) => root.append(svg("text", { x: at[i], y: bottom + 18, "text-anchor": "middle", "font-size": 12 },
		short(label, 22))));
	root.append(svg("text", { x: (LEFT + RIGHT) / 2, y: height - 6, "text-anchor": "middle", "font-size": 13, class: "soft" },
		across.option + (graded.includes(across) ? ", logarithmic" : "")));
	lines.values.forEach((label, k) => {
		const own = points.filter((point) => valueOf(point, lines) === label)
			.map((point) => [at[Math.max(0, across.values.indexOf(valueOf(point, across)))], point])
			.sort((a, b) => a[0] - b[0]);

		root.append(svg("path", { class: "curve", style: `fill:none;stroke-width:2;stroke:${lineColor(k)};stroke-dasharray:${dashes(k)}`,
			d: own.map(([x, point], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y(point.iteration_time_s.mean).toFixed(1)}`).join("") }));
		for (const [x, point] of own) {
			const { min, max, mean } = point.iteration_time_s;
			const mark = svg("g", { class: "point", style: `stroke:${lineColor(k)};fill:${lineColor(k)}` });

			if (max > min)
				mark.append(svg("path", { class: "error", style: "stroke-width:1.5", d: `M${x - 5} ${y(min)}h10m-5 0V${y(max)}m-5 0h10` }));
			mark.append(svg("circle", { cx: x, cy: y(mean), r: 4 }));
			mark.onmousemove = (event) => showTip(event, what(point));
			mark.onmouseleave = (event) => showTip(event, "");
			root.append(mark);
		}
	});
	return root;
}

/* Published as a frame, here as a dot with the least and the most of all pairs of points. */
function ratios() {
	const shown = swept.ratios.filter((one) => one.pairs);
	const values = shown.flatMap((one) => [one.published, one.min, one.max]);
	const least = Math.min(1, ...values) / 1.1, most = Math.max(1, ...values) * 1.1;
	const left = 420, top = 26, row = 26, height = top + row * shown.length + 8;
	const x = (value) => left + (RIGHT - left) * Math.log(value / least) / Math.log(most / least);
	const root = svg("svg", { viewBox: `0 0 1180 ${height}`, role: "img", "aria-label": "Ratios, published and here" });

	for (const mark of logMarks(least, most))
		root.append(svg("line", { x1: x(mark), x2: x(mark), y1: top - 6, y2: height, class: mark === 1 ? "axis" : "grid" }),
			svg("text", { x: x(mark), y: top - 12, "text-anchor": "middle", "font-size": 12 }, +mark.toPrecision(3)));
	shown.forEach((one, i) => {
		const y = top + row * i + row / 2;
		const group = svg("g", { class: "ratio" });

		group.append(svg("text", { x: left - 12, y: y + 4, "text-anchor": "end", "font-size": 13 }, short(one.name, 60)),
			svg("rect", { x: x(one.published) - 6, y: y - 6, width: 12, height: 12, style: "fill:none;stroke:var(--second);stroke-width:2" }),
			svg("path", { style: "stroke:var(--bar);stroke-width:2", d: `M${x(one.min)} ${y - 5}v10m0 -5H${x(one.max)}m0 -5v10` }),
			svg("circle", { cx: x(one.mean), cy: y, r: 4.5, style: "fill:var(--bar)" }));
		group.onmousemove = (event) => showTip(event, `${one.name}\npublished ${one.published}, here ${+one.mean.toPrecision(3)} ` +
			`(${+one.min.toPrecision(3)} to ${+one.max.toPrecision(3)} over ${one.pairs} pair${one.pairs > 1 ? "s" : ""} of points)`);
		group.onmouseleave = (event) => showTip(event, "");
		root.append(group);
	});
	return root;
}

function table() {
	const named = swept.axes.filter((axis) => axis.option);
	const head = [...named.map((axis) => axis.option), "Iteration", "99th percentile", "Least", "Most", "Iterations"];
	const row = (point) => {
		const { mean, p99, min, max } = point.iteration_time_s;

		return html("tr", {}, ...named.map((axis) => html("th", { scope: "row" }, point.values[axis.option])),
			...[mean, p99, min, max].map((time) => html("td", {}, timeText(time))), html("td", {}, point.iterations));
	};

	return html("table", {}, html("thead", {}, html("tr", {}, ...head.map((text) => html("th", { scope: "col" }, text)))),
		html("tbody", {}, ...swept.points.map(row)));
}

/* All combinations of the values of axes that have a chart each. */
const combinations = panels.reduce((list, axis) => list.flatMap((one) =>
	axis.values.map((value) => [...one, [axis.option, value]])), [[]]);

document.body.append(tip);
if (swept.ratios.some((one) => one.pairs))
	byId("ratios").append(ratios(), html("div", { class: "legend" }, html("span", {}, html("i", { class: "box frame" }), "published"),
		html("span", {}, html("i", {}), "here: mean, least and most of the pairs of points")));
else
	byId("ratios").remove();
if (lines.option)
	byId("charts").append(html("div", { class: "legend" }, ...lines.values.map((label, k) =>
		html("span", {}, html("i", { style: `border-top:3px ${dashes(k) ? "dashed" : "solid"} ${lineColor(k)}` }), label))));
for (const combination of combinations) {
	const points = swept.points.filter((point) => combination.every(([option, value]) => point.values[option] === value));
	const title = combination.map(([, value]) => value).join(", ");

	if (points.length)
		byId("charts").append(...title ? [html("h3", {}, title)] : [], panel(points, title));
}
byId("charts").append(html("p", {}, "Bars reach from the shortest to the longest iteration of a point." +
	(swept.missing ? ` ${swept.missing} points are missing.` : "")));
byId("points").append(html("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Points" }, table()));
