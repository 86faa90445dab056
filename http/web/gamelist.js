/* SPDX-License-Identifier: MIT */
/* A list of games with its true total, in pages that follow each other; each game opens by its link. */
import * as api from "./api.js";
import { count, html } from "./dom.js";
import { sentence } from "./notice.js";

const PAGE = 20;
const ORDERS = [
	["rating", "1", "strongest"], ["date", "1", "newest"], ["date", "", "oldest"],
	["number", "", "as imported"],
];
const HEADINGS = [["White", ""], ["", "number elo"], ["Black", ""], ["", "number elo"],
	["Result", "result"], ["Year", "number"], ["ECO", "eco"], ["Played", ""]];

export class GameList {
	/* `list(limit, cursor, order, signal)` asks for a page. */
	constructor(list) {
		this.list = list;
		this.ask = api.latest();
		this.order = html("select", { "aria-label": "Order of the games",
			onchange: () => this.refresh() },
		...ORDERS.map(([, , text], index) => html("option", { value: index }, text)));
		this.total = html("span", { class: "total" });
		this.rows = html("tbody");
		this.more = html("button", { type: "button", hidden: true, onclick: () => this.next() },
			"More games");
		this.empty = html("p", { class: "empty", hidden: true });
		this.root = html("section", { class: "game-list" },
			html("h3", {}, "Games ", this.total, this.order),
			html("div", { class: "scroll" }, html("table", { class: "games" },
				html("caption", { class: "unseen" }, "Games"),
				html("thead", {}, html("tr", {}, ...HEADINGS.map(([text, kind]) =>
					html("th", { scope: "col", class: kind }, text || "Elo")))), this.rows)),
			this.empty, this.more);
	}

	get ordered() {
		const [sort, descending] = ORDERS[this.order.value];
		return { sort, descending };
	}

	async page(cursor) {
		try {
			return await this.ask((signal) => this.list(PAGE, cursor, this.ordered, signal));
		} catch (error) {
			this.fail(error);
			return undefined;
		}
	}

	fail(error) {
		this.clear(sentence(error.message));
		if (error.name !== "Refusal") {
			throw error;
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
	return html("tr", { onclick: (event) => event.target.closest("a") || location.assign(address) },
		html("td", {}, html("a", { href: address, "aria-label": names }, game.white ?? "?")),
		html("td", { class: "number elo" }, game.white_elo ?? ""),
		html("td", {}, game.black ?? "?"),
		html("td", { class: "number elo" }, game.black_elo ?? ""),
		html("td", { class: "result" }, resultText(game.result)),
		html("td", { class: "number" }, (game.date ?? "").slice(0, 4).replace("????", "")),
		html("td", { class: "eco" }, game.eco ?? ""),
		html("td", {}, game.move ?? ""));
}
