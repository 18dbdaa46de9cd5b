#!/usr/bin/env bash
# lab-lldp.sh - a ring of real LLDP/SNMP devices in network namespaces.
#
#   lab-lldp.sh up               build the ring, start the daemons, wait for neighbours
#   lab-lldp.sh check            walk every node from here; exit 1 unless the whole ring shows
#   lab-lldp.sh status           addresses, process ids, neighbours
#   lab-lldp.sh link A B up|down set the ring link between adjacent nodes A and B
#   lab-lldp.sh down             stop everything and remove it (safe to repeat)
#
# Each node is a network namespace with an STP bridge br0 over two ring ports
# (e1 = towards the next node, e2 = towards the previous one), net-snmp's snmpd
# on its management address, and lldpd attached to that snmpd over AgentX, so
# that LLDP-MIB (1.0.8802.1.1.2) is answered from frames really received.
#
# Settings (environment):
#   LAB_NODES   number of nodes, 3 to 250             (4)
#   LAB_PREFIX  node name prefix, 1 to 6 characters   (sw)
#   LAB_NET     management /24; node i is .i, we .254 (10.199.0)
#   LAB_PORT    SNMP UDP port                         (161)
#   LAB_TX      LLDP transmit interval                (1)   seconds
#   LAB_TRAPS   HOST:PORT to send SNMPv2c traps to    ()    e.g. 10.199.0.254:1162
#   LAB_BRIDGE  serve BRIDGE-MIB of br0, by bridge-mib.py (no)  yes or no
#   LAB_LLDP    run lldpd; without it nothing reports neighbours (yes)  yes or no
#   LAB_DIR     sockets, configurations and logs      (${TMPDIR:-/tmp}/lab-lldp-$LAB_PREFIX)
#
# Access: SNMPv2c read "public", write "private"; SNMPv3 user "ops", authPriv,
# SHA-256 "authpass123", AES-128 "privpass123".
#
# Needs root (or CAP_NET_ADMIN and CAP_SYS_ADMIN), bash, iproute2, util-linux,
# and Debian's snmpd, snmp and lldpd. "up" records its settings in LAB_DIR; the
# other commands need only the same LAB_PREFIX (or LAB_DIR).
set -euo pipefail

LAB_NODES=${LAB_NODES:-4}
LAB_PREFIX=${LAB_PREFIX:-sw}
LAB_NET=${LAB_NET:-10.199.0}
LAB_PORT=${LAB_PORT:-161}
LAB_TX=${LAB_TX:-1}
LAB_TRAPS=${LAB_TRAPS:-}
LAB_BRIDGE=${LAB_BRIDGE:-no}
LAB_LLDP=${LAB_LLDP:-yes}
LAB_DIR=${LAB_DIR:-${TMPDIR:-/tmp}/lab-lldp-$LAB_PREFIX}
SETTINGS=$LAB_DIR/settings
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ ${1:-} != up && -r $SETTINGS ]]; then
	IFS=' ' read -r LAB_NODES LAB_NET LAB_PORT LAB_TX <"$SETTINGS"
fi
MGMT=${LAB_PREFIX}-mgmt                      # bridge in this namespace

export MIBS=''                               # numeric OIDs only: no MIB files needed
PATH=$PATH:/usr/sbin:/sbin

readonly LLDP_REM_SYSNAME=.1.0.8802.1.1.2.1.4.1.1.9
readonly LLDP_REM_PORTID=.1.0.8802.1.1.2.1.4.1.1.7

die()  { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
node() { printf '%s%d' "$LAB_PREFIX" "$1"; }
addr() { printf '%s.%d' "$LAB_NET" "$1"; }
next() { printf '%d' $(( $1 % LAB_NODES + 1 )); }
prev() { printf '%d' $(( ($1 + LAB_NODES - 2) % LAB_NODES + 1 )); }

preflight() {
	local tool
	for tool in ip setsid setpriv unshare hostname snmpd lldpd lldpcli snmpbulkwalk; do
		command -v "$tool" >/dev/null || die "$tool is missing (apt-get install iproute2 util-linux hostname snmpd snmp lldpd)"
	done
	[[ $(id -u) -eq 0 ]] || die 'run as root'
	[[ $LAB_NODES =~ ^[0-9]{1,3}$ ]] || die 'LAB_NODES must be a number'
	(( LAB_NODES >= 3 && LAB_NODES <= 250 )) || die 'LAB_NODES must be 3 to 250'
	[[ $LAB_PREFIX =~ ^[a-z][a-z0-9]{0,5}$ ]] || die 'LAB_PREFIX must be 1 to 6 lower-case letters or digits'
}

# in_node NAME COMMAND...: run in the node's network namespace, with its own
# host name and its own empty /run (lldpd chroots to a directory there).
in_node() {
	local name=$1; shift
	# shellcheck disable=SC2016
	ip netns exec "$name" setsid unshare --mount --uts -- sh -c '
		hostname "$1" && mount -t tmpfs -o mode=755 lab-run /run && shift && exec "$@"
	' sh "$name" "$@"
}

make_node() {
	local i=$1 name; name=$(node "$i")
	ip netns add "$name"
	ip -n "$name" link set lo up
	ip link add "$name-m" type veth peer name mgmt netns "$name"
	ip link set "$name-m" master "$MGMT" up
	ip -n "$name" addr add "$(addr "$i")/24" dev mgmt
	ip -n "$name" link set mgmt up
	ip -n "$name" link add br0 type bridge stp_state 1 forward_delay 200 hello_time 100
	ip -n "$name" link set br0 up
}

make_link() {                                # node i's e1 <-> the next node's e2
	local a b; a=$(node "$1"); b=$(node "$(next "$1")")
	ip -n "$a" link add e1 type veth peer name e2 netns "$b"
	ip -n "$a" link set e1 alias "to $b" master br0 up
	ip -n "$b" link set e2 alias "to $a" master br0 up
}

# coldStart, authenticationFailure, linkUp and linkDown (polled every second), and
# lldpRemTablesChange (which lldpd sends through AgentX).
trap_conf() {
	local oper=.1.3.6.1.2.1.2.2.1.8 admin=.1.3.6.1.2.1.2.2.1.7
	cat <<-CONF
		trap2sink $LAB_TRAPS public
		authtrapenable 1
		createUser internal SHA-256 internal-pass123
		rouser internal
		iquerySecName internal
		notificationEvent linkUpTrap .1.3.6.1.6.3.1.1.5.4
		notificationEvent linkDownTrap .1.3.6.1.6.3.1.1.5.3
		monitor -r 1 -o $admin -o $oper -e linkUpTrap "Generate linkUp" $oper != 2
		monitor -r 1 -o $admin -o $oper -e linkDownTrap "Generate linkDown" $oper == 2
	CONF
}

start_daemons() {
	local i=$1 name dir; name=$(node "$i"); dir=$LAB_DIR/$name
	mkdir -p "$dir/state"
	cat >"$dir/snmpd.conf" <<-CONF
		agentaddress udp:$(addr "$i"):$LAB_PORT
		master agentx
		agentXSocket $dir/agentx
		rocommunity public
		rwcommunity private
		createUser ops SHA-256 authpass123 AES privpass123
		rwuser ops authPriv
	CONF
	[[ -z $LAB_TRAPS ]] || trap_conf >>"$dir/snmpd.conf"
	[[ $LAB_BRIDGE == no ]] || printf 'pass_persist .1.3.6.1.2.1.17 /usr/bin/python3 %s br0\n' "$HERE/bridge-mib.py" >>"$dir/snmpd.conf"
	cat >"$dir/lldpd.conf" <<-CONF
		configure lldp tx-interval $LAB_TX
		configure system interface pattern e*
		configure system ip management pattern $(addr "$i")
	CONF
	SNMP_PERSISTENT_DIR=$dir/state in_node "$name" \
		snmpd -f -C -c "$dir/snmpd.conf" -Lf "$dir/snmpd.log" </dev/null >/dev/null 2>&1 &
	wait_for 900 test -S "$dir/agentx" || die "$name: snmpd did not start (see $dir/snmpd.log)"
	[[ $LAB_LLDP == yes ]] || return 0
	in_node "$name" lldpd -d -x -X "$dir/agentx" -u "$dir/lldpd.sock" -O "$dir/lldpd.conf" \
		</dev/null >"$dir/lldpd.log" 2>&1 &
}

wait_for() {                                 # wait_for TENTHS COMMAND...
	local left=$1; shift
	until "$@"; do (( left-- > 0 )) || return 1; sleep 0.1; done
}

# neighbours I: "remote-system remote-port" lines, as LLDP-MIB reports them.
neighbours() {
	local target; target=udp:$(addr "$1"):$LAB_PORT
	paste -d' ' \
		<(snmpbulkwalk -v2c -c public -t 1 -r 1 -Oqv "$target" "$LLDP_REM_SYSNAME" 2>/dev/null | tr -d '"') \
		<(snmpbulkwalk -v2c -c public -t 1 -r 1 -Oqv "$target" "$LLDP_REM_PORTID" 2>/dev/null | tr -d '"') | sort
}

expected() { printf '%s\n' "$(node "$(next "$1")") e2" "$(node "$(prev "$1")") e1" | sort; }
ring_complete_at() { [[ $(neighbours "$1") == "$(expected "$1")" ]]; }

check() {
	local i bad=0
	for (( i = 1; i <= LAB_NODES; i++ )); do
		if ring_complete_at "$i"; then
			printf 'ok   %s %s: %s\n' "$(node "$i")" "$(addr "$i")" "$(neighbours "$i" | paste -sd,)"
		else
			printf 'FAIL %s %s: %s\n' "$(node "$i")" "$(addr "$i")" "$(neighbours "$i" | paste -sd,)"; bad=1
		fi
	done
	return "$bad"
}

up() {
	local i
	[[ -e $LAB_DIR ]] && die "$LAB_DIR exists: run '${0##*/} down' first"
	ip netns list | grep -qE "^${LAB_PREFIX}[0-9]+( |$)" && die "namespaces named ${LAB_PREFIX}N exist already"
	ip link show dev "$MGMT" >/dev/null 2>&1 && die "an interface named $MGMT exists already"
	mkdir "$LAB_DIR"
	chmod 755 "$LAB_DIR"
	trap down EXIT                           # leave nothing half-built
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$LAB_DIR" ||
		die "$LAB_DIR cannot be entered without root, which lldpd gives up: set another LAB_DIR"
	trap 'exit 130' INT
	trap 'exit 143' TERM
	printf '%s %s %s %s\n' "$LAB_NODES" "$LAB_NET" "$LAB_PORT" "$LAB_TX" >"$SETTINGS"
	ip link add "$MGMT" type bridge
	ip addr add "$(addr 254)/24" dev "$MGMT"
	ip link set "$MGMT" up
	for (( i = 1; i <= LAB_NODES; i++ )); do make_node "$i"; done
	for (( i = 1; i <= LAB_NODES; i++ )); do make_link "$i"; done
	for (( i = 1; i <= LAB_NODES; i++ )); do start_daemons "$i"; done
	if [[ $LAB_LLDP == yes ]]; then
		for (( i = 1; i <= LAB_NODES; i++ )); do
			wait_for 1200 ring_complete_at "$i" || { check || true; die 'no full ring after two minutes'; }
		done
	fi
	trap - EXIT INT TERM
}

set_link() {                                 # set_link A B up|down
	local i a=$1 b=$2 state=$3
	[[ $state == up || $state == down ]] || die 'the state is up or down'
	for (( i = 1; i <= LAB_NODES; i++ )); do
		if [[ $(node "$i") == "$a" && $(node "$(next "$i")") == "$b" ]]; then ip -n "$a" link set e1 "$state"; return; fi
		if [[ $(node "$i") == "$b" && $(node "$(next "$i")") == "$a" ]]; then ip -n "$b" link set e1 "$state"; return; fi
	done
	die "$a and $b are not adjacent"
}

# Only our own processes run inside our namespaces, so "ip netns pids" names
# exactly what is to be stopped.
node_pids() { ip netns pids "$1" 2>/dev/null || true; }
node_empty() { [[ -z $(node_pids "$1") ]]; }

down() {
	local i name
	trap - EXIT
	[[ -d $LAB_DIR ]] || return 0            # no lab of ours: touch nothing
	for (( i = 1; i <= LAB_NODES; i++ )); do
		name=$(node "$i")
		node_pids "$name" | xargs -r kill 2>/dev/null || true
	done
	for (( i = 1; i <= LAB_NODES; i++ )); do
		name=$(node "$i")
		wait_for 30 node_empty "$name" || node_pids "$name" | xargs -r kill -9 2>/dev/null || true
		ip netns del "$name" 2>/dev/null || true   # takes its veth pairs with it
		ip link del "$name-m" 2>/dev/null || true
	done
	ip link del "$MGMT" 2>/dev/null || true
	rm -rf -- "$LAB_DIR"
}

status() {
	local i name
	for (( i = 1; i <= LAB_NODES; i++ )); do
		name=$(node "$i")
		printf '%s %s:%s pids %s neighbours %s\n' "$name" "$(addr "$i")" "$LAB_PORT" \
			"$(node_pids "$name" | paste -sd' ')" "$(neighbours "$i" | paste -sd,)"
	done
}

preflight
case ${1:-} in
	up)     up ;;
	check)  check ;;
	status) status ;;
	link)   [[ $# -eq 4 ]] || die 'usage: link A B up|down'; set_link "$2" "$3" "$4" ;;
	down)   down ;;
	*)      sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
