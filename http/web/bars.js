/* SPDX-License-Identifier: MIT */
/* Results as a bar of three parts, and numbers as the tables have them. */
import { count, html } from "./dom.js";
import { turnOf } from "./fen.js";

const NUMBER_LEAST = 18; /* percent of the bar, for a number to have room */

/* No line ends before a percent sign. */
function shares(white, draws, black, total) {
	const percent = (part) => `${(100 * part / total).toFixed(1)}\u00a0%`;
	return `White ${percent(white)}, draws ${percent(draws)}, Black ${percent(black)}`;
}

/* White's wins, draws, Black's wins, as wide as their share, with the percents that have room. */
export function resultBar({ white, draws, black }) {
	const total = white + draws + black;
	if (total === 0) {
		return null;
	}
	const label = shares(white, draws, black, total);
	const parts = [["white", white], ["draws", draws], ["black", black]].map(([name, part]) => {
		const share = 100 * part / total;
		const place = html("i", { class: name },
			share >= NUMBER_LEAST ? `${Math.round(share)}%` : "");
		place.style.width = `${share}%`;
		return place;
	});
	return html("div", { class: "results", role: "img", "aria-label": label, title: label },
		...parts);
}

/* "+0.28", "#5", seen by White; an evaluation is the side to move's. */
export function evalText(evaluation, fen) {
	if (!evaluation) {
		return "–";
	}
	const sign = turnOf(fen) === "w" ? 1 : -1;
	if (evaluation.mate !== undefined && evaluation.mate !== null) {
		const mate = sign * evaluation.mate;
		return mate < 0 ? `−#${-mate}` : `#${mate}`;
	}
	const pawns = sign * evaluation.cp / 100;
	return (pawns < 0 ? "−" : "+") + Math.abs(pawns).toFixed(2);
}

export function fixed(number, digits) {
	return number === null || number === undefined ? "–" : number.toFixed(digits);
}

/* What the statistic "eval" has for no advantage, and the pawns beyond which it has mates. */
export const EVEN = 128;
const PAWNS_MOST = 126;

/* A value of the store's statistic: of evaluations pawns or moves to a mate, White's view. */
export function statisticText(kind, value) {
	if (kind !== "eval" || value === null || value === undefined) {
		return fixed(value, 2);
	}
	const pawns = value - EVEN;
	const sign = pawns < 0 ? "−" : "+";
	if (Math.abs(pawns) > PAWNS_MOST) {
		const moves = Math.round(100 * (pawns > 0 ? 255.99 - value : value - 0.01));
		return `${sign === "+" ? "" : sign}#${moves}`;
	}
	return sign + Math.abs(pawns).toFixed(2);
}

/* "17,358 games: White 35.1 %, draws 33.9 %, Black 31.1 %, 3 without a result": shares of those with one. */
export function resultWords({ games, white, draws, black }) {
	if (!games) {
		return "no game";
	}
	const total = white + draws + black, without = games - total;
	return `${count(games)} ${games === 1 ? "game" : "games"}: ${shares(white, draws, black, Math.max(1, total))}` +
		(without > 0 ? `, ${count(without)} without a result` : "");
}
