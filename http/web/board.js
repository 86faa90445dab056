/* SPDX-License-Identifier: MIT */
/*
 * A board to play on or to look at: one SVG of eight by eight units in layers (squares, marks,
 * pieces, arrows). Moves are made by dragging, by clicking two squares, or with the keyboard: arrow
 * keys move a cursor, Enter takes and puts. What may be played, the owner says.
 */
import { html, svg } from "./dom.js";
import { piecesOf, squareName, squareOf, turnOf } from "./fen.js";
import { piece } from "./pieces.js";

const NAMES = { P: "pawn", N: "knight", B: "bishop", R: "rook", Q: "queen", K: "king" };

let dark = "";
for (let square = 0; square < 64; square++) {
	if ((square + Math.floor(square / 8)) % 2) {
		dark += `M${square % 8} ${Math.floor(square / 8)}h1v1h-1z`;
	}
}

function field() {
	return [
		svg("rect", { class: "light", width: 8, height: 8 }),
		svg("path", { class: "dark", d: dark }),
	];
}

/* The corner of a square on the screen. */
function corner(square, flipped) {
	const file = square % 8, rank = Math.floor(square / 8);
	return flipped ? [7 - file, rank] : [file, 7 - rank];
}

function allPieces(pieces, flipped) {
	return pieces.flatMap((letter, square) =>
		letter ? [piece(letter, ...corner(square, flipped))] : []);
}

/* A small board that only shows a position. */
export function smallBoard(fen, label) {
	return svg("svg", { viewBox: "0 0 8 8", class: "small board", role: "img", "aria-label": label },
		...field(), ...allPieces(piecesOf(fen), false));
}

function coordinates(flipped) {
	const texts = [];
	for (let i = 0; i < 8; i++) {
		const file = "abcdefgh"[flipped ? 7 - i : i], rank = flipped ? i + 1 : 8 - i;
		texts.push(
			svg("text", { x: i + 0.93, y: 7.94, class: `on-${i % 2 ? "light" : "dark"} file` }, file),
			svg("text", { x: 0.05, y: i + 0.22, class: `on-${i % 2 ? "dark" : "light"}` }, rank));
	}
	return texts;
}

/* Everything that happens on the board is told to these; each may be missing. */
const SILENT = { move() {}, paint: null };

export class Board {
	/*
	 * `on.move(uci)`: a move that `legal` has was made; `on.paint(square)`: instead of moves, the
	 * squares that are pressed or passed over (for editors); `on.key(square, key)`: other keys.
	 */
	constructor(host, on = {}) {
		this.on = { ...SILENT, ...on };
		this.flipped = false;
		this.pieces = new Array(64).fill(null);
		this.legal = [];
		this.chosen = null;
		this.cursor = null;
		this.drag = null;
		this.build(host);
	}

	build(host) {
		this.layers = Object.fromEntries(["coordinates", "marks", "pieces", "arrows", "cursor"]
			.map((name) => [name, svg("g", { class: name })]));
		this.root = svg("svg", { viewBox: "0 0 8 8", class: "board", tabindex: 0, role: "application",
			"aria-roledescription": "chess board" }, ...field(), ...Object.values(this.layers));
		this.root.addEventListener("pointerdown", (event) => this.press(event));
		this.root.addEventListener("pointermove", (event) => this.moved(event));
		this.root.addEventListener("pointerup", (event) => this.release(event));
		this.root.addEventListener("pointercancel", () => this.endDrag());
		this.root.addEventListener("keydown", (event) => this.key(event));
		this.root.addEventListener("blur", () => this.setCursor(null));
		this.host = html("div", { class: "board-frame" }, this.root);
		host.append(this.host);
		this.draw();
	}

	/* `legal`: what may be played ({uci}); `last`: the move that led here; `check`: true or false. */
	show(fen, { legal = [], last = null, check = false, glide = false } = {}) {
		this.pieces = piecesOf(fen);
		this.turn = turnOf(fen);
		Object.assign(this, { legal, last, check, chosen: null, drag: null });
		this.closePromotion();
		this.root.toggleAttribute("data-legal", false);
		this.draw();
		if (glide && last) {
			this.glide(last.uci);
		}
	}

	setLegal(legal, check) {
		Object.assign(this, { legal, check });
		this.root.toggleAttribute("data-legal", true);
		this.drawMarks();
	}

	flip() {
		this.flipped = !this.flipped;
		this.draw();
	}

	draw() {
		this.layers.coordinates.replaceChildren(...coordinates(this.flipped));
		this.layers.pieces.replaceChildren(...allPieces(this.pieces, this.flipped));
		this.layers.arrows.replaceChildren();
		this.drawMarks();
		this.setCursor(this.cursor);
	}

	drawMarks() {
		const marks = [];
		for (const name of this.last ? [this.last.uci.slice(0, 2), this.last.uci.slice(2, 4)] : []) {
			marks.push(this.mark(squareOf(name), "last"));
		}
		if (this.check) {
			const king = this.pieces.indexOf(this.turn === "w" ? "K" : "k");
			marks.push(this.mark(king, "check"));
		}
		if (this.chosen !== null) {
			marks.push(this.mark(this.chosen, "chosen"), ...this.targets());
		}
		this.layers.marks.replaceChildren(...marks);
	}

	mark(square, kind) {
		const [x, y] = corner(square, this.flipped);
		return svg("rect", { x, y, width: 1, height: 1, class: kind });
	}

	targets() {
		const from = squareName(this.chosen);
		const to = new Set(this.legal.filter((move) => move.uci.startsWith(from))
			.map((move) => squareOf(move.uci.slice(2, 4))));
		return [...to].map((square) => {
			const [x, y] = corner(square, this.flipped);
			return svg("circle", { cx: x + 0.5, cy: y + 0.5, r: this.pieces[square] ? 0.46 : 0.15,
				class: this.pieces[square] ? "target taken" : "target" });
		});
	}

	/* Lets the piece that moved glide to where it stands, unless the reader prefers stillness. */
	glide(uci) {
		const [from, to] = [uci.slice(0, 2), uci.slice(2, 4)].map(squareOf);
		const [x, y] = corner(to, this.flipped), [oldX, oldY] = corner(from, this.flipped);
		const moved = [...this.layers.pieces.children].find((node) =>
			Number(node.getAttribute("x")) === x && Number(node.getAttribute("y")) === y);
		if (moved && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
			moved.animate([{ transform: `translate(${oldX - x}px, ${oldY - y}px)` },
				{ transform: "none" }], { duration: 120, easing: "ease-out" });
		}
	}

	/* Arrows for moves ({uci, weight 0..1}). */
	arrows(moves) {
		this.layers.arrows.replaceChildren(...moves.map(({ uci, weight = 1 }) => {
			const [from, to] = [uci.slice(0, 2), uci.slice(2, 4)]
				.map((name) => corner(squareOf(name), this.flipped));
			return this.arrow(from, to, weight);
		}));
	}

	arrow([x, y], [toX, toY], weight) {
		const length = Math.hypot(toX - x, toY - y);
		const w = 0.05 + 0.07 * weight;
		const angle = Math.atan2(toY - y, toX - x) * 180 / Math.PI;
		const tip = length - 0.1, neck = tip - 0.42;
		return svg("path", { class: "arrow",
			transform: `translate(${x + 0.5} ${y + 0.5}) rotate(${angle})`,
			d: `M0.3 ${-w}H${neck}V${-w - 0.16}L${tip} 0L${neck} ${w + 0.16}V${w}H0.3Z` });
	}

	/* The square below a pointer, null outside the board. */
	squareAt(event) {
		const box = this.root.getBoundingClientRect();
		const x = Math.floor(8 * (event.clientX - box.left) / box.width);
		const y = Math.floor(8 * (event.clientY - box.top) / box.height);
		if (x < 0 || x > 7 || y < 0 || y > 7) {
			return null;
		}
		return this.flipped ? 7 - x + 8 * y : x + 8 * (7 - y);
	}

	press(event) {
		if (event.button !== 0) {
			return;
		}
		event.preventDefault();
		this.setCursor(null);
		this.closePromotion();
		const square = this.squareAt(event);
		this.root.setPointerCapture(event.pointerId);
		if (this.on.paint) {
			this.painted = square;
			this.on.paint(square, true);
			return;
		}
		const again = this.chosen === square;
		if (this.tryMove(square) || !this.choose(square)) {
			return;
		}
		this.drag = { square, again, moved: false, x: event.clientX, y: event.clientY };
	}

	/* Takes up the piece on a square if it may move. */
	choose(square) {
		const may = square !== null &&
			this.legal.some((move) => move.uci.startsWith(squareName(square)));
		this.chosen = may ? square : null;
		this.drawMarks();
		return may;
	}

	moved(event) {
		if (this.on.paint && event.buttons === 1) {
			const square = this.squareAt(event);
			if (square !== null && square !== this.painted) {
				this.painted = square;
				this.on.paint(square, false);
			}
			return;
		}
		if (!this.drag) {
			return;
		}
		const far = Math.hypot(event.clientX - this.drag.x, event.clientY - this.drag.y) > 4;
		if (far || this.drag.moved) {
			this.drag.moved = true;
			this.carry(event);
		}
	}

	/* Draws the dragged piece at the pointer. */
	carry(event) {
		const box = this.root.getBoundingClientRect();
		const [x, y] = corner(this.drag.square, this.flipped);
		const node = [...this.layers.pieces.children].find((other) => other === this.drag.node ||
			Number(other.getAttribute("x")) === x && Number(other.getAttribute("y")) === y);
		this.drag.node = node;
		node.parentNode.append(node);
		node.setAttribute("x", 8 * (event.clientX - box.left) / box.width - 0.5);
		node.setAttribute("y", 8 * (event.clientY - box.top) / box.height - 0.5);
	}

	release(event) {
		const { drag } = this;
		if (!drag) {
			return;
		}
		const square = this.squareAt(event);
		this.drag = null;
		if (drag.moved && square !== drag.square && this.tryMove(square)) {
			return;
		}
		if (drag.moved || drag.again) {
			this.chosen = null;
		}
		this.draw();
	}

	endDrag() {
		this.drag = null;
		this.chosen = null;
		this.draw();
	}

	/* Makes the move from the chosen square to `square`; false if there is none. */
	tryMove(square) {
		if (this.chosen === null || square === null || square === this.chosen) {
			return false;
		}
		const step = this.castles(square) ?? squareName(this.chosen) + squareName(square);
		const moves = this.legal.filter((move) => move.uci.startsWith(step));
		if (moves.length === 0) {
			return false;
		}
		this.chosen = null;
		this.drawMarks();
		if (moves.length === 1) {
			this.on.move(moves[0].uci);
		} else {
			this.askPromotion(step, square);
		}
		return true;
	}

	/* The king put on his own rook castles, too: "e1g1" of e1 and h1. */
	castles(square) {
		const from = this.pieces[this.chosen], to = this.pieces[square];
		const own = from === "K" && to === "R" || from === "k" && to === "r";
		const king = squareName(this.chosen), rook = squareName(square);
		const home = /^e[18]$/.test(king) && /^[ah]/.test(rook) && rook[1] === king[1];
		return own && home ? king + (rook[0] === "h" ? "g" : "c") + king[1] : null;
	}

	/* Four pieces to choose from, on the squares below the one a pawn has reached. */
	askPromotion(step, square) {
		this.closePromotion();
		const [x, y] = corner(square, this.flipped);
		const choices = ["q", "r", "b", "n"].map((letter) => {
			const shown = this.turn === "w" ? letter.toUpperCase() : letter;
			return html("button", { type: "button", "aria-label": NAMES[letter.toUpperCase()],
				onclick: () => this.promote(step + letter) },
			svg("svg", { viewBox: "0 0 1 1" }, piece(shown, 0, 0)));
		});
		this.promotion = html("div", { class: `promotion ${y > 3 ? "up" : "down"}`,
			role: "group", "aria-label": "Promote to", onkeydown: (event) => this.promotionKey(event) },
		...choices);
		this.promotion.style.left = `${12.5 * x}%`;
		this.host.append(this.promotion);
		choices[0].focus();
	}

	/* Escape takes the pawn back; arrows go from piece to piece. */
	promotionKey(event) {
		const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
		if (event.key === "Escape") {
			this.closePromotion();
			this.root.focus();
		} else if (step) {
			const choices = [...this.promotion.children];
			choices.at((choices.indexOf(document.activeElement) + step) % choices.length).focus();
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}

	promote(uci) {
		this.closePromotion();
		this.on.move(uci);
	}

	/* The pawn may have been dragged: it goes back to where it stands. */
	closePromotion() {
		if (this.promotion) {
			this.promotion.remove();
			this.promotion = null;
			this.draw();
		}
	}

	setCursor(square) {
		this.cursor = square;
		this.layers.cursor.replaceChildren(...(square === null ? [] : [this.mark(square, "cursor")]));
	}

	/* What is on the cursor's square, for those who do not see it. */
	spoken() {
		const letter = this.pieces[this.cursor];
		const side = letter && letter === letter.toUpperCase() ? "white" : "black";
		return squareName(this.cursor) + (letter ? ` ${side} ${NAMES[letter.toUpperCase()]}` : " empty");
	}

	/* The cursor's keys; they are taken only once it is shown, by Enter. */
	key(event) {
		const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
		if (event.ctrlKey || event.altKey || event.metaKey) {
			return;
		}
		if (event.key === "Enter" || event.key === " ") {
			this.enter();
		} else if (this.cursor === null) {
			return;
		} else if (event.key === "Escape") {
			this.chosen = null;
			this.setCursor(null);
			this.drawMarks();
		} else if (step[event.key]) {
			this.stepCursor(...step[event.key]);
		} else if (!this.on.key?.(this.cursor, event.key)) {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}

	stepCursor(files, ranks) {
		const way = this.flipped ? -1 : 1;
		const file = this.cursor % 8 + way * files, rank = Math.floor(this.cursor / 8) + way * ranks;
		if (file >= 0 && file < 8 && rank >= 0 && rank < 8) {
			this.setCursor(file + 8 * rank);
			this.on.say?.(this.spoken());
		}
	}

	enter() {
		if (this.cursor === null) {
			this.setCursor(this.turn === "b" ? 52 : 12);
			this.on.say?.(this.spoken());
		} else if (this.on.paint) {
			this.on.paint(this.cursor, true);
		} else if (!this.tryMove(this.cursor)) {
			this.choose(this.cursor);
		}
	}
}
