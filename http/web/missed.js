/* SPDX-License-Identifier: MIT */
/*
 * Positions missed, as `chistore review --missed` writes them: lines of EPD with what was better
 * (bm), what was played (am), in which game (id) and what it cost (c0). Which moves are legal, the
 * server says.
 */
import * as api from "./api.js";

const FIELDS = 4;
const LINES_MOST = 1000;
const TOGETHER = 200; /* positions in one request */

/* A text in quotation marks; \hh is the byte of that hexadecimal number. */
function unquoted(text) {
	return text.trim().replace(/^"(.*)"$/, "$1")
		.replace(/\\([0-9a-f]{2})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
}

/* The operations after the position: {bm: "Bb5", id: "..."}. */
function operationsOf(text) {
	const found = {};
	for (const [part] of text.matchAll(/(?:"[^"]*"|[^;"])+/g)) {
		const [, name, operand] = /^\s*(\S+)\s*(.*)$/s.exec(part) ?? [];
		if (name) {
			found[name] = unquoted(operand);
		}
	}
	return found;
}

function refused(number, why) {
	return new api.Refusal(`line ${number}: ${why}`);
}

function readLine(line, number) {
	const fields = line.trim().split(/\s+/);
	if (fields.length <= FIELDS) {
		throw refused(number, "no position with a best move (bm)");
	}
	const fen = [...fields.slice(0, FIELDS), "0", "1"].join(" ");
	/* Some write the counters of a FEN, too. */
	const operations = operationsOf(fields.slice(FIELDS).join(" ").replace(/^\d+ \d+ /, ""));
	if (!operations.bm) {
		throw refused(number, "it has no best move (bm)");
	}
	return { number, fen, operations };
}

const plain = (san) => san.replace(/[+#!?]/g, "");

/* What is asked of a position, and what is told with the answer. */
function cardOf({ number, operations }, { fen, legal }) {
	const best = operations.bm.split(/[\s,]+/).map((text) => {
		const move = legal.find(({ san, uci }) => plain(san) === plain(text) || uci === text);
		if (!move) {
			throw refused(number, `${text} is no legal move there`);
		}
		return move.uci;
	});
	const { am, c0, id } = operations;
	const cost = [am && `${am} was played`, c0].filter(Boolean).join(", ");
	return { fen, best, about: [id, cost].filter(Boolean).join(": ") };
}

async function positionsOf(lines) {
	try {
		return await api.manyPositions(lines.map(({ fen }) => fen));
	} catch (error) {
		/* Which of them it was: asked for one by one, up to the first that is wrong. */
		for (const { number, fen } of lines) {
			await api.position(fen).catch((why) => {
				throw refused(number, why.message);
			});
		}
		throw error;
	}
}

/* [{fen, best: [uci], about}] of all lines, or a Refusal that names the line. */
export async function readMissed(text) {
	const lines = text.split("\n").map((line, index) => [line, index + 1])
		.filter(([line]) => line.trim() !== "" && !line.startsWith("#"));
	if (lines.length === 0 || lines.length > LINES_MOST) {
		throw new api.Refusal(lines.length ? `more than ${LINES_MOST} positions` : "there is no position in it");
	}
	const read = lines.map(([line, number]) => readLine(line, number));
	const cards = [];
	for (let at = 0; at < read.length; at += TOGETHER) {
		const part = read.slice(at, at + TOGETHER);
		const positions = await positionsOf(part);
		cards.push(...part.map((line, index) => cardOf(line, positions[index])));
	}
	return cards;
}
