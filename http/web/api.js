/* SPDX-License-Identifier: MIT */
/*
 * The server's JSON interface, as openapi.json beside the server describes it. Each call gives the
 * decoded answer or throws a Refusal whose message is for people to read.
 */

import { session } from "./storage.js";

const TOKEN = "chistore.token";
const POSITIONS_KEPT = 400;

export class Refusal extends Error {
	constructor(text, status) {
		super(text);
		this.name = "Refusal";
		this.status = status;
	}
}

/* "?a=1&b=2" of the parameters that have a value. */
export function query(parameters) {
	const given = Object.entries(parameters)
		.filter(([, value]) => value !== "" && value !== null && value !== undefined);
	return given.length ? "?" + new URLSearchParams(given) : "";
}

/* ---- Access tokens: kept as long as the tab is open, and never in an address ---------------- */

let askReader = async () => "";
let question = null;

/* `ask(why)`: resolves to a token, or to "" if the reader has none. */
export function onDenied(ask) {
	askReader = ask;
}

export function setToken(token) {
	session.setItem(TOKEN, token);
}

/* All requests that are denied wait for one question. False: there is nothing new to try. */
async function anotherToken(used, why) {
	if (session.getItem(TOKEN) !== used) {
		return true;
	}
	question ??= askReader(why).finally(() => {
		question = null;
	});
	const token = await question;
	if (token) {
		setToken(token);
	}
	return token !== "";
}

async function refusalOf(response) {
	let text = `the server answered ${response.status}`;
	try {
		text = (await response.json()).error || text;
	} catch {
		/* no JSON: the status must do */
	}
	return new Refusal(text, response.status);
}

async function send(path, options, token) {
	const headers = { ...options.headers, ...token && { Authorization: `Bearer ${token}` } };
	try {
		return await fetch(path, { ...options, headers });
	} catch (error) {
		if (error.name === "AbortError") {
			throw error;
		}
		throw new Refusal("the server cannot be reached; is it running?", 0);
	}
}

async function request(path, options = {}) {
	for (;;) {
		const token = session.getItem(TOKEN);
		const response = await send(path, options, token);
		if (response.ok) {
			return response;
		}
		const refusal = await refusalOf(response);
		/* 403: this token may read, and not do what is asked for. */
		if (![401, 403].includes(refusal.status) || !await anotherToken(token, refusal.message)) {
			throw refusal;
		}
	}
}

async function get(path, parameters = {}, signal = undefined) {
	return (await request(path + query(parameters), { signal })).json();
}

/* NDJSON: {rows, next, total}, of which the last two are its last line. */
async function lines(path, parameters, signal) {
	const text = await (await request(path + query(parameters), { signal })).text();
	const rows = text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
	return { ...rows.pop(), rows };
}

const positions = new Map();

/* A position, kept for the next time; promises, so that two calls are one request. */
export function position(fen) {
	if (!positions.has(fen)) {
		keep(fen, get("/api/position", { fen }));
	}
	return positions.get(fen);
}

function keep(fen, answer) {
	answer.catch(() => positions.delete(fen));
	positions.set(fen, answer);
	if (positions.size > POSITIONS_KEPT) {
		positions.delete(positions.keys().next().value);
	}
}

/* The positions of a line, those not yet known in one request. */
export function manyPositions(fens) {
	const wanted = [...new Set(fens.filter((fen) => !positions.has(fen)))];
	if (wanted.length > 0) {
		const answer = request("/api/position", { method: "POST",
			body: JSON.stringify({ fens: wanted }), headers: { "Content-Type": "application/json" },
		}).then((response) => response.json());
		wanted.forEach((fen, index) =>
			keep(fen, answer.then((all) => checked(all.positions[index]))));
	}
	return Promise.all(fens.map((fen) => position(fen)));
}

function checked(answer) {
	if (answer.error) {
		throw new Refusal(answer.error, 400);
	}
	return answer;
}

/* Reads PGN or bare moves from `fen` on: {tags, start, result, moves: [{san, uci, fen}]}. */
export async function readMoves(text, fen = "") {
	const response = await request("/api/pgn" + query({ fen }), {
		method: "POST", body: text, headers: { "Content-Type": "text/plain" },
	});
	return response.json();
}

/* Asks for a position to be analysed: true if it is in the queue now, or was, or is evaluated already. */
export async function analyse(fen) {
	return (await get("/cdb.php", { action: "queue", json: 1, board: fen })).status === "ok";
}

export const info = () => get("/api/info");
export const explore = (fen, filter, signal) => get("/api/explore", { fen, ...filter }, signal);
export const games = (parameters, signal) => get("/api/games", parameters, signal);
export const game = (number) => get(`/api/game/${encodeURIComponent(number)}`);
export const pgn = async (number) => (await request(`/api/game/${number}.pgn`)).text();
export const find = (parameters, signal) => get("/api/find", parameters, signal);
export const scan = (parameters, signal) => lines("/api/scan", parameters, signal);
export const histogram = (parameters, signal) => get("/api/histogram", parameters, signal);
export const names = (parameters, signal) => get("/api/names", parameters, signal);
export const gamesets = () => get("/api/gamesets");
export const insight = (parameters, signal) => get("/api/insight", parameters, signal);
export const stats = (parameters, signal) => get("/api/stats", parameters, signal);

/*
 * Makes a function that runs one request at a time: a new one ends the one before, whose answer is
 * then undefined, so that an old answer never overwrites a new one.
 */
export function latest() {
	let current = null;
	return async (ask) => {
		current?.abort();
		const mine = current = new AbortController();
		try {
			const answer = await ask(mine.signal);
			return mine === current ? answer : undefined;
		} catch (error) {
			if (mine !== current || error.name === "AbortError") {
				return undefined;
			}
			throw error;
		}
	};
}
