#!/usr/bin/env bash
# lab-ovs.sh - a ring of real OpenFlow switches, without root and without devices.
#
#   lab-ovs.sh up      start Open vSwitch and make the ring
#   lab-ovs.sh status  controller connection of every switch
#   lab-ovs.sh link I up|down   the link between switch I and the next one
#   lab-ovs.sh down    stop it and remove its files (safe to repeat)
#
# One ovs-vswitchd runs LAB_SWITCHES bridges on its in-process "dummy" datapath.
# Port 1 of switch i leads to port 2 of the next switch, over a Unix socket.
# Datapath identifiers are 1 to LAB_SWITCHES. Each bridge connects to the
# controller on its own, so this is a full OpenFlow peer: handshake, flow tables,
# packet-in, packet-out, port status, LLDP link discovery.
#
# Settings (environment):
#   LAB_SWITCHES    number of switches, 3 to 999   (4)
#   LAB_CONTROLLER  where they connect             (tcp:127.0.0.1:6653)
#   LAB_PROTOCOLS   OpenFlow versions              (OpenFlow13)
#   LAB_DIR         sockets, database and logs     (${TMPDIR:-/tmp}/lab-ovs-UID)
#
# Needs bash and Debian's openvswitch-switch (for the programs only: no service,
# no kernel module). Further commands: ovs-vsctl --db=unix:$LAB_DIR/db.sock ...,
# ovs-ofctl -O OpenFlow13 dump-flows unix:$LAB_DIR/s1.mgmt,
# ovs-appctl -t $LAB_DIR/vswitchd.ctl ...
set -euo pipefail

LAB_SWITCHES=${LAB_SWITCHES:-4}
LAB_CONTROLLER=${LAB_CONTROLLER:-tcp:127.0.0.1:6653}
LAB_PROTOCOLS=${LAB_PROTOCOLS:-OpenFlow13}
LAB_DIR=${LAB_DIR:-${TMPDIR:-/tmp}/lab-ovs-$(id -u)}
PATH=$PATH:/usr/sbin:/sbin
export OVS_RUNDIR=$LAB_DIR OVS_LOGDIR=$LAB_DIR

die()   { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
next()  { printf '%d' $(( $1 % LAB_SWITCHES + 1 )); }
vsctl() { ovs-vsctl --db="unix:$LAB_DIR/db.sock" --timeout=300 "$@"; }

up() {
	local i n schema=${OVS_PKGDATADIR:-/usr/share/openvswitch}/vswitch.ovsschema args=()
	[[ $LAB_SWITCHES =~ ^[0-9]{1,3}$ ]] || die 'LAB_SWITCHES must be a number'
	(( LAB_SWITCHES >= 3 )) || die 'LAB_SWITCHES must be 3 to 999'
	mkdir -m 700 "$LAB_DIR" || die "run '${0##*/} down' first"
	trap down EXIT                           # leave nothing half-started
	ulimit -Sn "$(ulimit -Hn)"               # about six descriptors for each switch
	ovsdb-tool create "$LAB_DIR/conf.db" "$schema"
	ovsdb-server "$LAB_DIR/conf.db" --remote="punix:$LAB_DIR/db.sock" --unixctl="$LAB_DIR/ovsdb.ctl" \
		--pidfile="$LAB_DIR/ovsdb.pid" --log-file="$LAB_DIR/ovsdb.log" -vconsole:off --detach --no-chdir 2>/dev/null
	vsctl --no-wait init
	ovs-vswitchd "unix:$LAB_DIR/db.sock" --enable-dummy --disable-system --unixctl="$LAB_DIR/vswitchd.ctl" \
		--pidfile="$LAB_DIR/vswitchd.pid" --log-file="$LAB_DIR/vswitchd.log" -vconsole:off --detach --no-chdir 2>/dev/null
	for (( i = 1; i <= LAB_SWITCHES; i++ )); do
		args+=(-- add-br "s$i" -- set bridge "s$i" datapath_type=dummy fail-mode=secure "protocols=$LAB_PROTOCOLS"
			"other-config:datapath-id=$(printf '%016x' "$i")" other-config:disable-in-band=true)
	done
	for (( i = 1; i <= LAB_SWITCHES; i++ )); do
		n=$(next "$i")
		args+=(-- add-port "s$i" "s$i-1" -- set interface "s$i-1" type=dummy "options:pstream=punix:$LAB_DIR/link$i" ofport_request=1
			-- add-port "s$n" "s$n-2" -- set interface "s$n-2" type=dummy "options:stream=unix:$LAB_DIR/link$i" ofport_request=2)
	done
	vsctl "${args[@]}"
	# Last, and with a short back-off: a switch reports only once its ports are there.
	args=()
	for (( i = 1; i <= LAB_SWITCHES; i++ )); do
		args+=(-- set-controller "s$i" "$LAB_CONTROLLER" -- set controller "s$i" max_backoff=1000)
	done
	vsctl "${args[@]}"
	trap - EXIT
}

status() { vsctl --format=table --columns=target,is_connected,role list controller; }

set_link() {                                 # both ends, as when a cable is pulled
	local port
	[[ $2 == up || $2 == down ]] || die 'the state is up or down'
	for port in "s$1-1" "s$(next "$1")-2"; do
		ovs-appctl -t "$LAB_DIR/vswitchd.ctl" netdev-dummy/set-admin-state "$port" "$2" >/dev/null
	done
}

# ours PID: the process runs, and is a daemon of this lab.
ours() { grep -qsF -- "--pidfile=$LAB_DIR/" "/proc/$1/cmdline"; }

down() {
	local name pid left
	trap - EXIT
	[[ -d $LAB_DIR ]] || return 0            # nothing of ours
	for name in vswitchd ovsdb; do
		[[ -r $LAB_DIR/$name.pid ]] || continue
		pid=$(<"$LAB_DIR/$name.pid")
		ours "$pid" || continue              # it ended, and its number may be another's
		kill "$pid" 2>/dev/null || true
		left=50
		while ours "$pid" && (( left-- > 0 )); do sleep 0.1; done
		if ours "$pid"; then kill -9 "$pid" 2>/dev/null || true; fi
	done
	rm -rf -- "$LAB_DIR"
}

case ${1:-} in
	up)     up ;;
	status) status ;;
	link)   [[ $# -eq 3 ]] || die 'usage: link I up|down'; set_link "$2" "$3" ;;
	down)   down ;;
	*)      sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
