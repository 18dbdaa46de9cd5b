#!/usr/bin/python3
"""bridge-mib.py BRIDGE - serves BRIDGE-MIB of a Linux bridge to net-snmp's snmpd.

For snmpd.conf: pass_persist .1.3.6.1.2.1.17 /usr/bin/python3 bridge-mib.py br0
Everything is read from /sys/class/net at each request, read-only: the bridge, its
ports, their spanning tree, and the forwarding table.
"""
import os
import struct
import sys

BASE = (1, 3, 6, 1, 2, 1, 17)
STATES = {0: 1, 1: 3, 2: 4, 3: 5, 4: 2}  # kernel to dot1dStpPortState


def read(*path):
    with open(os.path.join("/sys/class/net", *path), "rb") as f:
        return f.read()


def text(*path):
    return read(*path).decode().strip()


def bridge_id(value):  # "8000.b61eae5a4399"
    priority, mac = value.split(".")
    return "octet", "%s %s %s" % (priority[:2], priority[2:], " ".join(mac[i:i + 2] for i in range(0, 12, 2)))


def objects(br):
    out = {}

    def put(oid, kind, value):
        out[BASE + oid] = (kind, str(value))

    address = bridge_id(text(br, "bridge", "bridge_id"))[1]
    put((1, 1, 0), "octet", address[6:])
    ports = os.listdir("/sys/class/net/%s/brif" % br)
    put((1, 2, 0), "integer", len(ports))
    put((2, 5, 0), *bridge_id(text(br, "bridge", "root_id")))
    put((2, 6, 0), "integer", text(br, "bridge", "root_path_cost"))
    put((2, 7, 0), "integer", text(br, "bridge", "root_port"))
    for name in ports:
        def attr(a):
            return text(br, "brif", name, a)
        n = int(attr("port_no"), 16) & 0x3ff
        put((1, 4, 1, 2, n), "integer", text(name, "ifindex"))
        put((2, 15, 1, 1, n), "integer", n)
        put((2, 15, 1, 3, n), "integer", STATES[int(attr("state"))])
        put((2, 15, 1, 6, n), *bridge_id(attr("designated_root")))
        put((2, 15, 1, 7, n), "integer", attr("designated_cost"))
        put((2, 15, 1, 8, n), *bridge_id(attr("designated_bridge")))
        far = int(attr("designated_port"))
        put((2, 15, 1, 9, n), "octet", "%02x %02x" % (far >> 8, far & 255))
    table = read(br, "brforward")
    for i in range(0, len(table) - 15, 16):
        mac, low, local, _, high = struct.unpack_from("<6sBBIB", table, i)
        put((4, 3, 1, 2) + tuple(mac), "integer", high << 8 | low)
        put((4, 3, 1, 3) + tuple(mac), "integer", 4 if local else 3)
    return out


def answer(br, verb, oid):
    try:
        have = objects(br)
    except (OSError, ValueError, KeyError):
        return None  # a port has just gone
    if verb == "get":
        return (oid,) + have[oid] if oid in have else None
    later = [o for o in have if o > oid]
    if not later:
        return None
    first = min(later)
    return (first,) + have[first]


def main():
    br = sys.argv[1]
    for line in sys.stdin:
        verb = line.strip().lower()
        if verb == "ping":
            print("PONG", flush=True)
            continue
        if not verb:
            return
        oid = tuple(int(a) for a in sys.stdin.readline().strip().strip(".").split("."))
        if verb == "set":
            sys.stdin.readline()
            print("not-writable", flush=True)
            continue
        found = answer(br, verb, oid)
        if found is None:
            print("NONE", flush=True)
        else:
            print(".%s\n%s\n%s" % (".".join(map(str, found[0])), found[1], found[2]), flush=True)


if __name__ == "__main__":
    main()
