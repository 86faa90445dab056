#!/bin/bash
# SPDX-License-Identifier: MIT
# A small Ceph cluster on this machine: a monitor or several, a manager and N OSDs, in one folder and
# on loopback alone, run by the user who calls. It is for tests and trials: all copies share one disk.
#
#	tools/cluster.sh start N	make it, or start it again with what it holds; prints its conf
#	tools/cluster.sh stop		end its daemons; the data stay
#	tools/cluster.sh remove		stop it and delete the folder
#	tools/cluster.sh kill OSD	kill -9 an OSD, or 'mon', the monitor ('mon.b': the second), as a
#			crash would
#	tools/cluster.sh revive OSD	start it again
#	tools/cluster.sh status		what runs, and how it is
#	tools/cluster.sh pool NAME SIZE [APPLICATION]	make a pool that keeps SIZE copies, and serves with
#			one less if SIZE is 3 or more; for RBD the application is 'rbd'
#	tools/cluster.sh user ID POOL	make a user for one pool, its key in the folder
#	tools/cluster.sh ceph ARGUMENT...	ceph(8) with this cluster's conf
#	tools/cluster.sh run N COMMAND...	start one in a folder of its own with a pool 'chistore' of two
#			copies (one if N is 1), run COMMAND with its conf in CHISTORE_TEST_RADOS, remove it
#
# Environment:
#	CHISTORE_CLUSTER	the folder (default: /tmp/chistore-cluster-UID)
#	CHISTORE_CLUSTER_GIB	size of each OSD's sparse file in GiB (default: 8)
#	CHISTORE_CLUSTER_PGS	placement groups of a pool (default: 32)
#	CHISTORE_CLUSTER_MONS	how many monitors a new cluster has, 1 to 5 (default: 1)
set -euo pipefail

dir=${CHISTORE_CLUSTER:-/tmp/chistore-cluster-$(id -u)}
gib=${CHISTORE_CLUSTER_GIB:-8}
pgs=${CHISTORE_CLUSTER_PGS:-32}
mons=${CHISTORE_CLUSTER_MONS:-1}

die() {
	echo "cluster: $*" >&2
	exit 1
}

usage() {
	sed -n 's/^#\ttools/usage: tools/p' "$0" >&2
	exit 2
}

is_number() {
	case $1 in
	'' | *[!0-9]*) return 1 ;;
	esac
}

ceph_here() {
	ceph -c "$conf" --connect-timeout 20 "$@"
}

# The daemons' own pid files. One may be left by a crash, and its number taken by another process.
pid_of() {
	local pid
	pid=$(cat "$dir/run/$1.pid" 2>/dev/null) || return 1
	tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -- "-c $conf " || return 1
	echo "$pid"
}

# daemon NAME: 'mon.a', 'mgr.a', 'osd.3'; nothing if it runs.
daemon() {
	pid_of "$1" >/dev/null || "ceph-${1%%.*}" -c "$conf" -i "${1#*.}" >>"$dir/log/start.log" 2>&1 ||
		die "$1 did not start: see $dir/log/$1.log and $dir/log/start.log"
}

# await SECONDS TEXT COMMAND...: until it succeeds.
await() {
	local end=$((SECONDS + $1)) text=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || die "$text: see $dir/log"
		sleep 0.2
	done
}

free_port() {
	local port
	for _ in $(seq 100); do
		port=$((20000 + RANDOM % 10000))
		if ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			echo $port
			return
		fi
	done
	die "no free port on 127.0.0.1"
}

# Small in memory, quick to notice a death, and with all copies on one host. The manager counts
# placement groups without any of its modules: loading them takes longer than all the rest.
write_conf() {
	local fsid=$1 addresses=$2 initial=$3 copies=$(($4 < 3 ? $4 : 3))
	cat >"$conf" <<END
[global]
fsid = $fsid
mon host = $addresses
mon initial members = $initial
public network = 127.0.0.0/8
ms bind ipv4 = true
ms bind ipv6 = false
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
auth allow insecure global id reclaim = false
keyring = $dir/ceph.\$name.keyring
run dir = $dir/run
admin socket = $dir/run/\$name.\$pid.asok
pid file = $dir/run/\$name.pid
log file = $dir/log/\$name.log
mon cluster log file = $dir/log/cluster.log
crash dir = $dir/log
osd crush chooseleaf type = 0
osd pool default pg autoscale mode = off
osd pool default size = $copies
mon allow pool delete = true
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 1000
[client]
admin socket =
pid file =
log file =
[mon]
mon data = $dir/\$name
keyring = $dir/\$name/keyring
mon data avail warn = 2
mon data avail crit = 1
mon osd min down reporters = 1
mon osd reporter subtree level = osd
mon osd down out interval = 3600
[mgr]
mgr data = $dir/\$name
mgr initial modules =
mgr module path = $dir/modules
[osd]
osd data = $dir/\$name
osd objectstore = bluestore
osd memory target = 1073741824
osd memory cache min = 67108864
bluestore block size = $((gib << 30))
osd heartbeat interval = 2
osd heartbeat grace = 10
osd class load list = lock rbd
osd class default list = lock rbd
END
}

# add_key FILE ENTITY CAPABILITY...: a new key in the monitor's list and in a file for its owner.
add_key() {
	local file=$1 entity=$2
	shift 2
	ceph-authtool --create-keyring "$file" --gen-key -n "$entity" "$@" >/dev/null
	ceph-authtool "$dir/keys" --import-keyring "$file" >/dev/null
}

# The letters of the monitors.
letters() {
	echo a b c d e | cut -d ' ' -f "1-$1"
}

# Two monitors that drew one port would not both start.
draw_ports() {
	local ports
	for _ in $(seq 100); do
		ports=$(for _ in $(seq "$1"); do free_port; done) || exit 1
		if [ "$(sort -u <<<"$ports" | wc -l)" -eq "$1" ]; then
			echo "$ports"
			return
		fi
	done
	die "no $1 free ports on 127.0.0.1"
}

make_monitors() {
	local fsid=$1 letter i=0 address addresses='' members=() drawn ports
	# An assignment, unlike a redirection from the command, ends the script when draw_ports fails.
	drawn=$(draw_ports "$mons")
	mapfile -t ports <<<"$drawn"
	for letter in $(letters "$mons"); do
		mkdir -p "$dir/mon.$letter"
		address="[v2:127.0.0.1:${ports[i++]}/0]"
		addresses+="${addresses:+,}$address"
		members+=(--addv "$letter" "$address")
	done
	write_conf "$fsid" "$addresses" "$(letters "$mons" | tr ' ' ,)" "$2"
	monmaptool --create --fsid "$fsid" "${members[@]}" "$dir/monmap" >/dev/null
}

make_cluster() {
	local count=$1 osd fsid letter
	fsid=$(cat /proc/sys/kernel/random/uuid)
	mkdir -p "$dir/run" "$dir/log" "$dir/modules" "$dir/mgr.a"
	chmod 700 "$dir"
	make_monitors "$fsid" "$count"
	ceph-authtool --create-keyring "$dir/keys" --gen-key -n mon. --cap mon 'allow *' >/dev/null
	add_key "$dir/ceph.client.admin.keyring" client.admin --cap mon 'allow *' \
		--cap osd 'allow *' --cap mgr 'allow *' --cap mds 'allow *'
	add_key "$dir/ceph.mgr.a.keyring" mgr.a --cap mon 'allow profile mgr' --cap osd 'allow *'
	for osd in $(seq 0 $((count - 1))); do
		mkdir -p "$dir/osd.$osd"
		cat /proc/sys/kernel/random/uuid >"$dir/osd.$osd.uuid"
		add_key "$dir/ceph.osd.$osd.keyring" "osd.$osd" --cap mon 'allow profile osd' \
			--cap mgr 'allow profile osd' --cap osd 'allow *'
	done
	for letter in $(letters "$mons"); do
		ceph-mon -c "$conf" -i "$letter" --mkfs --monmap "$dir/monmap" --keyring "$dir/keys" \
			>>"$dir/log/start.log" 2>&1 ||
			die "the store of monitor $letter could not be made: see $dir/log/start.log"
	done
	rm "$dir/keys" "$dir/monmap"
	for osd in $(seq 0 $((count - 1))); do
		ceph-osd -c "$conf" -i "$osd" --mkfs --no-mon-config \
			--osd-uuid "$(cat "$dir/osd.$osd.uuid")" >>"$dir/log/start.log" 2>&1 || touch "$dir/osd.$osd.failed" &
	done
	start_monitors
	for osd in $(seq 0 $((count - 1))); do
		ceph_here osd new "$(cat "$dir/osd.$osd.uuid")" >/dev/null
	done
	ceph_here health mute MGR_MODULE_ERROR --sticky >/dev/null
	wait
	for osd in $(seq 0 $((count - 1))); do
		[ ! -e "$dir/osd.$osd.failed" ] ||
			die "osd.$osd could not be made (O_DIRECT needs a real disk, no tmpfs): see $dir/log/start.log"
	done
	echo "$count" >"$dir/osds"
}

start_monitors() {
	local path
	for path in "$dir"/mon.?; do
		daemon "${path##*/}"
	done
}

# All placement groups of all pools serve.
all_active() {
	local stat
	stat=$(ceph_here pg stat -f json) || return 1
	echo "$stat" | /usr/bin/python3 -c '
import json, sys
summary = json.load(sys.stdin)["pg_summary"]
serving = sum(s["num"] for s in summary["num_pg_by_state"] if "active" in s["name"].split("+"))
sys.exit(serving != summary["num_pgs"])'
}

osds_up() {
	ceph_here osd stat -f json | /usr/bin/python3 -c '
import json, sys
sys.exit(json.load(sys.stdin)["num_up_osds"] < int(sys.argv[1]))' "$1"
}

start() {
	is_number "$1" || die "start: not a number of OSDs: $1"
	[ "$1" -ge 1 ] || die "start: at least one OSD"
	[ "$1" -le 64 ] || die "start: at most 64 OSDs"
	case $mons in
	[1-5]) ;;
	*) die "CHISTORE_CLUSTER_MONS: not 1 to 5: $mons" ;;
	esac
	# A path of a Unix socket has 107 bytes.
	[ ${#dir} -le 60 ] || die "the folder's name is longer than 60 bytes: $dir"
	command -v ceph-mon ceph-mgr ceph-osd ceph >/dev/null ||
		die "Ceph is not installed: tools/deps.sh cluster"
	if [ ! -f "$dir/osds" ]; then
		[ ! -e "$dir" ] || [ -z "$(ls -A "$dir")" ] || die "$dir is there and holds no whole cluster"
		make_cluster "$1"
	fi
	[ "$(cat "$dir/osds")" -eq "$1" ] || die "$dir has $(cat "$dir/osds") OSDs, not $1: remove it first"
	local osd
	start_monitors
	daemon mgr.a
	for osd in $(seq 0 $(($1 - 1))); do
		daemon "osd.$osd"
	done
	await 60 "not all OSDs came up" osds_up "$1"
	await 60 "the manager did not answer" all_active
	echo "$conf"
}

daemons() {
	local file
	for file in "$dir"/run/*.pid; do
		[ -e "$file" ] && basename "$file" .pid
	done
}

any_runs() {
	local name
	for name in $(daemons); do
		! pid_of "$name" >/dev/null || return 0
	done
	return 1
}

none_runs() {
	! any_runs
}

# OSDs first: they say farewell to the monitor.
stop() {
	local name pid signal=${1:-TERM}
	for name in $(daemons | sort -r); do
		pid=$(pid_of "$name") && kill -s "$signal" "$pid"
	done
	[ "$signal" = KILL ] || (await 15 "slow" none_runs) 2>/dev/null || stop KILL
}

remove() {
	stop
	await 10 "daemons do not end" none_runs
	rm -rf "$dir"
}

# name_of OSD|mon|mon.LETTER: of its daemon.
name_of() {
	local name=osd.$1
	case $1 in
	mon) name=mon.a ;;
	mon.?) name=$1 ;;
	esac
	[ -d "$dir/$name" ] || die "no $name in $dir"
	echo "$name"
}

# No thread is left that holds the OSD's files and their lock: a process that ends has no command line
# long before that.
is_gone() {
	[ ! -d "/proc/$1" ] || { grep -q '^State:.*Z' "/proc/$1/status" &&
		[ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" -le 1 ]; }
}

kill_daemon() {
	local name pid
	name=$(name_of "$1")
	pid=$(pid_of "$name") || die "$name does not run"
	kill -KILL "$pid"
	await 60 "$name does not end" is_gone "$pid"
}

revive() {
	local name
	name=$(name_of "$1")
	daemon "$name"
}

status() {
	local name pid
	for name in $(cd "$dir" && echo mon.?) mgr.a $(seq -f 'osd.%g' 0 $(($(cat "$dir/osds") - 1))); do
		if pid=$(pid_of "$name"); then
			printf '%s runs (pid %s, %s MiB)\n' "$name" "$pid" \
				$(($(awk '/VmRSS/ { print $2 }' "/proc/$pid/status") / 1024))
		else
			echo "$name is down"
		fi
	done
	for name in "$dir"/mon.?; do
		! pid_of "${name##*/}" >/dev/null || { ceph_here status && return; }
	done
}

pool() {
	is_number "$2" || die "pool: not a number of copies: $2"
	ceph_here osd pool create "$1" "$pgs" "$pgs" replicated --size "$2" >/dev/null
	[ "$2" -ne 1 ] || ceph_here osd pool set "$1" size 1 --yes-i-really-mean-it >/dev/null
	# A pool of two copies serves with one: what is written then is copied when the other is back. With
	# three or more nothing is acknowledged that a single disk has.
	ceph_here osd pool set "$1" min_size $(($2 < 3 ? 1 : $2 - 1)) >/dev/null
	ceph_here osd pool application enable "$1" "${3:-chistore}" >/dev/null
	await 60 "the pool's placement groups are not active" all_active
}

# A cluster, or for `remove` what is left of one that could not be made: no other folder with a conf.
is_ours() {
	[ -f "$dir/osds" ] || { [ "$command" = remove ] && grep -qsxF "run dir = $dir/run" "$conf"; }
}

# The least that a store needs: its own pool, and of the monitor the map.
user() {
	ceph_here auth get-or-create "client.$1" mon 'allow r' osd "allow rwx pool=$2" \
		-o "$dir/ceph.client.$1.keyring"
	chmod 600 "$dir/ceph.client.$1.keyring"
}

# The folder goes whatever the command did.
run() {
	local count=$1 copies=2
	shift
	[ "$count" != 1 ] || copies=1
	export CHISTORE_CLUSTER=$dir
	trap '[ ! -d "$dir" ] || remove' EXIT
	trap 'exit 130' INT TERM
	start "$count" >/dev/null
	pool chistore $copies
	CHISTORE_TEST_RADOS=$conf "$@"
}

[ $# -ge 1 ] || usage
command=$1
shift
case $dir in
/*) ;;
*) dir=$PWD/$dir ;;
esac
[ "$command" != run ] || dir=$(mktemp -u -d "${TMPDIR:-/tmp}/chi-cluster-XXXXXX")
conf=$dir/ceph.conf
[ "$command" = start ] || [ "$command" = run ] || is_ours || die "no cluster in $dir: tools/cluster.sh start N"
case $command/$# in
start/1) start "$1" ;;
stop/0) stop ;;
remove/0) remove ;;
kill/1) kill_daemon "$1" ;;
revive/1) revive "$1" ;;
status/0) status ;;
pool/2 | pool/3) pool "$@" ;;
user/2) user "$1" "$2" ;;
ceph/*) ceph_here "$@" ;;
run/0 | run/1) usage ;;
run/*) run "$@" ;;
*) usage ;;
esac
