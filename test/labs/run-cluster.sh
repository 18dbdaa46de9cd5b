#!/usr/bin/env bash
# run-cluster.sh start|stop - three controllers on three etcds, for a first look (make run-cluster).
#
# Everything stays on the loopback interface, on free ports. The homes are below run/cluster, the
# accounts are admin/admin and user/user: never put this on a network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

topology=${LAB_TOPOLOGY:-ring:8,tree:3x2}
dir=$PWD/run/cluster
bold='' loud='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\033[1m' loud=$'\033[1;33m' plain=$'\033[0m'; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
die() { printf 'make run-cluster: %s\n' "$*" >&2; exit 1; }

# alive PIDFILE PROGRAM: the process named there runs, and is still that program.
alive() {
	local pid
	[[ -r $1 ]] || return 1
	pid=$(<"$1")
	[[ $(readlink "/proc/$pid/exe" 2>/dev/null) == */"$2"* ]]
}

end() { # PIDFILE PROGRAM SECONDS
	local pid left
	alive "$1" "$2" || { rm -f "$1"; return 0; }
	pid=$(<"$1") left=$(( $3 * 10 ))
	kill "$pid" 2>/dev/null || true
	while alive "$1" "$2" && (( left-- > 0 )); do sleep 0.1; done
	if alive "$1" "$2"; then kill -9 "$pid" 2>/dev/null || true; fi
	rm -f "$1"
}

wait_for() { # SECONDS PIDFILE WHAT LOG COMMAND...
	local left=$(( $1 * 10 )) what=$3 log=$4 pid
	pid=$(<"$2")
	shift 4
	until "$@" >/dev/null 2>&1; do
		if (( left-- <= 0 )) || ! kill -0 "$pid" 2>/dev/null; then
			tail -20 "$log" >&2
			stop >/dev/null # nothing stays behind
			die "$what (the end of $log is above)"
		fi
		sleep 0.1
	done
}

# free N: so many TCP ports of the loopback interface that nobody listens at.
free() {
	local n=$1 port found=()
	while (( ${#found[@]} < n )); do
		port=$(( 20000 + (RANDOM * 32768 + RANDOM) % 12000 ))
		[[ " ${found[*]-} " == *" $port "* ]] && continue
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || found+=("$port")
	done
	echo "${found[@]}"
}

start_etcds() {
	local ports i all=() names=''
	command -v etcd >/dev/null || die 'etcd is not installed: apt-get install etcd-server (test/peers/install.sh does it)'
	if [[ ! -s $dir/ports ]]; then free 6 >"$dir/ports"; fi
	read -ra ports <"$dir/ports"
	for i in 0 1 2; do names+="${names:+,}e$i=http://127.0.0.1:${ports[i + 3]}"; all+=("\"http://127.0.0.1:${ports[i]}\""); done
	for i in 0 1 2; do
		setsid etcd --pre-vote --name "e$i" --data-dir "$dir/e$i" --initial-cluster "$names" \
			--listen-client-urls "http://127.0.0.1:${ports[i]}" --advertise-client-urls "http://127.0.0.1:${ports[i]}" \
			--listen-peer-urls "http://127.0.0.1:${ports[i + 3]}" --initial-advertise-peer-urls "http://127.0.0.1:${ports[i + 3]}" \
			--max-txn-ops 20000 --max-request-bytes 16777216 --auto-compaction-retention 1h </dev/null >"$dir/e$i.log" 2>&1 &
		echo $! >"$dir/e$i.pid"
	done
	wait_for 30 "$dir/e0.pid" 'etcd did not become healthy' "$dir/e0.log" curl -fsS "http://127.0.0.1:${ports[0]}/health"
	endpoints=$(IFS=,; echo "${all[*]}")
}

start_node() { # N [ARGUMENT...]
	local n=$1
	shift
	CTL_ADMIN_PASSWORD=admin CTL_USER_PASSWORD=user setsid bin/ctld --home "$dir/n$n" \
		--http 127.0.0.1:0 --ssh off --admin 127.0.0.1:0 --cluster 127.0.0.1:0 "$@" </dev/null >"$dir/n$n.log" 2>&1 &
	echo $! >"$dir/n$n.pid"
	wait_for 30 "$dir/n$n.pid" "node $n did not become ready" "$dir/n$n.log" bin/ctl --home "$dir/n$n" system:version
}

start() {
	alive "$dir/n1.pid" ctld && die 'it runs already (make stop-cluster ends it)'
	mkdir -p "$dir"
	chmod 700 "$dir"
	stop >/dev/null # what is left of a start that was interrupted

	say "1. A simulated lab: $topology"
	rm -f "$dir/ready"
	setsid bin/ctl-lab --topology "$topology" --csv "$dir/switches.csv" --control "$dir/control.sock" </dev/null >"$dir/ready" 2>"$dir/ctl-lab.log" &
	echo $! >"$dir/ctl-lab.pid"
	wait_for 20 "$dir/ctl-lab.pid" 'the lab did not start' "$dir/ctl-lab.log" grep -q ready "$dir/ready"
	cat "$dir/ready"

	say '2. Three etcds'
	start_etcds
	echo "$endpoints"

	say '3. Three controllers: the first by its settings, two that join with its token'
	mkdir -p "$dir/n1/etc"
	[[ -e $dir/n1/etc/ctl.yaml ]] || printf 'datastore:\n  engine: etcd\n  etcd: {endpoints: [%s], prefix: ctl-run/}\n' "$endpoints" >"$dir/n1/etc/ctl.yaml"
	start_node 1
	bin/ctl --home "$dir/n1" cluster:token "$dir/token" >/dev/null
	start_node 2 --join "$dir/token"
	start_node 3 --join "$dir/token"
	rm -f "$dir/token"

	say '4. The switch plugin on all of them, and the list of switches'
	bin/ctl --home "$dir/n1" 'feature:install ctl-switch-all' || say 'the switches are not served; the cluster is'
	bin/ctl --home "$dir/n1" switch:ReadDB "$dir/switches.csv" || true
	bin/ctl --home "$dir/n1" cluster:members
	bin/ctl --home "$dir/n1" cluster:status

	printf '\n%s%s%s\n' "$loud" "LAB ONLY: loopback, accounts admin/admin and user/user." "$plain"
	for n in 1 2 3; do printf '  node %s  http://%s  ctl --home %s\n' "$n" "$(<"$dir/n$n/data/run/http.addr")" "$dir/n$n"; done
	cat <<-TEXT

		They keep running; make stop-cluster ends them. Three things to try:

		  bin/ctl --home $dir/n2 cluster:status
		  bin/ctl --home $dir/n2 cluster:step-down --node \$(bin/ctl --home $dir/n1 --format json cluster:members | grep -o 'node-[0-9a-f]*' | head -1)
		  kill -9 \$(cat $dir/n1.pid); sleep 8; bin/ctl --home $dir/n2 cluster:status   # its roles are elsewhere
	TEXT
}

stop() {
	local n
	for n in 1 2 3; do end "$dir/n$n.pid" ctld 20; done
	for n in 0 1 2; do end "$dir/e$n.pid" etcd 5; done
	end "$dir/ctl-lab.pid" ctl-lab 5
	echo 'stopped'
}

case ${1:-} in
	start) start ;;
	stop) stop ;;
	*) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
