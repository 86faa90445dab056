/* SPDX-License-Identifier: MIT */
/*
 * The pieces, drawn for this page on a field of 40 by 40. A shape is a list of outlines, which take
 * the fill and the stroke of their side from the style sheet, and of details, drawn in the side's
 * detail colour: lines ("-") and dots ("o").
 */
import { svg } from "./dom.js";

const FOOT = "M10 36 V34 C10 32 11.5 31 13 31 H27 C28.5 31 30 32 30 34 V36 Z";

const SHAPES = {
	P: [
		"M13.5 31 C14 26.5 17 24.5 17.3 20 H22.7 C23 24.5 26 26.5 26.5 31 Z",
		"M14.5 20.6 C14.5 19.4 15.3 18.6 16.5 18.6 H23.5 C24.7 18.6 25.5 19.4 25.5 20.6 Z",
		"M20 8.6 A5.2 5.2 0 1 1 20 19 A5.2 5.2 0 1 1 20 8.6 Z",
		FOOT,
	],
	R: [
		"M13 31 L14.4 17 H25.6 L27 31 Z",
		"M10.6 7.5 H14.8 V10.5 H17.9 V7.5 H22.1 V10.5 H25.2 V7.5 H29.4 V14 L26.6 17 H13.4 L10.6 14 Z",
		FOOT,
		"- M14.2 20 H25.8 M13.4 28 H26.6",
	],
	N: [
		"M12.6 31 C12.8 25.4 17.4 23.4 18.6 19.4 C16.8 20.6 14.6 20.6 13.2 22.2 C12.2 23.4 11 24.6" +
			" 9.4 23.8 C7.8 23 7.4 21.2 8.2 19.6 C9.8 16.6 10.6 13.6 12.6 11.4 C13.6 10.3 14.6" +
			" 9.6 15.6 9.1 L15.4 4.8 L19.4 8 C26.6 8.6 30.6 14.6 30.6 22 C30.6 25.4 29.6 28.4" +
			" 28.4 31 Z",
		FOOT,
		"o 15.2 13.8 1.2",
		"o 10.3 20.6 0.8",
		"- M22 10.6 C26 12.6 27.6 17 27.4 22 M12.4 22.8 L13.8 20.8",
	],
	B: [
		"M14.4 31 C15.6 28.6 16.6 27.4 16.8 25.4 H23.2 C23.4 27.4 24.4 28.6 25.6 31 Z",
		"M20 8 C24.6 11.4 27.2 15.4 27.2 19 C27.2 22 25.6 24.2 23.6 25.4 H16.4 C14.4 24.2 12.8 22 12.8 19" +
			" C12.8 15.4 15.4 11.4 20 8 Z",
		"M20 3.8 A2.2 2.2 0 1 1 20 8.2 A2.2 2.2 0 1 1 20 3.8 Z",
		FOOT,
		"- M20 13.6 V20.4 M16.8 16.8 H23.2 M15.6 28.2 H24.4",
	],
	Q: [
		"M12.4 31 L7 12.6 L13.6 20 L15.2 9.6 L20 19 L24.8 9.6 L26.4 20 L33 12.6 L27.6 31 Z",
		"M7 8.8 A2.1 2.1 0 1 1 7 13 A2.1 2.1 0 1 1 7 8.8 Z",
		"M15.2 5.6 A2.1 2.1 0 1 1 15.2 9.8 A2.1 2.1 0 1 1 15.2 5.6 Z",
		"M24.8 5.6 A2.1 2.1 0 1 1 24.8 9.8 A2.1 2.1 0 1 1 24.8 5.6 Z",
		"M33 8.8 A2.1 2.1 0 1 1 33 13 A2.1 2.1 0 1 1 33 8.8 Z",
		FOOT,
		"- M12.6 27.6 C17 26 23 26 27.4 27.6",
	],
	K: [
		"M13.2 31 C10.4 27 7.6 24 7.6 20.2 C7.6 16.8 10.2 14.8 13 14.8 C16.4 14.8 18.6 17.4 20 20.6" +
			" C21.4 17.4 23.6 14.8 27 14.8 C29.8 14.8 32.4 16.8 32.4 20.2 C32.4 24 29.6 27 26.8 31 Z",
		"M20 20.6 C17.4 17.8 16.6 15.6 16.6 13.8 C16.6 12 18 10.8 20 10.8 C22 10.8 23.4 12 23.4 13.8" +
			" C23.4 15.6 22.6 17.8 20 20.6 Z",
		"M18.8 3.4 H21.2 V5.4 H23.2 V7.8 H21.2 V10.9 H18.8 V7.8 H16.8 V5.4 H18.8 Z",
		FOOT,
		"- M13.6 27.8 C17.6 26.4 22.4 26.4 26.4 27.8",
	],
};

function detail(text) {
	const [kind, ...rest] = text.split(" ");
	if (kind === "-") {
		return svg("path", { d: rest.join(" "), class: "detail" });
	}
	const [cx, cy, r] = rest;
	return svg("circle", { cx, cy, r, class: "dot" });
}

function part(text) {
	return text[0] === "M" ? svg("path", { d: text }) : detail(text);
}

/* Puts a symbol for each of the six kinds into the document, for piece() to refer to. */
export function definePieces() {
	const symbols = Object.entries(SHAPES).map(([kind, shape]) =>
		svg("symbol", { id: `piece-${kind}`, viewBox: "0 0 40 40" }, ...shape.map(part)));
	document.body.append(svg("svg", { class: "definitions", "aria-hidden": "true" }, ...symbols));
}

/* A piece named as in a FEN, one unit wide, with its corner at x, y. */
export function piece(letter, x, y) {
	const side = letter === letter.toUpperCase() ? "white" : "black";
	return svg("use", {
		href: `#piece-${letter.toUpperCase()}`,
		class: `piece ${side}`, x, y, width: 1, height: 1,
	});
}
