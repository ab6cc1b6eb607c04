/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last iterations that tosim simulate ran, on one fabric or several: what happens when. */

const runs = JSON.parse(byId("data").textContent);
const ROW = 30, LANE = 12, LEFT = 120, RIGHT = 1180, TOP = 30;
const ends = runs.map((run) => Math.max(1e-12, ...run.tasks.map((task) => task.finish_s)));
const end = Math.max(...ends);	/* one scale for all */
const x = (time) => LEFT + (RIGHT - LEFT) * time / end;
const ms = (time) => +(1000 * time).toPrecision(4) + " ms";
const kinds = [["compute", "computing"], ["mp", "sending MP transfers"], ["allreduce", "AllReduce"]];
const lineColor = (i) => `var(--color${i % 6})`;

/* Spans in the order of their begin; those that touch, or nearly, are one. */
function joined(spans) {
	const out = [];

	for (const [start, finish] of [...spans].sort((a, b) => a[0] - b[0])) {
		const last = out[out.length - 1];

		if (last && start <= last[1] + end / 2000)
			last[1] = Math.max(last[1], finish);
		else if (finish > start)
			out.push([start, finish]);
	}
	return out;
}

const length = (spans) => spans.reduce((sum, [start, finish]) => sum + finish - start, 0);
const spansOf = (list) => joined(list.map((one) => [one.start_s, one.finish_s]));

function grouped(list, key) {
	const groups = new Map();

	for (const one of list)
		if (groups.has(one[key]))
			groups.get(one[key]).push(one);
		else
			groups.set(one[key], [one]);
	return groups;
}

function lanesOf(run) {
	const critical = run.critical_path.map((task) => run.tasks[task]);
	const computes = grouped(run.tasks.filter((task) => task.server), "server");
	const sends = grouped(run.transfers, "from");
	const names = [...new Set([...computes.keys(), ...run.transfers.flatMap((one) => [one.from, one.to])])]
		.sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));

	return [
		{ name: "critical path", flat: true, spans: kinds.map(([kind, words]) =>
			[kind, `waits for ${words}`, spansOf(critical.filter((task) => task.kind === kind))]) },
		...names.map((name) => ({ name, server: true, spans: [
			["compute", "computes", spansOf(computes.get(name) || [])],
			["mp", "sends MP transfers", spansOf(sends.get(name) || [])]] })),
		{ name: "AllReduce", spans: [
			["allreduce", "is under way", spansOf(run.tasks.filter((task) => task.kind === "allreduce"))]] }];
}

const lanes = runs.map(lanesOf);

function gantt(run, lanes) {
	const height = TOP + ROW * lanes.length + 10;
	const root = svg("svg", { viewBox: `0 0 1190 ${height}`, role: "img",
		"aria-label": `What each server does in the iteration on ${run.fabric}, over time` });

	for (const mark of ticks(1000 * end, 8))
		root.append(svg("line", { x1: x(mark / 1000), x2: x(mark / 1000), y1: TOP - 6, y2: height - 10, class: "grid" }),
			svg("text", { x: x(mark / 1000), y: TOP - 12, "text-anchor": "middle", "font-size": 12, class: "soft" },
				+mark.toPrecision(6) + " ms"));
	lanes.forEach((lane, row) => {
		root.append(svg("text", { x: LEFT - 8, y: TOP + row * ROW + 17, "text-anchor": "end", "font-size": 13 },
			short(lane.name, 15)));
		lane.spans.forEach(([kind, words, spans], k) => {
			for (const [start, finish] of spans) {
				const bar = svg("rect", { class: "span-" + kind, x: x(start).toFixed(2), y: TOP + row * ROW + 2 + (lane.flat ? 0 : k * LANE),
					width: Math.max(0.5, x(finish) - x(start)).toFixed(2), height: LANE });

				bar.onmousemove = (event) => showTip(event, `${lane.name} ${words}: ${ms(start)} to ${ms(finish)}`);
				bar.onmouseleave = (event) => showTip(event, "");
				root.append(bar);
			}
		});
	});
	return root;
}

const head = (...words) => html("thead", {}, html("tr", {}, ...words.map((text) => html("th", { scope: "col" }, text))));

function figures() {
	const cells = (run) => [ms(run.iteration_time_s.mean), ms(run.iteration_time_s.p99 || run.iteration_time_s.mean),
		...kinds.map(([kind]) => ms((run.critical_path_s || {})[kind] || 0)), run.routing || "", run.allreduce || ""];

	return html("table", {}, head("Fabric", "Iteration", "99th percentile", "Critical path computes", "… sends MP transfers",
		"… AllReduce", "Routing", "AllReduce"),
	html("tbody", {}, ...runs.map((run) => html("tr", {}, html("th", { scope: "row" }, run.fabric),
		...cells(run).map((text) => html("td", {}, text))))));
}

function shares(lanes) {
	const part = (spans) => html("td", {}, `${(100 * length(spans) / end).toFixed(1)} %`);
	const rows = lanes.filter((lane) => lane.server).map((lane) => html("tr", {}, html("th", { scope: "row" }, lane.name),
		part(lane.spans[0][2]), part(lane.spans[1][2])));

	return html("table", {}, head("Server", "Computes", "Sends MP transfers"), html("tbody", {}, ...rows));
}

/* Axes of a chart over time; y() places a share, 0 to 1. */
function axes(what, label, places, marks) {
	const height = 220, bottom = height - 42;
	const y = (share) => bottom - (bottom - 12) * share;
	const root = svg("svg", { viewBox: `0 0 1190 ${height}`, role: "img", "aria-label": what });

	for (const share of [0, 0.25, 0.5, 0.75, 1])
		root.append(svg("line", { x1: LEFT, x2: RIGHT, y1: y(share), y2: y(share), class: "grid" }),
			svg("text", { x: LEFT - 8, y: y(share) + 4, "text-anchor": "end", "font-size": 12 }, `${100 * share} %`));
	for (const mark of marks)
		root.append(svg("text", { x: places(mark), y: bottom + 16, "text-anchor": "middle", "font-size": 12 }, ms(mark)));
	root.append(svg("text", { x: (LEFT + RIGHT) / 2, y: height - 6, "text-anchor": "middle", "font-size": 13, class: "soft" }, label));
	return { root, y };
}

/* Mean, 90th percentile and busiest of all links in each interval. */
function busy(run) {
	const { root, y } = axes(`Link utilisation over time on ${run.fabric}`, "time", x,
		ticks(1000 * end, 8).map((mark) => mark / 1000));
	const u = run.utilisation;
	const line = (values, style) => svg("path", { class: "busy", style: "fill:none;stroke-width:1.5;" + style,
		d: values.map((value, i) => `${i ? "H" : `M${LEFT} ${y(Math.min(1, value)).toFixed(1)}H`}` +
			`${x(Math.min(end, (i + 1) * u.interval_s)).toFixed(1)}` +
			(i + 1 < values.length ? `V${y(Math.min(1, values[i + 1])).toFixed(1)}` : "")).join("") });

	root.append(line(u.max, "stroke:var(--soft)"), line(u.p90, "stroke:var(--second);stroke-dasharray:7 4"),
		line(u.mean, "stroke:var(--bar);stroke-width:2.5"));
	root.onmousemove = (event) => {
		const time = (pointer(root, event).x - LEFT) / (RIGHT - LEFT) * end, i = Math.floor(time / u.interval_s);
		const part = (values) => `${(100 * values[i]).toFixed(0)} %`;

		showTip(event, i in u.mean ? `${ms(i * u.interval_s)}\nmean ${part(u.mean)}, ` +
			`90th percentile ${part(u.p90)}, busiest ${part(u.max)}` : "");
	};
	root.onmouseleave = (event) => showTip(event, "");
	return root;
}

/* How much of the MP transfers is done no later than so long after its begin. */
function completion() {
	const times = runs.map((run) => run.transfers.map((one) => one.finish_s - one.start_s).sort((a, b) => a - b));
	const positive = times.flatMap((list) => [list.find((time) => time > 0), list[list.length - 1]]).filter((time) => time > 0);
	const least = Math.log10(Math.min(...positive)), most = Math.max(Math.log10(Math.max(...positive)), least + 0.1);
	const place = (time) => LEFT + (RIGHT - LEFT) * (Math.log10(Math.max(time, 10 ** least)) - least) / (most - least);
	const marks = [];

	for (let power = Math.ceil(least - 1); power <= most; power++)
		marks.push(...[1, 2, 5].map((k) => k * 10 ** power).filter((mark) =>
			Math.log10(mark) >= least - 1e-9 && Math.log10(mark) <= most + 1e-9));

	const { root, y } = axes("Flow completion times, cumulative", "from the begin of an MP transfer to its last byte, logarithmic",
		place, marks.length < 12 ? marks : marks.filter((mark) => Math.log10(mark) % 1 === 0));

	times.forEach((list, i) => {
		const path = list.map((time, k) => `H${place(time).toFixed(1)}V${y((k + 1) / list.length).toFixed(1)}`);

		if (list.length)
			root.append(svg("path", { class: "cdf", style: `fill:none;stroke-width:2;stroke:${lineColor(i)}`,
				d: `M${LEFT} ${y(0)}` + path.join("") + `H${RIGHT}` }));
	});
	return root;
}

const key = (kind, text) => html("span", {}, svg("svg", { viewBox: "0 0 12 12", width: 12, height: 12 },
	svg("rect", { class: "span-" + kind, width: 12, height: 12 })), " " + text);
const dash = (style, text) => html("span", {}, html("i", { style }), text);
const scroll = (name, what) => html("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": name }, what);
const titled = (run) => runs.length > 1 ? [html("h3", {}, run.fabric)] : [];
const recorded = runs.filter((run) => run.utilisation);

document.body.append(tip);
byId("figures").append(scroll("Figures", figures()));
byId("gantt").append(html("p", {}, runs.length > 1 ? "All on one scale. An AllReduce is done by its servers together." :
	`${ms(end)} in all. An AllReduce is done by its servers together.`),
html("div", { class: "legend" }, ...kinds.map(([kind, words]) => key(kind, words))),
...runs.flatMap((run, i) => [...titled(run), scroll(`Timeline of ${run.fabric}`, gantt(run, lanes[i]))]));
byId("utilisation").append(...recorded.length ? [html("div", { class: "legend" }, dash("border-color:var(--bar)", "mean of all links"),
		dash("border-top:2px dashed var(--second)", "90th percentile"), dash("border-color:var(--soft)", "busiest")),
	...recorded.flatMap((run) => [...titled(run), busy(run)])] : [html("p", {}, "Not recorded at packet level.")]);
byId("completion").append(...runs.some((run) => run.transfers.length) ? [completion(), html("div", { class: "legend" },
	...runs.map((run, i) => dash(`border-color:${lineColor(i)}`, `${run.fabric}: ${run.transfers.length} transfers`)))] :
	[html("p", {}, "There are no MP transfers.")]);
byId("shares").append(...runs.flatMap((run, i) => [...titled(run), scroll(`Shares of ${run.fabric}`, shares(lanes[i]))]));
