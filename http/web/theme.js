/* SPDX-License-Identifier: MIT */
/* Light, dark, or as the system has it; the choice is kept in this browser. */
import { byId } from "./dom.js";
import { local } from "./storage.js";

const KEPT = "chistore.theme";
const ORDER = ["auto", "light", "dark"];
/* When dark.css holds; without scripts, as the system has it. */
const DARK = { auto: "(prefers-color-scheme: dark)", light: "not all", dark: "all" };
const WORDS = { auto: "as the system", light: "light", dark: "dark" };

function apply(theme) {
	byId("dark").media = DARK[theme];
	const button = byId("theme");
	button.title = `Colours: ${WORDS[theme]} (press to change)`;
	button.setAttribute("aria-label", button.title);
}

export function startTheme() {
	let theme = local.getItem(KEPT);
	theme = ORDER.includes(theme) ? theme : "auto";
	apply(theme);
	byId("theme").addEventListener("click", () => {
		theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
		local.setItem(KEPT, theme);
		apply(theme);
	});
}
