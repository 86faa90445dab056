/* SPDX-License-Identifier: MIT */
/* Positions as small boards, in pages that one turns; each goes to the large board when pressed. */
import * as api from "./api.js";
import { resultBar, resultWords, statisticText } from "./bars.js";
import { smallBoard } from "./board.js";
import { count, html } from "./dom.js";
import { toLink, turnOf } from "./fen.js";
import { refuse } from "./notice.js";

const PAGE = 12;
const PAGES_MOST = 800; /* that a link may lead to */

export class PositionPages {
	/*
	 * `list(limit, cursor, signal)` asks for a page: {rows, next, total}. A total of null leaves the
	 * one of the first page. `turned()`: another page is shown. `statistic`: the store's.
	 */
	constructor(list, turned, statistic) {
		this.statistic = statistic;
		this.list = list;
		this.turned = turned;
		this.ask = api.latest();
		this.boards = html("ul", { class: "boards" });
		this.words = html("p", { class: "page-words", role: "status" });
		this.back = html("button", { type: "button", onclick: () => this.turn(-1) }, "Previous");
		this.forth = html("button", { type: "button", onclick: () => this.turn(1) }, "Next");
		this.root = html("section", { class: "positions" },
			html("div", { class: "pager" }, this.back, this.words, this.forth), this.boards);
		this.clear("");
	}

	/* For the address of the page. */
	values() {
		return this.wanted > 0 ? { page: this.wanted + 1 } : {};
	}

	show({ page }) {
		const number = Number(page ?? 1);
		this.linked = number > 1 && number <= PAGES_MOST ? Math.trunc(number) - 1 : 0;
		this.wanted = this.linked;
	}

	/* Something else is about to be listed. */
	reset() {
		this.wanted = 0;
	}

	clear(text) {
		this.cursors = [""];
		this.at = this.wanted = this.linked = 0;
		this.total = null;
		this.boards.replaceChildren();
		this.words.textContent = text;
		this.back.hidden = this.forth.hidden = true;
	}

	/* Starts again at the first page, or once at the one that a link names. */
	refresh() {
		this.cursors = [""];
		this.total = null;
		this.wanted = this.linked;
		this.linked = 0;
		return this.load(this.wanted);
	}

	turn(step) {
		this.wanted = this.at + step;
		this.turned();
		return this.load(this.wanted);
	}

	/* The place of a page that a link names is after those before it; if there are not so many, the
	 * first is shown. */
	async find(at) {
		const answer = await this.ask((signal) => this.list(PAGE * at, "", signal));
		if (!answer) {
			return undefined;
		}
		this.total = answer.total;
		this.cursors[at] = answer.next ?? undefined;
		this.wanted = answer.next === null ? 0 : at;
		return this.wanted;
	}

	async load(wanted) {
		this.root.setAttribute("aria-busy", "true");
		try {
			const at = this.cursors[wanted] === undefined ? await this.find(wanted) : wanted;
			const answer = at === undefined ? undefined
				: await this.ask((signal) => this.list(PAGE, this.cursors[at], signal));
			if (answer) {
				this.draw(at, answer);
			}
		} catch (error) {
			refuse(error, (text) => this.clear(text));
		} finally {
			this.root.removeAttribute("aria-busy");
		}
	}

	draw(at, { rows, next, total }) {
		this.at = at;
		this.total = total ?? this.total;
		this.cursors[at + 1] = next;
		this.boards.replaceChildren(...rows.map((row) => this.item(row)));
		this.back.hidden = this.forth.hidden = false;
		this.back.disabled = at === 0;
		this.forth.disabled = next === null;
		this.words.textContent = this.describe(rows.length);
	}

	describe(n) {
		if (n === 0) {
			return "No position fits.";
		}
		const first = this.at * PAGE + 1;
		const of = this.total === null ? "" : ` of ${count(this.total)}`;
		return `${count(first)}–${count(first + n - 1)}${of}`;
	}

	item(row) {
		const side = turnOf(row.fen) === "w" ? "White to move" : "Black to move";
		const value = row.chi2 === null ? "" : `statistic ${statisticText(this.statistic, row.chi2)}`;
		return html("li", {}, html("a", { href: `#fen=${toLink(row.fen)}`, title: row.fen,
			"aria-label": `${side}. ${resultWords(row)}. ${value}` },
		smallBoard(row.fen, side),
		html("span", { class: `turn ${turnOf(row.fen)}`, title: side }),
		html("span", { class: "number" }, `${count(row.games)} ${row.games === 1 ? "game" : "games"}`),
		html("span", { class: "number value" }, value)), resultBar(row));
	}
}
