/* SPDX-License-Identifier: MIT */
/*
 * FEN as text and as an array of 64 letters (a1 is 0, h8 is 63, null is empty). Only the form: what
 * is legal, the server says.
 */

export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
export const EMPTY = "8/8/8/8/8/8/8/8 w - - 0 1";

export function squareName(square) {
	return "abcdefgh"[square % 8] + (Math.floor(square / 8) + 1);
}

export function squareOf(name) {
	return "abcdefgh".indexOf(name[0]) + 8 * (Number(name[1]) - 1);
}

function rankOf(text) {
	const letters = text.replace(/\d/g, (digit) => " ".repeat(Number(digit)));
	return [...letters.padEnd(8).slice(0, 8)].map((letter) => letter === " " ? null : letter);
}

export function piecesOf(fen) {
	return fen.split(" ")[0].split("/").slice(0, 8).reverse().flatMap(rankOf);
}

/* The first field of a FEN. */
export function placement(pieces) {
	const ranks = [];
	for (let rank = 7; rank >= 0; rank--) {
		const letters = pieces.slice(8 * rank, 8 * rank + 8).map((letter) => letter ?? "1").join("");
		ranks.push(letters.replace(/1+/g, (ones) => ones.length));
	}
	return ranks.join("/");
}

export function turnOf(fen) {
	return fen.split(" ")[1] === "b" ? "b" : "w";
}

/* True if a text has the shape of a FEN rather than of moves. */
export function looksLikeFen(text) {
	return /^\s*([pnbrqkPNBRQK1-8]+\/){7}[pnbrqkPNBRQK1-8]+(\s|$)/.test(text);
}

/* A text of which only the first fields were copied, as a whole FEN. */
export function completed(text) {
	const fields = text.trim().split(/\s+/);
	return [...fields, ...["", "w", "-", "-", "0", "1"].slice(fields.length)].join(" ");
}

/* FENs in links have _ for blanks. */
export const toLink = (fen) => fen.replaceAll(" ", "_");
export const fromLink = (text) => text.replaceAll("_", " ");
