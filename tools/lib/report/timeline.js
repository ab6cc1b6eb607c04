/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What toctl run decided and did, and what happened to the fabric meanwhile: lines of
 * run.schema.json, and those that live_page.h adds.
 */

const TIMELINE_ROWS = 200, TIMELINE_BARS = 40;

const clock = (time) => new Date(1000 * time).toLocaleTimeString([], { hour12: false });

function secondsText(seconds) {
	const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
	const [unit, text] = units.find(([least]) => Math.abs(seconds) >= least) || units[2];

	return seconds ? `${(seconds / unit).toPrecision(3)} ${text}` : "0 s";
}

const gbits = (bandwidth) => +(bandwidth / 1e9).toPrecision(3);

/* A line about a link that loses packets, or a port that is slow: [where, why]. */
const gray = (line) => line.event === "lossy" ? [`${line.from} to ${line.to}`, line.text] :
	[line.port, `${gbits(line.bandwidth)} of ${gbits(line.planned)} Gbit/s`];

/* A line in words: [what, text]; null for those that say nothing by themselves. */
function sentence(line) {
	const links = (list) => list.join(", ");
	const words = {
		start: () => ["begin", `${line.plan}, intervals of ${line.interval_ms} ms${line.dry_run ? ", dry run" : ""}`],
		initial: () => ["begin", `with the initial plan ${line.plan}${line.error ? ": " + line.error : ""}`],
		restored: () => ["restored", `${line.why}${line.ok ? "" : ": not as planned, will try again: " + line.error}`],
		shift: () => [line.kind === "due" ? "shift, late" : "shift",
			`busiest link busy for ${line.busy.toPrecision(3)} times the lower bound, promised ${line.promised.toPrecision(3)}; new candidates: ${line.new}`],
		decision: () => [line.action + (line.dry_run ? " (dry run)" : ""), line.reason],
		step: () => [line.step, secondsText(line.ms / 1000) + (line.ok ? "" : ": failed: " + line.error) +
			(line.note ? ", " + line.note : "")],
		changed: () => [line.action + " done", `generation ${line.generation} on all servers, ${secondsText(line.ms / 1000)} after the decision`],
		refused: () => ["refused", line.error],
		missing: () => ["agents", line.servers.length ? `no traffic data from ${links(line.servers)}` :
			"traffic data from all servers"],
		away: () => ["agents", line.away ? `${line.server} is left out until its agent is back` : `the agent of ${line.server} is back`],
		brought: () => ["brought", `${links(line.servers)}: without the table of the plan` + (line.ok ? "" : `, not to be brought to it: ${line.error}`)],
		lossy: () => [line.held ? "lossy" : "not lossy", gray(line).join(": ") + (line.held ? "" : `; nothing for ${line.hold_s} s`)],
		slow: () => [line.held ? "slow" : "not slow", gray(line).join(": ") + (line.held ? "" : `; the plan's rate for ${line.hold_s} s`)],
		end: () => ["end", `${line.intervals} intervals, ${line.changes} changes`],
		plan: () => ["new plan", [["cut", line.cut], ["made", line.made]].filter(([, list]) => list.length)
			.map(([what, list]) => `links ${what}: ${links(list)}`).join("; ") || "same links, other routes"],
		change: () => [line.subject, (line.check ? line.check + ": " : "") + line.text],
		trouble: () => ["cannot look", line.text],
	};

	try {
		return words[line.event] ? words[line.event]() : null;
	} catch {
		return [line.event, "of another version"];	/* members are missing */
	}
}

/* Whether a line is about a choice with its price. */
const priced = (line) => line.event === "decision" && line.price_s !== undefined;

/*
 * Chart of the last decisions: the busy time that was lost against the best candidate,
 * beside the price of a change to it.
 */
function priceChart(lines) {
	const shown = lines.filter(priced).slice(-TIMELINE_BARS);
	const width = 1180, height = 190, left = 64, top = 12, bottom = height - 40;
	const most = Math.max(1e-9, ...shown.map((line) => Math.max(line.regret_s, line.price_s)));
	const y = (value) => bottom - (bottom - top) * Math.max(0, value) / most;
	const slot = (width - left - 8) / Math.max(8, shown.length), bar = Math.min(slot * 0.36, 26);
	const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
		"aria-label": `Prices of the last ${shown.length} decisions` });

	for (const value of ticks(most, 3))
		root.append(svg("line", { x1: left, x2: width - 8, y1: y(value), y2: y(value), class: "grid" }),
			svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end", "font-size": 12 },
				secondsText(value)));
	shown.forEach((line, i) => {
		const middle = left + (i + 0.5) * slot;
		const every = Math.ceil(70 / slot);
		const group = svg("g", { class: "decision" });

		group.append(svg("rect", { x: middle - bar, y: y(line.regret_s), width: bar - 1,
			height: bottom - y(line.regret_s), style: "fill:var(--bar)" }),
		svg("rect", { x: middle + 1, y: y(line.price_s), width: bar - 1, height: bottom - y(line.price_s),
			style: "fill:none;stroke:var(--second);stroke-width:2" }));
		group.onmousemove = (event) => showTip(event, `${clock(line.time)} ${line.action}\n` +
			`lost ${secondsText(line.regret_s)}, a change costs ${secondsText(line.price_s)}`);
		group.onmouseleave = (event) => showTip(event, "");
		root.append(group);
		if (i % every === 0)
			root.append(svg("text", { x: middle, y: bottom + 16, "text-anchor": "middle", "font-size": 12 },
				clock(line.time)),
			svg("text", { x: middle, y: bottom + 32, "text-anchor": "middle", "font-size": 12, class: "soft" },
				line.action));
	});
	return root;
}

/* A timeline in @parent: add(line), clear(), and show(list) of lines instead of those added. */
function timeline(parent) {
	const body = html("tbody", {});
	const chart = html("div", { class: "scroll" });
	const legend = html("div", { class: "legend" },
		html("span", {}, html("i", { class: "box" }), "busy seconds lost against the best candidate"),
		html("span", {}, html("i", { class: "box frame" }), "busy seconds that a change to it costs"));
	const heads = ["Time", "What", "", "Lost", "Price", "Saves"].map((text) => html("th", { scope: "col" }, text));
	let lines = [];
	const row = (line, [what, text]) => html("tr", { class: "event-" + line.event, "data-time": line.time },
		html("td", {}, clock(line.time)), html("th", { scope: "row" }, what), html("td", {}, text),
		...priced(line) ? [secondsText(line.regret_s), secondsText(line.price_s),
			(100 * line.saves).toFixed(1) + " %"].map((value) => html("td", {}, value)) :
			[html("td", {}), html("td", {}), html("td", {})]);
	const paint = () => chart.replaceChildren(...lines.some(priced) ? [priceChart(lines), legend] :
		[html("p", {}, "No decision yet.")]);
	const put = (line) => {
		const words = sentence(line);

		if (words)
			body.prepend(row(line, words));
		if (body.children.length > TIMELINE_ROWS)
			body.lastChild.remove();
	};

	heads[2].append(html("span", { class: "hidden" }, "Details"));
	parent.append(chart, html("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Events, last first" },
		html("table", {}, html("thead", {}, html("tr", {}, ...heads)), body)));
	paint();
	return {
		add(line) {
			lines.push(line);
			put(line);
			if (priced(line))
				paint();
		},
		clear() {
			this.show([]);
		},
		show(list) {
			lines = [...list];
			body.replaceChildren();
			lines.slice(-2 * TIMELINE_ROWS).forEach(put);
			paint();
		},
	};
}
