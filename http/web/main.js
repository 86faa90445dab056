/* SPDX-License-Identifier: MIT */
/* Starts the page: makes its parts, and carries what one of them changes to the others. */
import * as api from "./api.js";
import { Bands } from "./bands.js";
import { Board } from "./board.js";
import { Cards } from "./cards.js";
import { Paste, Setup, Token } from "./dialogs.js";
import { byId, count, html } from "./dom.js";
import { Explorer } from "./explorer.js";
import { START, turnOf } from "./fen.js";
import { Filters } from "./filters.js";
import { GameView } from "./gameview.js";
import { startKeys } from "./keys.js";
import { Line, lineOf } from "./line.js";
import { Link } from "./link.js";
import { done, refuse, say, tell } from "./notice.js";
import { Pattern } from "./pattern.js";
import { definePieces } from "./pieces.js";
import { Search } from "./search.js";
import { Statistics } from "./statistics.js";
import { local } from "./storage.js";
import { Tabs } from "./tabs.js";
import { startTheme } from "./theme.js";
import { Trainer, worthAsking } from "./trainer.js";

/* Panels that the filters of games have no say in. */
const UNFILTERED = new Set(["bands", "search", "trainer"]);
const MADE = { explorer: Explorer, bands: Bands, pattern: Pattern, search: Search, statistics: Statistics,
	trainer: Trainer };

const app = { line: new Line(), info: null, tell, training: null, panels: {} };

/* The panels are made when they are first shown. */
function panel(name) {
	app.panels[name] ??= new MADE[name](byId(name), app);
	return app.panels[name];
}

function showPanel(name) {
	document.documentElement.dataset.shown = name;
	byId("filters").hidden = UNFILTERED.has(name) || !app.info.games_kept;
	if (name !== "trainer") {
		endTraining();
	}
	if (!app.link.loading) {
		panel(name).refresh();
		app.link.update("new");
	}
}

function endTraining() {
	if (app.training) {
		panel("trainer").end();
	}
}

/* ---- What the address of the page names ---------------------------------------------------- */

function lasting() {
	return { ...app.filters.values(), view: app.board.flipped ? "black" : "" };
}

/* The trainer's question is not to be sent to anyone. */
function shown() {
	const { shown: tab } = app.tabs;
	return { ...app.training ? {} : app.line.values(), ...lasting(),
		tab: tab === "explorer" ? "" : tab, ...panel(tab).values?.() };
}

async function show(values, late) {
	let line = { start: START };
	try {
		line = await lineOf(values);
	} catch (error) {
		tell(error);
	}
	if (late()) {
		return;
	}
	endTraining();
	app.filters.show(values);
	app.turnBoard(values.view === "black" ? "b" : "w");
	app.tabs.show(values.tab ?? "explorer");
	panel(app.tabs.shown).show?.(values);
	app.line.set(line);
	if (app.tabs.shown !== "explorer") {
		panel(app.tabs.shown).refresh();
	}
}

/* ---- Moves --------------------------------------------------------------------------------- */

/* A move on the board: the trainer's answer, or the next of the line. */
async function play(uci) {
	try {
		if (app.training) {
			app.training(uci);
		} else if (!await app.line.play(uci)) {
			say("That move is not legal.");
		}
	} catch (error) {
		tell(error);
	}
}

/* The legal move that is written so: "e4", "Nf3", "e2e4", "o-o". */
async function legalMove(text) {
	const plain = (san) => san.replace(/[+#x=!?]/g, "").replace(/0/g, "O").toLowerCase();
	const { legal } = await api.position(app.line.fen);
	const fits = legal.filter((move) => move.uci === text.toLowerCase() || move.san === text);
	const found = fits.length ? fits : legal.filter((move) => plain(move.san) === plain(text));
	if (found.length !== 1) {
		throw new api.Refusal(found.length ? `${text} fits several moves` : `${text} is no legal move here`);
	}
	return found[0].uci;
}

/* Typed moves, one or a list, "1. e4 e5 2. Nf3"; what is not legal stays in the field. */
async function typed(event) {
	event.preventDefault();
	const field = byId("move-text");
	let moves = field.value.replace(/\d+\.+/g, " ").split(/\s+/).filter((text) => !/^\d*$/.test(text));
	try {
		for (; moves.length; moves = moves.slice(1)) {
			await play(await legalMove(moves[0]));
		}
	} catch (error) {
		tell(error);
	}
	field.value = moves.join(" ");
}

/* Positions looked at in the explorer become cards of the trainer. */
function meet(position) {
	if (app.tabs.shown === "explorer" && app.line.at > 0 && worthAsking(position)) {
		app.cards.meet(position.fen);
	}
}

/* The board follows the line at once; the legal moves come when the server has said them. */
async function showPosition(glide) {
	const { line, board } = app;
	const { fen } = line;
	board.show(fen, { last: line.last, glide });
	const label = `${turnOf(fen) === "w" ? "White" : "Black"} to move` +
		(line.last ? `, last move ${line.last.san}` : "");
	board.root.setAttribute("aria-label", `Board. ${label}. Enter shows a cursor.`);
	say(label);
	try {
		const position = await api.position(fen);
		if (line.fen === fen) {
			board.setLegal(position.legal, position.check);
			meet(position);
		}
	} catch (error) {
		tell(error);
	}
}

function lineChanged(what) {
	const { line } = app;
	const before = app.shownAt ?? 0;
	app.shownAt = line.at;
	showPosition(line.at === before + 1);
	byId("back").disabled = byId("first").disabled = line.at === 0;
	byId("forward").disabled = byId("last").disabled = line.at === line.moves.length;
	if (app.panels.trainer?.disturbed()) {
		endTraining();
	}
	if (app.tabs.shown === "explorer") {
		panel("explorer").refresh();
	}
	document.title = titleOf(line);
	app.link.update(what === "step" ? "step" : "new");
}

function titleOf(line) {
	const { game, at } = line;
	const text = game ? `${game.white ?? "?"} – ${game.black ?? "?"}` : line.text(at);
	return text ? `${text} · Chistore` : "Chistore";
}

/* A game as a file. The server may want a token, which a plain link does not carry. */
async function savePgn() {
	const { game } = app.line.game;
	try {
		const file = new Blob([await api.pgn(game)], { type: "application/x-chess-pgn" });
		const address = URL.createObjectURL(file);
		html("a", { href: address, download: `game-${game}.pgn` }).click();
		URL.revokeObjectURL(address);
	} catch (error) {
		tell(error);
	}
}

async function analyse() {
	try {
		const { fen } = app.line;
		const { evals } = await api.position(fen);
		const accepted = await api.analyse(fen);
		done(!accepted ? "There is nothing to analyse here."
			: evals.length ? "It is evaluated already." : "It is in the queue to be analysed.");
	} catch (error) {
		tell(error);
	}
}

function flip() {
	app.board.flip();
	app.link.update("step");
}

/* Ctrl+V anywhere but in a field: as if it were the dialog's. */
function pasted(event) {
	if (!event.target.closest?.("input, textarea, select") && !document.querySelector("dialog[open]")) {
		event.preventDefault();
		app.paste.open(event.clipboardData.getData("text"));
	}
}

async function copy(text, what) {
	try {
		await navigator.clipboard.writeText(text);
		done(`${what} copied.`);
	} catch {
		prompt(`${what}:`, text); /* not allowed here: let the reader copy it */
	}
}

function startButtons() {
	const { line } = app;
	const actions = {
		first: () => line.go(0), back: () => line.takeBack(), forward: () => line.go(line.at + 1),
		last: () => line.go(line.moves.length), flip, "export-pgn": savePgn, analyse,
		new: () => line.set({ start: START }), "open-setup": () => app.setup.open(),
		"open-paste": () => app.paste.open(), "open-help": () => byId("help").showModal(),
		"copy-link": () => copy(location.href, "Link"), "copy-fen": () => copy(line.fen, "FEN"),
		"filters-clear": () => byId("filter-form").reset(),
	};
	for (const [id, action] of Object.entries(actions)) {
		byId(id).addEventListener("click", action);
	}
	byId("type-move").addEventListener("submit", typed);
	document.addEventListener("paste", pasted);
	return actions;
}

function startKeyboard(actions) {
	const tab = (name) => () => app.tabs.show(name);
	startKeys([
		[["ArrowLeft"], "take back", actions.back],
		[["ArrowRight"], "forward", actions.forward],
		[["ArrowUp", "Home"], "to the start", actions.first],
		[["ArrowDown", "End"], "to the end", actions.last],
		[["f"], "flip the board", actions.flip],
		[["m"], "type a move, or several; a move or its number may be typed anywhere",
			() => byId("move-text").focus()],
		[["n"], "initial position", actions.new],
		[["s"], "set up a position", actions["open-setup"]],
		[["p"], "paste a FEN, a game or moves (Ctrl+V, too)", actions["open-paste"]],
		[["l"], "copy a link to what is shown", actions["copy-link"]],
		[["Shift+1"], "explorer", tab("explorer")],
		[["Shift+2"], "bands", tab("bands")],
		[["Shift+3"], "pattern", tab("pattern")],
		[["Shift+4"], "search", tab("search")],
		[["Shift+5"], "statistics", tab("statistics")],
		[["Shift+6"], "trainer", tab("trainer")],
		[["?"], "this help", actions["open-help"]],
	], byId("move-text"));
}

function describeStore({ positions, games, statistic, version }) {
	byId("store").textContent = `${count(positions)} positions · ${count(games)} games in the store · ` +
		`statistic: ${statistic}`;
	byId("version").textContent = `Chistore ${version}`;
}

/* What cannot be shown without games, or done without a daemon that takes it, is not offered. */
function hideWhatIsNot() {
	document.documentElement.classList.toggle("no-games", !app.info.games_kept);
	byId("filters").hidden = !app.info.games_kept;
	byId("analyse").hidden = !app.info.writable;
}

function makeParts() {
	const { line } = app;
	app.board = new Board(byId("board"), { move: play, say });
	app.cards = new Cards(local);
	app.filters = new Filters(byId("filter-form"));
	app.tabs = new Tabs(byId("tabs"), showPanel);
	app.link = new Link({ values: shown, show, lasting });
	app.setup = new Setup(app);
	app.paste = new Paste(app);
	for (const button of document.querySelectorAll("dialog .close")) {
		button.addEventListener("click", () => button.closest("dialog").close());
	}
	const token = new Token();
	api.onDenied((why) => token.ask(why));
	app.play = play;
	app.train = (handler) => {
		app.training = handler;
		app.link.update("step");
	};
	app.turnBoard = (side) => app.board.flipped === (side === "w") && app.board.flip();
	app.filters.listen((what) => {
		panel(app.tabs.shown).refresh();
		app.link.update(`filter ${what}`);
	});
}

/* Without a store there is nothing to work with. */
function fail(error) {
	byId("failure").hidden = false;
	byId("try-again").addEventListener("click", () => location.reload());
	refuse(error, (text) => {
		byId("failure-text").textContent = text;
	});
}

async function start() {
	startTheme();
	definePieces();
	makeParts();
	app.board.show(START);
	try {
		app.info = await api.info();
		if (app.info.games_kept) {
			await app.filters.loadGamesets();
		}
	} catch (error) {
		fail(error);
		return;
	}
	byId("main").inert = false;
	startKeyboard(startButtons());
	describeStore(app.info);
	hideWhatIsNot();
	app.view = new GameView(app);
	app.line.listen(lineChanged);
	await app.link.load();
	document.documentElement.dataset.ready = "";
}

start();
