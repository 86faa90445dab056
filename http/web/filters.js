/* SPDX-License-Identifier: MIT */
/*
 * What is asked of games: a form whose fields apply as one types, and the query parameters that
 * they mean. The explorer, the pattern search and the statistics all use it.
 */
import * as api from "./api.js";
import { afterPause, byId, html, separated } from "./dom.js";
import { fillForm, valuesOf } from "./fields.js";
import { Suggest, namesOf, wordsOf } from "./suggest.js";

const RESULTS = [["white-wins", "1-0"], ["drawn", "1/2-1/2"], ["black-wins", "0-1"]];

/* "2600..2700", "2600..", "..2700", or nothing. */
function range(from, to) {
	return from || to ? `${from}..${to}` : "";
}

/* What is typed of a date counts once it is a year at least: "2015-" is 2015, "20" nothing yet. */
function date(text) {
	return /^\d{0,3}$/.test(text) ? "" : text.replace(/^(\d{4}|\d{4}-\d\d)-\d?$/, "$1");
}

export class Filters {
	constructor(form) {
		this.form = form;
		this.fields = form.elements;
		this.listeners = [];
		const changed = afterPause((event) => this.tell(event.target.name));
		form.addEventListener("input", () => this.summarise());
		form.addEventListener("input", changed);
		form.addEventListener("submit", (event) => event.preventDefault());
		form.addEventListener("reset", () => setTimeout(() => this.tell("clear")));
		for (const [name, kind] of [["player", "player"], ["opponent", "player"], ["event", "event"]]) {
			new Suggest(this.fields[name], namesOf(kind), () => this.tell(name));
		}
		new Suggest(this.fields.filter, wordsOf, () => this.tell("filter"));
		this.summarise();
	}

	/* `listener(what)`: the name of the field that was changed. */
	listen(listener) {
		this.listeners.push(listener);
	}

	tell(what) {
		this.summarise();
		const now = JSON.stringify(this.query());
		if (now === this.told) {
			return;
		}
		this.told = now;
		for (const listener of this.listeners) {
			listener(what);
		}
	}

	/* For the address of the page. */
	values() {
		return valuesOf(this.form);
	}

	/* Some more fields are asked for, as by a press on a chart. */
	add(values) {
		fillForm(this.form, { ...this.values(), ...values });
		this.tell("chart");
	}

	/* Changes the form without telling. */
	show(values) {
		fillForm(this.form, values);
		this.told = JSON.stringify(this.query());
		this.summarise();
	}

	value(name) {
		return this.fields[name].value.trim();
	}

	/* The results asked for; none if all or none are ticked, as both mean any. */
	results() {
		const ticked = RESULTS.filter(([name]) => this.fields[name].checked);
		return ticked.length === RESULTS.length ? "" : ticked.map(([, text]) => text).join(",");
	}

	/* The query parameters, those without a value left out. */
	query() {
		const player = this.value("player"), colour = this.value("colour");
		const parameters = {
			player, opponent: this.value("opponent"), event: this.value("event"),
			since: date(this.value("since")), until: date(this.value("until")),
			[this.value("rated")]: range(this.value("rating-from"), this.value("rating-to")),
			eco: this.value("eco").replace(/([^.])\.$/, "$1"), result: this.results(), in: this.value("in"),
			filter: this.value("filter"),
		};
		if (player && colour) {
			parameters[colour] = "1";
		}
		return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ""));
	}

	get active() {
		return Object.keys(this.query()).length > 0;
	}

	/* What is asked for in a few words, beside the heading. */
	summarise() {
		const { white, black, ...asked } = this.query();
		const words = Object.values(asked);
		if (white || black) {
			words.splice(1, 0, white ? "White" : "Black");
		}
		byId("filters-summary").replaceChildren(
			...words.length ? separated(words, " · ") : ["all games"]);
		byId("filters-clear").hidden = words.length === 0;
	}

	async loadGamesets() {
		const { gamesets } = await api.gamesets();
		this.fields.in.append(...gamesets.map(({ name, games, filter }) =>
			html("option", { value: name, title: filter }, `${name} (${games})`)));
		this.fields.in.closest("label").hidden = gamesets.length === 0;
	}
}
