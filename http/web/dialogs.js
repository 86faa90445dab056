/* SPDX-License-Identifier: MIT */
/* Two dialogs that put something on the board: one sets up a position, one reads what is pasted. */
import * as api from "./api.js";
import { byId } from "./dom.js";
import { Editor } from "./editor.js";
import { EMPTY, START, completed, looksLikeFen, piecesOf, placement, turnOf } from "./fen.js";
import { refuse, sentence } from "./notice.js";

const KNOWN_MOST = 400; /* positions of a pasted game that are looked up */

/* Shows what the server says against a text, in the dialog's own words. */
async function attempt(place, action) {
	place.textContent = "";
	try {
		await action();
		return true;
	} catch (error) {
		refuse(error, (text) => {
			place.textContent = text;
		});
		return false;
	}
}

export class Setup {
	constructor({ line }) {
		this.line = line;
		this.dialog = byId("setup");
		this.fields = byId("setup-form").elements;
		this.wrong = byId("setup-wrong");
		this.editor = new Editor(byId("setup-board"), { changed: () => this.write() });
		byId("setup-form").addEventListener("input", (event) => this.typed(event));
		byId("setup-form").addEventListener("submit", (event) => this.use(event));
		byId("setup-clear").addEventListener("click", () => this.read(EMPTY));
		byId("setup-start").addEventListener("click", () => this.read(START));
	}

	open() {
		this.read(this.line.fen);
		this.wrong.textContent = "";
		this.dialog.showModal();
	}

	/* Puts a FEN into the fields and on the board. */
	read(fen) {
		const [, , castling = "-", passing = "-"] = fen.split(" ");
		this.fields.turn.value = turnOf(fen);
		for (const right of "KQkq") {
			this.fields[`castle-${right}`].checked = castling.includes(right);
		}
		this.fields.passing.value = passing === "-" ? "" : passing;
		this.editor.setPieces(piecesOf(fen));
		this.fields.fen.value = fen;
	}

	/* Writes the fields and the board as a FEN. */
	write() {
		const castling = [..."KQkq"].filter((right) => this.fields[`castle-${right}`].checked);
		this.fields.fen.value = [placement(this.editor.pieces), this.fields.turn.value,
			castling.join("") || "-", this.fields.passing.value.trim() || "-", "0 1"].join(" ");
	}

	typed(event) {
		if (event.target === this.fields.fen) {
			if (looksLikeFen(event.target.value)) {
				this.readKeeping(event.target.value);
			}
		} else {
			this.write();
		}
	}

	/* The text that is being typed stays as it is. */
	readKeeping(text) {
		this.read(text.trim());
		this.fields.fen.value = text;
	}

	async use(event) {
		event.preventDefault();
		const ok = await attempt(this.wrong, async () => {
			const { fen } = await api.position(completed(this.fields.fen.value));
			checkKings(piecesOf(fen));
			this.line.set({ start: fen });
		});
		if (ok) {
			this.dialog.close();
		}
	}
}

export class Paste {
	constructor({ line }) {
		this.line = line;
		this.dialog = byId("paste");
		this.text = byId("paste-text");
		this.wrong = byId("paste-wrong");
		byId("paste-form").addEventListener("submit", (event) => this.use(event));
	}

	open(text = "") {
		this.text.value = text;
		this.wrong.textContent = "";
		this.dialog.showModal();
		this.text.focus();
	}

	async use(event) {
		event.preventDefault();
		const ok = await attempt(this.wrong, () => this.read(this.text.value.trim()));
		if (ok) {
			this.dialog.close();
		}
	}

	/* A FEN, or a game, or moves. */
	async read(text) {
		if (text === "") {
			throw new api.Refusal("paste a FEN, a game in PGN, or moves");
		}
		if (looksLikeFen(text)) {
			this.line.set({ start: (await api.position(completed(text))).fen });
			return;
		}
		const { start, moves, tags, result } = await api.readMoves(text);
		const game = Object.keys(tags).length ? headOf(tags, result) : null;
		this.line.set({ start, moves: await known(moves), game });
	}
}

/* The tags of a pasted game, named as those of a stored one. */
function headOf(tags, result) {
	const said = Object.fromEntries(Object.entries(tags).filter(([, text]) => !/^[?.]*$/.test(text)));
	return { white: said.White, black: said.Black, white_elo: said.WhiteElo,
		black_elo: said.BlackElo, event: said.Event, site: said.Site, eco: said.ECO,
		date: said.Date, result };
}

/* What the store knows of the positions of a pasted game. */
async function known(moves) {
	const positions = await api.manyPositions(moves.slice(0, KNOWN_MOST).map((move) => move.fen));
	return moves.map((move, index) => {
		const { chi2 = null, games = 0, score = null, evals = [], turn } = positions[index] ?? {};
		return { ...move, chi2, reached: games, eval: evals[0] ?? null,
			score: score === null || turn === "w" ? score : 100 - score };
	});
}

/* Stores hold boards without a king; no one plays on them. */
function checkKings(pieces) {
	for (const [king, side] of [["K", "White"], ["k", "Black"]]) {
		if (!pieces.includes(king)) {
			throw new api.Refusal(`${side} has no king`);
		}
	}
}

/* Asks for the access token of a server that wants one. */
export class Token {
	constructor() {
		this.dialog = byId("token");
		this.field = byId("token-text");
		this.declined = false;
		byId("token-form").addEventListener("submit", (event) => {
			event.preventDefault();
			this.dialog.close(this.field.value.trim());
		});
		this.dialog.addEventListener("close", () => {
			this.field.value = "";
			this.declined = this.dialog.returnValue === "";
			this.answer(this.dialog.returnValue);
		});
		byId("open-token").addEventListener("click", () => this.again());
	}

	/* Resolves to "" if the reader has none, and from then on without asking. */
	async ask(why) {
		byId("open-token").hidden = false;
		if (this.declined) {
			return "";
		}
		byId("token-why").textContent = sentence(why);
		this.dialog.returnValue = "";
		this.dialog.showModal();
		return new Promise((answer) => {
			this.answer = answer;
		});
	}

	/* Whatever was denied is asked for again. */
	async again() {
		this.declined = false;
		const token = await this.ask("this server asks for a token");
		if (token) {
			api.setToken(token);
			location.reload();
		}
	}
}
