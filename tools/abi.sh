#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the library's ABI with that of a commit, by default of the last tag: fails where a program that
# was linked with the older one could not run with this one. That the comparison sees what it must is shown first,
# each time: by a member put into a struct that may not grow, and by what docs/COMPATIBILITY.md allows.
#
#	tools/abi.sh DIRECTORY [COMMIT]		(whose older results are removed)
set -eu
[ $# -eq 1 ] || [ $# -eq 2 ] || { sed -n 's/^#	/usage: /p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
cd "$root"
commit=${2:-}
rules=client/libchistore.abignore
rm -rf "$dir/now" "$dir/forbidden" "$dir/allowed" "$dir/last" "$dir"/*.so "$dir"/*.log "$dir"/*.txt
mkdir -p "$dir/now"

# library NAME: builds the library of $dir/NAME with the types that it knows, quickly.
library() {
	if ! CFLAGS=-g meson setup "$dir/$1/build" "$dir/$1" -Dtests=false -Doptimization=0 \
		>"$dir/$1.log" 2>&1 ||
		! file=$(ninja -C "$dir/$1/build" -t targets all |
			sed -n 's/^\(client\/libchistore\.so\.[0-9.]*\): .*/\1/p') ||
		! ninja -C "$dir/$1/build" "$file" >>"$dir/$1.log" 2>&1; then
		cat "$dir/$1.log" >&2
		exit 1
	fi
	ln "$dir/$1/build/$file" "$dir/$1.so"
}

# compare OLD NEW: the status is 0 where all that changed is allowed. What is added is no change.
compare() {
	abidiff --suppressions "$rules" --no-added-syms --headers-dir1 "$dir/$1/include" \
		--headers-dir2 "$dir/$2/include" "$dir/$1.so" "$dir/$2.so" \
		>"$dir/$2.txt" 2>&1
}

# What is not committed yet is compared, too.
git ls-files -z | xargs -0 cp --parents -t "$dir/now"
library now

# planted NAME HEADER SED-EXPRESSION
planted() {
	cp -R "$dir/now" "$dir/$1"
	rm -rf "$dir/$1/build"
	sed -i "$3" "$dir/$1/include/$2"
	! cmp -s "include/$2" "$dir/$1/include/$2" || { echo "abi: $1 changes nothing" >&2; exit 1; }
	library "$1"
}

planted forbidden chistore/types.h '/^struct chi_record {/a\	uint64_t planted;'
if compare now forbidden || ! grep -q "'uint64_t planted'" "$dir/forbidden.txt"; then
	echo "abi: a member that was put into struct chi_record is not seen" >&2
	exit 1
fi
planted allowed chistore/types.h '/^struct chi_scan_spec {/,/^};/s/^};/	uint64_t planted;\n};/'
compare now allowed || {
	cat "$dir/allowed.txt" >&2
	echo "abi: a member at the end of struct chi_scan_spec is allowed, and refused" >&2
	exit 1
}
echo "abi: a forbidden change is seen, an allowed one is not held against it"

[ -n "$commit" ] || commit=$(git describe --tags --abbrev=0 2>/dev/null) ||
	{ echo "abi: there is no tag to compare with"; exit 0; }
mkdir "$dir/last"
git archive "$commit" | tar -x -C "$dir/last"
library last
if ! compare last now; then
	cat "$dir/now.txt" >&2
	echo "abi: not compatible with $commit" >&2
	exit 1
fi
echo "abi: compatible with $commit"
