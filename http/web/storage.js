/* SPDX-License-Identifier: MIT */
/*
 * What the browser keeps for the page. Where it is told to keep nothing, to ask is an error: then
 * the page remembers as long as it is open.
 */

function memory() {
	const kept = new Map();
	return { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text) };
}

function open(name) {
	try {
		return window[name];
	} catch {
		return memory();
	}
}

export const local = open("localStorage");
export const session = open("sessionStorage");
