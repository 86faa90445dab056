/* SPDX-License-Identifier: MIT */
/*
 * Search in the language of filters: a text with its words offered and its error marked, and the
 * games that fit, each with the board at the moment that was found. All that is asked for is in the
 * text, and the text is in the address; the filters of the other panels do not count here.
 */
import * as api from "./api.js";
import { afterPause, html } from "./dom.js";
import { GameList } from "./gamelist.js";
import { EXAMPLES, faultIn } from "./language.js";
import { refuse } from "./notice.js";
import { Suggest, wordsOf } from "./suggest.js";

const SLOW = 1000; /* milliseconds, after which one is told */
const TIMED_OUT = 504;

export class Search {
	constructor(host, app) {
		this.app = app;
		this.searches = 0;
		this.build(host);
		this.again = afterPause(() => this.search(), 250);
		new Suggest(this.text, wordsOf, () => this.changed());
		this.form.addEventListener("input", () => this.changed());
		this.form.addEventListener("submit", (event) => event.preventDefault());
		this.form.addEventListener("keydown", (event) => {
			if (event.key === "Enter" && event.target === this.text) {
				event.preventDefault();
				this.search();
			}
		});
	}

	/* What the address of the page says of this panel. */
	values() {
		return { search: this.asked, ...this.games.values() };
	}

	show(values) {
		this.text.value = values.search ?? "";
		this.games.show(values);
		this.mark();
	}

	refresh() {
		this.search();
	}

	build(host) {
		this.text = html("textarea", { name: "search", rows: 2, spellcheck: "false", maxlength: 4096,
			"aria-describedby": "search-wrong", placeholder: "played Bxph7+ next played kxh7" });
		/* Under the field, with the same letters in the same places. */
		this.shadow = html("span", { class: "shadow", "aria-hidden": "true" });
		this.wrong = html("p", { class: "wrong", id: "search-wrong", role: "status" });
		this.form = html("form", { class: "fields search", "aria-label": "Search" },
			html("label", { class: "long" }, "Games in which",
				html("span", { class: "marked" }, this.shadow, this.text)), this.wrong);
		this.slow = html("p", { class: "hint", role: "status" });
		this.stop = html("button", { type: "button", hidden: true, onclick: () => this.end() }, "Stop");
		this.games = new GameList((...page) => this.list(...page),
			(what) => this.app.link.update(what), { boards: true, refused: (error) => this.refused(error) });
		this.games.root.hidden = true;
		this.examples = html("details", { open: true }, html("summary", {}, "Examples"),
			html("ul", { class: "examples" }, ...EXAMPLES.map(([text, says]) => html("li", {},
				html("a", { href: `#tab=search&search=${encodeURIComponent(text)}` }, says),
				html("code", {}, text)))));
		host.append(html("h2", {}, "Search by what happened"), html("p", { class: "hint" },
			"Words are offered as you type, or with Ctrl+Space; arrow keys and Enter choose. “and” begins another ",
			"moment, “next” and “then” lead to a later one."), this.form, this.examples,
		html("div", { class: "actions" }, this.slow, this.stop), this.games.root);
	}

	get asked() {
		return this.text.value.trim();
	}

	/* Searches when one pauses. */
	changed() {
		this.mark();
		this.games.reset();
		this.app.link.update("search");
		this.again();
	}

	/* Marks the place of an error in the text, and says why below. */
	mark(fault) {
		const { value } = this.text;
		this.wrong.textContent = fault?.why ?? "";
		this.text.setAttribute("aria-invalid", Boolean(fault));
		/* At the end of the text there is no word to mark. */
		this.shadow.replaceChildren(value.slice(0, fault?.from), ...fault
			? [html("mark", {}, value.slice(fault.from, fault.to) || "\u00a0"), value.slice(fault.to)] : [], "\u200b");
	}

	/* An error leaves the games that were found before. */
	refused(error) {
		const fault = faultIn(this.sent, error.message);
		if (fault && this.sent === this.text.value) {
			this.mark(fault);
		} else if (!fault) {
			refuse(error, (text) => {
				this.wrong.textContent = text;
			});
		}
	}

	/* Ends a search that takes too long; the games that were found before stay. */
	end() {
		this.games.ask(() => undefined);
		this.settle(++this.searches, "Stopped.");
	}

	settle(search, text) {
		if (search === this.searches) {
			clearTimeout(this.timer);
			this.stop.hidden = true;
			this.slow.textContent = text;
		}
	}

	async search() {
		const mine = ++this.searches;
		this.examples.open = !this.asked;
		if (!this.asked) {
			this.games.ask(() => undefined);
			this.games.root.hidden = true;
			this.settle(mine, "");
			return;
		}
		this.sent = this.text.value;
		this.cut = false;
		clearTimeout(this.timer);
		this.timer = setTimeout(() => {
			this.slow.textContent = "Still searching …";
			this.stop.hidden = false;
		}, SLOW);
		await this.games.refresh();
		this.settle(mine, this.cut ? "The search was cut off, as it takes longer than this server allows: " +
			"these are the first games that fit, as imported." : "");
	}

	/* Where all that fit take too long to be found, the first ones may not. */
	async list(limit, cursor, order, signal) {
		const asked = { filter: this.sent, limit, cursor };
		if (!this.cut) {
			try {
				return this.found(await api.games({ ...asked, ...order }, signal));
			} catch (error) {
				if (error.status !== TIMED_OUT || cursor !== "") {
					throw error;
				}
			}
		}
		const answer = await api.games({ ...asked, sort: "number", total: "0" }, signal);
		this.cut = true;
		return this.found(answer);
	}

	found(answer) {
		this.mark();
		this.games.root.hidden = false;
		return answer;
	}
}
