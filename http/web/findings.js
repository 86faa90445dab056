/* SPDX-License-Identifier: MIT */
/* What counts alone do not tell: where a player does worse or better than elsewhere, and new moves. */
import * as api from "./api.js";
import { fixed } from "./bars.js";
import { count, html } from "./dom.js";
import { toLink } from "./fen.js";
import { refuse } from "./notice.js";

const SIDES = { white: "White", black: "Black" };
const ROWS = 12;

/* From the initial position on, or from where its game begins. */
function link(fen, text) {
	return html("a", { href: `#fen=${toLink(fen)}`, title: fen }, text);
}

function moved(row) {
	return html("li", {}, link(row.fen, row.line ?? row.fen),
		`: ${fixed(row.score, 0)} % of ${count(row.games)} games, where ${fixed(row.expected, 0)} % is expected`);
}

/* The move with its number, as the line before it ends. */
function played(row) {
	const white = row.fen.split(" ")[1] === "w";
	return `${Math.floor(row.ply / 2) + 1}${white ? "." : "..."}${row.move}`;
}

function novelty(row) {
	return html("li", {}, link(row.after, played(row)), ` after ${row.line || "the first position"}: `
		+ `${row.white ?? "?"} – ${row.black ?? "?"}, ${row.date ?? "?"}; ${count(row.followed)} games followed in three years, `
		+ `${count(row.games)} have it, ${fixed(row.score, 0)} %`);
}

export class Findings {
	constructor(app) {
		this.app = app;
		this.ask = api.latest();
		this.askNew = api.latest();
		this.player = html("div", { class: "player" });
		this.news = html("div", { class: "novelties" });
		this.root = html("section", { class: "findings" }, this.player, html("h3", {}, "Novelties"),
			html("p", { class: "hint" }, "Moves that were new in a known position, by the first game; filters choose these games. ",
				html("button", { type: "button", onclick: () => this.look() }, "Look for them")), this.news);
	}

	/* Of one player; a filter without one, or of another store, asks nothing. */
	async refresh() {
		const { player, white, black, ...filter } = this.app.filters.query();
		this.news.replaceChildren();
		this.player.replaceChildren();
		if (!player || filter.opponent) {
			this.ask(async () => undefined);
			return;
		}
		const sides = Object.keys(SIDES).filter((side) => !(side === "white" ? black : white));
		try {
			const answer = await this.ask((signal) => Promise.all(sides.flatMap((side) => ["weak", "strong"].map(
				(kind) => api.insight({ ...filter, kind, side, [side]: player, limit: ROWS }, signal)
					.then((found) => ({ ...found, side }))))));
			if (answer) {
				this.show(player, answer);
			}
		} catch (error) {
			refuse(error, (text) => this.player.replaceChildren(html("p", { class: "hint" }, text)));
		}
	}

	show(player, answers) {
		this.player.replaceChildren(html("h3", {}, `Where ${player} does worse or better than elsewhere`),
			html("p", { class: "hint" }, "Beyond what ratings and luck explain, corrected for the number of positions."),
			...answers.map(({ kind, side, tested, games, rows }) => html("div", { "data-kind": kind, "data-side": side },
				html("h4", {}, `${kind === "weak" ? "Worse" : "Better"} with ${SIDES[side]}`),
				rows.length > 0 ? html("ul", {}, ...rows.map(moved))
					: html("p", {}, `Nothing, in ${count(tested)} positions of ${count(games)} rated games.`))));
	}

	async look() {
		this.news.replaceChildren(html("p", { class: "hint", role: "status" }, "Looking at all positions…"));
		try {
			const { player, white, black, ...filter } = this.app.filters.query();
			const sides = player ? { player, ...white && { white }, ...black && { black } } : {};
			const answer = await this.askNew((signal) => api.insight({ ...filter, ...sides, kind: "novelties", limit: ROWS }, signal));
			if (answer) {
				this.news.replaceChildren(answer.rows.length > 0 ? html("ul", {}, ...answer.rows.map(novelty))
					: html("p", {}, `None, in ${count(answer.tested)} positions that are common enough.`));
			}
		} catch (error) {
			refuse(error, (text) => this.news.replaceChildren(html("p", { class: "hint" }, text)));
		}
	}
}
