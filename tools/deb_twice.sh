#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds Debian's packages of what is committed two times, without their tests, and compares them byte
# by byte. The second time the directory, the day and the time, the time zone, the locale, the umask, the
# number of jobs and, as root, the host's name are others.
#
#	tools/deb_twice.sh DIRECTORY		leaves both in DIRECTORY/first and DIRECTORY/second
set -eu
[ $# -eq 1 ] || { sed -n 's/^#	/usage: /p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
jobs=$(nproc)

DEB_BUILD_OPTIONS="nocheck parallel=$jobs" TZ=UTC LC_ALL=C sh -c 'umask 022 && exec "$@"' sh \
	"$root/tools/deb.sh" "$dir/first"

# The times of files stay true: the order of make and ninja depends on them.
export NO_FAKE_STAT=1
set -- faketime -f +401.2d "$root/tools/deb.sh" "$dir/second/in/another"
if [ "$(id -u)" -eq 0 ] && unshare --uts true 2>/dev/null; then
	set -- unshare --uts sh -c 'hostname elsewhere && exec "$@"' sh "$@"
fi
DEB_BUILD_OPTIONS="nocheck parallel=$((jobs + 1))" TZ=Asia/Kathmandu LC_ALL=C.UTF-8 sh -c 'umask 002 && exec "$@"' sh "$@"

# Not .buildinfo and .changes: they describe a build.
status=0 count=0
cd "$dir/first"
for file in *.deb *.dsc *.tar.*; do
	count=$((count + 1))
	cmp "$file" "$dir/second/in/another/$file" || status=1
done
[ $status -eq 0 ] || { echo "deb_twice.sh: see 'diffoscope $dir/first $dir/second/in/another'" >&2; exit 1; }
echo "$count files are the same in both builds"
