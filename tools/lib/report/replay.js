/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goes through the log of a toctl run, line by line. */

const PLAY_MS = 400;
const log = JSON.parse(byId("data").textContent);
const story = timeline(byId("timeline"));
const slider = html("input", { type: "range", min: 1, max: log.length, value: log.length,
	"aria-label": "Line of the log" });
const play = html("button", { type: "button", "aria-pressed": false }, "Play");
const at = html("output", {});
const rows = html("tbody", {}), grayRows = html("tbody", {});
const grayLinks = html("div", { class: "scroll" }), noGray = html("p", {}, "None so far.");
let timer = 0;

/* The candidates as the last line that has them tells, the one in force first. */
function showCandidates(lines) {
	const last = lines.findLast((line) => line.candidates) || { candidates: [] };

	rows.replaceChildren(...[...last.candidates].sort((a, b) => b.in_force - a.in_force || a.id - b.id).map((one) =>
		html("tr", { class: one.in_force ? "chosen" : "" },
			html("th", { scope: "row" }, `${one.id}: ${one.source}`, one.in_force ? html("b", {}, "in force") : ""),
			html("td", {}, secondsText(one.regret_s)), html("td", {}, secondsText(one.price_s)),
			html("td", {}, (100 * one.saves).toFixed(1) + " %"))));
}

/* Links that were lossy and ports that were slow, the last ones first: when, and by how much. */
function showGray(lines) {
	const spells = [], open = new Map();

	for (const line of lines.filter((one) => one.event === "lossy" || one.event === "slow")) {
		const [where, why] = gray(line), before = open.get(where);

		if (before && (!line.held || before.why !== why))
			before.until = line.time;
		if (before && !line.held)
			open.delete(where);
		if (!line.held || (before && before.why === why))
			continue;
		open.set(where, { where, why, event: line.event, from: line.time });
		spells.unshift(open.get(where));
	}
	grayRows.replaceChildren(...spells.map((one) => html("tr", {},
		html("th", { scope: "row" }, one.where), html("td", {}, one.event), html("td", {}, one.why),
		html("td", {}, clock(one.from)), html("td", {}, one.until ? clock(one.until) : "still"))));
	grayLinks.hidden = !spells.length;
	noGray.hidden = spells.length;
}

function show(count) {
	const lines = log.slice(0, count), changes = lines.filter((line) => line.event === "changed").length;

	slider.value = count;
	at.textContent = `line ${count} of ${log.length}, ${clock(lines[count - 1].time)}; changes so far: ${changes}`;
	slider.setAttribute("aria-valuetext", at.textContent);
	story.show(lines);
	showCandidates(lines);
	showGray(lines);
}

function stop() {
	clearInterval(timer);
	timer = 0;
	play.setAttribute("aria-pressed", false);
}

slider.oninput = () => {
	stop();
	show(+slider.value);
};
play.onclick = () => {
	if (timer) {
		stop();
		return;
	}
	play.setAttribute("aria-pressed", true);
	if (+slider.value === log.length)
		show(1);
	timer = setInterval(() => {
		if (+slider.value < log.length)
			show(+slider.value + 1);
		else
			stop();
	}, PLAY_MS);
};
document.body.append(tip);
byId("replay").append(html("div", { class: "choice" }, play), slider, at);
byId("candidates").append(html("table", {}, html("thead", {}, html("tr", {},
	...["Candidate", "Lost against it", "Price of a change", "Saves"].map((text) =>
		html("th", { scope: "col" }, text)))), rows));
grayLinks.append(html("table", {}, html("thead", {}, html("tr", {},
	...["Link or port", "State", "Seen then", "From", "Until"].map((text) => html("th", { scope: "col" }, text)))), grayRows));
byId("gray").append(grayLinks, noGray);
show(log.length);
