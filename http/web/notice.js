/* SPDX-License-Identifier: MIT */
/* Says in words what went wrong, or what was done, at the foot of the page; read out as well. */
import { byId, html } from "./dom.js";

const SECONDS = 8;
let timer = 0;

function show(text, kind) {
	const place = byId("notice");
	const close = html("button", { type: "button", class: "quiet", onclick: () => hide() }, "Close");
	place.className = kind;
	place.replaceChildren(html("span", {}, text), close);
	place.hidden = false;
	clearTimeout(timer);
	timer = setTimeout(hide, 1000 * SECONDS);
}

function hide() {
	byId("notice").hidden = true;
}

/* Gives the words of an error of the server or of the reader to `put`; other errors are the page's
 * own, and go on to be counted. */
export function refuse(error, put) {
	put(sentence(error.message));
	if (error.name !== "Refusal") {
		throw error;
	}
}

export function tell(error) {
	refuse(error, (text) => show(text, "wrong"));
}

export function done(text) {
	show(text, "done");
}

/* "no such player" -> "No such player."; where in a filter that the form made, helps no one. */
export function sentence(message) {
	const text = message.replace(/^filter, character \d+: /, "");
	const end = /[.!?]$/.test(text) ? "" : ".";
	return text.charAt(0).toUpperCase() + text.slice(1) + end;
}

/* Speaks to screen readers alone. */
export function say(text) {
	byId("spoken").textContent = text;
}
