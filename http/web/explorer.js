/* SPDX-License-Identifier: MIT */
/*
 * The first panel: what is known of the position on the board, the moves played from it, and the
 * games that reached it, all among the games that the filters choose.
 */
import * as api from "./api.js";
import { centipawns } from "./best.js";
import { evalText, fixed, resultBar, resultWords, statisticText } from "./bars.js";
import { count, html } from "./dom.js";
import { START, turnOf } from "./fen.js";
import { GameList } from "./gamelist.js";
import { refuse } from "./notice.js";

/* Text, class, title, and what the table may be ordered by, the greatest first. */
const HEADINGS = [
	["Move", "", ""],
	["Games", "number", "games that played it here; those that reached the position and ended there are in none of these rows", (move) => move.games],
	["Results", "wide", "White's wins, draws, Black's wins"],
	["Score", "number", "percent for the side to move", (move) => move.score],
	["Reached", "number", "games that reached the position after it, by any order of moves",
		(move) => move.child.games],
	["Statistic", "number statistic", "the store's statistic of the position after it, all games",
		(move) => move.child.chi2],
	["Eval", "number", "the deepest evaluation, White's view, in pawns", centipawns],
	["Opening", "opening", ""],
];

const RATED = 20;	 /* games of a move, of which its results say something */
const ROWS = 12;	 /* shown at first */
const NAMED_PLIES = 40;	 /* openings with a name are shorter */

/* What is not known comes last; of moves that no game played, the best evaluation first. */
function byValue(value) {
	const known = (one) => one ?? -Infinity;
	const order = (a, b) => a === b ? 0 : b - a;
	return (a, b) => order(known(value(a)), known(value(b))) ||
		(a.games || b.games ? 0 : order(known(centipawns(a)), known(centipawns(b))));
}

export class Explorer {
	/* `app`: line, filters, board, play(uci), tell(error). */
	constructor(host, app) {
		this.app = app;
		this.ask = api.latest();
		this.askExpected = api.latest();
		this.by = "";
		this.about = html("section", { class: "about", "aria-label": "Position" });
		this.rows = html("tbody");
		this.table = html("table", { class: "moves" },
			html("caption", { class: "unseen" }, "Moves played here"),
			html("thead", {}, html("tr", {}, ...HEADINGS.map((one) => this.heading(one)))), this.rows);
		this.empty = html("p", { class: "empty", hidden: true });
		this.games = new GameList((limit, cursor, order, signal) => api.games({ fen: app.line.fen,
			...app.filters.query(), ...order, limit, cursor }, signal),
		(what) => app.link.update(what), { title: "Games that reached it" });
		host.append(this.about, html("div", { class: "scroll" }, this.table), this.empty,
			this.games.root);
		this.rows.addEventListener("pointerleave", () => app.board.arrows([]));
	}

	heading([text, kind, title, value]) {
		const button = value && html("button", { type: "button", class: "sort",
			onclick: () => this.order(text) }, text);
		return html("th", { scope: "col", class: kind, title }, button ?? text);
	}

	/* Orders the table by a column; once more: as it was. */
	order(text) {
		this.by = text === this.by || text === "Games" ? "" : text;
		if (this.shown) {
			this.drawRows();
		}
		this.app.link.update("step");
	}

	/* What the address of the page says of this panel. */
	values() {
		return { ...this.games.values(), by: this.by };
	}

	show(values) {
		this.by = HEADINGS.some(([text, , , value]) => value && text === values.by) ? values.by : "";
		this.games.show(values);
	}

	/* Asks for what the board and the filters say now. */
	async refresh() {
		const { fen } = this.app.line;
		this.games.refresh();
		try {
			const [position, found] = await this.ask((signal) => Promise.all([api.position(fen),
				api.explore(fen, this.app.filters.query(), signal)])) ?? [];
			if (position) {
				this.draw(position, found);
			}
		} catch (error) {
			refuse(error, (text) => {
				this.rows.replaceChildren();
				this.say(text);
			});
		}
	}

	say(text) {
		this.empty.textContent = text;
		this.empty.hidden = text === "";
		this.table.hidden = text !== "";
	}

	draw(position, found) {
		this.about.replaceChildren(...describe(position, found, this.app));
		if (!position.opening) {
			this.nameOpening(position.fen);
		}
		this.shown = { position, found };
		this.drawRows();
		this.expect(position);
		this.say(found.moves.length ? "" : silence(position, this.app.filters.active));
	}

	drawRows() {
		const { position, found } = this.shown;
		const by = this.by || "Games";
		const [, , , value] = HEADINGS.find(([text]) => text === by);
		const rows = [...found.moves].sort(byValue(value)).map((move) => this.row(move, position, found.games));
		const hidden = rows.length > ROWS + 2 ? rows.splice(ROWS) : [];
		this.rows.replaceChildren(...rows, ...hidden.length ? [this.moreRows(hidden)] : []);
		for (const head of this.table.tHead.rows[0].cells) {
			head.ariaSort = head.textContent === by ? "descending" : null;
		}
	}

	/* Beside a score what it is more or less than ratings let expect, for moves of games enough. */
	async expect(position) {
		try {
			const found = await this.askExpected((signal) => api.insight({ ...this.app.filters.query(),
				kind: "performance", fen: position.fen, "min-games": RATED, fdr: 100, limit: 100 }, signal));
			const black = position.fen.split(" ")[1] === "b" ? -1 : 1;
			for (const { move, score, expected, chance } of found?.rows ?? []) {
				const cell = [...this.rows.querySelectorAll("tr")].find((row) =>
					row.querySelector(".move")?.textContent === move)?.cells[3];
				const beyond = black * (score - expected);
				if (cell && this.shown.position === position) {
					cell.dataset.beyond = `${beyond < 0 ? "−" : "+"}${fixed(Math.abs(beyond), 1)}`;
					cell.title = `ratings let expect ${fixed(black > 0 ? expected : 100 - expected, 1)} %; `
						+ `luck alone is so far off in ${fixed(100 * chance, 1)} % of cases`;
				}
			}
		} catch (error) {
			refuse(error, () => undefined); /* the scores are there */
		}
	}

	/* A row that gives way to those that it stands for. */
	moreRows(hidden) {
		const row = html("tr", {}, html("td", { colspan: HEADINGS.length },
			html("button", { type: "button", class: "quiet",
				onclick: () => row.replaceWith(...hidden) }, `${hidden.length} more moves`)));
		return row;
	}

	/* Deep in a game positions have no name: then that of the last one on the way that has. */
	async nameOpening(fen) {
		const { line } = this.app;
		const way = [line.start, ...line.moves.slice(0, line.at).map((move) => move.fen)];
		const known = await api.manyPositions(way.slice(0, NAMED_PLIES));
		const named = known.findLast(({ opening }) => opening);
		if (named && line.fen === fen) {
			this.about.querySelector(".opening-name").textContent = openingName(named.opening);
		}
	}

	/* `games`: those counted here, among which it was played. */
	row(move, position, games) {
		const { child } = move;
		const play = html("button", { type: "button", class: "move",
			onclick: () => this.app.play(move.uci) }, move.san);
		const share = games ? move.games / games : 0;
		const cells = [
			html("td", {}, play),
			html("td", { class: "number" }, count(move.games)),
			html("td", { class: "wide" }, resultBar(move)),
			html("td", { class: "number" }, fixed(move.score, 1)),
			html("td", { class: "number" }, count(child.games)),
			html("td", { class: "number statistic" },
				statisticText(this.app.info.statistic, child.chi2)),
			html("td", { class: "number" }, child.fen ? evalText(child.eval, child.fen) : "–"),
			html("td", { class: "opening", title: child.opening ?? "" },
				child.opening ? `${child.eco} ${furtherName(child.opening, position.opening)}` : ""),
		];
		const point = () => this.app.board.arrows([{ uci: move.uci, weight: Math.sqrt(share) }]);
		return html("tr", { "data-uci": move.uci, onpointerenter: point, onfocusin: point,
			onclick: (event) => event.target === play || this.app.play(move.uci) }, ...cells);
	}
}

/* Why there are no moves to show. */
function silence(position, filtered) {
	const ends = { checkmate: "Checkmate.", stalemate: "Stalemate.",
		insufficient: "Neither side can mate." };
	if (position.end) {
		return ends[position.end];
	}
	if (!position.found) {
		return "No game of the store reached this position.";
	}
	return filtered ? "No game that the filters choose went on from here."
		: "Nothing was played from here.";
}

function fact(name, value, title = "") {
	return [html("div", {}, html("dt", { title }, name), html("dd", {}, value))];
}

/* One that has a line to itself. */
function longFact(name, value) {
	return [html("div", { class: "long" }, html("dt", {}, name), html("dd", {}, value))];
}

function evaluationOf({ engine, depth, pv = [], ...value }, fen) {
	const line = pv.slice(0, 8).join(" ");
	return `${evalText(value, fen)} (${engine}, depth ${depth}) ${line}`;
}

function openingName({ eco, name }) {
	return `${eco} ${name}`;
}

/* "Najdorf Variation" of "Sicilian Defense: Najdorf Variation" after the Sicilian Defense. */
function furtherName(name, before) {
	const known = before && name.startsWith(before.name) && /^[:,] ./.test(name.slice(before.name.length));
	return known ? name.slice(before.name.length + 2) : name;
}

/* The heading above the table: opening, results, and whatever else is known. */
function describe(position, found, { info, line }) {
	const { opening, fen } = position;
	const name = opening ? openingName(opening) : line.at ? "…" : fen === START ? "Initial position"
		: "Position";
	const side = turnOf(fen) === "w" ? "White to move" : "Black to move";
	const facts = [
		...fact(info.statistic, statisticText(info.statistic, position.chi2), "the store's statistic, all games"),
		...info.statistic === "control" ? []
			: fact("control", fixed(position.control, 2), "the statistic of squares controlled"),
		...fact("score", found.score === null ? "–" : `${fixed(found.score, 1)} %`,
			"for the side to move, of these games"),
		...fact("first at ply", position.min_ply ?? "–"),
		...position.evals.slice(0, 3).flatMap((one) => longFact("eval", evaluationOf(one, fen))),
		...position.line.length ? longFact("line", position.line.slice(0, 10).join(" ")) : [],
		...position.endgame?.class ? fact("endgame", position.endgame.class) : [],
		...position.note ? longFact("note", position.note) : [],
	];
	return [html("h2", {}, html("span", { class: "opening-name" }, name), html("span", { class: "side" }, side)),
		html("p", { class: "results-words" }, `Reached by ${resultWords(found)}`),
		resultBar(found) ?? "", html("dl", { class: "facts" }, ...facts)];
}
