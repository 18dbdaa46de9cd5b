"""A realm for tokens of one's own: NAME:ROLES:END:MAC, where MAC is the HMAC-SHA256 of what is before it, in
hexadecimal, under the key of etc/sec.ini; ROLES are separated by commas, END is a time in Unix seconds."""

import hashlib
import hmac
import re
import sys
import threading
import time

import grpc

import ctlplugin
from ctlplugin import INVALID, NOT_FOUND, Fault
from ctl.plugin.v1 import realm_pb2 as pb

SHORTEST_KEY = 32
END = re.compile("[0-9]{1,11}")  # what int() takes is more, such as +1_0 and numbers that no message has


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def unknown(why):
    """The next realm is asked. No secret belongs into why: it is logged."""
    return pb.AuthenticateResponse(outcome=pb.AuthenticateResponse.OUTCOME_UNKNOWN, reason=why)


def is_name(text, most):
    """An answer with any other name would be a fault of this plugin."""
    return text != "" and text.isprintable() and len(text.encode()) <= most


def verdict(key, text, now):
    signed, _, mac = text.rpartition(":")
    if not hmac.compare_digest(sign(key, signed).encode(), mac.encode()):
        return unknown("the token is not signed with the key of this realm")
    name, roles, end = signed.split(":") if signed.count(":") == 2 else ("", "", "")
    roles = roles.split(",")
    if not is_name(name, 1024) or not all(is_name(role, 255) for role in roles) or not END.fullmatch(end):
        return unknown("the token is not NAME:ROLES:END:MAC, with names of printable text and an end in Unix seconds")
    if now >= int(end):
        return unknown("the token of %s has ended" % name)
    return pb.AuthenticateResponse(
        outcome=pb.AuthenticateResponse.OUTCOME_AUTHENTICATED,
        principal=name, roles=roles, expires=int(end))


class Realms:
    """The instances of etc/sec.ini, by name."""

    def __init__(self):
        self.keys, self.lock = {}, threading.Lock()

    def configure(self, request, _context):
        for name, value in request.properties.items():
            if name != "key":
                raise Fault(INVALID, "%s.%s: there is no such property; write key" % (request.name, name), value.origin)
        key = request.properties["key"].value.encode() if "key" in request.properties else b""
        if len(key) < SHORTEST_KEY:
            raise Fault(INVALID, "%s.key needs %d characters or more" % (request.name, SHORTEST_KEY))
        with self.lock:
            self.keys[request.name] = key
        return pb.ConfigureRealmResponse(takes=[pb.CREDENTIAL_KIND_BEARER])

    def authenticate(self, request, _context):
        with self.lock:
            key = self.keys.get(request.name)
        if key is None:
            raise Fault(NOT_FOUND, "the realm %s is not configured in this plugin" % request.name)
        if request.WhichOneof("credential") != "bearer":
            return unknown("this realm takes tokens")
        return verdict(key, request.bearer.text, time.time())

    def handlers(self):
        return grpc.method_handlers_generic_handler("ctl.plugin.v1.Realm", {
            "ConfigureRealm": ctlplugin.unary(pb.ConfigureRealmRequest, pb.ConfigureRealmResponse, self.configure),
            "Authenticate": ctlplugin.unary(pb.AuthenticateRequest, pb.AuthenticateResponse, self.authenticate)})


def main():
    sys.exit(ctlplugin.serve(Realms().handlers(), lambda _settings: None))
