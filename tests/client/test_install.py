# SPDX-License-Identifier: MIT
"""What `make install` puts in place works: installs into an empty directory, compiles the example
against it by pkg-config, with the shared and with the static library, and runs both on a
store in a directory and, if the daemon is built, on a server's socket."""
import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

MAKE_STORE = """
#include <stdio.h>
#include <chistore.h>
int main(int argc, char **argv)
{
	struct chi_fault fault;
	if (argc != 2 || chi_store_create(argv[1], CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault) != CHI_OK) {
		fprintf(stderr, "%s\\n", fault.text);
		return 1;
	}
	return 0;
}
"""
# What is loaded when it is needed: a start took three times as long with the first two.
LATE = re.compile(r"lib(ssl|crypto|rados|z|bz2|lzma)\.so")
EXPECTED = ["first: mate in 14 at depth 20", "\t8/8/8/8/3k4/8/3P4/R3K3 w - - 0 1"]


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}: exit {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


class Installed:
    """The tree that was installed, and how to compile against it."""

    def __init__(self, args, root):
        run([*args.meson, "install", "-C", args.build, "--no-rebuild", "--destdir", root])
        self.prefix = root / args.prefix.lstrip("/")
        self.libdir = self.prefix / args.libdir
        self.cc = args.cc
        for path in ("include/chistore.h", "include/chistore/types.h", "include/chistore/games.h",
                     "include/chistore/imports.h", "include/chistore/names.h", "include/chistore/search.h",
                     f"{args.libdir}/libchistore.so", f"{args.libdir}/libchistore.so.0",
                     f"{args.libdir}/libchistore.a", f"{args.libdir}/pkgconfig/chistore.pc",
                     "share/man/man3/chistore.3", f"{args.docdir}/chistore.proto",
                     f"{args.docdir}/PROTOCOL.md", f"{args.docdir}/FORMAT.md",
                     f"{args.docdir}/examples/first.c", f"{args.docdir}/examples/engine.c",
                     f"{args.docdir}/examples/search.c"):
            at = root / path.lstrip("/") if path.startswith("/") else self.prefix / path
            if not at.exists():
                sys.exit(f"{path} is not installed")
        pages = pathlib.Path(__file__).parents[2] / "cli" / "man"
        for page in pages.glob("*.1"):
            if not (self.prefix / "share/man/man1" / page.name).exists():
                sys.exit(f"{page.name} is not installed")
        self.check_symbols()
        for path in (f"{args.libdir}/libchistore.so.0", "bin/chistore", "bin/chistore-uci"):
            if LATE.search(run(["ldd", self.prefix / path])):
                sys.exit(f"{path} loads at its start what it rarely needs")

    def check_symbols(self):
        """A program that links the static library sees what it sees of the shared one, and nothing else."""
        def names(*command):
            return set(re.findall(r"(?m) [TDBRV] (\w+)", run(["nm", *command])))

        static = names("-g", "--defined-only", self.libdir / "libchistore.a")
        shared = names("-D", "--defined-only", self.libdir / "libchistore.so.0")
        if static != shared or not static:
            sys.exit(f"only one of libchistore.a and libchistore.so.0 has {', '.join(sorted(static ^ shared))}")

    def flags(self, *options):
        env = {**os.environ, "PKG_CONFIG_PATH": str(self.libdir / "pkgconfig")}
        out = run(["pkg-config", f"--define-variable=prefix={self.prefix}", *options, "chistore"],
                  env=env)
        return shlex.split(out)

    def compile(self, source, out, static):
        libs = self.flags("--libs", *(["--static"] if static else []))
        if static:
            # Only our own library: the others may be shared.
            libs = ["-l:libchistore.a" if word == "-lchistore" else word for word in libs]
        run([*self.cc, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
             *self.flags("--cflags"), source, "-o", out, *libs])
        return out

    def env(self, static):
        env = dict(os.environ)
        if not static:
            env["LD_LIBRARY_PATH"] = str(self.libdir)
        return env


def check_example(program, env, address):
    lines = run([program, address], env=env).splitlines()
    if len(lines) != 2 or lines[0] != EXPECTED[0] or not lines[1].endswith(EXPECTED[1]):
        sys.exit(f"{program} {address} printed {lines}")


def page_example(page, header):
    """The program of the manual page, which names every function of the header."""
    text = page.read_text()
    code = re.sub(r"/\*.*?\*/|typedef[^;]*;", "", header, flags=re.S)
    declared = set(re.findall(r"\b(chi_[a-z0-9_]+)\(", code))
    missing = declared - set(re.findall(r"\.?Fn (chi_\w+)", text))
    if missing:
        sys.exit(f"{page.name} does not name {', '.join(sorted(missing))}")
    return text.split(".Bd -literal\n")[1].split(".Ed\n")[0].replace("\\e", "\\")


def check_daemon(daemon, program, env, store, where):
    address = f"unix:{where}/socket"
    server = subprocess.Popen([daemon, "--store", store, "--listen", address],
                              stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            if "ready, listening on" in line:
                break
        else:
            sys.exit("the daemon ended before it was ready")
        check_example(program, env, address)
    finally:
        server.send_signal(signal.SIGTERM)
        server.stderr.close()
        if server.wait() != 0:
            sys.exit(f"the daemon ended with {server.returncode}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--meson", type=shlex.split)
    parser.add_argument("--cc", type=shlex.split)
    parser.add_argument("--build")
    parser.add_argument("--prefix")
    parser.add_argument("--libdir")
    parser.add_argument("--docdir")
    parser.add_argument("--example")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chistore-test-") as name:
        where = pathlib.Path(name)
        tree = Installed(args, where / "root")
        source = where / "make.c"
        source.write_text(MAKE_STORE)
        moves = where / "moves.c"
        moves.write_text(page_example(tree.prefix / "share/man/man3/chistore.3",
                                      (tree.prefix / "include/chistore.h").read_text() +
                                      "const char *chi_strerror(int status);"))
        for static in (False, True):
            kind = "static" if static else "shared"
            store = where / f"store-{kind}"
            run([tree.compile(source, where / f"make-{kind}", static), store],
                env=tree.env(static))
            first = tree.compile(args.example, where / f"first-{kind}", static)
            check_example(first, tree.env(static), store)
            lines = run([tree.compile(moves, where / f"moves-{kind}", static), store],
                        env=tree.env(static)).splitlines()
            if len(lines) != 20 or sorted(lines)[-1] != "h4\t-":
                sys.exit(f"the manual page's example printed {lines}")
            if "CHISTORED" in os.environ:
                check_daemon(os.environ["CHISTORED"], first, tree.env(static), store, where)
            print(f"{kind}: good")


main()
