/* SPDX-License-Identifier: MIT */
/* A list of games with its true total, in pages that follow each other; each game opens by its link. */
import * as api from "./api.js";
import { smallBoard } from "./board.js";
import { count, html } from "./dom.js";
import { fillForm, valuesOf } from "./fields.js";
import { numberOf } from "./line.js";
import { refuse } from "./notice.js";

const PAGE = 20;
const ROWS_MOST = 1000; /* that a link may ask for */
const ORDERS = {
	strongest: ["rating", "1"], newest: ["date", "1"], oldest: ["date", ""],
	"as imported": ["number", ""],
};
const HEADINGS = [["White", ""], ["", "number elo"], ["Black", ""], ["", "number elo"],
	["Result", "result"], ["Year", "number"], ["ECO", "eco"], ["Played", ""]];

export class GameList {
	/*
	 * `list(limit, cursor, order, signal)` asks for a page; `changed(what)`: what the address says of
	 * the list has changed, as Link.update has it; `title`: which games it has; `boards`: each with
	 * the position that was found in it; `refused(error)`: in place of clearing the list.
	 */
	constructor(list, changed, { title = "Games", boards = false, refused } = {}) {
		Object.assign(this, { list, changed, boards });
		this.refused = refused ?? ((error) => refuse(error, (text) => this.clear(text)));
		this.wanted = PAGE;
		this.linked = PAGE;
		this.ask = api.latest();
		this.order = html("select", { name: "order", "aria-label": "Order of the games",
			onchange: () => {
				this.refresh();
				changed("new");
			} },
		...Object.keys(ORDERS).map((text) => html("option", {}, text)));
		this.form = html("form", {}, this.order);
		this.total = html("span", { class: "total" });
		this.rows = html("tbody");
		this.more = html("button", { type: "button", hidden: true, onclick: () => this.next() },
			"More games");
		this.empty = html("p", { class: "empty", hidden: true });
		this.root = html("section", { class: "game-list" },
			html("h3", {}, `${title} `, this.total, this.form),
			html("div", { class: "scroll" }, html("table", { class: "games" },
				html("caption", { class: "unseen" }, "Games"),
				html("thead", {}, html("tr", {}, boards ? html("th", { scope: "col" }, "Found") : null,
					...HEADINGS.map(([text, kind]) =>
						html("th", { scope: "col", class: kind }, text || "Elo")))), this.rows)),
			this.empty, this.more);
		/* Each is asked for when it is about to be seen, as it takes the whole game. */
		this.near = boards && new IntersectionObserver((entries) => {
			for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
				this.near.unobserve(target);
				drawFound(target);
			}
		}, { rootMargin: "200px" });
	}

	get ordered() {
		const [sort, descending] = ORDERS[this.order.value] ?? [this.order.value];
		return { sort, descending };
	}

	/* For the address of the page. */
	values() {
		return { ...valuesOf(this.form), ...this.wanted > PAGE && { rows: this.wanted } };
	}

	show(values) {
		const rows = Number(values.rows ?? PAGE);
		fillForm(this.form, values);
		this.linked = rows > PAGE && rows <= ROWS_MOST ? Math.trunc(rows) : PAGE;
		this.wanted = this.linked;
	}

	/* Something else is about to be listed. */
	reset() {
		this.wanted = PAGE;
	}

	async page(cursor, limit) {
		try {
			return await this.ask((signal) => this.list(limit, cursor, this.ordered, signal));
		} catch (error) {
			this.refused(error);
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

	/* The first rows, or once as many as a link names. */
	async refresh() {
		this.wanted = this.linked;
		this.linked = PAGE;
		const answer = await this.page("", this.wanted);
		if (answer) {
			this.clear(answer.games.length ? "" : silence(answer));
			this.add(answer);
		}
	}

	async next() {
		this.more.disabled = true;
		const answer = await this.page(this.cursor, PAGE);
		this.more.disabled = false;
		if (answer) {
			this.add(answer);
			this.wanted = Math.min(this.wanted + PAGE, ROWS_MOST);
			this.changed("step");
		}
	}

	add({ games, next, total }) {
		this.cursor = next;
		this.rows.append(...games.map((game) => this.row(game)));
		this.more.hidden = next === null;
		const shown = this.rows.childElementCount;
		this.total.textContent = total === null ? `${count(shown)} shown`
			: shown < total ? `${count(shown)} shown of ${count(total)}` : count(total);
	}

	row(game) {
		const made = row(game);
		if (this.boards) {
			const place = html("td", { class: "found" });
			made.prepend(place);
			if (game.ply !== null) {
				Object.assign(place.dataset, { game: game.game, ply: game.ply });
				this.near.observe(place);
			}
		}
		return made;
	}
}

/* The board at the moment found, and the move played there in the row's last cell. */
async function drawFound(place) {
	const ply = Number(place.dataset.ply);
	try {
		const { start, moves } = await api.game(place.dataset.game);
		const fen = ply > 0 ? moves[ply - 1].fen : start;
		const move = moves[ply] ? `${numberOf(start, ply)} ${moves[ply].san}` : "the end";
		place.append(smallBoard(fen, `The position before ${move}`));
		place.parentElement.lastChild.textContent = move;
	} catch (error) {
		refuse(error, (text) => {
			place.title = text;
		});
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
	/* A press anywhere opens the game, but not where text was marked to be copied. */
	const open = (event) => event.target.closest("a") || !getSelection().isCollapsed || link.click();
	return html("tr", { onclick: open },
		html("td", { class: "player" }, link),
		html("td", { class: "number elo" }, game.white_elo ?? ""),
		html("td", { class: "player", title: game.black ?? "" }, game.black ?? "?"),
		html("td", { class: "number elo" }, game.black_elo ?? ""),
		html("td", { class: "result" }, resultText(game.result)),
		html("td", { class: "number" }, (game.date ?? "").slice(0, 4).replace("????", "")),
		html("td", { class: "eco" }, game.eco ?? ""),
		html("td", {}, game.move ?? ""));
}
