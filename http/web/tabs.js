/* SPDX-License-Identifier: MIT */
/* The panels, one shown at a time, with tabs as the ARIA practices have them. */

export class Tabs {
	/* `list` holds buttons with data-panel; `changed(name)` is called when one is shown. */
	constructor(list, changed) {
		this.buttons = [...list.querySelectorAll("[role=tab]")];
		this.changed = changed;
		this.shown = "explorer";
		list.addEventListener("click", (event) => {
			const button = event.target.closest("[role=tab]");
			if (button) {
				this.show(button.dataset.panel);
			}
		});
		list.addEventListener("keydown", (event) => this.key(event));
	}

	show(name) {
		const known = this.buttons.some((button) => button.dataset.panel === name);
		const wanted = known ? name : "explorer";
		const same = wanted === this.shown;
		this.shown = wanted;
		for (const button of this.buttons) {
			const chosen = button.dataset.panel === wanted;
			button.setAttribute("aria-selected", chosen);
			button.tabIndex = chosen ? 0 : -1;
			document.getElementById(button.dataset.panel).hidden = !chosen;
		}
		if (!same) {
			this.changed(wanted);
		}
	}

	key(event) {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (!step) {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
		const at = this.buttons.findIndex((button) => button.dataset.panel === this.shown);
		const next = this.buttons[(at + step + this.buttons.length) % this.buttons.length];
		this.show(next.dataset.panel);
		next.focus();
	}
}
