"""A driver for the switches of package sdk/plugintest/simline: ports, their settings, and VLANs."""

import ipaddress
import re
import socket
import sys
import threading
import time

import ctlplugin
from ctlplugin import DOWNSTREAM, EXISTS, INVALID, MISSING, NOT_FOUND, TIMEOUT, UNAVAILABLE, UNSUPPORTED, Fault
from ctl.plugin.v1 import switchdriver_pb2 as pb

MODELS = ["switchdriver-python"]
MAX_ANSWER = 1_000_000
DEFAULT_VLAN = 1


def label(sw):
    """Names a switch for people, without its login."""
    mac = ":".join("%02x" % (sw.node_id >> shift & 0xFF) for shift in range(40, -8, -8))
    return "%s (%s)" % (mac, sw.address)


class Session:
    """A login at a switch. It ends with the call: at its deadline, or when it is cancelled."""

    def __init__(self, sw, port, until, context):
        self.name, self.until, self.buffer, self.context = label(sw), until, b"", context
        self.again = lambda: Session(sw, port, until, context)
        self.socket = socket.create_connection((sw.address, sw.cli.port or port), timeout=self.left())
        if not context.add_callback(self.cut):
            self.cut()
        if self.line() != "ready":
            raise Fault(DOWNSTREAM, "switch %s is not of this make" % self.name, device=True)
        if re.search(r"[ \r\n]", sw.cli.user + sw.cli.password):
            raise Fault(INVALID, "the user or password of switch %s in the switch list holds a blank" % self.name)
        try:
            self.ask("login %s %s" % (sw.cli.user, sw.cli.password))
        except Fault:
            raise Fault(DOWNSTREAM, "switch %s refuses the login in the switch list" % self.name, device=True) from None

    def left(self):
        left = self.until - time.monotonic()
        if left <= 0 or not self.context.is_active():
            raise socket.timeout()
        return left

    def cut(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed already

    def close(self):
        self.socket.close()

    def line(self):
        while b"\n" not in self.buffer:
            self.socket.settimeout(self.left())
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError("it hung up")
            self.buffer += more
            if len(self.buffer) > MAX_ANSWER:
                raise ConnectionError("it says more than %d bytes in a line" % MAX_ANSWER)
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode("ascii", "replace")

    def ask(self, command):
        """Sends one command and returns the lines of the answer."""
        self.socket.settimeout(self.left())
        self.socket.sendall(command.encode("ascii") + b"\n")
        lines, size = [], 0
        while True:
            line = self.line()
            if line == "ok":
                return lines
            if line.startswith("error "):
                raise Fault(DOWNSTREAM, "switch %s refuses: %.200s" % (self.name, line[6:]), device=True)
            size += len(line)
            if size > MAX_ANSWER:
                raise ConnectionError("it says more than %d bytes" % MAX_ANSWER)
            lines.append(line)

    def ports(self):
        out, status = [], {"up": 1, "down": 2}
        for line in self.ask("show ports"):
            m = re.fullmatch(r"port (\d{1,5}) admin (up|down) link (up|down) name (.*)", line)
            if not m:
                raise ConnectionError("its answer is not understood")
            out.append(pb.Port(number=int(m[1]), name=m[4], admin_status=status[m[2]], oper_status=status[m[3]]))
        return out

    def settings(self, port):
        """The settings of a port, or of all with 0."""
        descriptions = {}
        for line in self.ask("show descriptions"):
            m = re.fullmatch(r"port (\d{1,5}) description (.*)", line)
            if not m:
                raise ConnectionError("its answer is not understood")
            descriptions[int(m[1])] = m[2]
        out = [pb.PortSettings(port=p.number, up=p.admin_status == 1, description=descriptions.get(p.number, ""))
               for p in self.ports() if port in (0, p.number)]
        if not out:
            raise Fault(NOT_FOUND, "switch %s has no port %d" % (self.name, port), "port")
        return out

    def send_settings(self, have, want):
        """Sends what differs; the state last."""
        if want.HasField("description") and want.description != have.description:
            self.ask("set port %d description %s" % (want.port, want.description))
        if want.HasField("up") and want.up != have.up:
            self.ask("set port %d admin %s" % (want.port, "up" if want.up else "down"))

    def change_settings(self, before, want):
        """Changes the settings of a port, reads back, and takes back what failed."""
        try:
            self.send_settings(before, want)
            now = self.settings(want.port)[0]
            if any(want.HasField(f) and getattr(want, f) != getattr(now, f) for f in ("up", "description")):
                raise Fault(DOWNSTREAM, "switch %s accepted the settings but does not show them" % self.name, device=True)
        except (Fault, OSError) as e:
            self.take_back(lambda other: other.send_settings(other.settings(want.port)[0], before), e)
            raise

    def vlans(self):
        """The VLANs by id: name, egress ports, untagged ports."""
        out = {}
        for line in self.ask("show vlans"):
            m = re.fullmatch(r"vlan (\d{1,4}) tagged (-|[\d,]+) untagged (-|[\d,]+) name (.*)", line)
            if not m:
                raise ConnectionError("its answer is not understood")
            tagged, untagged = ({int(p) for p in m[i].split(",") if p.isdigit()} for i in (2, 3))
            out[int(m[1])] = (m[4], tagged | untagged, untagged)
        return out

    def send(self, have, want):
        for vid, (name, egress, untagged) in sorted(want.items()):
            if have.get(vid) != (name, egress, untagged):
                self.ask("set vlan %d tagged %s untagged %s name %s" % (vid, text(egress - untagged), text(untagged), name))
        for vid in sorted(have.keys() - want.keys()):
            self.ask("unset vlan %d" % vid)

    def change(self, before, want):
        """Makes the VLANs those of want, reads back, and takes back what failed."""
        try:
            self.send(before, want)
            now = self.vlans()
            if now != want:
                raise Fault(DOWNSTREAM, "switch %s accepted the change but does not show it" % self.name, device=True)
            return now
        except (Fault, OSError) as e:
            self.take_back(lambda other: other.send(other.vlans(), before), e)
            raise

    def take_back(self, restore, cause):
        """Restores what was before, in a new session: the switch may have ended this one."""
        try:
            other = self.again()
            try:
                restore(other)
            finally:
                other.close()
        except (Fault, OSError) as e:
            kind = TIMEOUT if isinstance(e, socket.timeout) else DOWNSTREAM
            raise Fault(kind, "switch %s: %s; what it did of the change could not be taken back: %s" % (self.name, cause, e), device=True) from None


def text(ports):
    return ",".join(map(str, sorted(ports))) or "-"


def home(before, after):
    """Ports that have lost their untagged VLAN go back to the default one."""
    still = set().union(*(v[2] for v in after.values()))
    lost = set().union(*(v[2] for v in before.values())) - still
    if DEFAULT_VLAN in after:
        name, egress, untagged = after[DEFAULT_VLAN]
        after[DEFAULT_VLAN] = (name, egress | lost, untagged | lost)
    return after


def check_vlan_id(vid):
    if not 1 <= vid <= 4094:
        raise Fault(INVALID, "%d is no VLAN id, 1 to 4094" % vid, "vlan-id")


def check_vlan(request):
    """Refuses what no switch can have, before anything is sent."""
    if not request.HasField("vlan"):
        raise Fault(MISSING, "the call names no VLAN", "vlan")
    v = request.vlan
    check_vlan_id(v.vlan_id)
    if len(v.name) > 32 or not re.fullmatch(r"[ -~]*", v.name) or v.name != v.name.strip():
        raise Fault(INVALID, "%.40r is no name of a VLAN, up to 32 printable ASCII characters" % v.name, "vlan-name")
    if set(v.untagged_ports) - set(v.egress_ports):
        raise Fault(INVALID, "an untagged port is no egress port of the VLAN", "untagged-ports")


OTHERS = ["power", "power_priority", "power_limit", "speed", "duplex"]
READ_ONLY = ["power_status", "power_class", "power_drawn", "link_speed", "link_duplex", "flow_control"]
SPEEDS = [0, 10, 100, 1000, 2500, 5000, 10000, 25000, 40000, 50000, 100000, 200000, 400000]


def check_settings(request):
    """Refuses settings that no port can have, then those that this switch does not have, before anything is sent."""
    s = request.settings
    if not request.HasField("settings") or not any(s.HasField(f) for f in ["up", "description"] + OTHERS):
        raise Fault(MISSING, "the call has no settings", "settings")
    if not 1 <= s.port <= 65535:
        raise Fault(INVALID, "%d is not the number of a port" % s.port, "port")
    if len(s.description) > 64 or not re.fullmatch(r"[ -~]*", s.description):
        raise Fault(INVALID, "%.80r is not a description of up to 64 printable ASCII characters" % s.description, "description")
    if s.HasField("power_priority") and not 1 <= s.power_priority <= 3:
        raise Fault(INVALID, "%d is not a priority, 1 to 3" % s.power_priority, "power-priority")
    if s.HasField("power_limit") and not 1 <= s.power_limit <= 99900:
        raise Fault(INVALID, "%d is not a limit in milliwatts" % s.power_limit, "power-limit")
    if s.speed not in SPEEDS:
        raise Fault(INVALID, "%d is not a speed in Mbit/s" % s.speed, "speed")
    if s.duplex > 2 or s.duplex and not s.speed or s.duplex == 1 and s.speed > 100:
        raise Fault(INVALID, "%d is not a duplex mode at %d Mbit/s" % (s.duplex, s.speed), "duplex")
    if any(s.HasField(f) for f in READ_ONLY):
        raise Fault(INVALID, "the state of the link and of the power can only be read", "settings")
    for f in OTHERS:
        if s.HasField(f):
            raise Fault(UNSUPPORTED, "switches of this make have no %s that can be set" % f, f.replace("_", "-"))


class Driver:
    def __init__(self):
        self.port, self.timeout = 2323, 10
        self.lock, self.turns = threading.Lock(), {}

    def configure(self, settings):
        self.port, self.timeout = settings.get("port", 2323), settings.get("timeout", 10)

    def turn(self, sw):
        """The lock of a switch. One a switch is kept: lists are finite."""
        with self.lock:
            return self.turns.setdefault(sw.address, threading.Lock())

    def session(self, request, context, work):
        """Runs work(session) at the switch of a request, one at a time."""
        sw = request.switch
        if not request.HasField("switch") or not sw.address:
            raise Fault(MISSING, "the call names no switch with an address", "switch/address")
        try:
            ipaddress.ip_address(sw.address)
        except ValueError:
            raise Fault(INVALID, "%.60r is no IP address" % sw.address, "switch/address") from None
        until = ctlplugin.remaining(context, self.timeout)
        lock = self.turn(sw)
        while not lock.acquire(timeout=0.05):
            if time.monotonic() > until or not context.is_active():
                raise Fault(TIMEOUT, "switch %s is busy with other changes" % label(sw))
        session = None
        try:
            session = Session(sw, self.port, until, context)
            return work(session)
        except socket.timeout:
            raise Fault(TIMEOUT, "switch %s: no answer in time" % label(sw), device=True) from None
        except ConnectionRefusedError:
            raise Fault(UNAVAILABLE, "switch %s: nothing listens at its port" % label(sw), device=True) from None
        except OSError as e:
            raise Fault(DOWNSTREAM, "switch %s: %s" % (label(sw), e), device=True) from None
        finally:
            if session:
                session.close()
            lock.release()

    def describe(self, _request, _context):
        return pb.DescribeDriverResponse(name="switchdriver-python", models=MODELS, operations=[
            "ReadPortSettings", "WritePortSettings", "ReadVlans", "WriteVlan", "DeleteVlan", "ReadPorts"])

    def read_ports(self, request, context):
        return pb.ReadPortsResponse(ports=self.session(request, context, Session.ports))

    def read_port_settings(self, request, context):
        return pb.ReadPortSettingsResponse(ports=self.session(request, context, lambda s: s.settings(request.port)))

    def write_port_settings(self, request, context):
        if request.HasField("switch"):
            check_settings(request)
        want = request.settings
        self.session(request, context, lambda s: s.change_settings(s.settings(want.port)[0], want))
        return pb.WritePortSettingsResponse()

    def read_vlans(self, request, context):
        vlans = self.session(request, context, Session.vlans)
        return pb.ReadVlansResponse(vlans=[message(vid, v) for vid, v in sorted(vlans.items())])

    def write_vlan(self, request, context):
        if request.HasField("switch"):
            check_vlan(request)
        v = request.vlan

        def work(s):
            strange = set(v.egress_ports) - {p.number for p in s.ports()}
            if strange:
                raise Fault(INVALID, "the switch has no port %s" % text(strange), "egress-ports")
            before = s.vlans()
            there = before.get(v.vlan_id)
            if there and request.create:
                raise Fault(EXISTS, "VLAN %d exists on switch %s" % (v.vlan_id, s.name), "vlan-id")
            if not there and not request.create:
                raise Fault(NOT_FOUND, "switch %s has no VLAN %d" % (s.name, v.vlan_id), "vlan-id")
            name, egress, untagged = there or ("", set(), set())
            want = dict(before)
            if request.set_ports:
                egress, untagged = set(v.egress_ports), set(v.untagged_ports)
                for vid, (n, e, u) in before.items():  # a port is untagged in one VLAN
                    want[vid] = (n, e - (u & untagged), u - untagged)
            want[v.vlan_id] = (v.name or name, egress, untagged)
            return s.change(before, home(before, want))

        after = self.session(request, context, work)
        return pb.WriteVlanResponse(vlan=message(v.vlan_id, after[v.vlan_id]))

    def delete_vlan(self, request, context):
        vid = request.vlan_id
        if request.HasField("switch"):
            check_vlan_id(vid)
            if vid == DEFAULT_VLAN:
                raise Fault(INVALID, "VLAN 1 is the default VLAN and cannot be removed", "vlan-id")

        def work(s):
            before = s.vlans()
            if vid not in before:
                raise Fault(NOT_FOUND, "switch %s has no VLAN %d" % (s.name, vid), "vlan-id")
            s.change(before, home(before, {k: v for k, v in before.items() if k != vid}))

        self.session(request, context, work)
        return pb.DeleteVlanResponse()

    def handlers(self):
        """The operations announced, and no others: gRPC answers those with UNIMPLEMENTED."""
        import grpc
        unary = ctlplugin.unary
        return grpc.method_handlers_generic_handler("ctl.plugin.v1.SwitchDriver", {
            "DescribeDriver": unary(pb.DescribeDriverRequest, pb.DescribeDriverResponse, self.describe),
            "ReadPorts": unary(pb.ReadPortsRequest, pb.ReadPortsResponse, self.read_ports),
            "ReadPortSettings": unary(pb.ReadPortSettingsRequest, pb.ReadPortSettingsResponse, self.read_port_settings),
            "WritePortSettings": unary(pb.WritePortSettingsRequest, pb.WritePortSettingsResponse, self.write_port_settings),
            "ReadVlans": unary(pb.ReadVlansRequest, pb.ReadVlansResponse, self.read_vlans),
            "WriteVlan": unary(pb.WriteVlanRequest, pb.WriteVlanResponse, self.write_vlan),
            "DeleteVlan": unary(pb.DeleteVlanRequest, pb.DeleteVlanResponse, self.delete_vlan),
        })


def message(vid, v):
    name, egress, untagged = v
    return pb.Vlan(vlan_id=vid, name=name, egress_ports=sorted(egress), untagged_ports=sorted(untagged))


def main():
    driver = Driver()
    sys.exit(ctlplugin.serve(driver.handlers(), driver.configure))
