/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last iteration that toctl simulate ran: what each server does when. */

const run = JSON.parse(byId("data").textContent);
const ROW = 30, LANE = 12, LEFT = 120, RIGHT = 1180, TOP = 30;
const end = Math.max(1e-12, ...run.tasks.map((task) => task.finish_s));
const names = [...new Set([...run.tasks.map((task) => task.server).filter(Boolean),
	...run.transfers.flatMap((one) => [one.from, one.to])])]
	.sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
const x = (time) => LEFT + (RIGHT - LEFT) * time / end;
const ms = (time) => +(1000 * time).toPrecision(4) + " ms";

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
const critical = run.critical_path.map((task) => run.tasks[task]);
const kinds = [["compute", "computing"], ["mp", "sending MP transfers"], ["allreduce", "AllReduce"]];
const lanes = [
	{ name: "critical path", flat: true, spans: kinds.map(([kind, words]) =>
		[kind, `waits for ${words}`, spansOf(critical.filter((task) => task.kind === kind))]) },
	...names.map((name) => ({ name, server: true, spans: [
		["compute", "computes", spansOf(run.tasks.filter((task) => task.server === name))],
		["mp", "sends MP transfers", spansOf(run.transfers.filter((one) => one.from === name))]] })),
	{ name: "AllReduce", spans: [
		["allreduce", "is under way", spansOf(run.tasks.filter((task) => task.kind === "allreduce"))]] }];

function chart() {
	const height = TOP + ROW * lanes.length + 10;
	const root = svg("svg", { viewBox: `0 0 1190 ${height}`, role: "img",
		"aria-label": "What each server does in the iteration, over time" });

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

function table() {
	const part = (spans) => html("td", {}, `${(100 * length(spans) / end).toFixed(1)} %`);
	const rows = lanes.filter((lane) => lane.server).map((lane) => html("tr", {}, html("th", { scope: "row" }, lane.name),
		part(lane.spans[0][2]), part(lane.spans[1][2])));

	return html("table", {}, html("thead", {}, html("tr", {}, ...["Server", "Computes", "Sends MP transfers"].map((text) =>
		html("th", { scope: "col" }, text)))), html("tbody", {}, ...rows));
}

const key = (kind, text) => html("span", {}, svg("svg", { viewBox: "0 0 12 12", width: 12, height: 12 },
	svg("rect", { class: "span-" + kind, width: 12, height: 12 })), " " + text);

document.body.append(tip);
byId("gantt").append(html("p", {}, `${ms(end)} in all. An AllReduce is done by its servers together.`),
	html("div", { class: "legend" }, ...kinds.map(([kind, words]) => key(kind, words))),
	html("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Timeline" }, chart()));
byId("shares").append(html("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Shares" }, table()));
