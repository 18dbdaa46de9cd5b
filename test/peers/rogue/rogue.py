"""A hostile plugin in Python: each RPC is one act, made with the contract alone.

It answers what came of the act. Its counterpart in Go is sdk/plugintest/faulty.
"""

import json
import sys
import threading

import grpc

import ctlplugin
from ctlplugin import NOT_FOUND, Fault
from ctl.plugin.v1 import base_pb2, host_pb2, operations_pb2, routes_pb2


class Rogue(ctlplugin.Base):
    """The base service with metrics that harm, and the way to the host."""

    def __init__(self, configure):
        super().__init__(configure)

    def configure(self, request, context):
        answer = super().configure(request, context)
        rogue.token = (("ctl-token", request.host_token),)
        rogue.host = grpc.insecure_channel("unix:" + request.host_socket)
        return answer

    def metrics(self, _request, _context):
        return base_pb2.MetricsResponse(text=rogue.metrics)

    def handlers(self):
        inner, metrics = super().handlers(), ctlplugin.unary(base_pb2.MetricsRequest, base_pb2.MetricsResponse, self.metrics)

        class Both(grpc.GenericRpcHandler):
            def service(self, call):
                return metrics if call.method == "/ctl.plugin.v1.Base/Metrics" else inner.service(call)

        return Both()


class Acts:
    def __init__(self):
        self.metrics, self.token, self.host, self.filled = b"rogue_good 1\n", (), None, 0

    def call(self, method, request, reply):
        return self.host.unary_unary("/ctl.plugin.v1." + method, request.__class__.SerializeToString, reply.FromString)(
            request, metadata=self.token, timeout=60)

    def until_refused(self, most, act):
        """How often an act was taken, and what refused it."""
        for i in range(most):
            try:
                act(i)
            except grpc.RpcError as e:
                return {"taken": i, "refused": "%s: %s" % (e.code().name, e.details())}
        return {"taken": most, "refused": ""}

    def invoke(self, request, _context):
        acts = {"log": self.log, "metrics": self.bad_metrics, "hang": lambda: threading.Event().wait(), "events": self.events,
                "store": self.store, "ungranted": self.ungranted, "guess": self.guess, "foreign": self.foreign, "echo": lambda: {}}
        if request.rpc not in acts:
            raise Fault(NOT_FOUND, "there is no RPC rogue:%s" % request.rpc)
        return operations_pb2.InvokeResponse(output=json.dumps(acts[request.rpc]() or {}).encode())

    def log(self):
        line = json.dumps({"@level": "error", "@message": "flood " + "x" * 4000})
        for _ in range(5000):
            sys.stderr.write(line + "\n")
        sys.stderr.write("y" * (3 << 20) + "\n")
        sys.stderr.flush()
        return {"taken": 5000}

    def bad_metrics(self):
        self.metrics = b"# TYPE rogue_good counter\nrogue_good 1\nrogue_good 1\ngo_goroutines 7\n"

    def events(self):
        r = host_pb2.PublishRequest(stream="rogue-events", data=b'{"rogue:event":{"n":1}}')
        return self.until_refused(20000, lambda _: self.call("HostEvents/Publish", r, host_pb2.PublishResponse))

    def store(self):
        """32 MiB more of the store: several calls of it fill the quota."""
        value, self.filled = b"x" * (512 << 10), self.filled + 1
        return self.until_refused(64, lambda i: self.call("HostDatastore/Commit", host_pb2.CommitRequest(
            ops=[host_pb2.Op(space=host_pb2.SPACE_PRIVATE, key="fill/%d/%d" % (self.filled, i), value=value)]), host_pb2.CommitResponse))

    def ungranted(self):
        """The controller's private key, then an RPC as itself."""
        key = self.until_refused(1, lambda _: self.call("HostCertificates/Identity", host_pb2.IdentityRequest(), host_pb2.IdentityResponse))
        r = host_pb2.CallRequest(module="ctl-system", rpc="show", input=b'{"command":"plugin:list"}')
        rpc = self.until_refused(1, lambda _: self.call("HostOperations/Call", r, host_pb2.CallResponse))
        return {"taken": key["taken"] + rpc["taken"], "refused": key["refused"] + " | " + rpc["refused"]}

    def guess(self):
        """An RPC for a user whose call it does not serve."""
        r = host_pb2.CallRequest(module="ctl-system", rpc="show", input=b'{"command":"plugin:list"}', on_behalf_of="12345678-1")
        return self.until_refused(1, lambda _: self.call("HostOperations/Call", r, host_pb2.CallResponse))

    def foreign(self):
        return self.until_refused(1, lambda _: self.call("HostDatastore/Commit", host_pb2.CommitRequest(
            ops=[host_pb2.Op(space=host_pb2.SPACE_TREE, key="/network-topology:network-topology", value=b"{}")]), host_pb2.CommitResponse))

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
