/* SPDX-License-Identifier: MIT */
/* A list of games with its true total, in pages that follow each other; each game opens by its link. */
import * as api from "./api.js";
import { count, html } from "./dom.js";
import { fillForm, valuesOf } from "./fields.js";
import { refuse } from "./notice.js";

const PAGE = 20;
const ORDERS = {
	strongest: ["rating", "1"], newest: ["date", "1"], oldest: ["date", ""],
	"as imported": ["number", ""],
};
const HEADINGS = [["White", ""], ["", "number elo"], ["Black", ""], ["", "number elo"],
	["Result", "result"], ["Year", "number"], ["ECO", "eco"], ["Played", ""]];

export class GameList {
	/* `list(limit, cursor, order, signal)` asks for a page; `changed()`: another order was chosen. */
	constructor(list, changed) {
		this.list = list;
		this.ask = api.latest();
		this.order = html("select", { name: "order", "aria-label": "Order of the games",
			onchange: () => {
				this.refresh();
				changed();
			} },
		...Object.keys(ORDERS).map((text) => html("option", {}, text)));
		this.form = html("form", {}, this.order);
		this.total = html("span", { class: "total" });
		this.rows = html("tbody");
		this.more = html("button", { type: "button", hidden: true, onclick: () => this.next() },
			"More games");
		this.empty = html("p", { class: "empty", hidden: true });
		this.root = html("section", { class: "game-list" },
			html("h3", {}, "Games ", this.total, this.form),
			html("div", { class: "scroll" }, html("table", { class: "games" },
				html("caption", { class: "unseen" }, "Games"),
				html("thead", {}, html("tr", {}, ...HEADINGS.map(([text, kind]) =>
					html("th", { scope: "col", class: kind }, text || "Elo")))), this.rows)),
			this.empty, this.more);
	}

	get ordered() {
		const [sort, descending] = ORDERS[this.order.value] ?? [this.order.value];
		return { sort, descending };
	}

	/* For the address of the page. */
	values() {
		return valuesOf(this.form);
	}

	show(values) {
		fillForm(this.form, values);
	}

	async page(cursor) {
		try {
			return await this.ask((signal) => this.list(PAGE, cursor, this.ordered, signal));
		} catch (error) {
			refuse(error, (text) => this.clear(text));
			return undefined;
		}
	}

	clear(text) {
		this.rows.replaceChildren();
		this.total.textContent = "";
		this.more.hidden = true;
		this.empty.textContent = text;
		this.empty.hidden = text === "";
	}

	async refresh() {
		const answer = await this.page("");
		if (answer) {
			this.clear(answer.games.length ? "" : silence(answer));
			this.add(answer);
		}
	}

	async next() {
		this.more.disabled = true;
		const answer = await this.page(this.cursor);
		this.more.disabled = false;
		if (answer) {
			this.add(answer);
		}
	}

	add({ games, next, total }) {
		this.cursor = next;
		this.rows.append(...games.map(row));
		this.more.hidden = next === null;
		const shown = this.rows.childElementCount;
		this.total.textContent = total === null ? `${count(shown)} shown`
			: shown < total ? `${count(shown)} of ${count(total)}` : count(total);
	}
}

function silence({ unknown = [] }) {
	return unknown.length ? `The store knows no “${unknown.join("”, “")}”.` : "No game fits.";
}

export function resultText(result) {
	return result === "1/2-1/2" ? "½–½" : result.replace("-", "–");
}

function row(game) {
	const address = `#game=${game.game}&ply=${game.ply ?? 0}`;
	const names = `${game.white ?? "?"} – ${game.black ?? "?"}`;
	const link = html("a", { href: address, "aria-label": names }, game.white ?? "?");
	return html("tr", { onclick: (event) => event.target.closest("a") || link.click() },
		html("td", {}, link),
		html("td", { class: "number elo" }, game.white_elo ?? ""),
		html("td", {}, game.black ?? "?"),
		html("td", { class: "number elo" }, game.black_elo ?? ""),
		html("td", { class: "result" }, resultText(game.result)),
		html("td", { class: "number" }, (game.date ?? "").slice(0, 4).replace("????", "")),
		html("td", { class: "eco" }, game.eco ?? ""),
		html("td", {}, game.move ?? ""));
}
