/* SPDX-License-Identifier: MIT */
/*
 * Which moves of a position are best by what the store knows: by evaluations where there are any,
 * otherwise by results, in which thirty games with the position's average are mixed, so that a few
 * lucky games are no best move.
 */

const EVAL_CLOSE = 15;	 /* centipawns from the best that are as good */
const SCORE_CLOSE = 1.5; /* percent */
const VIRTUAL_GAMES = 30;
const SHARE_LEAST = 0.02; /* of the position's games, to be judged by results */
const MATE = 100000;

/* Centipawns for the side that moved; the child's evaluation is its opponent's. */
export function centipawns({ child }) {
	const { eval: value } = child;
	if (!value) {
		return null;
	}
	if (value.mate !== undefined && value.mate !== null) {
		return value.mate > 0 ? -MATE + value.mate : MATE + value.mate;
	}
	return -value.cp;
}

function smoothed(move, average) {
	return (move.games * move.score + VIRTUAL_GAMES * average) / (move.games + VIRTUAL_GAMES);
}

function nearBest(valued, close) {
	const best = Math.max(...valued.map(({ value }) => value));
	return valued.filter(({ value }) => value >= best - close)
		.sort((a, b) => b.value - a.value).map(({ move }) => move);
}

/* The rows of evaluations, if two moves have one: a single one says nothing of the others. */
function byEvaluation(moves) {
	const valued = moves.map((move) => ({ move, value: centipawns(move) }))
		.filter(({ value }) => value !== null);
	return valued.length >= 2 ? nearBest(valued, EVAL_CLOSE) : [];
}

function byResults(found) {
	const least = Math.max(2, SHARE_LEAST * found.games);
	const valued = found.moves.filter((move) => move.games >= least && move.score !== null)
		.map((move) => ({ move, value: smoothed(move, found.score ?? 50) }));
	return valued.length ? nearBest(valued, SCORE_CLOSE) : [];
}

/* {moves, by}: the best moves, the best first; "evaluations", "results", or null if none is known. */
export function bestMoves(found) {
	const evaluated = byEvaluation(found.moves);
	if (evaluated.length) {
		return { moves: evaluated, by: "evaluations" };
	}
	const scored = byResults(found);
	return { moves: scored, by: scored.length ? "results" : null };
}
