#!/usr/bin/env bash
# Installs the real peers that the tests in this folder drive: Python packages in a virtual environment
# of their own, and Debian packages, when run as root on a system with apt. Elsewhere, or without the
# network, it says what is missing; the tests then skip loudly, naming the peer.
set -euo pipefail
# Asked to end, it ends when pip or apt-get has finished, so that no package is left half unpacked.
trap 'exit 143' TERM

# The tests look here too; PEERS_PYTHON names the bin directory of another environment.
python=${XDG_CACHE_HOME:-$HOME/.cache}/ctl-peers
python_packages=(yangson openapi-spec-validator openapi-python-client iupy-restconf requests
	openapi-generator-cli==7.26.0 pydantic python-dateutil urllib3 typing-extensions)
if [[ ! -x $python/bin/python ]] && ! python3 -m venv "$python" >/dev/null 2>&1; then
	echo "peers: NOT INSTALLED (python3 cannot make a virtual environment): ${python_packages[*]}" >&2
elif ! "$python/bin/pip" show -q "${python_packages[@]%%==*}" >/dev/null 2>&1 &&
	! timeout 300 "$python/bin/pip" install -q --disable-pip-version-check "${python_packages[@]}"; then
	echo "peers: NOT INSTALLED (pip failed): ${python_packages[*]}" >&2
fi

packages=(snmpd snmp snmptrapd lldpd openvswitch-switch snmpsim libsnmp-perl iproute2 iputils-ping ethtool
	iptables strace e2fsprogs
	etcd-server etcd-client slapd ldap-utils keystone samba-ad-dc samba samba-dsdb-modules
	samba-vfs-modules winbind python3-samba samba-ad-provision git openssl openssh-client openssh-server netconfd chromium
	prometheus rsyslog rsyslog-gnutls minisign skopeo umoci debootstrap rpm
	libyang2-tools curl python3-grpcio python3-protobuf python3-cryptography protobuf-compiler libprotobuf-dev)
command -v keytool >/dev/null || packages+=(default-jre-headless)
missing=()
for p in "${packages[@]}"; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
if (( ${#missing[@]} == 0 )); then
	echo "peers: all ${#packages[@]} packages are installed"
	exit 0
fi
if [[ $(id -u) -ne 0 ]] || ! command -v apt-get >/dev/null; then
	echo "peers: NOT INSTALLED (needs root and apt): ${missing[*]}" >&2
	exit 0
fi
export DEBIAN_FRONTEND=noninteractive
# Services of the packages must not start: the tests run their own, on their own ports.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
	trap 'rm -f "$policy"' EXIT
fi
apt-get update -qq || echo "peers: apt-get update failed; trying with what is known" >&2
# All at once is much faster; one by one where one of them cannot be had.
install() { apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
install "${missing[@]}" || for p in "${missing[@]}"; do
	install "$p" || echo "peers: could not install $p" >&2
done
