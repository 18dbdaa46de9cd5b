"""What every plugin of the controller does, in Python, without its SDK.

serve() is all that a plugin calls: it shakes hands with the controller, serves the
base service and the plugin's own, and returns when the controller has stopped it.
"""

import base64
import datetime
import json
import os
import signal
import sys
import threading
import time
from concurrent import futures

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from google.protobuf import any_pb2, json_format

from ctl.plugin.v1 import base_pb2, common_pb2
import rpcstatus_pb2

API = "1.0"
MAX_MESSAGE = 64 << 20
WORKERS = 64

# The numbers of sdk/fault, and the gRPC code of each.
INTERNAL, INVALID, NOT_FOUND, EXISTS, DENIED, IN_USE, UNAVAILABLE, TIMEOUT, DOWNSTREAM, UNSUPPORTED, MISSING = range(11)
CODES = {
    INTERNAL: grpc.StatusCode.INTERNAL,
    INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    EXISTS: grpc.StatusCode.ALREADY_EXISTS,
    DENIED: grpc.StatusCode.PERMISSION_DENIED,
    IN_USE: grpc.StatusCode.FAILED_PRECONDITION,
    UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    TIMEOUT: grpc.StatusCode.DEADLINE_EXCEEDED,
    DOWNSTREAM: grpc.StatusCode.ABORTED,
    UNSUPPORTED: grpc.StatusCode.UNIMPLEMENTED,
    MISSING: grpc.StatusCode.INVALID_ARGUMENT,
}


class Fault(Exception):
    """An error that keeps its meaning on the way to the user. device: it is the switch's."""

    def __init__(self, kind, text, path="", device=False):
        super().__init__(text)
        self.kind, self.text, self.path, self.device = kind, text, path, device


def log(level, message, **fields):
    """Writes one line of the controller's log. Never put a secret into it."""
    print(json.dumps({"@level": level, "@message": message, **fields}), file=sys.stderr, flush=True)


class host:
    """The controller's services: the path of their socket, and the token that each call to them carries."""

    socket = token = ""


_before = []


def before_call(wait):
    """Has wait(context) called before each method of unary(), which may raise Fault."""
    _before.append(wait)


def unary(request, reply, handle):
    """A method: handle(request, context) answers, or raises Fault."""

    def call(message, context):
        try:
            for wait in _before:
                wait(context)
            return handle(message, context)
        except Fault as f:
            fail(context, f)
        except Exception as e:  # a defect costs this call, not the plugin
            log("error", "a call failed", error=repr(e))
            fail(context, Fault(INTERNAL, "a defect of the plugin: " + type(e).__name__))

    return grpc.unary_unary_rpc_method_handler(call, request.FromString, reply.SerializeToString)


def fail(context, f):
    faults = common_pb2.Faults(faults=[common_pb2.Fault(kind=f.kind, text=f.text, path=f.path, source=int(f.device))])
    detail = any_pb2.Any()
    detail.Pack(faults)
    code = CODES[f.kind]
    status = rpcstatus_pb2.Status(code=code.value[0], message=f.text, details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, f.text)


def resource(name):
    """A file that lies beside this one in the executable."""
    return __loader__.get_data(os.path.join(os.path.dirname(__file__), name))


def manifest():
    m = json_format.Parse(resource("plugin.json"), base_pb2.Manifest())
    m.config_schema = resource("config.json")
    return m


class Base:
    """The service ctl.plugin.v1.Base."""

    def __init__(self, configure):
        self.manifest, self.configure_plugin = manifest(), configure
        self.configured, self.stopping = False, threading.Event()
        self.lock = threading.Lock()

    def describe(self, _request, _context):
        return base_pb2.DescribeResponse(manifest=self.manifest)

    def configure(self, request, _context):
        if request.api_version != API:
            raise Fault(UNSUPPORTED, "the plugin speaks version %s of the contract, not %s" % (API, request.api_version))
        settings = json.loads(request.config or b"{}")
        unknown = set(settings) - set(json.loads(self.manifest.config_schema)["properties"])
        if unknown:
            raise Fault(INVALID, "unknown setting " + ", ".join(sorted(unknown)))
        with self.lock:
            if self.configured:
                raise Fault(IN_USE, "the plugin is configured already")
            host.socket, host.token = request.host_socket, request.host_token
            self.configure_plugin(settings)
            self.configured = True
        return base_pb2.ConfigureResponse()

    def health(self, _request, context):
        yield base_pb2.HealthResponse(state=base_pb2.HealthResponse.STATE_HEALTHY)
        ended = threading.Event()
        context.add_callback(ended.set)
        while not ended.wait(0.5) and not self.stopping.is_set():
            pass

    def stop(self, _request, _context):
        self.stopping.set()
        return base_pb2.StopResponse()

    def handlers(self):
        b = base_pb2
        return grpc.method_handlers_generic_handler("ctl.plugin.v1.Base", {
            "Describe": unary(b.DescribeRequest, b.DescribeResponse, self.describe),
            "Configure": unary(b.ConfigureRequest, b.ConfigureResponse, self.configure),
            "Health": grpc.unary_stream_rpc_method_handler(self.health, b.HealthRequest.FromString, b.HealthResponse.SerializeToString),
            "Stop": unary(b.StopRequest, b.StopResponse, self.stop),
        })


def plumbing(ended):
    """The services of go-plugin and gRPC, whose messages are too small for stubs."""

    def shutdown(_request, _context):
        ended.set()
        return b""

    raw = grpc.unary_unary_rpc_method_handler
    return [
        grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": raw(shutdown)}),
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": raw(lambda _request, _context: b"\x08\x01")}),
    ]


def certificate():
    """A key and a certificate for this process, for the host that started it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.utcnow()
    cert = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5)).not_valid_after(now + datetime.timedelta(days=3650))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .sign(key, hashes.SHA256()))
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return pem, cert.public_bytes(serialization.Encoding.PEM), cert.public_bytes(serialization.Encoding.DER)


def serve(service, configure):
    """Runs the plugin. service makes its generic handlers; configure takes the settings."""
    base = Base(configure)
    if sys.argv[1:] == ["describe"]:
        print(json.dumps(json_format.MessageToDict(base.manifest, preserving_proto_field_name=True), indent=2))
        return 0
    if os.environ.get("CTL_PLUGIN") != "ctl.plugin.v1":
        print("%s is a plugin: ctld starts it when its feature is installed.\n"
              "Run it with `describe` to see what it serves." % base.manifest.name, file=sys.stderr)
        return 2
    for s in (signal.SIGINT, signal.SIGTERM):  # the host stops its plugins itself
        signal.signal(s, signal.SIG_IGN)

    ended = threading.Event()
    server = grpc.server(futures.ThreadPoolExecutor(WORKERS), options=[
        ("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.max_send_message_length", MAX_MESSAGE)])
    server.add_generic_rpc_handlers([base.handlers(), service] + plumbing(ended))
    path = os.path.join(os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or os.getcwd(), "plugin-%d.sock" % os.getpid())
    client, der = os.environ.get("PLUGIN_CLIENT_CERT"), b""
    if client:
        key, cert, der = certificate()
        credentials = grpc.ssl_server_credentials([(key, cert)], client.encode(), require_client_auth=True)
        server.add_secure_port("unix:" + path, credentials)
    else:  # a socket in a directory that only the host may enter
        server.add_insecure_port("unix:" + path)
    server.start()
    print("1|1|unix|%s|grpc|%s" % (path, base64.b64encode(der).decode().rstrip("=")), flush=True)
    os.dup2(2, 1)  # whatever prints from here on prints to the log

    parent = os.environ.get("CTL_HOST_PID")
    while not ended.wait(1):
        if parent and os.getppid() != int(parent):
            break  # the host has died without a word
    base.stopping.set()
    server.stop(0.2).wait()
    return 0


def remaining(context, most):
    """The time, as time.monotonic() has it, until which a call may take."""
    left = context.time_remaining()
    return time.monotonic() + (most if left is None else min(left, most))
