#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Evaluations in the comments of games: what `import --evals` stores, computed here once more."""

import json
import re

import harness
from cli_base import MASTERS, Base, summary


def games(first, last):
    with open(MASTERS, encoding="utf-8") as file:
        parts = file.read().split("[Event ")[1 + first:1 + last]
    for part in parts:
        head, text = part.split("\n\n", 1)
        tags = dict(re.findall(r'\[(\w+) "([^"]*)"\]', head))
        yield tags, re.findall(r"(?:O-O(?:-O)?|[KQRBN]?[a-h1-8]?x?[a-h][1-8](?:=[QRBN])?|[KQRBN]"
                               r"[a-h1-8]{0,2}x?[a-h][1-8])[+#]?", text)


class Evaluations(Base):
    def annotated(self, first, last):
        """Games with a comment after each move; of each: evaluated ply and what it says, as
        `get` prints it, White's view of the score apart."""
        rows, text = [], []
        for tags, moves in games(first, last):
            lichess = self.random.random() < 0.4
            if lichess:
                tags["Annotator"] = "https://lichess.org"
            text.append("".join('[%s "%s"]\n' % pair for pair in tags.items()) + "\n")
            # A date that is known in part is none.
            date = None if "?" in tags["Date"] else tags["Date"].replace(".", "-") + "T00:00:00Z"
            for i, san in enumerate(moves):
                cp, mate, depth = (self.random.randint(-900, 900), self.random.randint(1, 20),
                                   self.random.randint(0, 6))
                is_mate = self.random.random() < 0.2
                black = i % 2 == 1
                row = {"depth": depth, "nodes": 0, "pv": [], "date": date}
                kind = self.random.choice(["lichess", "cutechess", "tcec", "book"])
                white = mate if is_mate else cp
                if kind == "lichess":
                    white *= self.random.choice([1, -1])
                    score = f"#{white}" if is_mate else f"{white / 100:.2f}"
                    comment = f"[%eval {score},{depth}] [%clk 0:01:00]"
                    row.update(engine="lichess" if lichess else "?", ply=i + 1)
                else:
                    # In plies: an odd number to mate, an even one to be mated.
                    plies = 2 * mate - 1 if self.random.random() < 0.5 else -2 * mate
                    white = (mate if plies > 0 else -mate) if is_mate else cp
                    told = ("-" if plies < 0 else "") + f"M{abs(plies)}" if is_mate else f"{cp / 100:.2f}"
                    row.update(engine=tags["Black" if black else "White"], ply=i)
                    comment = f"{told}/{depth} 0.5s"
                    if kind == "cutechess":
                        white = -white if black else white
                    elif kind == "tcec":
                        row["nodes"] = self.random.randint(1, 10**12)
                        row["pv"] = moves[i:i + 9]
                        shown = moves[i + (i % 5 == 0 and len(moves) > i + 6):i + 9]
                        comment = (f"d={depth}, sd=9, mt=1, n={row['nodes']}, pv={' '.join(shown)}, "
                                   f"tb=0, wv={told}, R50=49,")
                row["mate" if is_mate else "cp"] = white
                if kind == "book":
                    comment = "book"
                else:
                    rows.append((tuple(moves), row))
                text.append(f"{san} {{{comment}}} ")
            text.append(tags["Result"] + "\n\n")
        return "".join(text), rows

    def expected(self, rows):
        """By position: the evaluations `get` is to print, and the eval statistic."""
        lines = ["startpos " + " ".join(moves[:row["ply"]]) for moves, row in rows]
        fens = [line.split("\t")[0] for line in
                self.out("key", input="\n".join(lines)).splitlines()[1:]]
        wanted = {}
        for (_, row), fen in zip(rows, fens):
            engines = wanted.setdefault(fen, {})
            old = engines.get(row["engine"])
            if old is None or row["depth"] >= old["depth"]:
                engines[row["engine"]] = row
        result = {}
        for fen, engines in wanted.items():
            best = sorted(engines.values(), key=lambda row: row["engine"].encode())
            deepest = max(best, key=lambda row: (row["depth"], row["date"] or ""))
            if "mate" in deepest:
                chi2 = 25599 - deepest["mate"] if deepest["mate"] > 0 else 1 - deepest["mate"]
            else:
                chi2 = 12800 + deepest["cp"]
            sign = 1 if fen.split()[1] == "w" else -1
            result[fen] = (chi2, [
                [row["engine"], row["depth"], "mate" in row,
                 sign * row["mate" if "mate" in row else "cp"], row["nodes"], len(row["pv"]),
                 row["date"]] for row in best])
        return result

    def stored(self, address):
        result = {}
        for line in self.out("export", "--format", "jsonl", address=address).splitlines():
            record = json.loads(line)
            if record.get("evals"):
                result[record["fen"]] = (
                    round(100 * record["chi2"]),
                    [[e["engine"], e["depth"], "mate" in e, e.get("mate", e.get("cp")),
                      e["nodes"] or 0, len(e.get("pv", [])), e["date"]] for e in record["evals"]])
        return result

    def test_directory_and_daemon(self):
        self.random = harness.seed()
        one, rows = self.annotated(0, 20)
        two, _ = self.annotated(15, 30)
        first, second = self.write("one.pgn", one), self.write("two.pgn", two)
        plain = self.path("plain")
        self.cli("import", "--statistic", "eval", first, address=plain)
        self.assertEqual(self.stored(plain), {})
        dumps = []
        with harness.start_daemon({"default": self.new_store("eval")}) as daemon:
            for address in (self.path("local"), daemon.address):
                create = ["--statistic", "eval"] if address != daemon.address else []
                out = summary(self.out("import", "--evals", *create, first, address=address))
                self.assertEqual(out["evaluations"], str(len(rows)))
                # The statistic follows at once; a second import merges with what is stored.
                found, wanted = self.stored(address), self.expected(rows)
                for fen in found.keys() | wanted.keys():
                    self.assertEqual(found.get(fen), wanted.get(fen), fen)
                self.check_known(address, first, second)
                self.assertIn("sound\tyes", self.out("verify", address=address))
                dumps.append(self.counts(address))
            self.assertEqual(dumps[0], dumps[1])
            bad = self.cli("import", "--evals", self.write("x.epd", "8/8/4k3/8/8/4K3/4P3/8 w - -\n"),
                           code=2, address=daemon.address)
            self.assertIn("--evals goes with games", bad.stderr)
            self.cli("subtract", "--evals", first, code=2, address=daemon.address)
        # Without the option the same counts, and nothing else.
        self.assertNotIn("evaluations", summary(self.out("import", second, address=plain)))
        strip = [re.sub(r"\t[^\t]*\|[^\t]*\t", "\t\t", line).split("\t") for line in
                 dumps[0].splitlines()]
        for line, bare in zip(strip, self.counts(plain).splitlines()):
            bare = bare.split("\t")
            if line[0] != "sum":
                self.assertEqual(line[:1] + line[2:], bare[:1] + bare[2:])

    def check_known(self, address, first, second):
        """Games that are counted bring no evaluations: neither again, nor from another file."""
        before = self.out("dump", address=address)
        again = summary(self.out("import", "--evals", first, address=address))
        self.assertEqual((again["already"], again["evaluations"]), ("20", "0"))
        self.assertEqual(self.out("dump", address=address), before)
        out = summary(self.out("import", "--evals", second, address=address))
        self.assertEqual((out["imported"], out["already"]), ("10", "5"))
        self.assertGreater(int(out["evaluations"]), 0)
