/* SPDX-License-Identifier: MIT */
/*
 * Pattern search: one puts on a board what must be there, what must not, and what must be empty, and
 * gets the positions that fit, or the games in which one of them occurred.
 */
import * as api from "./api.js";
import { afterPause, html } from "./dom.js";
import { piecesOf, squareName, squareOf } from "./fen.js";
import { fillForm, valuesOf } from "./fields.js";
import { Editor } from "./editor.js";
import { GameList } from "./gamelist.js";
import { PositionPages } from "./positions.js";

function check(name, text, title) {
	return html("label", { class: "check", title }, html("input", { type: "checkbox", name }), text);
}

function text(name, shown, placeholder, title) {
	return html("label", { title }, shown, html("input", { name, placeholder, autocomplete: "off" }));
}

function form() {
	return html("form", { class: "fields", "aria-label": "Pattern" },
		html("label", { class: "long" }, "Squares", html("input", { name: "has", autocomplete: "off",
			spellcheck: "false", placeholder: "Nd5 kg8 .e6 !Pc4" })),
		text("material", "Material", "KRP*vKRP*", "just these pieces; * is any number"),
		text("endgame", "Endgame", "rook endings", "a family of endgames"),
		html("label", {}, "To move", html("select", { name: "to-move" },
			...[["", "either"], ["white", "White"], ["black", "Black"]].map(([value, shown]) =>
				html("option", { value }, shown)))),
		check("mirror", "mirrored too", "also with the files a to h exchanged"),
		check("either-colour", "colours exchanged too", "also the same for the other side"));
}

export class Pattern {
	constructor(host, app) {
		this.app = app;
		this.shown = "positions";
		this.undrawn = []; /* conditions that the board has no picture for */
		this.form = form();
		this.fields = this.form.elements;
		this.build(host);
		this.again = afterPause(() => this.search(), 250);
		this.form.addEventListener("submit", (event) => event.preventDefault());
		this.form.addEventListener("input", ({ target: { name } }) => {
			if (name === "has") {
				this.draw();
			}
			this.changed(`pattern ${name}`);
		});
	}

	/* What the address of the page says of this panel. */
	values() {
		return { ...valuesOf(this.form), ...this.shown === "games"
			? { show: "games", ...this.games.values() } : this.pages.values() };
	}

	show(values) {
		fillForm(this.form, values);
		this.games.show(values);
		this.pages.show(values);
		this.draw();
		this.choose(values.show === "games" ? "games" : "positions");
	}

	build(host) {
		const place = html("div", { class: "pattern-board" });
		this.editor = new Editor(place, { patterns: true, changed: () => this.drawn() });
		this.pages = new PositionPages((...page) => this.positions(...page),
			() => this.app.link.update("new"), this.app.info.statistic);
		this.games = new GameList((limit, cursor, order, signal) => api.games({ ...this.query(),
			...this.app.filters.query(), ...order, limit, cursor }, signal),
		(what) => this.app.link.update(what));
		this.kinds = ["positions", "games"].map((kind) => html("button", { type: "button",
			role: "radio", "aria-checked": kind === this.shown, "data-kind": kind,
			onclick: () => {
				this.choose(kind);
				this.search();
				this.app.link.update("new");
			} }, kind === "games" ? "Games" : "Positions"));
		this.games.root.hidden = true;
		const actions = html("div", { class: "actions" },
			html("button", { type: "button", onclick: () => this.clear() }, "Clear"),
			html("button", { type: "button", onclick: () => this.fromBoard() }, "From the board"),
			html("div", { class: "choice", role: "radiogroup", "aria-label": "Show" }, ...this.kinds));
		this.results = html("div", { class: "pattern-results" },
			this.pages.root, this.games.root);
		host.append(html("h2", {}, "Search by what is on the board"),
			html("div", { class: "pattern" }, place, html("div", {}, html("p", { class: "hint" },
				"Choose a piece and press squares. The same again removes it; “not this” denies it."),
			this.form, actions)), this.results);
	}

	refresh() {
		this.search();
	}

	choose(kind) {
		this.shown = kind;
		this.kinds.forEach((button) =>
			button.setAttribute("aria-checked", button.dataset.kind === kind));
		this.pages.root.hidden = kind !== "positions";
		this.games.root.hidden = kind !== "games";
	}

	clear() {
		this.undrawn = [];
		this.editor.clear();
	}

	fromBoard() {
		this.undrawn = [];
		this.editor.setPieces(piecesOf(this.app.line.fen));
	}

	/* Writes what is drawn into the field: "Nd5 kg8 .e6 !Pc4", and what cannot be drawn after it. */
	drawn() {
		const squares = this.editor.squares.flatMap((held, square) =>
			held ? [(held.not ? "!" : "") + held.brush + squareName(square)] : []);
		this.fields.has.value = [...squares, ...this.undrawn].join(" ");
		this.changed("pattern has");
	}

	/* Searches when one pauses. */
	changed(what) {
		this.pages.reset();
		this.games.reset();
		this.app.link.update(what);
		this.again();
	}

	/* Draws what is written, as far as a board can show it. */
	draw() {
		const squares = new Array(64).fill(null);
		this.undrawn = this.fields.has.value.split(/\s+/).filter((word) => {
			const [, not, brush, name] = /^(!?)([KQRBNPAkqrbnpa.])([a-h][1-8])$/.exec(word) ?? [];
			const known = name !== undefined && squares[squareOf(name)] === null;
			if (known) {
				squares[squareOf(name)] = { brush, not: not !== "" };
			}
			return !known && word !== "";
		});
		this.editor.setSquares(squares);
	}

	query() {
		return valuesOf(this.form);
	}

	get asked() {
		const { has, material, endgame } = this.query();
		return Boolean(has || material || endgame);
	}

	search() {
		this.results.hidden = !this.asked;
		if (this.asked) {
			(this.shown === "games" ? this.games : this.pages).refresh();
		}
	}

	async positions(limit, cursor, signal) {
		const { positions, next, total } = await api.find({ ...this.query(),
			...this.app.filters.query(), limit, cursor, total: cursor === "" ? "1" : "" }, signal);
		return { rows: positions, next, total };
	}
}
