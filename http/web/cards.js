/* SPDX-License-Identifier: MIT */
/*
 * The trainer's cards: positions one has met, kept in this browser, and when each is to be asked
 * again. A card has a box from 0 to 7; what is known moves up a box, what is missed goes back to the
 * first, and each box waits longer than the one before.
 */

const KEPT = "chistore.cards";
const CARDS_MOST = 1000;
const MINUTE = 60 * 1000, DAY = 24 * 60 * MINUTE;
const WAITS = [0, 10 * MINUTE, DAY, 3 * DAY, 7 * DAY, 16 * DAY, 40 * DAY, 100 * DAY];
const MISSED_WAIT = MINUTE;

/* After an answer: the box, and when it is due. `now` in milliseconds. */
export function answered(card, right, now) {
	const box = right ? Math.min(card.box + 1, WAITS.length - 1) : 0;
	return { ...card, box, due: now + (right ? WAITS[box] : MISSED_WAIT),
		asked: card.asked + 1, missed: card.missed + (right ? 0 : 1) };
}

/* Least urgent first: cards that were only looked at and never asked, the oldest of them. */
function leastUrgent(cards) {
	return [...cards.values()].sort((a, b) =>
		Boolean(a.best) - Boolean(b.best) || a.asked - b.asked || a.met - b.met)[0];
}

export class Cards {
	/* `storage` is as localStorage; `now()` gives milliseconds. */
	constructor(storage, now = Date.now) {
		this.storage = storage;
		this.now = now;
		this.cards = new Map(this.load().map((card) => [card.fen, card]));
	}

	/* What is kept; nothing where it was not written by us. */
	load() {
		try {
			const cards = JSON.parse(this.storage.getItem(KEPT) ?? "[]");
			return cards.filter((card) => typeof card.fen === "string" && card.box in WAITS);
		} catch {
			return [];
		}
	}

	save() {
		try {
			this.storage.setItem(KEPT, JSON.stringify([...this.cards.values()]));
		} catch {
			/* no room, or not allowed: the cards last as long as the page */
		}
	}

	/* A position was met. One that is a card already stays as it is. */
	meet(fen) {
		if (this.cards.has(fen)) {
			return false;
		}
		this.add({ fen, met: this.now(), asked: 0, missed: 0 });
		this.save();
		return true;
	}

	/* Positions that were missed in games: {fen, best: [uci], about}. Each is asked now, whatever was
	 * known of it. */
	miss(missed) {
		for (const one of missed) {
			const { met = this.now(), asked = 0, missed: before = 0 } = this.cards.get(one.fen) ?? {};
			this.add({ ...one, met, asked, missed: before + 1 });
		}
		this.save();
	}

	/* A card at its first box. */
	add(card) {
		this.cards.set(card.fen, { ...card, box: 0, due: this.now() });
		if (this.cards.size > CARDS_MOST) {
			this.cards.delete(leastUrgent(this.cards).fen);
		}
	}

	answer(fen, right) {
		this.cards.set(fen, answered(this.cards.get(fen), right, this.now()));
		this.save();
	}

	forget(fen) {
		this.cards.delete(fen);
		this.save();
	}

	clear() {
		this.cards.clear();
		this.save();
	}

	/* Cards to be asked now of the side "w", "b" or "" (either): those missed first, then the oldest. */
	due(side = "") {
		const now = this.now();
		return [...this.cards.values()]
			.filter((card) => card.due <= now && (!side || card.fen.split(" ")[1] === side))
			.sort((a, b) => (b.missed > 0) - (a.missed > 0) || a.due - b.due);
	}

	/* How many cards are in each box. */
	boxes() {
		const boxes = new Array(WAITS.length).fill(0);
		for (const card of this.cards.values()) {
			boxes[card.box] += 1;
		}
		return boxes;
	}
}
