#!/bin/bash
# SPDX-License-Identifier: MIT
# Shows Chistore at work on real positions: makes a store, serves it, asks it, with every command
# printed before it runs. Everything happens in a temporary directory that is removed at the end.
#
#	demo/demo.sh [BUILD_DIRECTORY]		(default: build, beside this directory)
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
chistore=$build/cli/chistore
chistored=$build/daemon/chistored
http=$build/http/chistore-http
for program in "$chistore" "$chistored" "$http"; do
	if [ ! -x "$program" ]; then
		echo "demo: $program is missing: run 'make build' first" >&2
		exit 1
	fi
done

dir=$(mktemp -d /tmp/chistore-demo-XXXXXX)
daemon=
scanner=
webserver=

# Ends what was started, also on Ctrl-C, and leaves nothing behind.
clean_up() {
	trap - EXIT INT TERM
	for pid in $scanner $daemon $webserver; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

cp "$root/demo/positions.epd.gz" "$dir"
cp "$root/tests/data/pgn/games_300.pgn" "$dir/masters.pgn"
cd "$dir"
unset CHISTORE

say() {
	printf '\n# %s\n' "$1"
}

# Prints the command as a reader would type it, then runs it.
show() {
	local word line='$'
	for word in "$@"; do
		case $word in
		*[[:space:]\;\|\<\>\&*?]*) line="$line '$word'" ;;
		*) line="$line $word" ;;
		esac
	done
	echo "$line"
	case $1 in
	chistore) shift && "$chistore" "$@" ;;
	chistored) shift && "$chistored" "$@" ;;
	*) "$@" ;;
	esac
}

say 'A store of the "control" statistic: how differently White and Black attack the board.'
show chistore -a positions init
show chistore -a positions import positions.epd.gz

say 'What is known about a position; the statistic was computed when it was stored.'
show chistore -a positions get startpos

say 'The store is served to others. The daemon says when it is ready.'
echo "$ chistored --store positions --listen unix:$dir/socket &"
# Made here, as the daemon may not have opened it when it is looked at first.
: >daemon.log
"$chistored" --store positions --listen "unix:$dir/socket" 2>daemon.log &
daemon=$!
until grep -q 'ready, listening' daemon.log; do
	if ! kill -0 "$daemon" 2>/dev/null; then
		cat daemon.log >&2
		exit 1
	fi
	sleep 0.02
done
grep 'ready, listening' daemon.log
echo "$ export CHISTORE=unix:$dir/socket"
export CHISTORE=unix:$dir/socket

say 'More about it: an evaluation, results, a line, a note.'
show chistore put startpos --eval stockfish:30:35 --counts 384,327,289 --line 'e4 e5 Nf3' \
	--note 'where all begins'
show chistore get startpos --table

say 'A band of the statistic, from the top: where the two sides attack most differently.'
show chistore scan --min 90 --max 255.99 --desc --limit 5

say 'Filters: material with either colour, pieces, side to move; and counts.'
show chistore scan --min 20 --max 40 --material KRPvKR --either-colour
show chistore scan --pieces ..4 --side w --limit 5
show chistore count --pieces ..7
show chistore count --min 60 --max 79.99 --side b

say 'Two processes at once: one walks the directory in its own process, one writes through the daemon.'
echo '$ chistore -a positions scan --keys > scan.tsv &'
"$chistore" -a positions scan --keys >scan.tsv &
scanner=$!
show chistore put '8/8/4k3/8/8/4K3/4P3/8 w - - 0 1' --note 'written during the scan'
wait "$scanner"
scanner=
show wc -l scan.tsv
show chistore -a positions get '8/8/4k3/8/8/4K3/4P3/8 w - - 0 1'

say 'What the store says of itself, and whether every byte of it is sound.'
show chistore info
show chistore verify

say 'The daemon stops; what it acknowledged is on the disk.'
echo "$ kill $daemon"
kill "$daemon"
wait "$daemon"
daemon=
show chistore -a positions count

unset CHISTORE
say 'Games: every position of 300 of them is counted, with what was played and how it ended.'
show chistore -a games import --statistic outcome masters.pgn
show chistore -a games explore e4 c5 --limit 5 --table
show chistore -a games explore Najdorf --limit 3

say 'Which games are these? From the position to its games, by one player, to one of them whole.'
show chistore -a games games --moves 'e4 c5' --limit 5
show chistore -a games games --moves 'e4 c5' --player Norheim --count
show chistore -a games explore e4 c5 --player Norheim --limit 3 --table
show chistore -a games game 1

say 'And where did something like this occur? By what is on the board, in all distinct positions.'
show chistore -a games find --has 'Nd5 kg8 !pe6' --limit 3
show chistore -a games games --has 'Nd5 kg8 !pe6' --result 1-0 --limit 3

say 'Positions whose results differ most surely from the average game.'
show chistore -a games scan --min 0.01 --min-games 15 --desc --limit 5

say 'The same games again change nothing; taken out, nothing is left of them.'
show chistore -a games import masters.pgn
show chistore -a games export --format polyglot --min-games 2 -o book.bin
show wc -c book.bin
show chistore -a games subtract masters.pgn
show chistore -a games count

say 'Over HTTP: JSON, what programs ask lichess and chessdb, and a page for people.'
"$chistore" -a games import --quiet masters.pgn >import.log
echo '$ chistore-http -a games'
: >web.log
"$http" -a games --listen tcp:127.0.0.1:0 --web "$root/http/web" --log-level error 2>web.log &
webserver=$!
until grep -q ready web.log; do
	kill -0 "$webserver" || { cat web.log && exit 1; }
	sleep 0.1
done
cat web.log
address=$(sed -n 's/.*listening on //p' web.log)
echo "\$ curl '${address}masters?play=e2e4,c7c5&moves=2&topGames=0'"
# A request without a version is answered bare, so that no other program is needed to show it.
host=${address#http://}
exec 3<>"/dev/tcp/${host%:*}/$(tr -dc 0-9 <<<"${host##*:}")"
echo 'GET /masters?play=e2e4,c7c5&moves=2&topGames=0' >&3
cat <&3
exec 3>&-

printf '\n%s\n%s\n' "Next: '$chistore -a ./my-store init' makes a store of your own, '$chistore --help'" \
	"lists the commands, and README.md has a tour for engine authors, researchers and operators."

if [ -t 1 ]; then
	printf '\n%s\n' "The page is at $address until you press Ctrl-C."
	wait "$webserver"
fi
