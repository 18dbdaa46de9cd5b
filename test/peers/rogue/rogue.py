"""A hostile plugin in Python: its RPC makes one act, with the contract alone.

It answers what came of the act. Which are made, at what, and what must become of each is in acts_test.go; the same
acts in Go are those of sdk/plugintest/faulty.
"""

import ctypes
import errno
import json
import os
import socket
import subprocess
import sys
import threading
import time

import grpc

import ctlplugin
from ctlplugin import INVALID, Fault
from ctl.plugin.v1 import base_pb2, host_pb2, operations_pb2, routes_pb2

MOST_CHILDREN, MOST_MIB = 1000, 3 << 10  # the machine must survive where nothing else bounds them
BASE = "/ctl.plugin.v1.Base/"


class Rogue(ctlplugin.Base):
    """The base service with metrics and health that harm, and the way to the host."""

    def configure(self, request, context):
        answer = super().configure(request, context)
        rogue.data, rogue.token = request.data_dir, (("ctl-token", request.host_token),)
        rogue.host = grpc.insecure_channel("unix:" + request.host_socket)
        return answer

    def metrics(self, _request, _context):
        return base_pb2.MetricsResponse(text=rogue.metrics)

    def health(self, _request, context):
        ended = threading.Event()
        context.add_callback(ended.set)
        while not ended.wait(0 if rogue.flaps else 0.5) and not self.stopping.is_set():
            rogue.flaps = max(0, rogue.flaps - 1)
            yield base_pb2.HealthResponse(state=1 + rogue.flaps % 2, reason="x" * 5000 if rogue.flaps % 2 else "")

    def handlers(self):
        b, inner = base_pb2, super().handlers()
        own = {
            BASE + "Metrics": ctlplugin.unary(b.MetricsRequest, b.MetricsResponse, self.metrics),
            BASE + "Health": grpc.unary_stream_rpc_method_handler(self.health, b.HealthRequest.FromString, b.HealthResponse.SerializeToString),
        }

        class Both(grpc.GenericRpcHandler):
            def service(self, call):
                return own.get(call.method) or inner.service(call)

        return Both()


def reason(e):
    """The name of a system error, else the text of it."""
    if isinstance(e, grpc.RpcError):
        return "%s: %s" % (e.code().name, e.details())
    if isinstance(e, subprocess.CalledProcessError):
        return "exit code %d: %s" % (e.returncode, (e.stderr or b"").decode(errors="replace")[:200])
    return errno.errorcode.get(getattr(e, "errno", None) or 0) or str(e) or type(e).__name__


def until(times, act):
    """Makes an act so often, or until it fails."""
    for i in range(times):
        try:
            act(i)
        except Exception as e:
            return {"taken": i, "refused": reason(e)}
    return {"taken": times, "refused": ""}


class Acts:
    def __init__(self):
        self.metrics, self.token, self.host, self.data, self.flaps = b"rogue_good 1\n", (), None, "", 0

    def call(self, method, request, reply):
        return self.host.unary_unary("/ctl.plugin.v1." + method, request.__class__.SerializeToString, reply.FromString)(
            request, metadata=self.token, timeout=60)

    def commit(self, key, value, token=None, host=None, space=host_pb2.SPACE_PRIVATE):
        r = host_pb2.CommitRequest(ops=[host_pb2.Op(space=space, key=key, value=value)])
        (host or self.host).unary_unary("/ctl.plugin.v1.HostDatastore/Commit", host_pb2.CommitRequest.SerializeToString, host_pb2.CommitResponse.FromString)(
            r, metadata=token or self.token, timeout=60)

    def rpc(self, target, on_behalf_of=""):
        module, name = target.split(":")
        self.call("HostOperations/Call", host_pb2.CallRequest(
            module=module, rpc=name, input=b'{"command":"plugin:list"}', on_behalf_of=on_behalf_of), host_pb2.CallResponse)

    def invoke(self, request, _context):
        given = json.loads(request.input or b"{}")
        name, target, number = given.get("name"), given.get("target", ""), given.get("number", [])
        act = getattr(self, "do_" + str(name).replace("-", "_"), None)
        if act is None:
            raise Fault(INVALID, "unknown act %r" % name)
        self.caller = request.caller.request_id
        return operations_pb2.InvokeResponse(output=json.dumps(act(target, number)).encode())

    # Of the system.

    def do_hang(self, _target, _number):
        threading.Event().wait()

    def do_read(self, target, _number):
        text = []

        def read(_):
            with open(target, "rb") as f:
                text.append(f.read(4096).decode("ascii", "ignore"))
        out = until(1, read)
        return {**out, "text": "".join(c for t in text for c in t if c == "\n" or " " <= c <= "~")}

    def do_list(self, target, _number):
        return until(1, lambda _: os.listdir(target))

    def do_write(self, target, _number):
        def write(_):
            with open(target, "ab") as f:
                f.write(b"500")
        return until(1, write)

    def do_truncate(self, target, _number):
        return until(1, lambda _: os.truncate(target, 0))

    def do_rename(self, target, _number):
        return until(1, lambda _: os.rename(target, os.path.join(self.data, "stolen")))

    def do_link(self, target, _number):
        return until(1, lambda _: os.link(target, os.path.join(self.data, "link")))

    def do_chmod(self, target, _number):
        return until(1, lambda _: os.chmod(target, 0o777))

    def do_chown(self, target, _number):
        return until(1, lambda _: os.chown(target, 1, 1))

    def do_utime(self, target, _number):
        return until(1, lambda _: os.utime(target, (1, 1)))

    def do_run_own(self, _target, _number):
        file = os.path.join(self.data, "script")

        def run(_):
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o755), "w") as f:
                f.write("#!/bin/sh\n")
            subprocess.run([file], check=True)
        return until(1, run)

    def do_call(self, _target, number):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long

        def call(_):
            if libc.syscall(*[ctypes.c_long(n) for n in (number + [0] * 7)[:7]]) < 0:
                raise OSError(ctypes.get_errno(), "")
        return until(1, call)

    def do_unix(self, target, _number):
        def greet(_):
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(50)
                s.connect("\0" + target[1:] if target.startswith("@") else target)
                try:
                    s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0")
                    if s.recv(1):
                        return
                except (BrokenPipeError, ConnectionResetError):
                    pass
            raise EOFError("cut off")
        return until(1, greet)

    def do_sockets(self, target, number):
        opened = []

        def connect(_):
            opened.append(socket.socket(socket.AF_UNIX))
            opened[-1].setblocking(False)
            opened[-1].connect(target)
        out = until(number[0], connect)
        self.kept = opened  # until the next time
        return out

    def do_tcp(self, target, _number):
        host, port = target.rsplit(":", 1)
        return until(1, lambda _: socket.create_connection((host, int(port)), 50).close())

    def do_fork(self, target, number):
        return until(min(number[0], MOST_CHILDREN), lambda _: subprocess.Popen(["sleep", target]))

    def do_orphan(self, _target, _number):
        out = subprocess.run(["sh", "-c", "sleep 300 >/dev/null & echo $!"], stdout=subprocess.PIPE, start_new_session=True, check=True).stdout
        return {"taken": int(out), "refused": ""}

    def do_eat(self, _target, number):
        kept = []
        out = until(min(number[0], MOST_MIB), lambda _: kept.append(bytearray(b"x" * (1 << 20))))
        return {**out, "refused": out["refused"] and "MemoryError"}

    # Of the host.

    def do_token(self, _target, _number):
        """What a thief would need: for the act steal of another."""
        return {"taken": 1, "refused": "", "text": ctlplugin.host.socket + " " + ctlplugin.host.token}

    def do_steal(self, target, _number):
        path, token = target.split(" ")
        with grpc.insecure_channel("unix:" + path) as channel:
            return until(1, lambda _: self.commit("stolen", b"{}", (("ctl-token", token),), channel))

    def do_rpc(self, target, _number):
        return until(1, lambda _: self.rpc(target))

    def do_rpc_guess(self, target, _number):
        return until(1, lambda _: self.rpc(target, "12345678-1"))

    def do_rpc_for(self, target, _number):
        return until(1, lambda _: self.rpc(target, self.caller))

    def do_foreign(self, target, _number):
        r = host_pb2.GetRequest(space=host_pb2.SPACE_TREE, key=target)
        return until(1, lambda _: self.call("HostDatastore/Get", r, host_pb2.GetResponse))

    def do_publish_tree(self, target, _number):
        return until(1, lambda _: self.commit(target, b"{}", space=host_pb2.SPACE_TREE))

    def do_identity(self, _target, number):
        def ask(_):
            try:
                self.call("HostCertificates/Identity", host_pb2.IdentityRequest(), host_pb2.IdentityResponse)
            except grpc.RpcError as e:
                if e.code() == grpc.StatusCode.PERMISSION_DENIED:
                    return
                raise
            raise ValueError("not denied")
        return until(number[0], ask)

    def do_events(self, _target, number):
        r = host_pb2.PublishRequest(stream="rogue-events", data=b'{"rogue:event":{"n":1}}')
        return until(number[0], lambda _: self.call("HostEvents/Publish", r, host_pb2.PublishResponse))

    def do_store(self, _target, number):
        return until(number[0], lambda i: self.commit("fill/%d/%d" % (number[1], i), b"x" * (512 << 10)))

    def do_rewrite(self, _target, number):
        """Replaces 8 values of 1 MB, without a pause, for so many seconds."""
        end, made, refused = time.monotonic() + number[0], [], []
        ops = [host_pb2.Op(space=host_pb2.SPACE_PRIVATE, key="rewritten/%d" % i, value=b"v" * 1000000) for i in range(8)]

        def write():
            while time.monotonic() < end:
                try:
                    self.call("HostDatastore/Commit", host_pb2.CommitRequest(ops=ops), host_pb2.CommitResponse)
                    made.append(1)
                except grpc.RpcError as e:
                    refused.append(reason(e))  # the error itself keeps the frames with the 8 MB of its call
        threads = [threading.Thread(target=write) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return {"taken": len(made), "refused": refused[-1] if refused else ""}

    def do_unread(self, _target, number):
        """Opens streams and reads none of them, until the process ends."""
        kinds = [("HostDatastore/Follow", host_pb2.FollowRequest(prefixes=[host_pb2.Prefix(space=host_pb2.SPACE_PRIVATE)]), host_pb2.FollowResponse),
                 ("HostEvents/Subscribe", host_pb2.SubscribeRequest(streams=["rogue-events"]), host_pb2.SubscribeResponse),
                 ("HostDatastore/Range", host_pb2.RangeRequest(space=host_pb2.SPACE_PRIVATE), host_pb2.RangeResponse)]
        self.unread = []
        for (method, request, answer), n in zip(kinds, number):
            opened = self.host.unary_stream("/ctl.plugin.v1." + method, type(request).SerializeToString, answer.FromString)
            self.unread += [opened(request, metadata=self.token) for _ in range(n)]
        return {"taken": len(self.unread), "refused": ""}

    def do_memfd(self, _target, number):
        fd = os.memfd_create("eaten")
        return until(min(number[0], MOST_MIB), lambda _: os.write(fd, b"m" * (1 << 20)))

    def do_watches(self, _target, number):
        subscribe = self.host.unary_stream("/ctl.plugin.v1.HostEvents/Subscribe", host_pb2.SubscribeRequest.SerializeToString,
                                           host_pb2.SubscribeResponse.FromString)
        opened = [subscribe(host_pb2.SubscribeRequest(streams=["rogue-events"]), metadata=self.token) for _ in range(number[0])]
        first, ended = [], threading.Event()
        for o in opened:
            o.add_done_callback(lambda o: (first.append(o), ended.set()))
        ended.wait()
        for o in opened:
            o.cancel()
        return {"taken": 0, "refused": reason(first[0])}

    def do_log(self, _target, number):
        line = json.dumps({"@level": "error", "@message": "flood " + "x" * 4000})
        for _ in range(number[0]):
            sys.stderr.write(line + "\n")
        sys.stderr.write("y" * (3 << 20) + "\n")
        sys.stderr.flush()
        return {}

    def do_flap(self, _target, number):
        self.flaps = number[0]
        return {}

    def do_metrics(self, _target, _number):
        self.metrics = b"# TYPE rogue_good counter\nrogue_good 1\nrogue_good 1\ngo_goroutines 7\n"
        return {}

    def serve(self, requests, _context):
        """Answers over HTTP that are none: the path says which."""
        path, head = next(requests).head.path, routes_pb2.ResponseHead
        one = routes_pb2.Header
        if path.endswith("/204"):
            yield routes_pb2.ServeResponse(head=head(status=204), body=b"a body that may not be")
        elif path.endswith("/304"):
            yield routes_pb2.ServeResponse(head=head(status=304, headers=[one(name="Content-Length", values=["3"])]), body=b"abc")
        elif path.endswith("/short"):
            yield routes_pb2.ServeResponse(head=head(status=200, headers=[one(name="Content-Length", values=["100"])]), body=b"short")
        elif path.endswith("/long"):
            yield routes_pb2.ServeResponse(head=head(status=200, headers=[one(name="Content-Length", values=["3"])]), body=b"longer than three")
        elif path.endswith("/status"):
            yield routes_pb2.ServeResponse(head=head(status=9999))
        elif path.endswith("/headers"):
            yield routes_pb2.ServeResponse(head=head(status=200, headers=[one(name="X-%d" % i, values=["x" * 100]) for i in range(5000)]), body=b"")
        elif path.endswith("/forge"):
            yield routes_pb2.ServeResponse(head=head(status=200, headers=[one(name="X-Request-Id", values=["forged"])]), body=b"ok")
        else:
            yield routes_pb2.ServeResponse(body=b"a body before the head")

    def handlers(self):
        invoke = ctlplugin.unary(operations_pb2.InvokeRequest, operations_pb2.InvokeResponse, self.invoke)
        serve = grpc.stream_stream_rpc_method_handler(self.serve, routes_pb2.ServeRequest.FromString, routes_pb2.ServeResponse.SerializeToString)

        class Both(grpc.GenericRpcHandler):
            def service(self, call):
                return {"/ctl.plugin.v1.Operations/Invoke": invoke, "/ctl.plugin.v1.Routes/Serve": serve}.get(call.method)

        return Both()


rogue = Acts()


def main():
    ctlplugin.Base = Rogue
    sys.exit(ctlplugin.serve(rogue.handlers(), lambda _settings: None))
