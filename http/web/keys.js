/* SPDX-License-Identifier: MIT */
/* The keyboard: one table of keys, which the help dialog shows and the page obeys. */
import { byId, html } from "./dom.js";

/* Keys that mean themselves in a field, a list or a dialog are left to it. */
function belongsElsewhere(event) {
	return event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]") ||
		event.target.closest("input, select, textarea") !== null;
}

/* Digits begin a move list: alone they are typed, with Shift they may be a key of the table. */
function nameOf(event) {
	const digit = event.shiftKey && event.code?.match(/^Digit(\d)$/);
	return digit ? `Shift+${digit[1]}` : event.key;
}

/* "1. e4", "Nf3", "O-O" begin with one of these. */
const BEGINS_MOVE = /^[1-9a-eghKQRBNO]$/;

const SHOWN = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

/*
 * `table`: [keys, what they do, action]. What else could begin a move is typed into `field`, wherever the
 * focus was.
 */
export function startKeys(table, field) {
	const actions = new Map(table.flatMap(([keys, , action]) => keys.map((key) => [key, action])));
	document.addEventListener("keydown", (event) => {
		if (belongsElsewhere(event)) {
			return;
		}
		const action = actions.get(nameOf(event));
		if (action) {
			event.preventDefault();
			action();
		} else if (BEGINS_MOVE.test(event.key)) {
			field.focus();
		}
	});
	byId("help-keys").append(...table.flatMap(([keys, text]) => [
		html("dt", {}, ...keys.map((key) => html("kbd", {}, SHOWN[key] ?? key))),
		html("dd", {}, text)]));
}
