/* SPDX-License-Identifier: MIT */
/*
 * A board on which pieces are put: one chooses what to put and presses squares. Used to set up a
 * position, and to draw a pattern, where a square may also be empty on purpose, or be denied a piece.
 */
import { Board } from "./board.js";
import { html, svg } from "./dom.js";
import { piece } from "./pieces.js";

/* Two rows each, as they are shown; null removes. */
const BRUSHES = [..."KQRBNP", null, ..."kqrbnp"];
const PATTERN_BRUSHES = [..."KQRBNP", "A", ".", ..."kqrbnp", "a", null];
const NAMES = { k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };
const ANY = { A: "any white piece", a: "any black piece", ".": "empty square" };

function nameOf(brush) {
	if (brush === null) {
		return "remove";
	}
	const side = brush === brush.toUpperCase() ? "white" : "black";
	return ANY[brush] ?? `${side} ${NAMES[brush.toLowerCase()]}`;
}

/* What stands for a condition that no single piece shows. */
function sign(brush) {
	if (brush === ".") {
		return svg("circle", { class: "sign", cx: 0.5, cy: 0.5, r: 0.22 });
	}
	return svg("text", { class: `sign ${brush === "A" ? "white" : "black"}`, x: 0.5, y: 0.7,
		"text-anchor": "middle" }, "any");
}

function picture(brush) {
	if (brush === null) {
		return svg("path", { class: "cross", d: "M0.25 0.25L0.75 0.75M0.75 0.25L0.25 0.75" });
	}
	return ANY[brush] ? sign(brush) : piece(brush, 0, 0);
}

export class Editor {
	/*
	 * `changed()` is called after each change; `patterns`: also empty squares, any piece, and "not".
	 * A square holds null or {brush, not}.
	 */
	constructor(host, { changed, patterns = false }) {
		this.changed = changed;
		this.squares = new Array(64).fill(null);
		this.brush = "P";
		this.board = new Board(host, { paint: (square, first) => this.paint(square, first),
			key: (square, key) => this.type(square, key) });
		this.board.root.setAttribute("aria-label",
			"Board to put pieces on. Enter shows the cursor; letters put pieces.");
		this.palette = html("div", { class: `palette ${patterns ? "patterns" : ""}`,
			role: "radiogroup", "aria-label": "Put" });
		this.buttons = (patterns ? PATTERN_BRUSHES : BRUSHES).map((brush) => this.button(brush));
		this.palette.append(...this.buttons);
		if (patterns) {
			this.not = html("input", { type: "checkbox" });
			this.palette.append(html("label", { class: "check" }, this.not, "not this"));
		}
		host.append(this.palette);
		this.take("P");
	}

	button(brush) {
		return html("button", { type: "button", role: "radio", "aria-label": nameOf(brush),
			title: nameOf(brush), "data-brush": brush ?? "remove", onclick: () => this.take(brush) },
		svg("svg", { viewBox: "0 0 1 1" }, picture(brush)));
	}

	take(brush) {
		this.brush = brush;
		for (const button of this.buttons) {
			button.setAttribute("aria-checked", button.dataset.brush === (brush ?? "remove"));
		}
	}

	/* The first square of a stroke decides whether it puts or removes. */
	paint(square, first) {
		if (square === null) {
			return;
		}
		const not = this.not?.checked ?? false;
		if (first) {
			const old = this.squares[square];
			this.erasing = old !== null && old.brush === this.brush && old.not === not;
		}
		this.put(square, this.erasing ? null : this.brush, not);
	}

	put(square, brush, not = false) {
		this.squares[square] = brush === null ? null : { brush, not };
		this.draw();
		this.changed();
	}

	/* A letter puts its piece on the cursor's square, Delete removes what is there. */
	type(square, key) {
		if (key === "Delete" || key === "Backspace") {
			this.put(square, null);
			return true;
		}
		const known = this.buttons.some((button) => button.dataset.brush === key);
		if (known) {
			this.put(square, key, this.not?.checked ?? false);
		}
		return known;
	}

	/* The letters of the pieces that are there, as piecesOf() gives them. */
	get pieces() {
		return this.squares.map((held) => held && !held.not && !ANY[held.brush] ? held.brush : null);
	}

	setPieces(letters) {
		this.setSquares(letters.map((brush) => brush && { brush, not: false }));
		this.changed();
	}

	/* Without telling. */
	setSquares(squares) {
		this.squares = squares;
		this.draw();
	}

	clear() {
		this.setPieces(new Array(64).fill(null));
	}

	draw() {
		this.board.pieces = this.pieces;
		this.board.draw();
		this.squares.forEach((held, square) => {
			if (held && (held.not || ANY[held.brush])) {
				this.drawSign(square, held);
			}
		});
	}

	drawSign(square, { brush, not }) {
		const box = this.board.mark(square, "");
		const at = `translate(${box.getAttribute("x")} ${box.getAttribute("y")})`;
		const shown = svg("g", { transform: at, class: not ? "denied" : "" }, picture(brush),
			not ? svg("path", { class: "cross", d: "M0.12 0.12L0.88 0.88" }) : null);
		this.board.layers.pieces.append(shown);
	}
}
