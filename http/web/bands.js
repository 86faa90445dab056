/* SPDX-License-Identifier: MIT */
/*
 * The band browser: how many positions have which statistic, as columns on a logarithmic scale. A
 * band of them is dragged, or typed, and its positions are shown as small boards.
 */
import * as api from "./api.js";
import { EVEN, statisticText } from "./bars.js";
import { columns, responsive } from "./chart.js";
import { afterPause, count, html, svg } from "./dom.js";
import { fillForm, valuesOf } from "./fields.js";
import { refuse } from "./notice.js";
import { PositionPages } from "./positions.js";

const BINS = 64;
const MOST = 255.99;
const LEAST = 0.01;
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]; /* of columns narrower than the first ones */

/* A number of hundredths. */
function rounded(value) {
	return Number(value.toFixed(2));
}

/* Columns of a round width over all that the histogram has; null: they would be as wide as its. */
function zoomed({ bins }) {
	const filled = bins.filter(({ positions }) => positions > 0);
	const low = filled[0]?.from, high = filled.at(-1)?.to;
	const step = STEPS.find((one) => (high - low) / one <= BINS - 1);
	if (!step || bins.length < 2 || step >= rounded(bins[1].from - bins[0].from)) {
		return null;
	}
	const from = Math.floor(low / step) * step;
	const n = Math.ceil((high + LEAST - from) / step - 1e-6);
	return { from: rounded(Math.max(LEAST, from)), to: rounded(Math.min(MOST, from + n * step - LEAST)),
		bins: n };
}

function field(text, attributes) {
	return html("label", {}, text, html("input", attributes));
}

function choice(text, name, options) {
	return html("label", {}, text, html("select", { name }, ...options.map(([value, shown]) =>
		html("option", { value }, shown))));
}

function form(shift) {
	const number = { type: "number", min: -shift, max: rounded(MOST - shift), step: 0.01,
		inputmode: shift ? "text" : "decimal" };
	return html("form", { class: "fields", "aria-label": "Band" },
		field("From", { ...number, name: "from" }), field("to", { ...number, name: "to" }),
		choice("Order", "order", [["highest", "highest first"], ["lowest", "lowest first"]]),
		choice("To move", "side", [["", "either"], ["w", "White"], ["b", "Black"]]),
		field("Games, at least", { type: "number", name: "min-games", min: 0, inputmode: "numeric" }),
		field("Pieces", { name: "pieces", placeholder: "3..6", size: 6 }),
		field("Material", { name: "material", placeholder: "KRPvKR", size: 9 }));
}

export class Bands {
	constructor(host, app) {
		this.app = app;
		this.ask = api.latest();
		this.drawn = false;
		/* A band of evaluations is one of pawns. */
		this.shift = app.info.statistic === "eval" ? EVEN : 0;
		this.form = form(this.shift);
		this.fields = this.form.elements;
		this.plot = html("div", { class: "plot histogram" });
		this.words = html("p", { class: "hint" });
		this.pages = new PositionPages((limit, cursor, signal) => this.page(limit, cursor, signal),
			() => app.link.update("new"), app.info.statistic);
		host.append(html("h2", {}, `Bands of the statistic “${app.info.statistic}”`),
			html("p", { class: "hint" }, "Drag over the columns to choose a band, or type its ends."),
			this.plot, this.words, this.form, this.pages.root);
		this.form.addEventListener("submit", (event) => event.preventDefault());
		this.form.addEventListener("input", afterPause((event) => this.changed(event)));
	}

	/* What the address of the page says of this panel. */
	values() {
		return { ...valuesOf(this.form), ...this.pages.values() };
	}

	show(values) {
		fillForm(this.form, values);
		this.pages.show(values);
		this.drawn = false;
	}

	/* The histogram is counted when the panel is first shown. */
	async refresh() {
		if (!this.drawn) {
			this.drawn = true;
			await this.count();
			this.chooseFirst();
		}
	}

	value(name) {
		return this.fields[name].value.trim();
	}

	/* An end of the band as the store has it; "": none. */
	end(name) {
		const value = this.value(name);
		return value === "" ? "" : rounded(Number(value) + this.shift);
	}

	filter() {
		const { from, to, order, ...filter } = valuesOf(this.form);
		return filter;
	}

	async count() {
		this.plot.setAttribute("aria-busy", "true");
		try {
			const answer = await this.ask((signal) => this.fetch(signal));
			if (answer) {
				this.histogram = answer;
				responsive(this.plot, (width) => this.draw(width));
				this.tellUnknown();
			}
		} catch (error) {
			refuse(error, (text) => {
				this.words.textContent = text;
			});
		} finally {
			this.plot.removeAttribute("aria-busy");
		}
	}

	/* The columns are over what the store has, whatever is asked of its positions: found once, first
	 * over the whole range. */
	async fetch(signal) {
		if (!this.range) {
			let range = { bins: BINS };
			for (let found = range; found;) {
				range = found;
				found = zoomed(await api.histogram(range, signal));
			}
			this.range = range;
		}
		return api.histogram({ ...this.range, ...this.filter() }, signal);
	}

	tellUnknown() {
		const { bins, unknown } = this.histogram;
		const known = bins.reduce((sum, bin) => sum + bin.positions, 0);
		const rest = unknown > 0 ? `; of ${count(unknown)} it is not known` : "";
		this.words.textContent = `${count(known)} positions have it${rest}. The scale is logarithmic.`;
	}

	/* At first the highest columns that have anything, which are the interesting end. */
	chooseFirst() {
		const { bins = [] } = this.histogram ?? {};
		const filled = bins.filter((bin) => bin.positions > 0);
		if (filled.length && this.value("from") === "" && this.value("to") === "") {
			this.choose(filled.at(-Math.min(8, filled.length)).from, filled.at(-1).to, "step");
		} else {
			this.showBand();
		}
	}

	choose(from, to, what = "new") {
		this.fields.from.value = rounded(from - this.shift);
		this.fields.to.value = rounded(to - this.shift);
		this.showBand();
		this.app.link.update(what);
	}

	showBand() {
		this.markBand();
		this.pages.refresh();
	}

	async changed({ target: { name } }) {
		this.pages.reset();
		this.app.link.update(`band ${name}`);
		if (!["from", "to", "order"].includes(name)) {
			await this.count();
		}
		this.showBand();
	}

	async page(limit, cursor, signal) {
		return api.scan({ from: this.end("from"), to: this.end("to"),
			desc: this.value("order") === "highest" ? "1" : "", ...this.filter(), limit, cursor,
			total: cursor === "" ? "1" : "" }, signal);
	}

	draw(width) {
		const text = (value) => this.shift ? statisticText("eval", value) : value;
		const rows = this.histogram.bins.map(({ from, to, positions }) => ({
			label: String(rounded(from - (from === LEAST ? LEAST : 0) - this.shift)),
			parts: [["plain", positions]],
			title: `${text(from)}–${text(to)}: ${count(positions)} positions`,
		}));
		this.chart = columns(rows, { width, log: true, label: "Positions by their statistic" });
		this.band = svg("rect", { class: "band", y: 4, height: 174 });
		this.chart.root.append(this.band);
		this.plot.replaceChildren(this.chart.root);
		this.chart.root.addEventListener("pointerdown", (event) => this.press(event));
		this.chart.root.addEventListener("pointermove", (event) => this.drag(event));
		this.chart.root.addEventListener("pointerup", () => this.drop());
		this.markBand();
	}

	column(event) {
		return this.chart.index(event.clientX - this.plot.getBoundingClientRect().left);
	}

	press(event) {
		event.preventDefault();
		this.chart.root.setPointerCapture(event.pointerId);
		this.dragged = { first: this.column(event), last: this.column(event) };
		this.markDragged();
	}

	drag(event) {
		if (this.dragged) {
			this.dragged.last = this.column(event);
			this.markDragged();
		}
	}

	drop() {
		const { first, last } = this.dragged;
		const { bins } = this.histogram;
		this.dragged = null;
		this.choose(bins[Math.min(first, last)].from, bins[Math.max(first, last)].to);
	}

	markDragged() {
		const { first, last } = this.dragged;
		this.placeBand(Math.min(first, last), Math.max(first, last));
	}

	placeBand(first, last) {
		this.band.setAttribute("x", this.chart.left(first));
		this.band.setAttribute("width", this.chart.step * (last - first + 1));
	}

	/* Marks the columns that the typed band touches. */
	markBand() {
		if (!this.chart) {
			return;
		}
		const { bins } = this.histogram;
		const from = Number(this.end("from") || 0), to = Number(this.end("to") || MOST);
		const first = bins.findIndex((bin) => bin.to >= from);
		const last = bins.findLastIndex((bin) => bin.from <= to);
		this.band.toggleAttribute("hidden", first < 0 || last < first);
		if (first >= 0 && last >= first) {
			this.placeBand(first, last);
		}
	}
}
