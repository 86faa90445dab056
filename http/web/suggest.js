/* SPDX-License-Identifier: MIT */
/*
 * A text field that offers as one types: a list with arrow keys, Enter and Escape as the ARIA
 * practices have it. What it offers, and for which part of the text, a source says.
 */
import * as api from "./api.js";
import { afterPause, count, html } from "./dom.js";
import { fitting, quoted, standing } from "./language.js";
import { say } from "./notice.js";

const OFFERED = 8;
let made = 0;

async function namesLike(kind, q, signal) {
	const { names } = q.length < 2 ? { names: [] } : await api.names({ kind, q, limit: OFFERED }, signal);
	return names.map(({ name, games }) => [name, count(games)]);
}

/* A source of names of the store for a field that is one: kind is player, event, ... */
export function namesOf(kind) {
	return async ({ value }, asked, signal) => {
		const offers = await namesLike(kind, value.trim(), signal);
		return { from: 0, to: value.length, offers: offers.map(([name, note]) => [name, note, name]) };
	};
}

/* A source of the words of filters, and of names in them; without a letter only if one asks. */
export async function wordsOf({ value, selectionStart }, asked, signal) {
	const place = standing(value, selectionStart);
	const { from, to, typed, names } = place;
	const words = typed || asked || place.words.length < OFFERED ? fitting(place) : [];
	const offers = names ? await namesLike(names, typed.trim(), signal) : words;
	return { from, to, offers: offers.map(([word, note]) => [word, note,
		quoted(word).replace(/^"([()])"$/, "$1") + (value[to] === " " ? "" : " ")]) };
}

export class Suggest {
	/*
	 * `source(input, asked, signal)`: {from, to, offers}, where an offer is [what is shown, what is
	 * beside it, what is put from `from` to `to`]; `chosen()` is called when one is taken.
	 */
	constructor(input, source, chosen) {
		Object.assign(this, { input, source, chosen, active: -1, offers: [] });
		this.ask = api.latest();
		this.id = `names-${++made}`;
		this.list = html("ul", { id: this.id, role: "listbox", class: "suggestions", hidden: true,
			"aria-label": "Suggestions" });
		input.after(this.list);
		/* A field of several lines stays a text box, for which readers are told of the list. */
		this.combobox = input.tagName === "INPUT";
		const roles = { autocomplete: "off", "aria-controls": this.id, "aria-autocomplete": "list",
			...this.combobox && { role: "combobox", "aria-expanded": "false" } };
		Object.entries(roles).forEach(([name, value]) => input.setAttribute(name, value));
		this.asked = false; /* by a key, since the text was last changed */
		input.addEventListener("input", () => {
			this.asked = false;
		});
		input.addEventListener("input", afterPause(() => this.look(), 120));
		input.addEventListener("keydown", (event) => this.key(event));
		input.addEventListener("blur", () => this.close());
	}

	async look() {
		if (document.activeElement !== this.input) {
			this.close();
			return;
		}
		let answer;
		try {
			answer = await this.ask((signal) => this.source(this.input, this.asked, signal));
		} catch {
			answer = { offers: [] }; /* a field without suggestions is still a field */
		}
		if (answer) {
			this.offer(answer);
		}
	}

	offer({ from, to, offers }) {
		Object.assign(this, { from, to, offers });
		this.active = -1;
		const only = offers.length === 1 && offers[0][0] === this.input.value.slice(from, to);
		if (offers.length === 0 || only) {
			this.close();
			return;
		}
		this.list.replaceChildren(...offers.map(([shown, note], index) =>
			html("li", { role: "option", id: `${this.id}-${index}`,
				/* before the field loses its focus */
				onpointerdown: (event) => {
					event.preventDefault();
					this.take(index);
				} },
			html("span", {}, shown), html("span", { class: "number" }, note))));
		this.open(true);
	}

	open(is) {
		this.list.hidden = !is;
		if (this.combobox) {
			this.input.setAttribute("aria-expanded", is);
		} else if (is) {
			say(`${this.offers.length} suggestions`);
		}
	}

	close() {
		this.open(false);
		this.input.removeAttribute("aria-activedescendant");
	}

	take(index) {
		this.input.setRangeText(this.offers[index][2], this.from, this.to, "end");
		this.close();
		this.chosen();
	}

	mark(index) {
		this.active = (index + this.offers.length) % this.offers.length;
		[...this.list.children].forEach((item, i) =>
			item.setAttribute("aria-selected", i === this.active));
		this.list.children[this.active].scrollIntoView({ block: "nearest" });
		this.input.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
	}

	key(event) {
		const asks = event.ctrlKey && event.key === " " || event.altKey && event.key === "ArrowDown";
		if (this.list.hidden && !asks) {
			return;
		}
		if (asks) {
			this.asked = true;
			this.look();
		} else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
			this.mark(this.active + (event.key === "ArrowDown" ? 1 : -1));
		} else if (event.key === "Enter" && this.active >= 0) {
			this.take(this.active);
		} else if (event.key === "Escape") {
			this.close();
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}
}
