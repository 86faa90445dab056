# SPDX-License-Identifier: MIT
"""Random filters of games, answered by the store and by a slow program that shares nothing with it
(chess_slow.py): the same games, totals, orders, pages, plies and counts of moves."""

import json
import os
import re
import shutil

import chess_slow
import harness
from cli_base import Base
from pychistore import Client

DATA = os.path.join(os.environ["CHISTORE_TEST_DATA"], "pgn")
FILES = ("games_300.pgn", "romero.pgn", "hayes.pgn", "anastasian-lewis.pgn")
FILTERS = int(os.environ.get("CHISTORE_FILTERS", "300"))

ROLES = ("White", "Black")
PLAYERS = ("Müller, Jürgen", "Muller,J", "Ørsted, Å", "Łukasz Nowak", "O'Kelly de Galway, A.",
           "van der Wiel, John", "Van der Wiel,J", "Иванов, Пётр", "ИВАНОВ, ПЁТР", "Carlsen, Magnus",
           "CARLSEN MAGNUS", "Carlsen, H", "Magnus", "Stockfish 16.1 64-bit", "Nuñez-Peña, José",
           "Li", "?", "", "X \"The\" Y", "back\\slash", "Aronian Levon", "A. B. Smith",
           "Smith, Anna B")
WANTED = ("Carlsen", "carlsen, m", "Carlsen,Magnus", "M Carlsen", "magnus", "Aronian,L", "Anand",
          "Muller", "müller j", "Jurgen Müller", "Nowak", "l nowak", "okelly", "de galway", "Wiel",
          "van der Wiel", "Wiel, J", "иванов", "Пётр Иванов", "П. Иванов", "Иванов п", "Nunez Pena", "pena", "stockfish",
          "16", "li", "the", "slash", "smith", "A Smith", "B. Smith", "Smith, Anna", "Nemo",
          "...", "M", "Kramnik, Vladimir", "romero", "evans")
EVENTS = ("Rapidplay open", "World BLITZ", "Tata Steel", "corr. correspondence", "ch-NOR", "?",
          "Été d'échecs", "blitz and rapid")
SITES = ("https://example.org/abcd1234", "https://example.org/zz", "Wijk aan Zee NED", "?",
         "Saint-Louis USA", "http://nopath.example")
DATES = ("2004.??.??", "2004.05.??", "2004.??.17", "????.??.??", "????.05.12", "2004.05.31", "2005",
         "2004.06", "", "2004.05.01", "2004.13.01", "2012.02.30", "1899.12.31", "0001.01.01")
RATINGS = ("", "0", "2700", "1", "3600", "unknown", "-", "2484", "65535", "99999", "2600 ")
CODES = ("A00", "E99", "B90", "B9", "", "?", "F12", "B90/03", "b12", "C00")
TITLES = ("GM", "IM", "WGM", "FM", "", "-", "?", "BOT", "GMC", "gm", "CM")
TITLE_WORDS = ("GM", "IM", "FM", "CM", "WGM", "WIM", "WFM", "WCM", "NM", "WNM", "LM", "BOT")
# Controls of all kinds; others in the files are seconds and seconds for each move.
CONTROLS = {"180+2": "blitz", "60+0": "bullet", "60+3": "blitz", "59+3": "bullet",
            "600": "rapid", "479": "blitz", "5400+30": "classical", "40/7200": "classical",
            "1/259200": "correspondence", "15+0": "ultraBullet", "-": None, "?": None, "": None}
SPEEDS = ("ultraBullet", "bullet", "blitz", "rapid", "correspondence", "classical")
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def odd_games(games, rng):
    """Games of the file with other tags, and with fewer moves, so that each is a new one."""
    texts = []
    for i, (_, moves) in enumerate(games):
        plain = chess_slow.plain_moves(moves)
        plain = plain[:rng.choice((1, 2, 7, 20, len(plain)))]
        result = rng.choice(RESULTS)
        tags = {"Event": rng.choice(EVENTS), "Site": rng.choice(SITES), "Date": rng.choice(DATES),
                "Round": str(i), "White": rng.choice(PLAYERS), "Black": rng.choice(PLAYERS),
                "Result": result, "WhiteElo": rng.choice(RATINGS),
                "BlackElo": rng.choice(RATINGS), "ECO": rng.choice(CODES),
                "WhiteTitle": rng.choice(TITLES), "BlackTitle": rng.choice(TITLES),
                "TimeControl": rng.choice(tuple(CONTROLS)),
                "GameId": f"odd{i:05}"}
        for name in list(tags):
            if name not in ("Result", "Round", "GameId") and rng.random() < 0.1:
                del tags[name]
        lines = [f'[{name} "{quoted(value)}"]' for name, value in tags.items()]
        texts.append("\n".join(lines) + "\n\n" + " ".join(plain + [result]) + "\n\n")
    return "".join(texts)


# ---- What a game is ---------------------------------------------------------------------------

def date_parts(text):
    """Year, month and day, 0 for what is not known."""
    found = re.fullmatch(r"(\d{4}|\?{4})(?:\.(\d\d|\?\?)(?:\.(\d\d|\?\?))?)?", text)
    if found is None:
        return 0, 0, 0
    year, month, day = (int(part) if part and part[0] != "?" else 0 for part in found.groups())
    if month > 12 or day > 31:
        return year, 0 if month > 12 else month, 0
    return year, month, day


def speed_of(tags):
    control = tags.get("TimeControl", "")
    speed = CONTROLS.get(control)
    seconds = re.fullmatch(r"(\d+)\+(\d+)", control)
    if seconds:
        total = int(seconds[1]) + 40 * int(seconds[2])
        speed = ("ultraBullet" if total < 30 else "bullet" if total < 180 else "blitz" if total < 480 else
                 "rapid" if total < 1500 else "classical")
    event = tags.get("Event", "").lower()
    places = [(event.find(word.lower()), word) for word in SPEEDS if word.lower() in event]
    return speed or (min(places)[1] if places else None)


class Played:
    """A game as the slow program sees it."""

    def __init__(self, number, source, tags, moves, cache):
        known = {name: value for name, value in tags.items() if value != "?"}
        self.number, self.source, self.tags = number, source, tags
        self.names = [known.get(role, "") for role in ROLES]
        self.event = known.get("Event", "")
        host = re.fullmatch(r"\S*?://([^/\s]+)/\S+", known.get("Site", ""))
        self.site = host[1] if host else known.get("Site", "")
        self.date = date_parts(tags.get("Date", ""))
        elos = [tags.get(role + "Elo", "") for role in ROLES]
        self.elo = [int(elo) if elo.isdigit() and int(elo) <= 65535 else 0 for elo in elos]
        titles = [tags.get(role + "Title", "") for role in ROLES]
        self.titles = [title if title in TITLE_WORDS else "other" if title not in ("", "-", "?")
                       else "" for title in titles]
        self.speed = speed_of(tags)
        self.result = tags.get("Result", "*")
        plain = chess_slow.plain_moves(moves)
        line = " ".join(plain)
        if line not in cache:
            cache[line] = chess_slow.replay(plain)
        self.line, self.path = plain, cache[line]
        self.eco = ""  # of its moves: told when the names of all positions are known
        self.plies = len(self.path) - 1
        self.reached = {}
        for ply, (key, _) in enumerate(self.path):
            self.reached.setdefault(key, ply)

    def average(self):
        return sum(self.elo) if 0 not in self.elo else 0


# ---- Terms ------------------------------------------------------------------------------------
# Each draws its text and what must then hold of a game.

def quoted(value):
    return value.replace("\\", "\\\\").replace('"', '\\"')


def value_of(text):
    bare = re.fullmatch(r"[A-Za-z0-9\-.,/=+:_*]+", text)
    return text if bare else f'"{quoted(text)}"'


def draw_range(rng, low, high):
    """The text of a range, and its ends."""
    a, b = sorted((rng.randint(low, high), rng.randint(low, high)))
    return rng.choice(((str(a), a, a), (f"{a}..{b}", a, b), (f"{a}..", a, 1 << 32),
                       (f"..{b}", 0, b)))


def draw_name(rng, games):
    if rng.random() < 0.5:
        return rng.choice(WANTED)
    name = rng.choice([name for name in rng.choice(games).names if name] or ["Nemo"])
    return "=" + name if rng.random() < 0.4 else rng.choice((name, name.split(",")[0] or name))


def player_term(rng, games):
    wanted, other = draw_name(rng, games), draw_name(rng, games)
    side = rng.choice((None, 0, 1))
    opponent = rng.random() < 0.3
    text = f"player {value_of(wanted)}"
    if side is not None:
        text = rng.choice((f"{text} as {ROLES[side].lower()}",
                           f"{ROLES[side].lower()} {value_of(wanted)}"))
    if opponent:
        text += f" opponent {value_of(other)}"

    def fits(game):
        return any(game.names[i] and chess_slow.player_fits(wanted, game.names[i]) and
                   (not opponent or (game.names[1 - i] and
                                     chess_slow.player_fits(other, game.names[1 - i])))
                   for i in ((0, 1) if side is None else (side,)))
    return text, fits


def text_term(rng, games):
    name = rng.choice(("event", "site", "source"))
    text = getattr(rng.choice(games), name) or "nothing"
    form = rng.random()
    if form < 0.3:
        return f"{name} {value_of('=' + text)}", lambda game: getattr(game, name) == text
    words = chess_slow.words_of(text)
    wanted = " ".join(rng.sample(words, rng.randint(1, len(words)))) if words else text
    wanted = wanted.upper() if form < 0.6 else wanted
    return (f"{name} {value_of(wanted)}",
            lambda game: chess_slow.has_words(wanted, getattr(game, name)))


def date_term(rng, games):
    """A day that is not known wholly must be within the bound whatever it is."""
    year, month, day = rng.choice(games).date
    parts = (year or 2004, month or rng.randint(1, 12), day or rng.randint(1, 31))
    n = rng.randint(1, 3)
    text = "-".join(("%04d", "%02d", "%02d")[i] % parts[i] for i in range(n))
    bound = parts[:n]
    since = rng.random() < 0.5

    def fits(game):
        if game.date[0] == 0:
            return False
        year, month, day = game.date
        if month == 0:
            day = 0
        if since:
            return (year, month or 1, day or 1)[:n] >= bound
        return (year, month or 12, day or 31)[:n] <= bound
    return f"{'since' if since else 'until'} {text}", fits


def range_term(rng, games):
    name, least, low, high, values = rng.choice((
        ("year", 1, 1895, 2020, lambda game: [game.date[0]]),
        ("number", 1, 1, len(games), lambda game: [game.number]),
        ("rating", 1, 2300, 2900, lambda game: game.elo),
        ("elo-white", 1, 1, 2900, lambda game: game.elo[:1]),
        ("elo-black", 1, 2300, 2900, lambda game: game.elo[1:]),
        ("plies", 0, 0, 200, lambda game: [game.plies]),
        ("length", 0, 0, 100, lambda game: [(game.plies + 1) // 2])))
    text, a, b = draw_range(rng, low, high)
    return f"{name} {text}", lambda game: any(max(a, least) <= v <= b for v in values(game))


def two_ratings_term(rng, _):
    text, a, b = draw_range(rng, 2300, 2900)
    a = max(a, 1)
    if rng.random() < 0.5:
        return f"both {text}", lambda game: all(a <= elo <= b for elo in game.elo)
    return f"average {text}", lambda game: game.average() > 0 and 2 * a <= game.average() <= 2 * b


def eco_term(rng, games):
    codes = sorted((rng.choice(games).eco or "C11")[:rng.randint(1, 3)] for _ in range(2))
    first, last = (codes[0] + "00")[:3], (codes[1] + "99")[:3]
    end = (codes[0] + "99")[:3]
    text, a, b = rng.choice(((codes[0], first, end), (f"{codes[0]}..{codes[1]}", first, last),
                             (f"{codes[0]}..", first, "E99"), (f"..{codes[1]}", "A00", last)))
    return f"eco {text}", lambda game: game.eco != "" and a <= game.eco <= b


def list_term(rng, _):
    name, words, values = rng.choice((
        ("result", RESULTS, lambda game: [game.result]),
        ("speed", SPEEDS, lambda game: [game.speed]),
        ("title", TITLE_WORDS + ("other",), lambda game: game.titles)))
    wanted = rng.sample(words, rng.randint(1, 3))
    return f"{name} {','.join(wanted)}", lambda game: any(v in wanted for v in values(game))


def place_term(rng, games):
    """A position: where some game was, told by its moves or as a FEN."""
    game = rng.choice(games)
    ply = min(game.plies, rng.choice((0, 1, 2, 3, 4, 6, 8, 12, 20, 40, 80)))
    key = game.path[ply][0]
    text = f'position "{key} 0 1"'
    if 0 < ply <= 40 and rng.random() < 0.6:
        text = f'moves "{" ".join(game.line[:ply])}"'
    return text, lambda other: key in other.reached


TERMS = (player_term, player_term, text_term, date_term, range_term, range_term, two_ratings_term,
         eco_term, list_term, place_term)


def draw_filter(rng, games):
    texts, tests = [], []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        text, fits = rng.choice(TERMS)(rng, games)
        wanted = rng.random() > 0.25
        texts.append(text if wanted else "not " + text)
        tests.append((fits, wanted))
    return (rng.choice((" ", " and ")).join(texts),
            lambda game: all(bool(fits(game)) == wanted for fits, wanted in tests))


# ---- Tests ------------------------------------------------------------------------------------

def row_of(game):
    """What a row says, but for the position asked."""
    year, month, day = game.date
    date = f"{year:04}.{month:02}.{day:02}".replace(".00", ".??") if year else None
    return {"game": game.number, "white": game.names[0] or None, "black": game.names[1] or None,
            "result": game.result, "date": date, "event": game.event or None,
            "eco": game.eco or None, "white_elo": game.elo[0] or None,
            "black_elo": game.elo[1] or None, "plies": game.plies, "source": game.source}


class Filters(Base):
    @classmethod
    def setUpClass(cls):
        cls.rng = harness.seed()
        cls.store = os.path.join(harness.make_temp_dir(), "store")
        cls.games = []
        cache = {}
        with open(os.path.join(DATA, FILES[0]), encoding="utf-8") as file:
            masters = chess_slow.read_pgn(file.read())
        odd = os.path.join(harness.make_temp_dir(), "odd names.pgn")
        with open(odd, "w", encoding="utf-8") as file:
            file.write(odd_games(masters, cls.rng))
        for path in [os.path.join(DATA, name) for name in FILES] + [odd]:
            done = harness.run_cli("import", "--statistic", "outcome", path, address=cls.store)
            assert done.returncode == 0, done.stderr
            with open(path, encoding="utf-8") as file:
                for tags, moves in chess_slow.read_pgn(file.read()):
                    cls.games.append(Played(len(cls.games) + 1, os.path.basename(path), tags,
                                            moves, cache))

        names = chess_slow.names_of(harness.run_cli("scan", "--show", "fen,eco", "--json", address=cls.store).stdout)
        for game in cls.games:
            game.eco = chess_slow.opening_of(game.path, names)
        cls.daemon = harness.start_daemon({"default": cls.store})
        cls.addClassCleanup(cls.daemon.stop)

    @property
    def address(self):
        """Either way there is the same answer."""
        return self.rng.choice((self.store, self.daemon.address))

    def ask(self, *args):
        return [json.loads(line) for line in
                self.out("--quiet", "games", "--json", *args, address=self.address).splitlines()]

    def numbers(self, *args):
        return [row["game"] for row in self.ask(*args)]

    def test_every_row(self):
        rows = self.ask()
        self.assertEqual(len(rows), len(self.games))
        for row, game in zip(rows, self.games):
            expected = row_of(game)
            self.assertEqual({name: row[name] for name in expected}, expected)

    def test_a_filter_stands_by_itself(self):
        """What an option or a position says is no part of it, and holds for all that it has by `or`."""
        either = "eco B or result 1-0"
        played = self.numbers("--moves", "e4 c5")
        wanted = [g for g in self.numbers("--filter", f"({either})") if g in played]
        self.assertNotEqual(wanted, [])
        self.assertEqual(self.numbers("--moves", "e4 c5", "--filter", either), wanted)
        key = self.out("key", "e4 c5").split("\t")[-2]
        with Client(self.daemon.address) as client:
            asked = client.query_games(either, position=bytes.fromhex(key))
        self.assertEqual([game.number for game in asked.games], wanted)
        # A board with both, against one with each.
        apart = self.numbers("--filter", "has Nf3 and has ne4")
        together = self.numbers("--filter", "has Nf3 has ne4")
        self.assertLess(len(together), len(apart))
        self.assertEqual(self.numbers("--has", "Nf3", "--filter", "has ne4"), apart)
        found = self.out("--quiet", "find", "--games", "--json", "--has", "Nf3", "--filter", "has ne4",
                         address=self.address)
        self.assertEqual([json.loads(line)["game"] for line in found.splitlines()], apart)

    def test_examples_of_the_manual(self):
        """Each is a filter, and means the same written by itself in parentheses."""
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli", "chistore-filters.7"), encoding="utf-8") as page:
            examples = [line[4:].strip().replace("\\(dq", '"') for line in page if line.startswith(".Dl ")]
        self.assertGreater(len(examples), 20)
        for text in examples:
            with self.subTest(text):
                self.assertEqual(self.numbers("--filter", text), self.numbers("--filter", f"({text}) or ({text})"))

    def test_plans(self):
        """--explain: what leads, and what is looked at; a directory and a daemon say the same, and print no game."""
        castled = len(self.numbers("--filter", "played O-O"))
        mated = len(self.numbers("--filter", "mate"))
        won = len(self.numbers("--filter", "result 1-0"))
        games = len(self.games)
        for text, lines in (("played O-O", [f"motif 1: {castled} games, by events", "leads: a motif",
                                            f"games to look at: {castled} of {games}", "games to play again: 0"]),
                            ("check next mate", [f"motif 1: at most {mated} games, by events", "leads: a motif",
                                                 f"games to look at: {mated} of {games}",
                                                 f"games to play again: at most {mated}"]),
                            ("not played O-O", [f"motif 1: {castled} games, by events", "leads: nothing",
                                                f"games to look at: {games} of {games}", "games to play again: 0"]),
                            ("has Nf3", ["motif 1: any game; looks at all positions", "leads: nothing",
                                         f"games to look at: {games} of {games}", "games to play again: 0"]),
                            ("check has Nf3 ply 9..", ["motif 1: any game", "leads: nothing", f"games to look at: {games} of {games}",
                                                 f"games to play again: at most {games}"]),
                            ("result 1-0", ["leads: nothing", f"games to look at: {won} of {games}",
                                            "games to play again: 0"]),
                            ("has Nf3 number 1..9", ["motif 1: any game", "leads: nothing",
                                                     f"games to look at: 9 of {games}", "games to play again: at most 9"]),
                            ("moves e4", None)):
            with self.subTest(text):
                plans = [self.out("games", "--explain", *also, "--filter", text, address=address).splitlines()
                         for address in (self.store, self.daemon.address)
                         for also in ((), ("--count",), ("--sort", "date"))]
                self.assertEqual(plans, [plans[0]] * len(plans))
                self.assertIn(plans[0], (lines or plans[0],))
                self.assertIn("leads: a position" if lines is None else lines[-1], plans[0])
        self.assertEqual(json.loads(self.out("games", "--explain", "--json", "--filter", "result 1-0", address=self.address)),
                         {"plan": f"leads: nothing\ngames to look at: {won} of {games}\ngames to play again: 0\n"})

    def test_plans_of_find(self):
        """find --games --explain says that positions are looked at, where games has the same plan."""
        for pattern in ("Nf3", "Nd5 kg8"):
            plans = [self.out(*command, "--has", pattern, *also, address=address)
                     for command in (("games", "--explain"), ("find", "--games", "--explain"))
                     for also in ((), ("--count",)) for address in (self.store, self.daemon.address)]
            self.assertEqual(plans, [plans[0]] * len(plans))
            self.assertIn("looks at all positions", plans[0])
        for wrong in ((), ("--games", "--pgn")):
            failed = harness.run_cli("find", "--explain", *wrong, address=self.store)
            self.assertEqual((failed.returncode, "--explain goes with --games" in failed.stderr), (2, True))

    def test_a_slow_query_logs_its_plan(self):
        """Of a query that is stopped the log has what --explain prints, also if it has had several snapshots."""
        directory = harness.make_temp_dir()
        copy = os.path.join(directory, "copy")
        shutil.copytree(self.store, copy)
        text = 'attacked "d4 by ? 9.." next any shift mirror either-colour'
        plan = self.out("games", "--explain", "--filter", text, address=self.store).strip().split("\n")
        for most, snapshot in ((1, 1000), (200, 10)):
            with self.subTest(most):
                log = os.path.join(directory, f"log{most}")
                with harness.start_daemon({"default": copy}, extra_args=[
                        "--max-query-time", most, "--snapshot-time", snapshot, "--log-file", log]) as daemon:
                    harness.run_cli("games", "--count", "--filter", text, address=daemon.address)
                with open(log, encoding="utf-8") as file:
                    lines = [line for line in file if "s of work" in line]
                self.assertEqual(len(lines), 1, lines)
                # Of so few games lists are not read; here they would not help.
                self.assertIn(";".join(plan[1:]) + ")", lines[0])

    def test_random_filters(self):
        """The games; and of some the total, the orders, and the pages."""
        found = 0
        for i in range(FILTERS):
            text, fits = draw_filter(self.rng, self.games)
            expected = [game for game in self.games if fits(game)]
            found += len(expected) > 0
            with self.subTest(text):
                self.assertEqual(self.numbers("--filter", text), [g.number for g in expected])
                if i % 5 == 0:
                    total = json.loads(self.out("games", "--json", "--count", "--filter", text,
                                                address=self.address))
                    self.assertEqual(total["games"], len(expected))
                    self.check_order(text, expected)
        self.assertGreater(found, FILTERS // 4)
        print(f"# figures: {FILTERS} filters, {found} of them with games")

    def check_order(self, text, games):
        sort = self.rng.choice(("number", "date", "rating"))
        descending = self.rng.random() < 0.5
        key = {"number": lambda game: game.number, "date": lambda game: (game.date, game.number),
               "rating": lambda game: (game.average(), game.number)}[sort]
        expected = [game.number for game in sorted(games, key=key, reverse=descending)]
        args = ["--filter", text, "--sort", sort] + ["--descending"] * descending
        limit = max(len(games) // 3, 1)
        pages, cursor = [], []
        while True:
            done = self.cli("games", "--json", "--limit", limit, *args, *cursor,
                            address=self.address)
            pages += [json.loads(line)["game"] for line in done.stdout.splitlines()]
            more = re.search(r"(\d+) of (\d+) games; next: (--cursor) (\w+)", done.stderr)
            if more is None or len(pages) >= len(games):
                break
            self.assertEqual(int(more[2]), len(games))
            cursor = [more[3], more[4]]
        self.assertEqual(pages, expected, (sort, descending))

    def test_plies_of_a_position(self):
        """With --moves each row tells where the game was there first, by whatever moves."""
        for _ in range(20):
            game = self.rng.choice([game for game in self.games if game.plies > 20])
            ply = self.rng.choice((0, 1, 3, 4, 6, 9))
            key = game.path[ply][0]
            args = ["--moves", " ".join(game.line[:ply])] if ply else ["--position", key + " 0 1"]
            self.assertEqual([(row["game"], row["ply"]) for row in self.ask(*args)],
                             [(g.number, g.reached[key]) for g in self.games if key in g.reached])

    def test_filtered_moves(self):
        """Each move of explore, counted in the games that fit."""
        for _ in range(max(FILTERS // 10, 1)):
            game = self.rng.choice(self.games)
            key = game.path[min(game.plies, self.rng.choice((0, 1, 2, 3, 5, 8, 14)))][0]
            text, fits = draw_filter(self.rng, self.games)
            games = [game for game in self.games if key in game.reached and fits(game)]
            with self.subTest((key, text)):
                answer = json.loads(self.out("explore", key + " 0 1", "--filter", text, "--json",
                                             address=self.address))
                self.check_moves(answer, key, games)

    def check_moves(self, answer, key, games):
        played = {}
        for game in games:
            for move in {uci for at, uci in game.path if at == key and uci}:
                played.setdefault(move, []).append(game.result)
        told = {move["uci"]: [move[name] for name in ("white", "draws", "black", "other")]
                for move in answer["moves"]}
        self.assertEqual(told, {move: counts_of(results) for move, results in played.items()})
        self.assertEqual([answer[name] for name in ("white", "draws", "black", "other")],
                         counts_of([game.result for game in games]))


def counts_of(results):
    return [results.count(result) for result in ("1-0", "1/2-1/2", "0-1", "*")]
