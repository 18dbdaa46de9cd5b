#!/usr/bin/env bash
# lab-qbridge.sh - a chain of real VLAN switches with hosts, managed by SNMP.
#
#   lab-qbridge.sh up      build the chain and start the daemons
#   lab-qbridge.sh check   make a VLAN through Q-BRIDGE-MIB, prove by ping that the
#                          switches obey, remove it; exit 1 on the first failure
#   lab-qbridge.sh down    stop everything and remove it (safe to repeat)
#
# Each switch is a network namespace with an Open vSwitch bridge br0 on the
# userspace datapath (no kernel module; works where the kernel has no VLAN
# filtering), net-snmp's snmpd on its management address and, attached to it over
# AgentX, lldpd (LLDP-MIB) and ovs-qbridge.pl (BRIDGE-MIB and Q-BRIDGE-MIB,
# writable). Bridge ports: h1 and h2 to hosts, t1 to the next switch, t2 to the
# previous one. Hosts are namespaces named SWITCHh1 and SWITCHh2.
#
# Settings (environment):
#   LAB_SWITCHES  number of switches, 2 to 20                (2)
#   LAB_PREFIX    switch name prefix, 1 to 5 characters      (qs)
#   LAB_NET       management /24; switch i is .i, we .254    (10.197.0)
#   LAB_HOSTS     host /24; host j of switch i is .(10i+j)   (10.197.1)
#   LAB_DIR       sockets, configurations and logs  (${TMPDIR:-/tmp}/lab-qbridge-$LAB_PREFIX)
#
# Access: SNMPv2c on port 161, read "public", write "private"; OVSDB on TCP port 6640;
# the control socket of ovs-vswitchd is LAB_DIR/SWITCH/vswitchd.ctl. Needs root, bash,
# iproute2, util-linux, ethtool, iputils-ping, snmpd, snmp, lldpd, libsnmp-perl
# and openvswitch-switch, and ovs-qbridge.pl beside this script. "down" must see
# the same LAB_SWITCHES, LAB_PREFIX and LAB_DIR as "up".
set -euo pipefail

LAB_SWITCHES=${LAB_SWITCHES:-2}
LAB_PREFIX=${LAB_PREFIX:-qs}
LAB_NET=${LAB_NET:-10.197.0}
LAB_HOSTS=${LAB_HOSTS:-10.197.1}
LAB_DIR=${LAB_DIR:-${TMPDIR:-/tmp}/lab-qbridge-$LAB_PREFIX}
MGMT=${LAB_PREFIX}-mgmt
AGENT=$(dirname "$(readlink -f "$0")")/ovs-qbridge.pl

export MIBS=''                               # numeric OIDs only: no MIB files needed
PATH=$PATH:/usr/sbin:/sbin

readonly BASE_IFINDEX=.1.3.6.1.2.1.17.1.4.1.2
readonly VLAN=.1.3.6.1.2.1.17.7.1.4.3.1      # + column (1 name, 2 egress, 4 untagged, 5 status)
readonly PVID=.1.3.6.1.2.1.17.7.1.4.5.1.1
readonly IF_NAME=.1.3.6.1.2.1.31.1.1.1.1
readonly LLDP_REM_SYSNAME=.1.0.8802.1.1.2.1.4.1.1.9

die()  { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
sw()   { printf '%s%d' "$LAB_PREFIX" "$1"; }
host() { printf '%s%dh%d' "$LAB_PREFIX" "$1" "$2"; }
addr() { printf '%s.%d' "$LAB_NET" "$1"; }
host_addr() { printf '%s.%d' "$LAB_HOSTS" $(( 10 * $1 + $2 )); }

preflight() {
	local tool
	for tool in ip setsid setpriv unshare hostname ethtool ping perl snmpd snmpset snmpbulkwalk lldpd ovsdb-tool ovsdb-server ovs-vsctl ovs-vswitchd; do
		command -v "$tool" >/dev/null || die "$tool is missing"
	done
	[[ $(id -u) -eq 0 ]] || die 'run as root'
	[[ -r $AGENT ]] || die "$AGENT is missing"
	[[ $LAB_SWITCHES =~ ^[0-9]{1,2}$ ]] || die 'LAB_SWITCHES must be a number'
	(( LAB_SWITCHES >= 2 && LAB_SWITCHES <= 20 )) || die 'LAB_SWITCHES must be 2 to 20'
	[[ $LAB_PREFIX =~ ^[a-z][a-z0-9]{0,4}$ ]] || die 'LAB_PREFIX must be 1 to 5 lower-case letters or digits'
}

wait_for() {                                 # wait_for TENTHS COMMAND...
	local left=$1; shift
	until "$@"; do (( left-- > 0 )) || return 1; sleep 0.1; done
}

# in_switch NAME COMMAND...: run in the switch's network namespace, with its own
# host name and its own empty /run (lldpd chroots to a directory there).
in_switch() {
	local name=$1; shift
	# shellcheck disable=SC2016
	ip netns exec "$name" setsid unshare --mount --uts -- sh -c '
		hostname "$1" && mount -t tmpfs -o mode=755 lab-run /run && shift && exec "$@"
	' sh "$name" "$@"
}

make_switch() {
	local i=$1 name j h; name=$(sw "$i")
	ip netns add "$name"
	ip -n "$name" link set lo up
	ip link add "$name-m" type veth peer name mgmt netns "$name"
	ip link set "$name-m" master "$MGMT" up
	ip -n "$name" addr add "$(addr "$i")/24" dev mgmt
	ip -n "$name" link set mgmt up
	for j in 1 2; do
		h=$(host "$i" "$j")
		ip netns add "$h"
		ip -n "$h" link set lo up
		ip -n "$name" link add "h$j" type veth peer name eth0 netns "$h"
		ip -n "$name" link set "h$j" up
		ip -n "$h" addr add "$(host_addr "$i" "$j")/24" dev eth0
		ip -n "$h" link set eth0 up
		# The userspace datapath passes frames on as it read them: no offloaded checksums.
		ip netns exec "$h" ethtool -K eth0 tx off >/dev/null 2>&1 || true
	done
}

make_trunk() {                               # switch i's t1 <-> the next switch's t2
	local a b; a=$(sw "$1"); b=$(sw $(( $1 + 1 )))
	ip -n "$a" link add t1 type veth peer name t2 netns "$b"
	ip -n "$a" link set t1 up
	ip -n "$b" link set t2 up
}

start_daemons() {
	local i=$1 name dir port ports=(); name=$(sw "$i"); dir=$LAB_DIR/$name
	mkdir -p "$dir/state" "$dir/agent"
	for port in h1 h2 t1 t2; do
		ip -n "$name" link show dev "$port" >/dev/null 2>&1 && ports+=(-- add-port br0 "$port" tag=1)
	done
	export OVS_RUNDIR=$dir OVS_LOGDIR=$dir
	ovsdb-tool create "$dir/conf.db" "${OVS_PKGDATADIR:-/usr/share/openvswitch}/vswitch.ovsschema"
	in_switch "$name" ovsdb-server "$dir/conf.db" --remote="punix:$dir/db.sock" \
		--remote="ptcp:6640:$(addr "$i")" --unixctl="$dir/ovsdb.ctl" \
		--log-file="$dir/ovsdb.log" -vconsole:off </dev/null >/dev/null 2>&1 &
	# The socket is there a moment before the server listens: only an answer says that it does.
	wait_for 900 ovs-vsctl --db="unix:$dir/db.sock" --timeout=10 --no-wait init || die "$name: ovsdb-server did not start"
	in_switch "$name" ovs-vswitchd "unix:$dir/db.sock" --unixctl="$dir/vswitchd.ctl" --disable-system \
		--log-file="$dir/vswitchd.log" -vconsole:off </dev/null >/dev/null 2>&1 &
	ovs-vsctl --db="unix:$dir/db.sock" --timeout=120 -- add-br br0 -- set bridge br0 datapath_type=netdev "${ports[@]}"

	cat >"$dir/snmpd.conf" <<-CONF
		agentaddress udp:$(addr "$i"):161
		master agentx
		agentXSocket $dir/agentx
		rocommunity public
		rwcommunity private
	CONF
	printf 'agentXSocket %s\n' "$dir/agentx" >"$dir/agent/qbridge.conf"
	cat >"$dir/lldpd.conf" <<-CONF
		configure lldp tx-interval 1
		configure system interface pattern t*
		configure system ip management pattern $(addr "$i")
	CONF
	SNMP_PERSISTENT_DIR=$dir/state in_switch "$name" \
		snmpd -f -C -c "$dir/snmpd.conf" -Lf "$dir/snmpd.log" </dev/null >/dev/null 2>&1 &
	wait_for 900 test -S "$dir/agentx" || die "$name: snmpd did not start (see $dir/snmpd.log)"
	in_switch "$name" lldpd -d -x -X "$dir/agentx" -u "$dir/lldpd.sock" -O "$dir/lldpd.conf" \
		</dev/null >"$dir/lldpd.log" 2>&1 &
	SNMP_PERSISTENT_DIR=$dir/state SNMPCONFPATH=$dir/agent in_switch "$name" \
		perl "$AGENT" br0 "$dir/db.sock" "$dir/vswitchd.ctl" </dev/null >"$dir/agent.log" 2>&1 &
}

walk() { snmpbulkwalk -v2c -c public -t 2 -r 1 "${3:--OQn}" "udp:$(addr "$1"):161" "$2" 2>/dev/null; }
set_on() { local i=$1; shift; snmpset -v2c -c private -t 5 -r 0 -On "udp:$(addr "$i"):161" "$@" >/dev/null; }

# bridge_port I NAME: the dot1dBasePort of an interface.
bridge_port() {
	local ifindex; ifindex=$(walk "$1" "$IF_NAME" | awk -v n="$2" '{gsub(/"/, "", $3)} $3 == n {k = split($1, o, "."); print o[k]}')
	walk "$1" "$BASE_IFINDEX" | awk -v x="$ifindex" '$3 == x {k = split($1, o, "."); print o[k]}'
}

# port_list PORT...: a PortList of one octet, in hexadecimal.
port_list() {
	local p v=0
	for p in "$@"; do v=$(( v | 128 >> (p - 1) )); done
	printf '%02X' "$v"
}

answered() { walk "$1" "$PVID" | grep -q "$PVID"; }
neighbours() { walk "$1" "$LLDP_REM_SYSNAME" -Oqv | tr -d '"' | sort | paste -sd,; }
expected() {
	local i=$1
	{ (( i == 1 )) || sw $(( i - 1 )); echo; (( i == LAB_SWITCHES )) || sw $(( i + 1 )); echo; } | grep . | sort | paste -sd,
}
neighbours_ok() { [[ $(neighbours "$1") == "$(expected "$1")" ]]; }
reach() { ip netns exec "$(host "$1" "$2")" ping -q -i 0.2 -c "${5:-10}" -w 3 "$(host_addr "$3" "$4")" >/dev/null 2>&1; }

step() { printf '%s\n' "$1"; shift; "$@" || die "failed: $*"; }
not() { ! "$@"; }

make_vlan() {                                # VLAN 100: h1 untagged, trunks tagged
	local i=$1 h1 t p all; h1=$(bridge_port "$i" h1); all=("$h1")
	for t in t1 t2; do p=$(bridge_port "$i" "$t"); [[ -z $p ]] || all+=("$p"); done
	set_on "$i" "$VLAN.5.100" i 4 "$VLAN.1.100" s lab "$VLAN.2.100" x "$(port_list "${all[@]}")" "$VLAN.4.100" x "$(port_list "$h1")" || return 1
	set_on "$i" "$PVID.$h1" u 100
}

drop_vlan() {
	set_on "$1" "$PVID.$(bridge_port "$1" h1)" u 1 && set_on "$1" "$VLAN.5.100" i 6
}

check() {
	local i last=$LAB_SWITCHES
	for (( i = 1; i <= last; i++ )); do step "LLDP neighbours of $(sw "$i"): $(expected "$i")" neighbours_ok "$i"; done
	step 'one VLAN: first h1 reaches last h1' reach 1 1 "$last" 1
	step 'one VLAN: first h1 reaches last h2' reach 1 1 "$last" 2
	for (( i = 1; i <= last; i++ )); do step "VLAN 100 made on $(sw "$i") by SNMP" make_vlan "$i"; done
	step 'VLAN 100: first h1 reaches last h1 over tagged trunks' reach 1 1 "$last" 1
	step 'VLAN 100: first h1 does not reach its own h2' not reach 1 1 1 2 5
	step 'VLAN 1: first h2 still reaches last h2' reach 1 2 "$last" 2
	step 'a second creation is refused' not set_on 1 "$VLAN.5.100" i 4 2>/dev/null
	for (( i = 1; i <= last; i++ )); do step "VLAN 100 removed from $(sw "$i") by SNMP" drop_vlan "$i"; done
	step 'one VLAN again: first h1 reaches first h2' reach 1 1 1 2
}

up() {
	local i
	[[ -e $LAB_DIR ]] && die "$LAB_DIR exists: run '${0##*/} down' first"
	ip netns list | grep -qE "^${LAB_PREFIX}[0-9]+(h[12])?( |$)" && die "namespaces named ${LAB_PREFIX}N exist already"
	ip link show dev "$MGMT" >/dev/null 2>&1 && die "an interface named $MGMT exists already"
	mkdir "$LAB_DIR"
	chmod 755 "$LAB_DIR"
	trap down EXIT                           # leave nothing half-built
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$LAB_DIR" ||
		die "$LAB_DIR cannot be entered without root, which lldpd gives up: set another LAB_DIR"
	trap 'exit 130' INT
	trap 'exit 143' TERM
	ip link add "$MGMT" type bridge
	ip addr add "$(addr 254)/24" dev "$MGMT"
	ip link set "$MGMT" up
	for (( i = 1; i <= LAB_SWITCHES; i++ )); do make_switch "$i"; done
	for (( i = 1; i < LAB_SWITCHES; i++ )); do make_trunk "$i"; done
	for (( i = 1; i <= LAB_SWITCHES; i++ )); do start_daemons "$i"; done
	for (( i = 1; i <= LAB_SWITCHES; i++ )); do
		wait_for 900 answered "$i" || die "$(sw "$i") does not answer Q-BRIDGE-MIB"
		wait_for 1200 neighbours_ok "$i" || die "$(sw "$i") does not see its neighbours"
	done
	trap - EXIT INT TERM
}

# Only our own processes run inside our namespaces, so "ip netns pids" names
# exactly what is to be stopped.
pids_of() { ip netns pids "$1" 2>/dev/null || true; }
empty() { [[ -z $(pids_of "$1") ]]; }

down() {
	local i name
	trap - EXIT
	[[ -d $LAB_DIR ]] || return 0            # no lab of ours: touch nothing
	for (( i = 1; i <= LAB_SWITCHES; i++ )); do
		for name in "$(sw "$i")" "$(host "$i" 1)" "$(host "$i" 2)"; do
			pids_of "$name" | xargs -r kill 2>/dev/null || true
		done
	done
	for (( i = 1; i <= LAB_SWITCHES; i++ )); do
		for name in "$(sw "$i")" "$(host "$i" 1)" "$(host "$i" 2)"; do
			wait_for 50 empty "$name" || pids_of "$name" | xargs -r kill -9 2>/dev/null || true
			ip netns del "$name" 2>/dev/null || true   # takes its veth pairs with it
		done
		ip link del "$(sw "$i")-m" 2>/dev/null || true
	done
	ip link del "$MGMT" 2>/dev/null || true
	rm -rf -- "$LAB_DIR"
}

preflight
case ${1:-} in
	up)    up ;;
	check) check ;;
	down)  down ;;
	*)     sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
