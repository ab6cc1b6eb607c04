/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows a fabric as it is, from the events that live_page.h tells of. */

const LINKS_SHOWN = 12;
const COUNTED = "Which server sends to which is counted by toctl run --listen and toctl watch --pairs.";

let plan = null, status = null, traffic = null, view = 0;
let links = [];		/* of the plan in force; each with arcs: what a look says of its directions */
let made = new Set();	/* names of those that the last change made */
let chosen = -1;	/* server that is looked at */
const about = html("div", { class: "about", "aria-live": "polite" });
const topology = circle(document.querySelector("#topology .drawing"), select, linkText);
const story = timeline(byId("timeline"));

/* --- links --------------------------------------------------------------- */

const isDark = (link) => link.arcs.some((arc) => !arc.lit);
const isLossy = (arc) => !!arc.loss && arc.loss.verdict === "lossy";

function lossOf(arc) {
	if (!arc.loss || arc.loss.verdict === "unproven")
		return "–";
	if (!isLossy(arc))
		return "no";
	return arc.loss.by === "packets" ? `${(100 * arc.loss.lost / arc.loss.sent).toPrecision(2)} %` :
		`${arc.loss.checks_lost} of ${arc.loss.checks} checks`;
}

function linkText(link) {
	const arcText = (arc) => arc.utilisation === undefined ? "not counted yet" :
		`${(100 * arc.utilisation).toFixed(1)} %, ${(arc.bps / 1e9).toFixed(2)} Gbit/s`;

	return link.name + (isDark(link) ? ": no light" : "") + link.arcs.map((arc) =>
		`\n${arc.from} → ${arc.to}: ${arcText(arc)}`).join("");
}

/* Links in the colour of the busier direction, or as dark. */
function paint() {
	topology.paint(chosen, (link) => ({ dark: isDark(link), made: made.has(link.name),
		stroke: link.arcs.length ? busyColor(Math.max(...link.arcs.map((arc) => arc.utilisation || 0))) : "" }),
	(server) => !!status && !status.servers[server].reached);
}

/* --- a server ------------------------------------------------------------ */

function serverTable(index) {
	const rows = servers[index].ports.map((port) => {
		const name = `${nameOf(index)}:${port}`;
		const out = status.links.find((arc) => arc.from === name);
		const into = status.links.find((arc) => arc.to === name);
		const peer = out ? out.to : into ? into.from : "";
		const percent = (arc) => !arc || arc.utilisation === undefined ? "–" : `${(100 * arc.utilisation).toFixed(1)} %`;
		const lit = [out, into].filter(Boolean).every((arc) => arc.lit);

		return html("tr", { class: lit ? "" : "bad" }, html("th", { scope: "row" }, port),
			html("td", {}, peer ? (lit ? "" : "no light, ") + peer : "no link"),
			html("td", {}, percent(out)), html("td", {}, percent(into)));
	});

	return html("table", {}, html("thead", {}, html("tr", {}, ...["Port", "Leads to", "Sends", "Receives"].map(
		(text) => html("th", { scope: "col" }, text)))), html("tbody", {}, ...rows));
}

function describe() {
	const server = status && chosen >= 0 ? status.servers[chosen] : null;
	const mine = (check) => check.subject === nameOf(chosen) || check.subject.startsWith(nameOf(chosen) + ":");
	const rings = () => plan.rings.flatMap((ring, i) => {
		const at = ring.order.indexOf(chosen), n = ring.order.length;

		return at < 0 ? [] : [`ring ${i}: after ${nameOf(ring.order[(at + n - 1) % n])}, before ${nameOf(ring.order[(at + 1) % n])}`];
	});

	about.replaceChildren();
	if (!server) {
		about.append(html("p", { class: "hint" }, "Select a server to see its ports."));
		return;
	}
	about.append(html("h3", {}, server.server));
	if (!server.reached) {
		about.append(html("p", { class: "bad" }, server.error || "does not answer"));
		return;
	}
	about.append(html("div", {}, `generation ${server.generation || "none"}` + (server.staged ? ", a table is staged" : "") +
		(server.backups ? `, backups in use for ${server.backups} groups of next hops` : "")),
	html("div", {}, server.misses === undefined ? "counted from now on" :
		`${server.misses} misses, ${server.drops} drops, ${server.congested} at full queues, ${server.expired} by TTL ` +
		`in ${secondsText(server.seconds)}`),
	serverTable(chosen),
	...rings().map((text) => html("div", {}, text)),
	...status.checks.filter(mine).map((check) => html("p", { class: "bad" },
		`${check.subject}: ${check.text}${check.fix ? ": " + check.fix : ""}`)));
}

function select(server) {
	chosen = server;
	paint();
	describe();
}

/* --- matrices ------------------------------------------------------------ */

/* Links that lead to packet switches say nothing of who sends to whom. */
const switched = () => status.links.some((arc) => !serverAt.has(arc.to));

/* Bytes on links, or from server to server: now, and as the plan has the same sum of them. */
function matrices(pairs) {
	const n = servers.length, step = plan.step, size = Math.ceil(n / step);
	const now = new Array(size * size).fill(undefined), planned = [...now];

	if (pairs) {
		const allreduce = unroll(plan.allreduce);
		const demand = unroll(plan.mp).map((value, i) => value + allreduce[i]);
		const bytes = unroll(traffic.bytes), total = (list) => list.reduce((a, b) => a + b, 0);
		const scale = total(bytes) / (total(demand) || 1);

		bytes.forEach((value, i) => now[i] = value || undefined);
		demand.forEach((value, i) => planned[i] = value * scale || undefined);
		return { now, planned, size, seconds: traffic.seconds };
	}
	for (const arc of status.links) {
		const [from, to] = [arc.from, arc.to].map((end) => serverAt.get(end));
		const at = Math.floor(from / step) * size + Math.floor(to / step);

		now[at] = Math.max(now[at] || 0, arc.bytes || 0);
		planned[at] = Math.max(planned[at] || 0, arc.planned * (status.bytes || 0));
	}
	return { now, planned, size, seconds: status.seconds };
}

let serverAt = new Map();	/* a port's server */
const pair = html("div", { class: "pair" }, html("div", {}), html("div", {}));
const says = html("p", {});
const choose = choice(["links", "pairs of servers"], (which) => {
	view = which;
	showMatrices();
});

function showMatrices() {
	const [left, right] = pair.children;

	if (!plan || !status)
		return;
	choose.hidden = !traffic || switched();
	if (!status.seconds) {
		says.textContent = "Bytes are counted from now on.";
		return;
	}
	if (!traffic && switched()) {
		says.textContent = "Links lead to packet switches here. " + COUNTED;
		return;
	}
	const pairs = !!traffic && (view > 0 || switched());
	const { now, planned, size, seconds } = matrices(pairs);
	const what = pairs ? "from server to server" : "on the links from server to server";

	says.textContent = `Bytes ${what} in the last ${secondsText(seconds)}, and beside them the same sum as the plan spreads it.` +
		(traffic ? "" : " " + COUNTED);
	heatmap(left, now, size, plan.step, false, `Now, bytes ${what}`, [...now, ...planned]);
	heatmap(right, planned, size, plan.step, false, `By the plan, bytes ${what}`, [...now, ...planned]);
	left.prepend(html("h3", {}, "Now"));
	right.prepend(html("h3", {}, "By the plan"));
}

byId("matrix").append(says, choose, pair);

/* --- busiest links ------------------------------------------------------- */

const linkRows = html("tbody", {});

byId("links").append(html("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Busiest links" },
	html("table", {}, html("thead", {}, html("tr", {}, ...["From", "To", "Utilisation", "Gbit/s", "Share", "By the plan", "Loss"]
		.map((text) => html("th", { scope: "col" }, text)))), linkRows)));

function showLinks() {
	const order = [...status.links].sort((a, b) => a.lit - b.lit || isLossy(b) - isLossy(a) || (b.utilisation || 0) - (a.utilisation || 0));
	const percent = (value) => `${(100 * value).toFixed(1)} %`;

	linkRows.replaceChildren(...order.slice(0, LINKS_SHOWN).map((arc) => html("tr", { class: arc.lit && !isLossy(arc) ? "" : "bad" },
		html("th", { scope: "row" }, arc.from), html("td", {}, arc.to),
		html("td", {}, !arc.lit ? "no light" : arc.utilisation === undefined ? "–" : percent(arc.utilisation)),
		html("td", {}, arc.bps === undefined ? "–" : (arc.bps / 1e9).toFixed(2)),
		html("td", {}, arc.bytes === undefined || !status.bytes ? "–" : percent(arc.bytes / status.bytes)),
		html("td", {}, percent(arc.planned)), html("td", {}, lossOf(arc)))));
}

/* --- events -------------------------------------------------------------- */

function tell(text, state) {
	const element = byId("state");

	if (element.textContent !== text)
		element.textContent = text;
	element.className = "verdict " + state;
}

function onPlan(next) {
	const before = new Set(links.map((link) => link.name)), first = !plan;

	plan = next;
	servers = plan.servers;
	document.title = `${plan.job}: live`;
	document.querySelector("h1").textContent = plan.job;
	links = linksOf(plan);
	serverAt = new Map(servers.flatMap((server, i) => server.ports.map((port) => [`${server.name}:${port}`, i])));
	made = new Set(first ? [] : links.map((link) => link.name).filter((name) => !before.has(name)));
	topology.make(links);
	names.replaceChildren(...servers.map((server) => html("option", { value: server.name })));
	byId("summary").textContent = `${servers.length} servers, ${links.length} ${plan.duplex ? "duplex" : "simplex"} links`;
	status = null;
	paint();
	describe();
}

function onStatus(next) {
	status = next;
	/* a packet switch, which has no ports here, stands for all that are on it */
	const to = (end) => end.includes(":") ? end : "";
	const arcAt = new Map(status.links.map((arc) => [arc.from + " " + to(arc.to), arc]));

	for (const link of links) {
		const [a, b] = link.ends;

		link.arcs = [arcAt.get(a + " " + b) || arcAt.get(a + " "), arcAt.get(b + " " + a) || arcAt.get(b + " ")]
			.filter(Boolean);
	}
	paint();
	describe();
	showMatrices();
	showLinks();
	byId("checks").replaceChildren(...status.checks.map((check) => html("li", {},
		html("b", {}, check.subject), ` ${check.check}: ${check.text}`, check.fix ? html("small", {}, " " + check.fix) : "")));
	tell(`${status.health[0].toUpperCase()}${status.health.slice(1)}: ${status.reached} of ${servers.length} servers, ` +
		(status.generation ? `generation ${status.generation}` : "no common generation") +
		`, ${status.lit} of ${status.ports} ports with light` +
		(status.loop.running ? status.loop.change ? ", a change is under way" : ", toctl run is at work" : ""),
	status.health === "healthy" ? "good" : "bad");
	byId("summary").textContent = `${servers.length} servers, ${links.length} ${plan.duplex ? "duplex" : "simplex"} links; ` +
		`${links.filter(isDark).length} without light` + (typeof status.off_plan === "number" ? `; ${(100 * status.off_plan).toFixed(1)} % of the bytes off plan` : "") +
		`; at ${clock(status.time)}`;
}

const names = html("datalist", { id: "names" });

function side() {
	const find = html("input", { type: "search", list: "names", size: 12 });
	const scale = html("div", {});

	find.oninput = () => {
		const found = servers.findIndex((server) => server.name === find.value);

		if (found >= 0)
			select(found);
	};
	document.querySelector("#topology aside").append(scale,
		html("div", {}, svg("svg", { viewBox: "0 0 34 12" }, svg("path", { class: "link dark", d: "M0 6H34" })), " no light"),
		html("div", {}, svg("svg", { viewBox: "0 0 34 12" }, svg("path", { class: "link made", d: "M0 6H34" })), " thick: made by the last change"),
		html("label", {}, "Find server", find, names), about);
	draw(() => {
		const stops = [...Array(11).keys()].map((i) => busyColor(i / 10)).join(",");

		scale.replaceChildren(html("div", { style: `height:12px;background:linear-gradient(90deg,${stops})` }),
			html("div", { class: "legend", style: "justify-content:space-between" },
				html("span", {}, "idle"), html("span", {}, "utilisation"), html("span", {}, "full")));
		if (status) {
			paint();
			showMatrices();
		}
	});
}

/* After the server was away, all is told anew. */
function listen() {
	const source = new EventSource("events");
	const on = (name, take) => source.addEventListener(name, (event) => take(JSON.parse(event.data)));

	source.onopen = () => story.clear();
	source.onerror = () => tell("toctl does not answer: what is shown is what was.", "bad");
	on("plan", onPlan);
	on("status", (next) => plan && onStatus(next));
	on("traffic", (next) => {
		traffic = next;
		if (view || (status && switched()))
			showMatrices();
	});
	on("happened", (line) => {
		story.add(line);
		if (line.event === "trouble")
			tell(line.text, "bad");
	});
}

document.body.append(tip);
side();
describe();
listen();
dark.addEventListener("change", () => themed.forEach((make) => make()));
