/* SPDX-License-Identifier: MIT */
/*
 * A text field that offers names of the store as one types: a combobox as the ARIA practices have
 * it, with arrow keys, Enter and Escape.
 */
import * as api from "./api.js";
import { afterPause, count, html } from "./dom.js";

const OFFERED = 8;
let made = 0;

export class Suggest {
	/* `kind`: player, event, ... `chosen()` is called when a name is taken from the list. */
	constructor(input, kind, chosen) {
		Object.assign(this, { input, kind, chosen, active: -1, names: [] });
		this.ask = api.latest();
		this.id = `names-${++made}`;
		this.list = html("ul", { id: this.id, role: "listbox", class: "suggestions", hidden: true });
		input.after(this.list);
		const roles = { role: "combobox", autocomplete: "off", "aria-expanded": "false",
			"aria-controls": this.id, "aria-autocomplete": "list" };
		Object.entries(roles).forEach(([name, value]) => input.setAttribute(name, value));
		input.addEventListener("input", afterPause(() => this.look(), 120));
		input.addEventListener("keydown", (event) => this.key(event));
		input.addEventListener("blur", () => this.close());
	}

	async look() {
		const q = this.input.value.trim();
		if (q.length < 2 || document.activeElement !== this.input) {
			this.close();
			return;
		}
		let answer;
		try {
			answer = await this.ask((signal) =>
				api.names({ kind: this.kind, q, limit: OFFERED }, signal));
		} catch {
			answer = { names: [] }; /* a field without suggestions is still a field */
		}
		if (answer) {
			this.offer(answer.names);
		}
	}

	offer(names) {
		this.names = names;
		this.active = -1;
		const only = names.length === 1 && names[0].name === this.input.value;
		if (names.length === 0 || only) {
			this.close();
			return;
		}
		this.list.replaceChildren(...names.map(({ name, games }, index) =>
			html("li", { role: "option", id: `${this.id}-${index}`,
				/* before the field loses its focus */
				onpointerdown: (event) => {
					event.preventDefault();
					this.take(index);
				} },
			html("span", {}, name), html("span", { class: "number" }, count(games)))));
		this.list.hidden = false;
		this.input.setAttribute("aria-expanded", "true");
	}

	close() {
		this.list.hidden = true;
		this.input.setAttribute("aria-expanded", "false");
		this.input.removeAttribute("aria-activedescendant");
	}

	take(index) {
		this.input.value = this.names[index].name;
		this.close();
		this.chosen();
	}

	mark(index) {
		this.active = (index + this.names.length) % this.names.length;
		[...this.list.children].forEach((item, i) =>
			item.setAttribute("aria-selected", i === this.active));
		this.input.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
	}

	key(event) {
		if (this.list.hidden) {
			return;
		}
		if (event.key === "ArrowDown" || event.key === "ArrowUp") {
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
