#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages of the sets named that are missing: as root with apt-get, otherwise it
# prints the command to type and fails. Packages that are there cost one dpkg-query and no network.
#
#	tools/deps.sh [--print] build|test|browser|clients|bench|coverage|cluster|failover|packages|docs|abi...
set -eu

# cmocka, python3 and protoc are in `build`, since the tests are configured and compiled with the
# rest.
build="build-essential meson ninja-build pkg-config liblmdb-dev libprotobuf-c-dev
protobuf-c-compiler libevent-dev libjansson-dev libxxhash-dev libzstd-dev zlib1g-dev libbz2-dev
liblzma-dev
libssl-dev libseccomp-dev libcmocka-dev python3 protobuf-compiler openssl"
# librados-dev: so that what needs it is compiled, and linted. llvm: llvm-symbolizer, without which a sanitizer's report has no line numbers.
test="codespell clang clang-format clang-tidy libclang-rt-dev llvm python3-protobuf
python3-pip python3-setuptools zstd bzip2 gzip mandoc shellcheck valgrind git binutils
util-linux systemd librados-dev curl"
coverage="gcovr"
browser="chromium chromium-driver python3-selenium"
# What PyChess' chess_db module needs; PyChess itself would bring a desktop.
clients="python3-pexpect apt dpkg"
bench="python3 stockfish pgn-extract zstd bzip2 gzip redis-server libhiredis-dev memcached
librocksdb-dev libleveldb-dev libsqlite3-dev"
# What tools/cluster.sh starts, and what tests that end an OSD need.
cluster="librados-dev ceph-common ceph-mon ceph-mgr ceph-osd"
# What maps RBD's images without a module of the kernel, for two machines of one.
failover="$cluster qemu-system-common qemu-block-extra fuse3 e2fsprogs iproute2
util-linux mount iputils-arping openssl"

# What tools/deb.sh and tools/deb_twice.sh call.
packaging="debhelper dh-python pybuild-plugin-pyproject python3-all python3-setuptools python3-protobuf
librados-dev lintian git iproute2 util-linux hostname faketime"
docs="pandoc mandoc git"
abi="abigail-tools git"

usage() {
	echo "usage: tools/deps.sh [--print] build|test|browser|clients|bench|coverage|cluster|failover|packages|docs|abi..." >&2
	exit 2
}

packages_of() {
	case $1 in
	build) echo "$build" ;;
	test) echo "$test" ;;
	bench) echo "$bench" ;;
	browser) echo "$browser" ;;
	clients) echo "$clients" ;;
	coverage) echo "$coverage" ;;
	cluster) echo "$cluster" ;;
	failover) echo "$failover" ;;
	packages) echo "$packaging" ;;
	docs) echo "$docs" ;;
	abi) echo "$abi" ;;
	*) usage ;;
	esac
}

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Waits for another that installs, ten minutes at most. The option is for dpkg's locks alone: where the
# lists or the archive are locked apt-get fails at once, and is called again.
apt() {
	tries=0
	until said=$(LC_ALL=C apt-get -qq -o DPkg::Lock::Timeout=600 "$@" 2>&1); do
		case $said in
		*"Could not get lock"*) [ $tries -lt 120 ] ;;
		*) false ;;
		esac || {
			echo "$said" >&2
			return 1
		}
		[ $tries -gt 0 ] || echo "deps: waiting for another that installs packages" >&2
		tries=$((tries + 1))
		sleep 5
	done
	[ -z "$said" ] || echo "$said"
}

print=no
if [ "${1-}" = --print ]; then
	print=yes
	shift
fi
[ $# -gt 0 ] || usage

# An assignment, unlike a 'for' over the command, ends the script when packages_of fails.
wanted=
for set in "$@"; do
	packages=$(packages_of "$set")
	wanted="$wanted $packages"
done

if [ $print = yes ]; then
	# shellcheck disable=SC2086 # a list of words
	printf '%s\n' $wanted
	exit 0
fi

if ! command -v dpkg-query >/dev/null; then
	echo "deps: this is no Debian; see HACKING.md for what is needed" >&2
	exit 0
fi

missing=
for package in $wanted; do
	is_installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "Packages are missing. Install them with:" >&2
	echo "  sudo apt-get install --no-install-recommends$missing" >&2
	exit 1
fi

echo "deps: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt update || echo "deps: the package lists could not be fetched; trying with those at hand" >&2
# shellcheck disable=SC2086 # a list of words
apt install -y --no-install-recommends $missing
