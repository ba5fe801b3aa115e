// SPDX-License-Identifier: GPL-2.0
// What is wrong with a page as it stands: boxes outside their card, texts on each other, texts that are cut, weak
// contrast, plots with nothing in them, axes without a unit. A list of sentences, and how much was looked at.
(() => {
	const wrong = [], counted = {figures: 0, texts: 0, axes: 0, marks: 0, cells: 0};
	const FAINT = 1.1; // of contrast: with less one sees nothing
	const SLACK = 1.5; // px that a letter's box may be larger than the letter
	const TOLD = 20; // letters of a drawing's description, beside its heading
	const LARGE = 4; // px of a text, both ways, that a mark may not cover
	const UNIT = /, (1\/s|[A-Za-zµ]+\/s|[kMGT]?i?B|[num]?s|%|flushes|requests|1)( |$)/;
	const card = node => node.closest("figure, .wide, pre, button, summary") || document.body;
	const name = node => `"${(node.textContent || "").trim().slice(0, 60)}"`;
	const shown = box => box.width > 0 && box.height > 0;
	const where = node => {
		const heading = node.closest("figure")?.querySelector("h3");
		return heading ? `${heading.textContent.slice(0, 50)}: ` : "";
	};

	function tell(node, text) {
		wrong.push(where(node) + text);
	}

	function rgb(text) {
		const found = text.match(/[\d.]+/g);
		return found && found.length >= 3 && !(found.length > 3 && Number(found[3]) === 0) ? found.slice(0, 3).map(Number) : null;
	}

	function light(colour) {
		const [r, g, b] = colour.map(one => one / 255).map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	}

	function behind(node) {
		for (let at = node; at; at = at.parentElement) {
			const found = rgb(getComputedStyle(at).backgroundColor);
			if (found)
				return found;
		}
		return [255, 255, 255];
	}

	// How much of it shows through: its own opacity, and that of all around it.
	function opacity(node, own) {
		let found = Number(own);
		for (let at = node; at; at = at.parentElement)
			found *= Number(getComputedStyle(at).opacity);
		return getComputedStyle(node).visibility === "visible" ? found : 0;
	}

	function ratio(node, colour, shows) {
		const below = behind(node), mixed = rgb(colour).map((one, at) => shows * one + (1 - shows) * below[at]);
		const [low, high] = [light(mixed), light(below)].sort((a, b) => a - b);
		return (high + 0.05) / (low + 0.05);
	}

	function contrast(node, colour, least, what, shows = 1) {
		if (!rgb(colour))
			return;
		const found = ratio(node, colour, shows);
		if (found < least)
			tell(node, `${what} has a contrast of ${found.toFixed(2)}, and ${least} is needed`);
	}

	function within(inner, outer) {
		return inner.left >= outer.left - SLACK && inner.right <= outer.right + SLACK && inner.top >= outer.top - SLACK &&
			inner.bottom <= outer.bottom + SLACK;
	}

	function overlaps(nodes, what) {
		const boxes = nodes.map(node => [node, node.getBoundingClientRect()]).filter(([, box]) => shown(box))
			.sort((a, b) => a[1].top - b[1].top);
		boxes.forEach(([node, box], at) => {
			for (let next = at + 1; next < boxes.length && boxes[next][1].top < box.bottom - SLACK; next++) {
				const [other, beside] = boxes[next];
				const wide = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
				const high = Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top);
				if (wide > SLACK && high > 3 && !node.contains(other) && !other.contains(node))
					tell(node, `${what} ${name(node)} and ${name(other)} are on each other`);
			}
		});
	}

	// Of a mark: what is painted, and how much of that shows. Null: nothing, or none of it is where the axes are.
	function painted(mark, box) {
		const look = getComputedStyle(mark);
		let frame = null;
		for (let at = mark; at && !frame; at = at.parentElement)
			frame = at.querySelector(":scope > path.background");
		const area = frame && frame.getBoundingClientRect();
		if (area && (box.right < area.left - SLACK || box.left > area.right + SLACK || box.bottom < area.top - SLACK ||
			box.top > area.bottom + SLACK))
			return null;
		const ways = [[look.fill, look.fillOpacity], [look.stroke, look.strokeOpacity]].map(
			([colour, own]) => ({colour, shows: colour !== "none" && rgb(colour) ? opacity(mark, own) : 0}));
		const found = ways.find(way => way.shows && ratio(mark, way.colour, way.shows) > FAINT);
		return found || null;
	}

	function drawing(figure) {
		const edge = figure.getBoundingClientRect(), svg = figure.querySelector(".plot svg");
		counted.figures++;
		if (!svg)
			return tell(figure, "nothing is drawn");
		// Of a drawing without one Vega says "Vega visualization".
		const told = figure.querySelector("[role=graphics-document]")?.getAttribute("aria-label") || "";
		const heading = figure.querySelector("h3").textContent.replaceAll("\u200e", "");
		if (!told.startsWith(heading) || told.length < heading.length + TOLD)
			tell(figure, "it is not described");
		if (!within(svg.getBoundingClientRect(), edge))
			tell(figure, "the drawing is larger than its card");
		const texts = [...svg.querySelectorAll("text")].filter(one => one.textContent.trim() && getComputedStyle(one).opacity !== "0" &&
			one.getAttribute("opacity") !== "0");
		for (const text of texts) {
			counted.texts++;
			if (!within(text.getBoundingClientRect(), edge))
				tell(figure, `the text ${name(text)} is outside its card`);
			if (text.textContent.includes("…"))
				tell(figure, `the text ${name(text)} is cut`);
			contrast(figure, getComputedStyle(text).fill, 4.5, `the text ${name(text)}`,
				opacity(text, getComputedStyle(text).fillOpacity));
		}
		overlaps(texts, "texts");
		const labels = texts.filter(text => text.closest(".role-axis-label, .role-axis-title")).map(text => [text, text.getBoundingClientRect()]);
		let marks = 0;
		for (const mark of svg.querySelectorAll(".mark-line.role-mark path, .mark-rect.role-mark path, .mark-symbol.role-mark path, .mark-rule.role-mark line")) {
			const box = mark.getBoundingClientRect();
			if (!shown({width: box.width + 1, height: box.height + 1}) || (box.width < 0.2 && box.height < 0.2))
				continue;
			const way = painted(mark, box);
			if (!way)
				continue;
			marks++;
			if (!figure.querySelector(".role-legend-gradient"))
				contrast(figure, way.colour, 3, "a mark");
			const over = mark.closest(".mark-line, .mark-rule") ? null : labels.find(([, text]) => Math.min(box.right, text.right) -
				Math.max(box.left, text.left) > LARGE && Math.min(box.bottom, text.bottom) - Math.max(box.top, text.top) > LARGE);
			if (over)
				tell(figure, `a mark is on the text ${name(over[0])}`);
		}
		counted.marks += marks;
		if (!marks)
			tell(figure, "the plot is empty");
		const axes = [...svg.querySelectorAll(".role-axis")].filter(axis => axis.querySelector(".role-axis-label text"));
		if (!axes.length)
			tell(figure, "it has no axis");
		for (const axis of axes) {
			const title = [...axis.querySelectorAll(".role-axis-title text")].filter(one => shown(one.getBoundingClientRect())).map(one => [...one.childNodes].map(line => line.textContent).join(" ")).join(" ");
			counted.axes++;
			if (!UNIT.test(title))
				tell(figure, `the axis "${title}" has no unit`);
		}
	}

	if (document.documentElement.scrollWidth > innerWidth)
		wrong.push(`the page is ${document.documentElement.scrollWidth} wide where there are ${innerWidth}`);
	document.querySelectorAll("figure[data-drawing]").forEach(drawing);
	const leaves = [...document.querySelectorAll("h1,h2,h3,p,td,th,label,.legend span,summary,button,pre,a")].filter(node =>
		node.checkVisibility() && shown(node.getBoundingClientRect()));
	for (const node of leaves) {
		counted.cells++;
		const box = node.getBoundingClientRect(), edge = card(node.parentElement).getBoundingClientRect();
		if (box.right > edge.right + SLACK || box.left < edge.left - SLACK)
			tell(node, `${node.tagName} ${name(node)} is outside its card`);
		if (node.scrollWidth > node.clientWidth + 1 && node.clientWidth && getComputedStyle(node).display !== "inline")
			tell(node, `${node.tagName} ${name(node)} is cut`);
		if (node.scrollHeight > node.clientHeight + 1 && node.clientHeight && getComputedStyle(node).overflowY !== "visible")
			tell(node, `${node.tagName} ${name(node)} is cut below`);
		if (node.textContent.trim())
			contrast(node, getComputedStyle(node).color, 4.5, `${node.tagName} ${name(node)}`, opacity(node, 1));
	}
	// A word that is written from the right takes no figure to its other side.
	const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	const WORD = "[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc]";
	const place = (node, from, to) => {
		const range = document.createRange();
		range.setStart(node, from);
		range.setEnd(node, to);
		return range.getBoundingClientRect();
	};
	for (let node = walker.nextNode(); node; node = walker.nextNode())
		for (const found of node.data.matchAll(new RegExp(`${WORD}(?=[^a-zA-Z\\u0590-\\u08ff]*?([0-9][0-9.,]*))`, "g"))) {
			const at = node.data.indexOf(found[1], found.index);
			const word = place(node, found.index, found.index + 1), figure = place(node, at, at + found[1].length);
			if (Math.abs(word.top - figure.top) < 3 && figure.left < word.left)
				tell(node.parentElement, `the figure ${found[1]} stands before ${found[0]}, behind which it is written: ${name(node)}`);
		}
	for (const table of document.querySelectorAll("table"))
		if (table.checkVisibility() && !table.querySelector("td"))
			tell(table, `the table ${name(table)} has no row`);
	document.querySelectorAll("tr").forEach(row => overlaps([...row.children], "cells"));
	document.querySelectorAll(".legend, .tools").forEach(one => overlaps([...one.querySelectorAll("label, button, summary")], "entries"));
	overlaps([...document.querySelectorAll("figure, .wide, h1, h2, h3, p, pre, .answer, .plot svg, .legend, .tools")].filter(one => one.checkVisibility()), "blocks");
	return {wrong, counted};
})()
