#!/usr/bin/env bash
# lab-freertr.sh - three real routers that forward BIER: freeRtr, one process each, links over UDP on the loopback.
#
#   lab-freertr.sh up            start r1 in the middle, r2 and r3 beside it; prints "NAME SSH-PORT" of each; user lab, password lab
#   lab-freertr.sh type NAME LINE...   type lines at a router's command line and print what it answers
#   lab-freertr.sh down          stop them and remove their files (safe to repeat)
#
# r2 and r3 receive the group 232.1.1.1 from 2.2.2.1, which is r1; routers have the loopbacks 2.2.2.1 to 2.2.2.3 and the IGP lsrp4 1.
#
# Settings (environment):
#   FREERTR_JAR   freeRtr as one jar, for the java that is installed
#   LAB_DIR       configurations, logs and pids     (${TMPDIR:-/tmp}/lab-freertr-UID)
set -euo pipefail
export LC_ALL=C
LAB_DIR=${LAB_DIR:-${TMPDIR:-/tmp}/lab-freertr-$(id -u)}
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# free prints a TCP or UDP port at which nobody listens now.
free() {
	local port
	for (( ;; )); do
		port=$(( 20000 + RANDOM % 12000 ))
		grep -q "0100007F:$(printf '%04X' "$port") " /proc/net/tcp /proc/net/udp || [[ -e $LAB_DIR/port.$port ]] && continue
		: >"$LAB_DIR/port.$port"
		printf '%d' "$port"
		return
	done
}

# router I NAME-OF-LINK:ADDRESS:LOCAL:REMOTE...
router() {
	local i=$1 k=0 dir=$LAB_DIR/r$1 address from to
	shift
	mkdir "$dir"
	printf '%s' "$(free)" >"$dir/ssh"
	printf '%s' "$(free)" >"$dir/telnet"
	{
		printf 'hwid lab\nrwpath %s/\ntcp2vrf %d v1 22 127.0.0.1\ntcp2vrf %d v1 23 127.0.0.1\n' "$dir" "$(<"$dir/ssh")" "$(<"$dir/telnet")"
		for link; do
			IFS=: read -r address from to <<<"$link"
			printf 'int eth%d eth 0000.0000.%d%d%d%d 127.0.0.1 %d 127.0.0.1 %d\n' $(( ++k )) "$i" "$i" "$i" "$k" "$from" "$to"
		done
	} >"$dir/hw"
	{
		printf 'hostname r%d\naaa userlist usr\n username lab password lab\n username lab privilege 15\n exit\ncrypto rsakey rsa generate 2048\n' "$i"
		printf 'vrf definition v1\n rd 1:1\n exit\nrouter lsrp4 1\n vrf v1\n router-id 4.4.4.%d\n redistribute connected\n exit\n' "$i"
		printf 'interface loopback1\n vrf forwarding v1\n ipv4 address 2.2.2.%d 255.255.255.255\n exit\n' "$i"
		k=0
		for link; do
			printf 'interface ethernet%d\n vrf forwarding v1\n ipv4 address %s 255.255.255.0\n mpls enable\n router lsrp4 1 enable\n exit\n' $(( ++k )) "${link%%:*}"
		done
		(( i == 1 )) || printf 'ipv4 multicast v1 join-group 232.1.1.1 2.2.2.1\n'
		printf 'server telnet ssh\n security protocol ssh\n security authentication usr\n security rsakey rsa\n no exec authorization\n login authentication usr\n port 22\n vrf v1\n exit\n'
		printf 'server telnet here\n security protocol telnet\n no exec authorization\n no login authentication\n port 23\n vrf v1\n exit\nend\n'
	} >"$dir/sw"
	cd "$dir"
	setsid java -Xmx200m -jar "$FREERTR_JAR" routers hw sw </dev/null >log 2>&1 &
	printf '%d' $! >pid
	cd - >/dev/null
}

up() {
	command -v java >/dev/null || die 'java is not installed'
	[[ -r ${FREERTR_JAR:-} ]] || die 'FREERTR_JAR does not name a jar of freeRtr'
	FREERTR_JAR=$(realpath "$FREERTR_JAR")
	mkdir -m 700 "$LAB_DIR" || die "run '${0##*/} down' first"
	trap down EXIT
	local a b c d i
	a=$(free) b=$(free) c=$(free) d=$(free)
	router 1 "1.1.1.1:$a:$b" "1.1.2.1:$c:$d"
	router 2 "1.1.1.2:$b:$a"
	router 3 "1.1.2.3:$d:$c"
	for i in 1 2 3; do
		until { : >"/dev/tcp/127.0.0.1/$(<"$LAB_DIR/r$i/ssh")"; } 2>/dev/null; do
			kill -0 "$(<"$LAB_DIR/r$i/pid")" 2>/dev/null || { cat "$LAB_DIR/r$i/log" >&2; die "r$i ended"; }
			sleep 0.2
		done
		printf 'r%d %d\n' "$i" "$(<"$LAB_DIR/r$i/ssh")"
	done
	trap - EXIT
}

# answer prints what comes until the router waits for a line: it draws its prompt more than once, so half a second more is waited for.
answer() {
	local said='' one end=$(( SECONDS + 120 ))
	while (( SECONDS < end )); do
		if IFS= read -r -N 1 -t 0.5 -u 3 one; then said+=$one; elif [[ $said == *'#' ]]; then printf '%s\n' "$said"; return; fi
	done
	die 'the router does not answer'
}

typed() {
	local line
	exec 3<>"/dev/tcp/127.0.0.1/$(<"$LAB_DIR/$1/telnet")"
	shift
	answer >/dev/null
	for line in 'terminal length 0' "$@"; do
		printf '%s\n' "$line" >&3
		answer
	done | tr -d '\r'
}

down() {
	local pid
	for pid in "$LAB_DIR"/r*/pid; do
		[[ -r $pid && $(readlink "/proc/$(<"$pid")/cwd") == "${pid%/pid}" ]] && kill "$(<"$pid")" || true
	done
	rm -rf "$LAB_DIR"
}

case ${1:-} in
	up) up ;;
	type) (( $# > 2 )) || die 'type NAME LINE...'; shift; typed "$@" ;;
	down) down ;;
	*) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
