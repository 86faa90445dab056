/* SPDX-License-Identifier: MIT */
/*
 * The language of filters, as far as one who types it is helped: its words, and which of them can
 * stand at a place. What a filter means, and whether it is one, the server says. tests/web compares
 * the words with those that the server's parser has.
 */

const SIDES = ["white", "black"];
const LISTS = {
	result: ["1-0", "1/2-1/2", "0-1", "*"],
	speed: ["bullet", "blitz", "rapid", "classical", "correspondence", "ultraBullet"],
	title: ["GM", "IM", "FM", "CM", "WGM", "WIM", "WFM", "WCM", "NM", "WNM", "LM", "BOT", "other"],
	family: ["bare kings", "pawn endings", "minor piece endings", "rook endings",
		"rook and minor piece endings", "queen endings", "queen and minor piece endings",
		"queen and rook endings", "mixed endings"],
	side: SIDES,
};
/* Names that the store has. */
const NAMES = { player: "player", event: "event", site: "site", source: "source" };

/*
 * [word, where it stands, value after it, what it says]. "term": of a game; "condition": of a moment,
 * beside others; "symmetry": beside conditions; "link": after a moment; "join": after either, "not"
 * and "open" before; others after the word that the place names. Values: a list, names, or "".
 */
export const WORDS = [
	["player", "term", "player", "one of the two players"],
	["white", "term", "player", "the player of White"],
	["black", "term", "player", "the player of Black"],
	["event", "term", "event", "the event has these words"],
	["site", "term", "site", "the site has these words"],
	["source", "term", "source", "the file has these words"],
	["since", "term", "date", "2015, 2015-06 or 2015-06-30"],
	["until", "term", "date", "2015, 2015-06 or 2015-06-30"],
	["year", "term", "range", "2015..2020"],
	["number", "term", "range", "the game’s number"],
	["rating", "term", "range", "of one player or both: 2600.."],
	["elo-white", "term", "range", "White’s rating"],
	["elo-black", "term", "range", "Black’s rating"],
	["both", "term", "range", "the ratings of both"],
	["average", "term", "range", "the average of the ratings"],
	["eco", "term", "eco", "B90..B99"],
	["result", "term", "result", "1-0, several by commas"],
	["length", "term", "range", "in moves: ..25"],
	["plies", "term", "range", "in plies"],
	["speed", "term", "speed", "blitz, several by commas"],
	["title", "term", "title", "GM, several by commas"],
	["position", "term", "fen", "the game reached this FEN"],
	["moves", "term", "line", "the game reached what is after “e4 c5”"],
	["in", "term", "gameset", "it is in this gameset"],
	["gameset", "term", "gameset", "it is in this gameset"],
	["as", "player", "side", "with this colour"],
	["opponent", "player", "player", "against this player"],
	["has", "condition", "squares", "pieces on squares: “Nd5 kg8 .e6”"],
	["fen", "condition", "fen", "part of a FEN"],
	["pawns", "condition", "squares", "all pawns: “a2 b2 / a7 b7”"],
	["material", "condition", "material", "KRP*vKRP*"],
	["balance", "condition", "material", "the difference: “Q v RR”"],
	["endgame", "condition", "family", "a family of endgames"],
	["to-move", "condition", "side", "the side to move"],
	["any", "condition", "", "every moment"],
	["points", "condition", "range", "White’s pieces less Black’s"],
	["attacked", "condition", "squares", "“h7 by A 2..”"],
	["occupied", "condition", "squares", "“k+ by a”"],
	["pinned", "condition", "squares", "pieces that are pinned: “a 2..”"],
	["passed", "condition", "squares", "a passed pawn: P*6"],
	["isolated", "condition", "squares", "an isolated pawn: Pd*"],
	["doubled", "condition", "squares", "a doubled pawn: Pc*"],
	["check", "condition", "", "the side to move is in check"],
	["mate", "condition", "", "it is mated"],
	["stalemate", "condition", "", "it has no move"],
	["dead", "condition", "", "no moves at all can mate"],
	["first", "condition", "", "the initial position of the game"],
	["last", "condition", "", "its last position"],
	["ply", "condition", "range", "plies since the initial position"],
	["played", "condition", "moves", "the move: Bxh7+, O-O-O, captures"],
	["reached", "condition", "range", "games that reached the position"],
	["score", "condition", "range", "White’s score, per cent"],
	["eval", "condition", "range", "in pawns for White"],
	["chi2", "condition", "range", "the statistic"],
	["share", "condition", "range", "of the games here, per cent, that played the move"],
	["loss", "condition", "range", "of the move, in centipawns"],
	["mirror", "symmetry", "", "also with files exchanged"],
	["either-colour", "symmetry", "", "also with colours exchanged"],
	["shift", "symmetry", "", "also with all squares moved alike"],
	["files", "shift", "", "along the ranks alone"],
	["ranks", "shift", "", "along the files alone"],
	["next", "link", "", "the moment one ply later"],
	["then", "link", "", "any later moment"],
	["within", "then", "plies", "so many plies later at most"],
	["for", "link", "plies", "on so many plies in a row"],
	["times", "link", "range", "on so many plies of the game"],
	["and", "join", "", "both"],
	["or", "join", "", "one or the other"],
	["pattern", "begin", "", "begins another moment"],
	["not", "begin", "", "the opposite"],
	["(", "begin", "", "a group"],
	[")", "close", "", "its end"],
];

/* Of chistore-filters(7), with what they find. */
export const EXAMPLES = [
	["played Bxph7+ next played kxh7 next played N-g5+", "The Greek gift"],
	["balance \"Q v RR\" either-colour for 10", "A queen for two rooks for ten plies"],
	["played \"N-**#\" next to-move black occupied \"k+ by a\"", "A smothered mate"],
	["(has Bb3 or has qa5) to-move black", "One of two moments, Black to move"],
	["material KRP*vKRP*", "Rook endings"],
	["passed P*6 for 20", "A passed pawn on the sixth for twenty plies"],
	["played P-*8=[NBR] either-colour", "A promotion to less than a queen"],
	["(eco B90..B99 or eco E60..E99) not result 1/2-1/2", "Najdorf or King’s Indian, not drawn"],
];

const TABLE = new Map(WORDS.map(([word, ...rest]) => [word, rest]));

/* The words of a text: {from, to, text, quoted}; the text without its quotes. */
function cut(text) {
	return [...text.matchAll(/"((?:\\.|[^"\\])*)"?|[()]|[^\s"()]+/g)].map((found) => ({
		from: found.index, to: found.index + found[0].length, quoted: found[0][0] === "\"",
		closed: found[0][0] !== "\"" || /^"(?:\\.|[^"\\])*"$/.test(found[0]),
		text: found[0][0] === "\"" ? found[1].replace(/\\(.)/g, "$1") : found[0],
	}));
}

/* As a value is written: in quotes, if it must be. */
export function quoted(value) {
	return /^[\w\-.,/*=+:]+$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/* Which places of WORDS can be after what was read: the last word's own place and the unit's. */
function placesAfter(last, inner, depth) {
	const begins = inner ? ["condition", "symmetry", "begin"] : ["term", "condition", "symmetry", "begin"];
	if (last === undefined || ["(", "not", "and", "or", "next", "then", "pattern"].includes(last)) {
		return last === "then" ? [...begins, "then"] : begins;
	}
	const [place, value] = TABLE.get(last);
	return [...begins, "join", ...depth > 0 ? ["close"] : [],
		...["condition", "symmetry", "shift", "link", "close"].includes(place) ? ["link"] : [],
		...value === "player" || last === "as" ? ["player"] : [], ...last === "shift" ? ["shift"] : []];
}

/* Goes past a word; `at`: {last, value, inner, depth}. */
function pass(at, { text, quoted: isQuoted }) {
	const known = !isQuoted && TABLE.get(text);
	if (at.value || !known) {
		return { ...at, value: "", lost: at.lost || !at.value };
	}
	return { last: text, value: known[1], lost: at.lost,
		/* After these comes another moment, until a moment has begun. */
		inner: ["next", "then", "pattern"].includes(text) || at.inner && ["within", "not", "("].includes(text),
		depth: at.depth + (text === "(") - (text === ")") };
}

/*
 * What can stand where the cursor is: {from, to, typed, words, names}: the part of the text that a
 * choice replaces, its letters before the cursor, [word, what it says], and the kind of names.
 */
export function standing(text, cursor) {
	const all = cut(text);
	const word = all.find(({ from, to, closed, text: said }) => from < cursor && !/^[()]$/.test(said) &&
		(cursor <= to || !closed));
	const before = all.filter(({ from, to }) => to <= cursor && from !== word?.from);
	const at = before.reduce(pass, { last: undefined, value: "", inner: false, depth: 0, lost: false });
	const [from, to] = word ? [word.from, word.closed ? word.to : text.length] : [cursor, cursor];
	const typed = word ? cut(text.slice(0, cursor)).at(-1).text : "";
	/* Of a list with commas, the item that is being typed. */
	const comma = LISTS[at.value] && !word?.quoted ? typed.lastIndexOf(",") + 1 : 0;
	const place = { from: from + comma, to, typed: typed.slice(comma), names: NAMES[at.value] ?? "" };
	if (at.value) {
		return { ...place, words: (LISTS[at.value] ?? []).map((item) => [item, ""]) };
	}
	const places = at.lost ? [] : placesAfter(at.last, at.inner, at.depth);
	return { ...place, words: WORDS.filter(([, where]) => places.includes(where))
		.map(([one, , , says]) => [one, says]) };
}

/* Of those, the ones that the typed letters begin. */
export function fitting({ words, typed }) {
	const begun = typed.toLowerCase();
	return words.filter(([word]) => word.toLowerCase().startsWith(begun));
}

/* The server's "filter, character N: WHY": {from, to, why}, of which N counts bytes of UTF-8. */
export function faultIn(text, message) {
	const [, character, why] = /^filter, character (\d+): (.*)$/s.exec(message) ?? [];
	if (character === undefined) {
		return undefined;
	}
	const bytes = new TextEncoder().encode(text).slice(0, Number(character) - 1);
	const from = new TextDecoder().decode(bytes).length;
	const word = cut(text).find((one) => one.from <= from && from < one.to);
	return { from, to: word?.to ?? from, why };
}
