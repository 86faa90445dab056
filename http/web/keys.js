/* SPDX-License-Identifier: MIT */
/* The keyboard: one table of keys, which the help dialog shows and the page obeys. */
import { byId, html } from "./dom.js";

/* Keys that mean themselves in a field, a list or a dialog are left to it. */
function belongsElsewhere(event) {
	return event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]") ||
		event.target.closest("input, select, textarea") !== null;
}

const SHOWN = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

/* `table`: [keys, what they do, action]. */
export function startKeys(table) {
	const actions = new Map(table.flatMap(([keys, , action]) => keys.map((key) => [key, action])));
	document.addEventListener("keydown", (event) => {
		const action = actions.get(event.key);
		if (action && !belongsElsewhere(event)) {
			event.preventDefault();
			action();
		}
	});
	byId("help-keys").append(...table.flatMap(([keys, text]) => [
		html("dt", {}, ...keys.map((key) => html("kbd", {}, SHOWN[key] ?? key))),
		html("dd", {}, text)]));
}
