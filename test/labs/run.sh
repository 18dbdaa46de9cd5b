#!/usr/bin/env bash
# run.sh start|stop - a controller with a simulated lab, for a first look (make run).
#
# Everything stays on the loopback interface. The home is ./ctl-home (CTL_HOME), the
# accounts are admin/admin and user/user: never put this on a network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

home=${CTL_HOME:-$PWD/ctl-home}
topology=${LAB_TOPOLOGY:-ring:8,tree:3x2}
lab=$PWD/run/lab
bold='' loud='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\033[1m' loud=$'\033[1;33m' plain=$'\033[0m'; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
die() { printf 'make run: %s\n' "$*" >&2; exit 1; }

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

# wait_for gives up when the time is over, or when the process it waits for has ended.
wait_for() { # SECONDS PIDFILE WHAT LOG COMMAND...
	local left=$(( $1 * 10 )) what=$3 log=$4 pid
	pid=$(<"$2")
	shift 4
	until "$@" >/dev/null 2>&1; do
		if (( left-- <= 0 )) || ! kill -0 "$pid" 2>/dev/null; then
			tail -20 "$log" >&2
			grep -q 'address already in use' "$log" && what+="; take other ports: CTL_HTTP=127.0.0.1:0 CTL_SSH=127.0.0.1:0 CTL_RESTCONF=off CTL_ADMIN=127.0.0.1:0 make run"
			stop >/dev/null # nothing stays behind
			die "$what (the end of $log is above)"
		fi
		sleep 0.1
	done
}

ctl() { bin/ctl --home "$home" "$@"; }

start() {
	alive "$lab/ctld.pid" ctld && die "it runs already (make stop ends it)"
	mkdir -p "$lab"
	chmod 700 "$lab"
	end "$lab/ctl-lab.pid" ctl-lab 3

	say "1. A simulated lab: $topology"
	rm -f "$lab/ready"
	setsid bin/ctl-lab --topology "$topology" --csv "$lab/switches.csv" --control "$lab/control.sock" \
		</dev/null >"$lab/ready" 2>"$lab/ctl-lab.log" &
	echo $! >"$lab/ctl-lab.pid"
	wait_for 20 "$lab/ctl-lab.pid" 'the lab did not start' "$lab/ctl-lab.log" grep -q ready "$lab/ready"
	cat "$lab/ready"

	say "2. The controller: home $home"
	CTL_ADMIN_PASSWORD=admin CTL_USER_PASSWORD=user setsid bin/ctld --home "$home" \
		${CTL_HTTP:+--http "$CTL_HTTP"} ${CTL_SSH:+--ssh "$CTL_SSH"} \
		--restconf "${CTL_RESTCONF:-127.0.0.1:8182}" --admin "${CTL_ADMIN:-127.0.0.1:8183}" \
		</dev/null >"$lab/ctld.log" 2>&1 &
	echo $! >"$lab/ctld.pid"
	wait_for 30 "$lab/ctld.pid" 'the controller did not become ready' "$lab/ctld.log" test -s "$home/data/run/http.addr"
	wait_for 30 "$lab/ctld.pid" 'the console does not answer' "$lab/ctld.log" ctl 'system:version'
	http=$(<"$home/data/run/http.addr")
	ssh=$(cat "$home/data/run/ssh.addr" 2>/dev/null || true)

	say '3. The switch plugin, and the list of switches'
	ctl 'feature:install ctl-switch-all ctl-aaa-cli'
	ctl switch:ReadDB "$lab/switches.csv"
	ctl 'plugin:list'

	say '4. Discovery over SNMP'
	ctl 'switch:TopoDiscover'
	ctl 'switch:PrintDB | head -n 6'
	ctl 'switch:edges'

	local console='bin/ctl'
	[[ $home == "$PWD/ctl-home" ]] || console="bin/ctl --home $(printf %q "$home")"
	printf '\n%s%s%s\n' "$loud" "LAB ONLY: loopback, accounts admin/admin and user/user." "$plain"
	cat <<-TEXT

		The controller runs at http://$http (a page for your browser; the documentation is at /docs/) and keeps running; make stop ends it.
		Three things to try:

		  curl -s -u admin:admin http://$http/restconf/operational/network-topology:network-topology
		  curl -s -u admin:admin -H 'Content-Type: application/json' -d '{"input":{"node-id":2199023255553}}' http://$http/restconf/operations/vlan:get-vlan-table
		  $console            # the console: Tab completes, try help, plugin:list, switch:PrintDB
	TEXT
	[[ -z $ssh ]] || printf '\nThe same console over SSH: ssh -p %s admin@%s\n' "${ssh##*:}" "${ssh%:*}"
}

stop() {
	end "$lab/ctld.pid" ctld 20
	end "$lab/ctl-lab.pid" ctl-lab 5
	echo 'stopped'
}

case ${1:-} in
	start) start ;;
	stop) stop ;;
	*) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
