/* SPDX-License-Identifier: MIT */
/* The games of the store in groups, as charts: years, ratings, lengths, openings and players. */
import * as api from "./api.js";
import { fixed, resultWords } from "./bars.js";
import { bars, columns, responsive } from "./chart.js";
import { count, html } from "./dom.js";
import { Findings } from "./findings.js";
import { refuse } from "./notice.js";

/* `chosen`: the fields of the filters that mean a column or a bar. */
const CHARTS = [
	{ by: "year", title: "Games by year", columns: true,
		chosen: (from, to) => ({ since: from, until: to }) },
	{ by: "rating", title: "Games by average rating", columns: true, step: 100,
		chosen: (from, to) => ({ rated: "average", "rating-from": from, "rating-to": to + 99 }) },
	{ by: "length", title: "Games by length (moves)", columns: true, most: 120 },
	{ by: "eco", title: "Openings played most", limit: 15, chosen: (eco) => ({ eco }) },
	{ by: "player", title: "Players with most games", limit: 15, chosen: (player) => ({ player }) },
	{ by: "endgame", title: "Endgames (all positions)", limit: 12, store: true },
];
const LONGEST = 24;
const COLUMN_LEAST = 5; /* pixels, so that each has its edges */
const FEW = 0.005;	/* of all games: not worth half of an axis */

/* Of a player the parts are what he won, drew and lost. */
function parts({ white, draws, black, won = white, drawn = draws, lost = black, other = 0 }) {
	return [["white", won], ["draws", drawn], ["black", lost], ["plain", other]];
}

function words(row) {
	return row.won === undefined ? resultWords(row)
		: `${count(row.games)} ${row.games === 1 ? "game" : "games"}: won ${count(row.won)}, `
			+ `drawn ${count(row.drawn)}, lost ${count(row.lost)}`;
}

/* What the ratings of the games let expect. */
function ratedWords({ expected, performance }) {
	return expected === null || expected === undefined ? ""
		: `; ${fixed(expected, 1)} % expected by ratings, performance ${performance > 0 ? "+" : ""}${fixed(performance, 1)}`;
}

function shorten(text) {
	return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/* All rows in one. */
function together(rows, label) {
	const sum = { value: rows[0].value, last: rows.at(-1).value, label, games: 0, white: 0, draws: 0, black: 0, other: 0 };
	for (const row of rows) {
		for (const name of ["games", "white", "draws", "black", "other"]) {
			sum[name] += row[name] ?? 0;
		}
	}
	return sum;
}

/* As many values in one column as make it wide enough to be seen. */
function grouped(rows, most, step) {
	const size = step * [1, 2, 5, 10, 20, 50].find((n) => rows.length / n <= most);
	const groups = new Map();
	for (const row of rows) {
		const value = Math.floor(row.value / size) * size;
		groups.set(value, [...groups.get(value) ?? [], row]);
	}
	return [...groups].map(([value, some]) => ({ ...together(some), value, last: value + size - step }));
}

/*
 * Few games that would take half of the axis and more, one of the year 1001 say, share a column at its
 * end: [before, the rest, after].
 */
function withoutFar(rows) {
	const all = rows.reduce((sum, row) => sum + row.games, 0);
	let first = 0, last = rows.length - 1;
	for (let i = 1, few = 0; i < rows.length; i++) {
		few += rows[i - 1].games;
		first = few <= FEW * all && rows[i].value - rows[0].value > rows.at(-1).value - rows[i].value ? i : first;
	}
	for (let i = last - 1, few = 0; i >= first; i--) {
		few += rows[i + 1].games;
		last = few <= FEW * all && rows.at(-1).value - rows[i].value > rows[i].value - rows[first].value ? i : last;
	}
	return [rows.slice(0, first), rows.slice(first, last + 1), rows.slice(last + 1)];
}

/* Years without games between two with some are columns too, or the axis would lie. */
function withGaps(rows, step) {
	const filled = [];
	for (const row of rows) {
		const last = filled.at(-1);
		for (let value = last ? last.value + step : row.value; value < row.value; value += step) {
			filled.push({ value, games: 0, white: 0, draws: 0, black: 0 });
		}
		filled.push(row);
	}
	return filled;
}

class Chart {
	constructor(kind, app) {
		Object.assign(this, { kind, app });
		this.ask = api.latest();
		this.plot = html("div", { class: "plot" });
		this.words = html("p", { class: "hint" });
		this.root = html("section", { class: "statistic", "data-by": kind.by },
			html("h3", {}, kind.title), this.plot, this.words);
	}

	async refresh() {
		const { by, limit, store } = this.kind;
		const filter = store ? {} : this.app.filters.query();
		try {
			const answer = await this.ask((signal) => api.stats({ by, limit, ...filter }, signal));
			if (answer) {
				this.rows = answer.rows;
				this.show();
			}
		} catch (error) {
			refuse(error, (text) => {
				this.plot.replaceChildren();
				this.words.textContent = text;
			});
		}
	}

	show() {
		const unknown = this.rows.find((row) => row.value === null);
		this.words.textContent = this.rows.length === 0 ? "No game fits."
			: unknown && this.kind.columns ? `Not known: ${count(unknown.games)}.` : "";
		responsive(this.plot, (width) => this.draw(width));
	}

	draw(width) {
		const drawn = this.kind.columns ? this.columns(width) : this.bars(width);
		this.plot.replaceChildren(drawn);
	}

	columns(width) {
		const { step = 1 } = this.kind;
		const known = this.rows.filter((row) => row.value !== null && row.value <= (this.kind.most ?? Infinity));
		const [before, rows, after] = withoutFar(known);
		const shown = [...before.length ? [together(before, "…")] : [],
			...grouped(withGaps(rows, step), width / COLUMN_LEAST, step),
			...after.length ? [together(after, "…")] : []];
		return columns(shown.map((row) => ({ label: row.label ?? String(row.value), parts: parts(row),
			choose: this.chooser(row.value, row.last),
			title: `${row.value}${row.last > row.value ? `–${row.last}` : ""}: ${resultWords(row)}` })),
		{ width, label: this.kind.title }).root;
	}

	/* A press on a column or bar filters by it. */
	chooser(...values) {
		const { chosen } = this.kind;
		return chosen && (() => this.app.filters.add(chosen(...values)));
	}

	bars(width) {
		const many = (row) => row.positions ?? row.games;
		const named = this.rows.filter((row) => row.value !== null && row.value !== "");
		return bars(named.map((row) => ({ label: shorten(String(row.value)),
			choose: this.chooser(row.value),
			parts: row.positions === undefined ? parts(row) : [["plain", row.positions]],
			value: `${count(many(row))}${row.score === null || row.positions !== undefined ? ""
				: ` · ${fixed(row.score, 0)} %`}`,
			title: `${row.value}: ${row.positions === undefined ? words(row) + ratedWords(row)
				: `${count(row.positions)} positions`}` })), { width, label: this.kind.title });
	}
}

export class Statistics {
	constructor(host, app) {
		this.charts = CHARTS.map((kind) => new Chart(kind, app));
		this.findings = new Findings(app);
		host.append(html("h2", {}, "Statistics of the games"),
			html("p", { class: "legend" }, html("i", { class: "white" }), "White wins (of players: won)",
				html("i", { class: "draws" }), "draws", html("i", { class: "black" }), "Black wins (lost)"),
			html("p", { class: "hint" }, "Press a year, a rating, an opening or a player to filter by it."),
			html("div", { class: "statistics" }, ...this.charts.map((chart) => chart.root)), this.findings.root);
	}

	refresh() {
		for (const chart of this.charts) {
			chart.refresh();
		}
		this.findings.refresh();
	}
}
