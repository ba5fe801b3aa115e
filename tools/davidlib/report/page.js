// SPDX-License-Identifier: GPL-2.0
// The drawings of a page. Each is drawn by Vega when it comes into sight, and again where its width changes or the
// page is printed. Colours are variables of CSS, so light and dark need no drawing. Nothing is fetched, and
// nothing is evaluated as a program: expressions go through Vega's interpreter.
"use strict";
(() => {
	const {vegaEmbed} = window.david;
	const page = JSON.parse(document.getElementById("drawings").textContent);
	const DOTS = {
		"circle": "M12 6m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0", "square": "M9 3h6v6h-6z",
		"triangle-up": "M12 2l4 7h-8z", "triangle-down": "M12 10l4 -7h-8z", "diamond": "M12 1.5l3.5 4.5l-3.5 4.5l-3.5 -4.5z",
		"cross": "M10.8 2h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z", "triangle-right": "M16 6l-7 -4v8z",
	};
	const EDGE = 10; // px that a number may stand out beside an axis
	const NEAR = 40; // px: further away the pointer finds nothing
	const PRINT = {one: 318, wide: 664}; // px of a drawing on A4
	let printing = false;

	// Tables come as lists, their texts as numbers.
	for (const drawing of page.drawings) {
		const fields = Object.keys(drawing.labels);
		drawing.table = drawing.rows.map(cells => Object.fromEntries(cells.map((cell, at) => [fields[at],
			cell !== null && drawing.texts.includes(fields[at]) ? drawing.words[cell] : cell])));
	}

	function element(tag, text, parent) {
		const found = document.createElement(tag);
		if (text)
			found.textContent = text;
		if (parent)
			parent.append(found);
		return found;
	}

	// On the page legends are of HTML; a file has them in the drawing.
	function withoutLegends(spec) {
		if (Array.isArray(spec))
			spec.forEach(withoutLegends);
		else if (spec && typeof spec === "object")
			for (const [key, value] of Object.entries(spec)) {
				if (["color", "shape", "strokeDash"].includes(key) && value && value.field === "series")
					value.legend = null;
				withoutLegends(value);
			}
	}

	function described(drawing, width, forFile, tall) {
		let text = JSON.stringify({...drawing.spec, config: page.config});
		if (forFile)
			text = text.replace(/var\(--(\w+)\)/g, (whole, name) => page.light[name] || whole);
		const spec = JSON.parse(text);
		if (!forFile)
			withoutLegends(spec);
		if (spec.vconcat) {
			spec.vconcat.forEach(part => part.width = width - 2 * page.config.padding - EDGE);
		} else {
			spec.width = width;
			spec.autosize = {type: "fit-x", contains: "padding"};
			if (tall && typeof spec.height === "number")
				spec.height *= tall;
		}
		if (forFile) {
			spec.title = drawing.heading;
			spec.background = page.light.card;
		}
		spec.datasets = {table: drawing.table.map(row => ({...row}))};
		return spec;
	}

	// Everything that vega-embed waits for is there already, so that it is done when the event that it is called in is:
	// before a page is printed.
	async function made(drawing, width, renderer, {place, forFile, tall, span} = {}) {
		const spec = described(drawing, width, forFile, tall);
		for (const param of spec.params || []) {
			if (param.name === "hidden")
				param.value = [...drawing.hidden];
			if (span && ["from", "to"].includes(param.name))
				param.value = span[param.name === "from" ? 0 : 1];
		}
		const {view} = await vegaEmbed(place || document.createElement("div"), spec, {ast: true, actions: false, renderer,
			defaultStyle: false, mode: "vega-lite", tooltip: (handler, event, item, value) => tell(event, value)});
		return view;
	}

	// --- what the pointer is over ---
	const tip = element("div", "", document.body);
	tip.id = "tip";
	tip.hidden = true;

	function tell(event, value) {
		tip.hidden = !value;
		if (!value)
			return;
		tip.textContent = "";
		for (const [key, said] of Object.entries(value)) {
			const line = element("div", "", tip);
			element("b", `${key}: `, line);
			line.append(String(said));
		}
		const box = tip.getBoundingClientRect();
		tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4))}px`;
		tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4))}px`;
	}

	const said = number => typeof number === "number" ? String(Number(number.toPrecision(4))) : number;

	function nearest(figure, event) {
		const {view, drawing, holder} = figure;
		const box = holder.querySelector("svg").getBoundingClientRect();
		const [left, top] = view.origin(), pad = view.padding();
		const [x, y] = drawing.near, across = view.scale("x"), up = view.scale("y");
		const px = event.clientX - box.left - left - pad.left, py = event.clientY - box.top - top - pad.top;
		let best = null, least = NEAR;
		for (const row of drawing.table) {
			if (drawing.hidden.has(row.series))
				continue;
			const apart = Math.hypot(across(row[x]) - px, up(row[y]) - py);
			if (apart < least)
				[best, least] = [row, apart];
		}
		return best && Object.fromEntries(Object.entries(drawing.labels).map(([key, label]) => [label, said(best[key])]));
	}

	// --- one drawing ---
	const figures = [...document.querySelectorAll("figure[data-drawing]")].map(node => {
		const drawing = page.drawings[node.dataset.drawing];
		drawing.hidden = new Set();
		return {node, drawing, section: node.dataset.section, holder: node.querySelector(".plot"), view: null, width: 0};
	});

	function room(figure) {
		if (printing)
			return figure.node.matches(".wide,.large") ? PRINT.wide : PRINT.one;
		return Math.floor(figure.holder.clientWidth);
	}

	async function draw(figure) {
		const {drawing, holder, node} = figure, place = element("div");
		figure.width = room(figure);
		if (figure.view)
			figure.view.finalize();
		figure.begun = true;
		holder.replaceChildren(place);
		const tall = node.classList.contains("large") && drawing.mark !== "bar" ? 2 : 1;
		const view = await made(drawing, figure.width, "svg", {place, tall, span: figure.span});
		if (!place.isConnected) {
			view.finalize();
			return;
		}
		figure.view = view;
		if (drawing.near) {
			view.addEventListener("pointermove", event => tell(event, nearest(figure, event)));
			view.addEventListener("pointerout", event => tell(event, null));
		}
		if (zooms(drawing))
			view.addSignalListener("brush", (name, value) => {
				figure.brush = value.x || null;
			});
		node.dataset.drawn = figure.width;
	}

	const zooms = drawing => (drawing.spec.params || []).some(one => one.name === "from");

	// All drawings of a section that go over time show the same span of it.
	function span(section, found) {
		for (const figure of figures.filter(one => one.section === section && zooms(one.drawing))) {
			figure.span = found;
			if (figure.begun)
				draw(figure);
			figure.whole.hidden = !found;
		}
	}

	function toggled(section, names, off) {
		for (const figure of figures.filter(one => one.section === section)) {
			const mine = figure.drawing.series.filter(name => names.includes(name));
			if (!mine.length)
				continue;
			mine.forEach(name => figure.drawing.hidden[off ? "add" : "delete"](name));
			for (const box of figure.node.querySelectorAll(".legend input"))
				if (mine.includes(box.value))
					box.checked = !off;
			if (figure.view)
				figure.view.signal("hidden", [...figure.drawing.hidden]).run();
		}
	}

	function swatch(drawing, at, parent) {
		const of = list => list[at % list.length];
		const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
		svg.setAttribute("viewBox", "0 0 24 12");
		svg.setAttribute("aria-hidden", "true");
		const path = (d, more) => {
			const found = document.createElementNS(svg.namespaceURI, "path");
			Object.entries({d, ...more}).forEach(([key, value]) => found.setAttribute(key, value));
			svg.append(found);
		};
		if (drawing.mark === "bar") {
			path("M4 1h16v10h-16z", {fill: of(page.colours)});
		} else {
			path("M0 6h24", {stroke: of(page.colours), "stroke-width": 1.6, "stroke-dasharray": of(page.dashes).join(" ")});
			path(DOTS[of(page.shapes)], {fill: of(page.colours)});
		}
		parent.append(svg);
	}

	const MANY = 8; // entries: more are folded

	function legend(figure) {
		const {drawing, node, section} = figure, names = drawing.series;
		if (names.length < 2 && drawing.mark === "line")
			return;
		let place = element("div", "", node);
		place.className = "legend";
		if (names.length > MANY) {
			place = element("details", "", place);
			element("summary", `${names.length} variants: which line is which`, place);
			for (const [text, off] of [["all", false], ["none", true]]) {
				const button = element("button", text, place);
				button.type = "button";
				button.onclick = () => toggled(section, names, off);
			}
		}
		names.forEach((name, at) => {
			const label = element("label", "", place), box = element("input", "", label);
			Object.assign(box, {type: "checkbox", checked: true, value: name});
			box.onchange = () => toggled(section, [name], !box.checked);
			swatch(drawing, at, label);
			element("span", name, label);
		});
	}

	function save(name, address) {
		const link = element("a", "", document.body);
		Object.assign(link, {download: name, href: address});
		link.click();
		link.remove();
		setTimeout(() => URL.revokeObjectURL(address), 10000);
	}

	const file = (drawing, kind) => `${drawing.heading.replace(/[^A-Za-z0-9]+/g, "-")}.${kind}`;
	const bytes = (text, type) => URL.createObjectURL(new Blob([text], {type}));

	function table(drawing) {
		const cell = value => value === null || value === undefined ? "" : /[",\n]/.test(value) ? `"${String(value).replace(/"/g, '""')}"` : value;
		const fields = Object.keys(drawing.labels);
		return [fields.map(field => cell(drawing.labels[field])), ...drawing.table.map(row => fields.map(field => cell(row[field])))]
			.map(cells => cells.join(",") + "\n").join("");
	}

	const SAVES = {
		SVG: async drawing => save(file(drawing, "svg"), bytes(await (await made(drawing, page.width, "none", {forFile: true})).toSVG(), "image/svg+xml")),
		PNG: async drawing => {
			const canvas = await (await made(drawing, page.width, "none", {forFile: true})).toCanvas(2);
			canvas.toBlob(blob => save(file(drawing, "png"), URL.createObjectURL(blob)));
		},
		CSV: async drawing => save(file(drawing, "csv"), bytes(table(drawing), "text/csv")),
	};

	function tools(figure) {
		const {node, drawing} = figure, place = element("p", "", node);
		place.className = "tools";
		const button = (text, done) => {
			const found = element("button", text, place);
			found.type = "button";
			found.onclick = done;
			return found;
		};
		if (!node.classList.contains("wide")) {
			const larger = button("enlarge", () => {
				larger.textContent = node.classList.toggle("large") ? "make small" : "enlarge";
				draw(figure);
			});
		}
		if (zooms(drawing)) {
			figure.whole = button("whole time", () => span(figure.section, null));
			figure.whole.hidden = true;
			// The pointer may be let go anywhere.
			addEventListener("pointerup", () => {
				const found = figure.brush;
				figure.brush = null;
				if (found && found[1] > found[0])
					span(figure.section, found);
			});
		}
		for (const [kind, done] of Object.entries(SAVES))
			button(kind, () => done(drawing));
		button("print, PDF", () => {
			document.body.classList.add("alone");
			node.classList.add("alone");
			print();
			document.body.classList.remove("alone");
			node.classList.remove("alone");
		});
	}

	function begin() {
		figures.forEach(figure => {
			legend(figure);
			tools(figure);
		});
		const sight = new IntersectionObserver(seen => {
			for (const one of seen.filter(each => each.isIntersecting)) {
				const figure = figures.find(each => each.node === one.target);
				if (!figure.begun)
					draw(figure);
			}
		}, {rootMargin: "300px"});
		const size = new ResizeObserver(() => figures.forEach(figure => {
			if (!printing && figure.begun && room(figure) !== figure.width)
				draw(figure);
		}));
		figures.forEach(figure => sight.observe(figure.node));
		size.observe(document.body);
		addEventListener("beforeprint", () => {
			printing = true;
			figures.forEach(draw);
			document.querySelectorAll(".legend details").forEach(one => one.open = true);
		});
		addEventListener("afterprint", () => {
			printing = false;
			figures.forEach(draw);
		});
		document.documentElement.dataset.ready = "yes";
	}

	// For a test, and for who wants all of them at once.
	window.davidDrawAll = () => Promise.all(figures.filter(figure => !figure.begun).map(draw));
	begin();
})();
