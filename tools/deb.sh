#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds Debian's packages of what is committed, from a tarball as a release has it. Root has them
# built, and the tests run, by a user without rights and, where it may make one, in a network of its
# own; DIRECTORY must be one that this user can enter.
# DEB_BUILD_OPTIONS=nocheck leaves the tests out; with --lint lintian looks at the packages.
#
#	tools/deb.sh [--lint] DIRECTORY
set -eu
lint=no
if [ "${1-}" = --lint ]; then
	lint=yes
	shift
fi
[ $# -eq 1 ] || { sed -n 's/^#	/usage: /p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$1
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build")
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
git -C "$root" archive --prefix="chistore-$version/" -o "$PWD/chistore_$version.orig.tar" HEAD
gzip -n "chistore_$version.orig.tar"
tar -xzf "chistore_$version.orig.tar.gz"
cd "chistore-$version"
cp -R packaging/debian debian
chmod -R u=rwX,go=rX debian
# With the system's Python, not one that a developer put in front of it.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
export HOME=/nonexistent CCACHE_DISABLE=1
if [ "$(id -u)" -eq 0 ]; then
	chown -R 65534:65534 ..
	set -- setpriv --reuid 65534 --regid 65534 --clear-groups dpkg-buildpackage -us -uc
	if unshare --net true 2>/dev/null; then
		unshare --net sh -c 'ip link set lo up && exec "$@"' sh "$@"
	else
		echo "deb.sh: no network of its own can be made: the tests have this one" >&2
		"$@"
	fi
else
	dpkg-buildpackage -us -uc
fi
# No bug of Debian's asks for the package yet.
if [ $lint = yes ]; then
	lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs -EvIL +pedantic ../*.changes
fi
