/* SPDX-License-Identifier: MIT */
/*
 * Below the board: the moves that led here, to click on, and of a game its names, which of its moves
 * were new, and how the statistic of its positions went, as a curve.
 */
import * as api from "./api.js";
import { fixed, statisticText } from "./bars.js";
import { curve, responsive } from "./chart.js";
import { byId, count, html, separated, svg } from "./dom.js";
import { resultText } from "./gamelist.js";
import { refuse } from "./notice.js";

const CURVES = {
	chi2: { text: "Statistic", value: (move) => move.chi2 },
	score: { text: "White's score", value: (move) => move.score, most: 100 },
	eval: { text: "Evaluation", value: evaluation },
};

/* Between 0 (Black wins) and 100, as a curve of pawns would be flattened by a mate. */
function evaluation(move) {
	if (!move.eval) {
		return null;
	}
	const sign = move.fen.split(" ")[1] === "w" ? 1 : -1;
	const cp = move.eval.cp ?? 10000 * Math.sign(move.eval.mate);
	return 100 / (1 + Math.exp(-sign * cp / 330));
}

export class GameView {
	constructor({ line, info }) {
		this.line = line;
		this.info = info;
		this.kind = "chi2";
		this.askNew = api.latest();
		this.list = byId("line-moves");
		this.head = byId("game-head");
		this.figure = byId("game-curve");
		this.choice = byId("curve-choice");
		this.plot = html("div", { class: "plot" });
		this.words = html("figcaption", {});
		this.figure.append(this.plot, this.words);
		line.listen((what) => this.changed(what));
		byId("curve-kind").addEventListener("change", (event) => {
			this.kind = event.target.value;
			this.drawCurve();
		});
	}

	changed(what) {
		if (what === "line") {
			this.drawHead();
			this.drawMoves();
			this.drawCurve();
			this.markNew();
		}
		this.markPlace();
	}

	drawHead() {
		const { game } = this.line;
		this.head.hidden = game === null;
		byId("export-pgn").hidden = !game?.game;
		if (!game) {
			return;
		}
		const player = (name, elo) => html("b", {}, html("bdi", {}, name ?? "?"),
			elo ? ` (${elo})` : "");
		const where = [game.event, game.site, (game.date ?? "").replaceAll(".??", ""), game.eco];
		this.head.replaceChildren(player(game.white, game.white_elo), " – ",
			player(game.black, game.black_elo), html("span", { class: "result" },
				` ${resultText(game.result)}`),
			html("small", {}, ...separated(where.filter((text) => text), ", ")));
	}

	drawMoves() {
		this.list.replaceChildren(...this.line.moves.map((move, index) => {
			const number = this.line.numberOf(index);
			const shown = index === 0 || !number.endsWith("...") ? number : "";
			return html("li", { class: shown ? "" : "reply" }, html("span", {}, shown),
				html("button", { type: "button", class: "move",
					onclick: () => this.line.go(index + 1) }, move.san));
		}));
	}

	markPlace() {
		[...this.list.children].forEach((item, index) => {
			const button = item.querySelector(".move");
			if (index + 1 === this.line.at) {
				button.setAttribute("aria-current", "step");
				this.reveal(item);
			} else {
				button.removeAttribute("aria-current");
			}
		});
		this.markCurve();
	}

	/* Of a stored game, the moves to positions that no game before it had; nothing without an answer. */
	async markNew() {
		const number = this.line.game?.game;
		const asked = { kind: "novelties", number, "min-games": 1, known: 1 };
		try {
			const answer = await this.askNew(async (signal) => number ? api.insight(asked, signal) : undefined);
			for (const { ply, before, games } of answer?.rows ?? []) {
				const title = `New in this game: ${count(before)} ${before === 1 ? "game" : "games"} had come here before, none to the position `
					+ `after this move; ${games === 1 ? "no other" : count(games - 1)} ${games < 3 ? "has" : "have"} followed`;
				this.list.children[ply]?.append(html("abbr", { class: "new", title }, "N"));
			}
		} catch (error) {
			refuse(error, () => {});
		}
	}

	/* Scrolls the list, never the page. */
	reveal(item) {
		const { list } = this;
		const top = item.offsetTop - list.offsetTop;
		if (top < list.scrollTop || top + item.offsetHeight > list.scrollTop + list.clientHeight) {
			list.scrollTop = top - list.clientHeight / 2;
		}
	}

	drawCurve() {
		const { game, moves } = this.line;
		this.figure.hidden = game === null || moves.length === 0;
		this.choice.hidden = this.figure.hidden;
		if (!this.figure.hidden) {
			responsive(this.plot, (width) => this.plotAt(width));
		}
	}

	plotAt(width) {
		const { moves } = this.line;
		const kind = CURVES[this.kind];
		this.curve = curve({ width, name: this.kind, most: this.kind === "chi2" ? undefined : 100,
			values: [null, ...moves.map(kind.value)], behind: [0, ...moves.map((m) => m.reached ?? 0)],
			label: `${kind.text} of the positions of this game; bars: games that reached them` });
		this.place = svg("line", { class: "place", y1: 4, y2: 108 });
		this.curve.root.append(this.place);
		this.plot.replaceChildren(this.curve.root);
		const go = (event) => {
			const box = this.plot.getBoundingClientRect();
			this.line.go(this.curve.index(event.clientX - box.left));
		};
		this.curve.root.addEventListener("pointerdown", go);
		this.curve.root.addEventListener("pointermove", (event) => event.buttons === 1 && go(event));
		this.markCurve();
	}

	markCurve() {
		if (!this.curve || this.figure.hidden) {
			return;
		}
		const x = this.curve.x(this.line.at);
		this.place.setAttribute("x1", x);
		this.place.setAttribute("x2", x);
		this.words.textContent = this.describe(this.line.last);
	}

	describe(move) {
		if (!move || move.reached === undefined) {
			return "Line: the value after each move. Bars: games that reached it.";
		}
		const score = move.score === null ? "" : `, White scores ${fixed(move.score, 1)} %`;
		return `${this.info.statistic} ${statisticText(this.info.statistic, move.chi2)}, reached by ${count(move.reached)} ` +
			`${move.reached === 1 ? "game" : "games"}${score}`;
	}
}
