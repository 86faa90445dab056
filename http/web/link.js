/* SPDX-License-Identifier: MIT */
/*
 * The address of the page names what it shows, so that it can be sent to someone:
 * #fen=...&play=e2e4,c7c5&tab=bands, or #game=17&ply=20.
 */
import * as api from "./api.js";
import { START, fromLink, toLink } from "./fen.js";

function read() {
	return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/* Slashes, commas and colons need no escape after a '#', and links are read by people. */
function write(parts) {
	const text = Object.entries(parts).filter(([, value]) => value !== "" && value !== undefined)
		.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
	return "#" + text.replace(/%2F/g, "/").replace(/%2C/g, ",");
}

function partsOf(line, tab) {
	if (line.game) {
		return { game: line.game.game, ply: line.at, tab };
	}
	return {
		fen: line.start === START ? "" : toLink(line.start),
		play: line.moves.slice(0, line.at).map((move) => move.uci).join(","),
		tab,
	};
}

export class Link {
	/* `panels` has a name for the tab shown and a function show(name). */
	constructor(line, panels) {
		this.line = line;
		this.panels = panels;
		this.loading = false;
		addEventListener("hashchange", () => {
			scrollTo(0, 0);
			this.load();
		});
	}

	get tab() {
		return this.panels.shown === "explorer" ? "" : this.panels.shown;
	}

	/* Makes the address say what is shown; only a new line is a step that "back" undoes. */
	update(what) {
		const hash = write(partsOf(this.line, this.tab));
		if (hash === location.hash || hash === "#" && location.hash === "") {
			return;
		}
		if (what === "line" && this.line.game && !this.loading) {
			history.pushState(null, "", hash);
		} else {
			history.replaceState(null, "", hash);
		}
	}

	/* Shows what the address names. Errors are for the caller to tell. */
	async load() {
		const { game, ply, fen, play, tab } = read();
		this.loading = true;
		this.panels.show(tab || "explorer");
		try {
			if (game) {
				await this.openGame(game, Number(ply) || 0);
			} else {
				await this.openLine(fen ? fromLink(fen) : START, play);
			}
		} catch (error) {
			this.panels.tell(error);
			this.line.set(START);
		}
		this.loading = false;
	}

	async openGame(number, ply = 0) {
		const game = await api.game(number);
		this.line.set(game.start, game.moves, ply, game);
	}

	async openLine(fen, play) {
		if (play) {
			const { start, moves } = await api.readMoves(play.replaceAll(",", " "), fen);
			this.line.set(start, moves);
		} else {
			this.line.set((await api.position(fen)).fen);
		}
	}
}
