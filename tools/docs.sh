#!/bin/bash
# SPDX-License-Identifier: MIT
# Writes the documents and manual pages as HTML, each at its place below DIRECTORY, with an index.
#
#	tools/docs.sh DIRECTORY
set -euo pipefail
[ $# -eq 1 ] || { sed -n 's/^#	/usage: /p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$root"

style='<style>body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif}
pre,code{font:14px/1.4 monospace}pre{overflow:auto}table{border-collapse:collapse}td,th{padding:.2rem .6rem;
vertical-align:top;border-bottom:1px solid #ccc}img{max-width:100%}</style>'

# Links between documents and pages lead to their HTML.
git ls-files '*.md' ':!tests/data' | while read -r page; do
	mkdir -p "$out/$(dirname "$page")"
	title=$(sed -n 's/^# //p' "$page" | head -n 1)
	pandoc --from gfm --to html5 --standalone --metadata "pagetitle=${title:-$page}" \
		--include-in-header <(echo "$style") "$page" |
		sed -E 's/(href="[^":]*)\.md(["#])/\1.html\2/g' >"$out/${page%.md}.html"
	# Pictures, and sources that it leads to.
	sed -nE 's/\]\(([^):]+)\)/\n\1\n/gp' "$page" | while read -r target; do
		file=$(dirname "$page")/$target
		if [ -n "$target" ] && [ -f "$file" ] && [ "${file%.md}" = "$file" ]; then
			cp --parents "$(realpath --relative-to=. "$file")" "$out"
		fi
	done
done
mkdir -p "$out/man"
# Our own pages lie beside it.
git ls-files '*.[1-8]' | while read -r page; do
	mandoc -T html -O man=https://manpages.debian.org/%N.%S.en.html "$page" |
		sed -E 's|https://manpages.debian.org/(chistore[^"]*)\.en\.html|\1.html|g' >"$out/man/$(basename "$page").html"
done
{
	echo "<!DOCTYPE html><meta charset=\"utf-8\"><title>Chistore: documents</title>$style<h1>Chistore</h1><ul>"
	git ls-files '*.md' ':!tests' ':!*README.md' README.md python/README.md packaging/README.md | while read -r page; do
		echo "<li><a href=\"${page%.md}.html\">${page%.md}</a></li>"
	done
	echo '</ul><h2>Manual pages</h2><ul>'
	for page in "$out"/man/*.html; do
		name=$(basename "$page" .html)
		echo "<li><a href=\"man/$name.html\">$name</a></li>"
	done
	echo '</ul>'
} >"$out/index.html"
echo "$out/index.html"
