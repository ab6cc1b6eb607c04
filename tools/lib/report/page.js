/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all pages with a script begin with: elements, words, colours. */
"use strict";

/* --- elements, words ----------------------------------------------------- */

function html(name, attributes, ...children) {
	const element = document.createElement(name);

	for (const key in attributes)
		element.setAttribute(key, attributes[key]);
	element.append(...children);
	return element;
}

function svg(name, attributes, ...children) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", name);

	for (const key in attributes)
		element.setAttribute(key, attributes[key]);
	element.append(...children);
	return element;
}

function bytesText(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
	let unit = 0;

	for (; bytes >= 1023.5 && unit < 8; bytes /= 1024)
		unit++;
	return bytes.toFixed(!unit || bytes >= 99.95 ? 0 : bytes < 9.995 ? 2 : 1) + " " + units[unit];
}

const short = (name, most) => name.length > most ? name.slice(0, most - 1) + "…" : name;
const byId = (id) => document.getElementById(id);
let servers = [];	/* of the plan, each with a name and ports */
const nameOf = (server) => servers[server].name;
const portOf = (server, port) => nameOf(server) + ":" + servers[server].ports[port];

/* Round numbers between 0 and @most, about @count of them. */
function ticks(most, count) {
	const raw = most / count, power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].find((k) => k * power >= raw) * power;
	const values = [];

	if (!(most > 0))
		return [0];
	for (let value = 0; value <= most * 1.0001; value += step)
		values.push(value);
	return values;
}

/* The same for bytes, round in the unit of @most: [[bytes, text], ...]. */
function byteTicks(most, count) {
	const power = Math.floor(Math.log2(Math.max(most, 1)) / 10);

	return ticks(most / 1024 ** power, count).map((value) => [value * 1024 ** power,
		value ? +value.toFixed(6) + bytesText(1024 ** power).replace(/^[\d.]+/, "") : "0"]);
}

const tip = html("div", { id: "tip" });

function showTip(event, text) {
	const margin = 14;

	tip.style.visibility = text ? "visible" : "hidden";
	if (!text)
		return;
	tip.textContent = text;
	tip.style.left = Math.min(event.clientX + margin, innerWidth - tip.offsetWidth - 4) + "px";
	tip.style.top = (event.clientY + margin + tip.offsetHeight > innerHeight ?
		event.clientY - margin - tip.offsetHeight : event.clientY + margin) + "px";
}

/* The pointer's position in the drawing's own coordinates. */
const pointer = (root, event) =>
	new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());

/* Cividis, from low to high: readable for colour-blind people, and in grey. */
const ramp = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115],
	[138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56]];
const dark = matchMedia("(prefers-color-scheme: dark)");
const themed = [];	/* redraw these when the theme changes */
let printing = false;

/* Colour of @share, 0 to 1: high values stand out from the page. */
function color(share) {
	/* the darkest colours are invisible on a dark page */
	const at = (dark.matches && !printing ? 0.2 + 0.8 * share : 1 - share) * (ramp.length - 1);
	const low = Math.min(Math.floor(at), ramp.length - 2);

	return ramp[low].map((value, i) => Math.round(value + (ramp[low + 1][i] - value) * (at - low)));
}

const css = (rgb) => "rgb(" + rgb.join(",") + ")";

/*
 * Where a colour scale of @values begins: at 0, but where all are alike at the least, so
 * that they can be told apart.
 */
function scaleStart(values) {
	const least = values.reduce((a, b) => Math.min(a, b), Infinity);
	const most = values.reduce((a, b) => Math.max(a, b), 0);

	return least < most && least > most / 2 ? least : 0;
}

function draw(make) {
	themed.push(make);
	make();
}

/* Buttons, exactly one of them pressed. */
function choice(words, chosen) {
	const buttons = words.map((word, i) => {
		const button = html("button", { type: "button", "aria-pressed": i === 0 }, word);

		button.onclick = () => {
			buttons.forEach((other) => other.setAttribute("aria-pressed", other === button));
			chosen(i);
		};
		return button;
	});

	return html("div", { class: "choice" }, ...buttons);
}
