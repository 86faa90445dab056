/* SPDX-License-Identifier: MIT */
/*
 * The moves on the board: where they begin, each with the position after it, and which of them have
 * been played. All parts of the page read it and are told when it changes.
 */
import * as api from "./api.js";
import { START, fromLink, toLink } from "./fen.js";

/* The line that an address names: {start, moves, at, game}. */
export async function lineOf({ game, ply, fen, play }) {
	if (game) {
		const found = await api.game(game);
		return { start: found.start, moves: found.moves, at: Number(ply) || 0, game: found };
	}
	const from = fen ? fromLink(fen) : START;
	if (!play) {
		return { start: (await api.position(from)).fen };
	}
	const { start, moves } = await api.readMoves(play.replaceAll(",", " "), from);
	return { start, moves, at: ply === undefined ? moves.length : Number(ply) || 0 };
}

/* "1.", "1...", for the move with that index after `start`. */
export function numberOf(start, index) {
	const ply = index + (start.split(" ")[1] === "b" ? 1 : 0);
	return `${Math.floor(ply / 2) + 1}${ply % 2 ? "..." : "."}`;
}

export class Line {
	constructor() {
		this.start = START;
		this.moves = []; /* {san, uci, fen}, of a game also chi2, reached, score, eval */
		this.at = 0;     /* how many of them have been played */
		this.game = null;
		this.listeners = [];
	}

	/* `listener(what)`: "step" if only the place in the line has changed, else "line". */
	listen(listener) {
		this.listeners.push(listener);
	}

	tell(what) {
		for (const listener of this.listeners) {
			listener(what);
		}
	}

	get fen() {
		return this.fenAt(this.at);
	}

	get last() {
		return this.at > 0 ? this.moves[this.at - 1] : null;
	}

	fenAt(at) {
		return at > 0 ? this.moves[at - 1].fen : this.start;
	}

	set({ start, moves = [], at = moves.length, game = null }) {
		Object.assign(this, { start, moves, at: Math.max(0, Math.min(at, moves.length)), game });
		this.tell("line");
	}

	/* What lineOf() reads. */
	values() {
		const { start, moves, at, game } = this;
		if (game?.game) {
			return { game: game.game, ply: at };
		}
		return {
			fen: start === START ? "" : toLink(start),
			play: moves.map((move) => move.uci).join(","),
			ply: at < moves.length ? at : "",
		};
	}

	go(at) {
		const place = Math.max(0, Math.min(at, this.moves.length));
		if (place !== this.at) {
			this.at = place;
			this.tell("step");
		}
	}

	/* Plays a legal move ({san, uci, fen}); another than the line has replaces its rest. */
	push(move) {
		if (this.moves[this.at]?.uci === move.uci) {
			this.go(this.at + 1);
			return;
		}
		this.moves = [...this.moves.slice(0, this.at), move];
		this.at += 1;
		this.game = null;
		this.tell("line");
	}

	/* Plays what is named by UCI. False if that is not legal here. */
	async play(uci) {
		const from = this.fen;
		const { legal } = await api.position(from);
		const move = legal.find((candidate) => candidate.uci === uci);
		if (!move?.fen || this.fen !== from) {
			return false;
		}
		this.push(move);
		return true;
	}

	takeBack() {
		this.go(this.at - 1);
	}

	numberOf(index) {
		return numberOf(this.start, index);
	}

	/* The moves as one would write them: 1. e4 c5 2. Nf3. */
	text(end = this.moves.length) {
		return this.moves.slice(0, end).map((move, index) => {
			const number = this.numberOf(index);
			return index === 0 || number.endsWith(".") && !number.endsWith("...")
				? `${number} ${move.san}` : move.san;
		}).join(" ");
	}
}
