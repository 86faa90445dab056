/* SPDX-License-Identifier: MIT */
/*
 * Charts as SVG, drawn as wide as their place and again when that changes: columns (stacked, with
 * room to pick a range), horizontal bars, and curves.
 */
import { count, shortCount, svg } from "./dom.js";

const VALUE_ROOM = 88; /* after a bar */
const MOST_WIDE = 14;  /* a bar behind a curve */
const FAR = 3;	       /* times as high as the next column */
const MANY = 6;	       /* columns, for one of them to be an outlier */
const ABOVE = 1.25;    /* times the highest of the others, where a column that is cut ends */
const MARGIN = { left: 46, right: 8, top: 8, bottom: 22 };

/* Calls draw(width) now and whenever the place gets another width. */
export function responsive(host, draw) {
	let width = 0;
	const redraw = () => {
		const now = Math.round(host.clientWidth);
		if (now > 0 && now !== width) {
			width = now;
			draw(width);
		}
	};
	host.responsive?.disconnect();
	host.responsive = new ResizeObserver(redraw);
	host.responsive.observe(host);
	redraw();
}

/* 1, 2 or 5 times a power of ten, at least `rough`. */
function roundStep(rough) {
	const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
	return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}

/* Values for the lines of an axis from 0 to `most`, no closer than `least`. */
function ticks(most, wanted, least = 0) {
	const step = Math.max(least, roundStep(most / wanted));
	const values = [];
	for (let value = 0; value <= most * 1.0001; value += step) {
		values.push(value);
	}
	return values;
}

function logTicks(most) {
	const values = [];
	for (let value = 1; value <= most; value *= 10) {
		values.push(value);
	}
	return values;
}

/* The scale of a y axis: value -> pixels from the top. */
function scaleOf(most, height, log) {
	const full = height - MARGIN.top - MARGIN.bottom;
	const part = log ? (value) => Math.log10(1 + value) / Math.log10(1 + most)
		: (value) => value / most;
	return (value) => height - MARGIN.bottom - full * (most > 0 ? part(value) : 0);
}

function gridLines(values, y, width) {
	return values.map((value) => svg("g", { class: "grid" },
		svg("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
		svg("text", { x: MARGIN.left - 6, y: y(value) + 4, "text-anchor": "end" }, shortCount(value))));
}

/* Which columns have a label: round numbers where there are numbers, else as many as fit. */
function labelled(rows, step) {
	const every = Math.max(1, Math.ceil(42 / step));
	const [first, second] = rows.map(({ label }) => Number(label)).filter((value) => !Number.isNaN(value));
	if (!(second > first)) {
		return (label, index) => index % every === 0;
	}
	const round = roundStep(every * (second - first));
	return (label) => Number.isNaN(Number(label)) || Math.abs(label / round - Math.round(label / round)) < 1e-6;
}

function columnLabels(rows, left, step, height) {
	const wanted = labelled(rows, step);
	return rows.flatMap(({ label }, index) => wanted(label, index) ?
		[svg("text", { class: "axis", x: left(index) + step / 2, y: height - 6,
			"text-anchor": "middle" }, label)] : []);
}

function sumOf({ parts }) {
	return parts.reduce((sum, [, value]) => sum + value, 0);
}

/*
 * The stacked parts of one column: [[class, value], ...] from the bottom up. One that is higher than
 * `most` ends there with a gap below its top, and says its value.
 */
function stack(row, x, wide, y, most) {
	const whole = sumOf(row), shrunk = Math.min(1, most / Math.max(1, whole));
	let sum = 0;
	const parts = row.parts.filter(([, value]) => value > 0).map(([name, value]) => {
		const top = y(sum + value * shrunk), bottom = y(sum);
		sum += value * shrunk;
		return svg("rect", { class: name, x, width: wide, y: top, height: Math.max(0.5, bottom - top) });
	});
	const cut = shrunk < 1 ? [
		svg("path", { class: "cut", d: `M${x - 2} ${y(most) + 16}l${wide + 4} -5` }),
		svg("text", { class: "axis", x: x + wide / 2, y: y(most) - 1, "text-anchor": "middle" }, shortCount(whole)),
	] : [];
	return svg("g", { onclick: row.choose, class: row.choose && "choice" },
		svg("title", {}, row.title), ...parts, ...cut);
}

/* The end of a linear scale: one or two columns that are far higher than all others do not flatten these. */
function mostOf(rows) {
	const sums = rows.map(sumOf).sort((a, b) => b - a);
	const far = [1, 0].find((i) => rows.length >= MANY && sums[i + 1] > 0 && sums[i] > FAR * sums[i + 1]);
	return far === undefined ? Math.max(1, sums[0]) : Math.max(1, ABOVE * sums[far + 1]);
}

/*
 * Columns for `rows` ({label, title, parts: [[class, value], ...], choose()}). Returns {root, index(x)}:
 * which column is at x pixels from the left, null if none.
 */
export function columns(rows, { width, height = 200, log = false, label }) {
	const most = log ? Math.max(1, ...rows.map(sumOf)) : mostOf(rows);
	const y = scaleOf(most, height, log);
	const step = (width - MARGIN.left - MARGIN.right) / rows.length;
	const left = (index) => MARGIN.left + index * step;
	const wide = Math.max(0.5, step - (step > 4 ? 1 : 0));
	const root = svg("svg", { class: "chart", width, height,
		viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
	...gridLines(log ? logTicks(most) : ticks(most, 4, 1), y, width),
	...rows.map((row, index) => stack(row, left(index), wide, y, most)),
	...columnLabels(rows, left, step, height));
	const index = (x) => {
		const place = Math.floor((x - MARGIN.left) / step);
		return Math.max(0, Math.min(rows.length - 1, place));
	};
	return { root, index, left, step };
}

/* Horizontal bars ({label, title, parts, value}), the longest across; for names. */
export function bars(rows, { width, label }) {
	const most = Math.max(1, ...rows.map(sumOf));
	const longest = Math.max(...rows.map((row) => row.label.length));
	const names = Math.min(7 * longest + 10, 0.45 * width), rowHeight = 24;
	const full = width - names - VALUE_ROOM;
	const drawn = rows.map((row, index) => {
		let x = names;
		const y = index * rowHeight + 4;
		const parts = row.parts.map(([name, value]) => {
			const wide = full * value / most;
			x += wide;
			return svg("rect", { class: name, x: x - wide, y, width: wide, height: rowHeight - 8 });
		});
		return svg("g", { onclick: row.choose, class: row.choose && "choice" },
			svg("title", {}, row.title), svg("text", { class: "axis", x: names - 6, y: y + 12, "text-anchor": "end" }, row.label),
			...parts, svg("text", { class: "axis", x: x + 5, y: y + 12 }, row.value));
	});
	const height = rows.length * rowHeight + 4;
	return svg("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`,
		role: "img", "aria-label": label }, ...drawn);
}

/* A path through the points that have a value; gaps stay gaps. */
function curvePath(values, x, y) {
	let pen = "M";
	return values.map((value, index) => {
		if (value === null || value === undefined) {
			pen = "M";
			return "";
		}
		const step = `${pen}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
		pen = "L";
		return step;
	}).join("");
}

function dots(values, x, y, name) {
	return values.flatMap((value, index) => value === null || value === undefined ? [] :
		[svg("circle", { class: `dot ${name}`, cx: x(index), cy: y(value), r: 1.6 })]);
}

/*
 * A curve over plies 0..n-1: `values` with nulls, `columns` behind it on a logarithmic scale of
 * their own. Returns {root, index(x), x(index)}.
 */
export function curve({ values, behind, most, width, height = 130, name, label }) {
	const top = most ?? Math.max(1, ...values.filter((value) => value !== null));
	const y = scaleOf(top, height, false);
	const high = scaleOf(Math.max(1, ...behind), height, true);
	const step = (width - MARGIN.left - MARGIN.right) / Math.max(1, values.length - 1);
	const x = (index) => MARGIN.left + index * step;
	const wide = Math.min(MOST_WIDE, Math.max(1, step - 1));
	const shade = behind.map((value, index) => svg("rect", { class: "behind",
		x: x(index) - wide / 2, width: wide,
		y: high(value), height: Math.max(0, height - MARGIN.bottom - high(value)) }));
	const every = Math.ceil(36 / step / 10) * 10;
	const numbers = values.flatMap((_, index) => index % every ? [] : [svg("text",
		{ class: "axis", x: x(index), y: height - 6, "text-anchor": "middle" }, count(index / 2))]);
	const root = svg("svg", { class: "chart curve", width, height,
		viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
	...shade, ...gridLines(ticks(top, 3), y, width),
	svg("path", { class: `line ${name}`, d: curvePath(values, x, y) }),
	...dots(values, x, y, name), ...numbers);
	return { root, x, index: (at) => Math.max(0, Math.min(values.length - 1,
		Math.round((at - MARGIN.left) / step))) };
}
