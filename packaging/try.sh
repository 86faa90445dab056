#!/bin/sh
# SPDX-License-Identifier: MIT
# Starts the image as compose.yaml does - read-only, without capabilities or a network - and uses it: a
# store is made, filled, verified and shown on the page, and is there after a restart.
#
#	packaging/try.sh ENGINE IMAGE		ENGINE: podman or docker
set -eu
[ $# -eq 2 ] || { sed -n 's/^#	/usage: /p' "$0" >&2; exit 2; }
engine=$1 image=$2
name=chistore-try-$$
locked="--read-only --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp"

clean_up() {
	"$engine" rm -f "$name" "$name-page" >/dev/null 2>&1 || true
	"$engine" volume rm -f "$name-store" "$name-socket" >/dev/null 2>&1 || true
}
trap clean_up EXIT

fail() {
	echo "try: $*" >&2
	exit 1
}

inside() {
	"$engine" exec -i "$name" chistore -a unix:/run/chistore/socket "$@"
}

# A minute at most.
await() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		[ $tries -lt 600 ] || fail "no success within a minute: $*"
		tries=$((tries + 1))
		sleep 0.1
	done
}

# The image's own check, now and not when its time has come, where the engine can do that.
is_healthy() {
	case $engine in
	*podman) "$engine" healthcheck run "$name" ;;
	*) [ "$("$engine" inspect -f '{{.State.Health.Status}}' "$name")" = healthy ] ;;
	esac
}

# shellcheck disable=SC2086 # words
start() {
	"$engine" run -d --name "$name" --network none $locked -v "$name-store:/var/lib/chistore" \
		-v "$name-socket:/run/chistore" "$image" >/dev/null
	await inside ping --store
}

start
await is_healthy
[ "$("$engine" exec "$name" id -u)" -ne 0 ] || fail "the daemon's user is root"
! "$engine" exec -u 0 "$name" touch /file 2>/dev/null || fail "the root can be written to"
printf '[White "Ada"]\n[Black "Ben"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n' |
	inside import -
inside verify
"$engine" stop -t 60 "$name" >/dev/null
"$engine" rm "$name" >/dev/null
start
inside games --count

# shellcheck disable=SC2086 # words
"$engine" run -d --name "$name-page" $locked -p 127.0.0.1::8080 -v "$name-socket:/run/chistore" "$image" \
	chistore-http -a unix:/run/chistore/socket --listen tcp:0.0.0.0:8080 --public-read >/dev/null
port=$("$engine" port "$name-page" 8080/tcp | sed 's/.*://')
await curl -fsS "http://127.0.0.1:$port/"
curl -fsS "http://127.0.0.1:$port/masters" | grep -q '"white":1'
echo "the image works"
