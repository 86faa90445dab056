/* SPDX-License-Identifier: MIT */
/*
 * The trainer: shows a position one has met, or missed in a game, asks for its best move on the
 * large board, says what is known of the answer, and asks again, sooner if it was missed.
 */
import * as api from "./api.js";
import { bestMoves } from "./best.js";
import { fixed } from "./bars.js";
import { columns, responsive } from "./chart.js";
import { count, html } from "./dom.js";
import { turnOf } from "./fen.js";
import { readMissed } from "./missed.js";
import { refuse } from "./notice.js";

const BOXES = ["new or missed", "10 minutes", "a day", "3 days", "a week", "16 days", "40 days",
	"100 days"];
const GAMES_LEAST = 4;
const MOVES_LEAST = 2;
const FILE_MOST = 1 << 20; /* bytes */
const LINE_MOST = 80; /* plies; games leave what others played long before */

/* Whether there is anything to ask of a position: a choice that several games have made. */
export function worthAsking(position) {
	return position.found && position.games >= GAMES_LEAST && position.moves.length >= MOVES_LEAST;
}

/* What a review said was best; where evaluations of the store say so, too, also what is as good. */
function reviewed(moves, known) {
	return known.by === "evaluations" && known.moves.some(({ uci }) => moves.some((move) => move.uci === uci))
		? known : { moves, by: moves.length ? "the review" : null };
}

export class Trainer {
	/* `app`: cards, line, board, train(handler or null), tell(error). */
	constructor(host, app) {
		this.app = app;
		this.asked = null; /* the card on the board */
		this.build(host);
	}

	build(host) {
		this.words = html("p", { class: "question", role: "status" });
		this.details = html("div", { class: "answer" });
		this.start = this.button("Start", () => this.next());
		this.reveal = this.button("Show the move", () => this.judge(null));
		this.again = this.button("Next", () => this.next());
		this.stop = this.button("Stop", () => this.end());
		this.side = html("select", { onchange: () => this.summarise() },
			...[["", "either side"], ["w", "White"], ["b", "Black"]].map(([value, text]) =>
				html("option", { value }, text)));
		this.file = html("input", { type: "file", accept: ".epd,.txt,text/plain", hidden: true,
			"aria-label": "Positions missed, as EPD", onchange: () => this.addFile() });
		this.plot = html("div", { class: "plot" });
		this.total = html("p", { class: "hint" });
		host.append(html("h2", {}, "Trainer"),
			html("p", { class: "hint" }, "Positions that you look at in the explorer become cards, if",
				" several games passed through them. Each is asked until you know its best move;",
				" what you miss comes back sooner. A file of ", html("code", {}, "chistore review --missed"),
				" has what you missed in your games. Cards stay in this browser."),
			html("div", { class: "actions" }, this.start, this.reveal, this.again, this.stop,
				html("label", {}, "Ask for ", this.side),
				this.button("Add the moves on the board", () => this.addLine()),
				this.button("Add positions missed", () => this.file.click()), this.file,
				this.button("Forget all", () => this.forgetAll(), "quiet")),
			this.words, this.details, this.total, this.plot);
	}

	button(text, action, kind = "") {
		return html("button", { type: "button", class: kind, onclick: action }, text);
	}

	refresh() {
		this.summarise();
		this.showButtons();
	}

	showButtons() {
		const asking = this.asked !== null;
		this.start.hidden = asking;
		this.stop.hidden = !asking;
		this.reveal.hidden = !asking || this.judged;
		this.again.hidden = !asking || !this.judged;
	}

	summarise() {
		const { cards } = this.app;
		const due = cards.due(this.side.value).length;
		this.start.disabled = due === 0;
		this.total.textContent = `${count(due)} of ${count(cards.cards.size)} cards are due.`;
		const rows = cards.boxes().map((n, box) => ({ label: BOXES[box], parts: [["plain", n]],
			title: `${BOXES[box]}: ${n}` }));
		responsive(this.plot, (width) => this.plot.replaceChildren(
			columns(rows, { width, height: 120, label: "Cards by how long they wait" }).root));
		this.plot.hidden = cards.cards.size === 0;
	}

	/* Every position of the line that is worth asking; many in one request. */
	async addLine() {
		const { line, cards } = this.app;
		const fens = [line.start, ...line.moves.map((move) => move.fen)];
		try {
			const answers = await api.manyPositions(fens.slice(0, LINE_MOST));
			const added = answers.filter(worthAsking).filter(({ fen }) => cards.meet(fen)).length;
			this.words.textContent = `${added} ${added === 1 ? "card" : "cards"} added.`;
			this.summarise();
		} catch (error) {
			this.app.tell(error);
		}
	}

	/* A file of positions missed, all of it or nothing. */
	async addFile() {
		const [file] = this.file.files;
		if (!file) {
			return;
		}
		try {
			if (file.size > FILE_MOST) {
				throw new api.Refusal(`${file.name} is larger than a mebibyte`);
			}
			const missed = await readMissed(await file.text());
			this.app.cards.miss(missed);
			this.words.textContent = `${missed.length} ${missed.length === 1 ? "position" : "positions"} added.`;
			this.words.className = "question";
			this.summarise();
		} catch (error) {
			refuse(error, (text) => {
				this.words.textContent = text;
			});
		} finally {
			this.file.value = ""; /* so that the same file can be chosen again */
		}
	}

	forgetAll() {
		if (confirm("Forget all cards and how well you know them?")) {
			this.app.cards.clear();
			this.end();
		}
	}

	async next() {
		const [card] = this.app.cards.due(this.side.value);
		if (!card) {
			this.end();
			this.words.textContent = "Nothing is due now. Well done.";
			return;
		}
		try {
			this.found = await api.explore(card.fen, {});
			this.best = bestMoves(this.found);
			if (card.best) {
				const { legal } = await api.position(card.fen);
				this.best = reviewed(legal.filter(({ uci }) => card.best.includes(uci)), this.best);
			}
		} catch (error) {
			refuse(error, (text) => {
				this.words.textContent = text;
			});
			return;
		}
		if (this.best.moves.length === 0) {
			this.app.cards.forget(card.fen);
			await this.next();
			return;
		}
		this.ask(card);
	}

	ask(card) {
		this.asked = card;
		this.judged = false;
		this.app.train((uci) => this.judge(uci));
		this.app.line.set({ start: card.fen });
		this.app.turnBoard(turnOf(card.fen));
		const side = turnOf(card.fen) === "w" ? "White" : "Black";
		this.words.textContent = `${side} to move. What is best here?`;
		this.words.className = "question";
		this.details.replaceChildren();
		this.refresh();
	}

	/* `uci` was played; null: the answer was given up. */
	judge(uci) {
		if (this.judged) {
			return;
		}
		this.judged = true;
		const right = this.best.moves.some((move) => move.uci === uci);
		this.app.cards.answer(this.asked.fen, right);
		this.words.textContent = this.verdict(uci, right);
		this.words.className = `question ${right ? "right" : "missed"}`;
		const { about } = this.asked;
		this.details.replaceChildren(...about ? [html("p", { class: "about" }, about)] : [],
			...this.found.moves.length ? [this.table(uci)] : []);
		this.app.board.draw(); /* a piece that was dragged goes back */
		this.app.board.arrows(this.best.moves.map((move) => ({ uci: move.uci })));
		this.refresh();
		this.again.focus();
	}

	verdict(uci, right) {
		const best = this.best.moves.map((move) => move.san);
		const names = best.length > 1 ? `${best.slice(0, -1).join(", ")} or ${best.at(-1)}` : best[0];
		if (right) {
			return best.length > 1 ? `Right. By ${this.best.by} the best are ${names}.`
				: `Right, ${names} is best by ${this.best.by}.`;
		}
		return uci === null ? `Best by ${this.best.by}: ${names}.`
			: `Missed. Best by ${this.best.by}: ${names}.`;
	}

	/* The moves played most, with the answer marked. */
	table(uci) {
		const rows = this.found.moves.filter((move, index) => index < 5 || move.uci === uci);
		return html("table", {}, html("thead", {}, html("tr", {},
			...["Move", "Games", "Score"].map((text) => html("th", { scope: "col" }, text)))),
		html("tbody", {}, ...rows.map((move) => html("tr",
			{ class: move.uci === uci ? "answered" : "" },
			html("td", {}, move.san), html("td", { class: "number" }, count(move.games)),
			html("td", { class: "number" }, move.score === null ? "–" : `${fixed(move.score, 1)} %`)))));
	}

	/* The board shows something else than was asked. */
	disturbed() {
		return this.asked !== null && this.app.line.fen !== this.asked.fen;
	}

	end() {
		this.asked = null;
		this.app.train(null);
		this.words.textContent = "";
		this.details.replaceChildren();
		this.refresh();
	}
}
