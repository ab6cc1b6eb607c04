/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A matrix of servers as an image. */

/*
 * Draw @values, @size x @size with @step servers to a cell, into @parent; undefined is left
 * blank. Logarithmic, or linear from scaleStart(), on a scale for all of @scale. @label says
 * what it is, in words.
 */
function heatmap(parent, values, size, step, logarithmic, label, scale = values) {
	const left = 64, top = 50, side = 460, cell = side / size;
	const some = scale.filter((value) => value > 0);
	const most = some.length ? some.reduce((a, b) => Math.max(a, b)) : 1;
	/* similar values get similar colours */
	const least = logarithmic ? Math.min(some.length ? some.reduce((a, b) => Math.min(a, b)) : 1, most / 10) :
		scaleStart(some);
	const share = (value) => logarithmic ? Math.log(value / least) / Math.log(most / least) :
		(value - least) / (most - least);
	const pixels = Math.max(1, Math.floor(920 / size)), gap = size <= 40 ? 2 : 0;
	const canvas = html("canvas", { width: size * pixels, height: size * pixels });
	const context = canvas.getContext("2d");
	const root = svg("svg", { viewBox: `0 0 ${left + side + 8} ${top + side + 62}`, role: "img",
		"aria-label": label });
	const n = servers.length;
	const room = size <= 16 ? 0 : n > 100 ? 30 : 22;
	const every = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((k) => k * cell / step >= room) || 1000;
	const named = size <= 16 && step === 1;
	const axis = (i) => named ? short(nameOf(i), 7) : String(i);
	const range = (i) => step === 1 ? nameOf(i) :
		`${nameOf(i * step)} to ${nameOf(Math.min(n, (i + 1) * step) - 1)}`;

	for (let i = 0; i < size; i++)
		for (let j = 0; j < size; j++) {
			const value = values[i * size + j];

			if (value === undefined)
				continue;
			context.fillStyle = css(color(share(value)));
			context.fillRect(j * pixels + gap, i * pixels + gap, pixels - gap, pixels - gap);
		}
	root.append(svg("rect", { x: left, y: top, width: side, height: side, fill: "none", class: "grid" }),
		svg("image", { href: canvas.toDataURL(), x: left, y: top, width: side, height: side }),
		svg("text", { x: left + side / 2, y: 14, "text-anchor": "middle", class: "soft",
			"font-size": 13 }, "to server"),
		svg("text", { transform: `translate(12 ${top + side / 2}) rotate(-90)`, "text-anchor": "middle",
			class: "soft", "font-size": 13 }, "from server"));
	for (let i = 0; i < n; i += every) {
		const at = (i + 0.5) * cell / step;

		root.append(svg("text", { x: left - 6, y: top + at + 4, "text-anchor": "end", "font-size": 11.5 }, axis(i)),
			svg("text", named && nameOf(i).length > 3 ?
				{ transform: `translate(${left + at + 4} ${top - 6}) rotate(-35)`, "font-size": 11.5 } :
				{ x: left + at, y: top - 6, "text-anchor": "middle", "font-size": 11.5 }, axis(i)));
	}
	if (some.length)
		legend();
	else
		root.append(svg("text", { x: left + side / 2, y: top + side + 24, "text-anchor": "middle",
			class: "soft", "font-size": 13 }, "Nothing is sent."));
	root.onmousemove = (event) => {
		const at = pointer(root, event);
		const i = Math.floor((at.y - top) / cell), j = Math.floor((at.x - left) / cell);

		showTip(event, i < 0 || j < 0 || i >= size || j >= size ? "" :
			`${range(i)} → ${range(j)}: ${bytesText(values[i * size + j] || 0)}`);
	};
	root.onmouseleave = (event) => showTip(event, "");
	parent.replaceChildren(root);

	function legend() {
		const y = top + side + 18, id = "ramp" + Math.random().toString(36).slice(2);
		const stops = [...Array(11).keys()].map((i) =>
			svg("stop", { offset: i / 10, "stop-color": css(color(i / 10)) }));
		root.append(svg("linearGradient", { id }, ...stops),
			svg("rect", { x: left, y, width: side, height: 12, fill: `url(#${id})` }));
		for (const [value, text] of marks()) {
			const x = left + side * share(value);

			root.append(svg("line", { x1: x, x2: x, y1: y, y2: y + 17, class: "axis" }),
				svg("text", { x, y: y + 30, "font-size": 11.5,
					"text-anchor": x < left + 20 ? "start" : x > left + side - 20 ? "end" : "middle" },
				text));
		}
	}
	/* Both ends, and round values that do not overlap them or each other. */
	function marks() {
		const round = [], between = [];

		for (let unit = 1; logarithmic && unit <= most; unit *= 1024)
			for (const digit of [1, 10, 100])
				round.push([digit * unit, digit + bytesText(unit).replace(/^[\d.]+/, "")]);
		for (const mark of logarithmic ? round : byteTicks(most, least ? 20 : 5))
			if (share(mark[0]) > 0.17 && share(mark[0]) < 0.83 &&
			    (!between.length || share(mark[0]) - share(between[between.length - 1][0]) > 0.15))
				between.push(mark);
		return [[least, least ? bytesText(least) : "0"], ...between,
			[most, bytesText(most)]];
	}
}

/* Values of [value, how many, value, ...]. */
function unroll(runs) {
	const values = [];

	for (let i = 0; i < runs.length; i += 2)
		for (let k = 0; k < runs[i + 1]; k++)
			values.push(runs[i]);
	return values;
}
