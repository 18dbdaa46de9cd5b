"""Counters that several processes count: an RPC that writes and one that reads."""

import json
import sys

import grpc

import ctlplugin
import ctlstate
from ctlplugin import NOT_FOUND, Fault
from ctl.plugin.v1 import operations_pb2 as pb

PREFIX = "counter/"


class Counter:
    def __init__(self):
        self.state = None

    def configure(self, _settings):
        self.state = ctlstate.State(ctlstate.private(PREFIX))

    def invoke(self, request, _context):
        name = json.loads(request.input or b"{}").get("name", "")
        if request.rpc == "get":  # from the projection: it has all that was acknowledged before the call
            value = self.state.now.get(0, PREFIX + name) or 0
        elif request.rpc != "add":
            raise Fault(NOT_FOUND, "there is no RPC %s:%s" % (request.module, request.rpc))
        else:
            value = self.state.update(lambda tx: self.add(tx, PREFIX + name))
        return pb.InvokeResponse(output=json.dumps({"value": value}).encode())

    @staticmethod
    def add(tx, key):
        value = (tx.get(0, key) or 0) + 1
        tx.put(key, value)
        return value

    def handlers(self):
        return grpc.method_handlers_generic_handler("ctl.plugin.v1.Operations", {
            "Invoke": ctlplugin.unary(pb.InvokeRequest, pb.InvokeResponse, self.invoke)})


def main():
    counter = Counter()
    sys.exit(ctlplugin.serve(counter.handlers(), counter.configure))
