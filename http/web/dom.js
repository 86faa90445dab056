/* SPDX-License-Identifier: MIT */
/* Makes elements of the page: HTML and SVG, with attributes, listeners and children in one call. */

const SVG = "http://www.w3.org/2000/svg";

/* ARIA has true and false as words, HTML as an attribute that is there or not. */
function setAttribute(node, name, value) {
	if (name.startsWith("on")) {
		if (value) {
			node.addEventListener(name.slice(2), value);
		}
	} else if (name.startsWith("aria-")) {
		node.setAttribute(name, String(value));
	} else if (value === true) {
		node.setAttribute(name, "");
	} else if (value !== false && value !== null && value !== undefined) {
		node.setAttribute(name, value);
	}
}

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes)) {
		setAttribute(node, name, value);
	}
	node.append(...children.flat().filter((child) => child !== null && child !== undefined));
	return node;
}

/* An element; an attribute that begins with "on" is a listener, null or false is left out. */
export function html(tag, attributes = {}, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function byId(id) {
	return document.getElementById(id);
}

/* Texts of games and readers beside each other, none of which turns the direction of the others. */
export function separated(texts, between) {
	return texts.flatMap((text, index) => [index > 0 ? between : "", html("bdi", {}, text)]);
}

/* Whole numbers as people read them: 12,345. */
export function count(number) {
	return number === null || number === undefined ? "–" : number.toLocaleString("en");
}

/* Short forms for narrow columns: 950, 12.3k, 6.7M. */
export function shortCount(number) {
	if (number < 10000) {
		return String(number);
	}
	const [unit, letter] = number < 1e6 ? [1e3, "k"] : [1e6, "M"];
	const scaled = number / unit;
	return (scaled < 99.5 ? Number(scaled.toFixed(1)) : Math.round(scaled)) + letter;
}

/* Calls `action` once typing has stopped for `wait` milliseconds. */
export function afterPause(action, wait = 160) {
	let timer = 0;
	return (...given) => {
		clearTimeout(timer);
		timer = setTimeout(() => action(...given), wait);
	};
}
