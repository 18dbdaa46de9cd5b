"""The data of a plugin: a projection of the controller's datastore, and writes by condition.

The datastore holds the truth. State follows some prefixes of it; only what it sends moves
the projection. update() decides on a snapshot, commits under the condition that what was
read has not changed, decides again after a conflict, and returns when the projection has
the write.
"""

import json
import random
import threading
import time

import grpc

import ctlplugin
from ctlplugin import IN_USE, UNAVAILABLE, Fault
from ctl.plugin.v1 import host_pb2 as pb

ATTEMPTS, WAIT = 16, 20.0


def private(prefix):
    """A prefix of the plugin's own keys."""
    return pb.Prefix(space=pb.SPACE_PRIVATE, prefix=prefix)


class Snapshot:
    """The data at one revision: one dict a prefix, {key: (value, revision)}. It never changes."""

    def __init__(self, revision, parts):
        self.revision, self.parts = revision, parts

    def get(self, part, key):
        return self.parts[part].get(key, (None, 0))[0]


class Tx:
    """A decision: what it reads becomes a condition of the commit, what it puts is written."""

    def __init__(self, state, at):
        self.state, self.at, self.compares, self.ops = state, at, {}, []

    def get(self, part, key):
        value, revision = self.at.parts[part].get(key, (None, 0))
        self.compares[key] = pb.Compare(space=pb.SPACE_PRIVATE, key=key, revision=revision)
        return value

    def all(self, part):
        """All entries of a prefix. Deletions by others are not noticed: compare a key for those."""
        prefix = self.state.prefixes[part].prefix
        self.compares["prefix " + prefix] = pb.Compare(space=pb.SPACE_PRIVATE, key=prefix, revision=self.at.revision, prefix=True)
        return {key: value for key, (value, _) in self.at.parts[part].items()}

    def put(self, key, value):
        self.ops.append(pb.Op(space=pb.SPACE_PRIVATE, key=key, value=json.dumps(value).encode()))

    def delete(self, key):
        self.ops.append(pb.Op(space=pb.SPACE_PRIVATE, key=key, delete=True))


class State:
    """The projection. Make one when the plugin is configured, before it serves calls."""

    def __init__(self, *prefixes):
        self.prefixes, self.now, self.moved = prefixes, None, threading.Condition()
        channel = grpc.insecure_channel("unix:" + ctlplugin.host.socket, options=[
            ("grpc.max_receive_message_length", ctlplugin.MAX_MESSAGE)])
        self.token = (("ctl-token", ctlplugin.host.token),)
        service = "/ctl.plugin.v1.HostDatastore/"
        self.follow_rpc = channel.unary_stream(service + "Follow", pb.FollowRequest.SerializeToString, pb.FollowResponse.FromString)
        self.commit_rpc = channel.unary_unary(service + "Commit", pb.CommitRequest.SerializeToString, pb.CommitResponse.FromString)
        threading.Thread(target=self.follow, daemon=True).start()
        self.wait_for(0, WAIT)
        ctlplugin.before_call(self.before_call)

    def follow(self):
        """Keeps the projection; after a break it is built again from a snapshot."""
        pause = 0.05
        while True:
            entries = [{} for _ in self.prefixes]
            try:
                for r in self.follow_rpc(pb.FollowRequest(prefixes=self.prefixes), metadata=self.token):
                    step, pause = r.WhichOneof("step"), 0.05
                    if step == "reset":
                        entries = [{} for _ in self.prefixes]
                    elif step == "entries":
                        self.apply(entries, r.entries.entries)
                    elif step == "synced":
                        self.publish(Snapshot(r.synced, entries))
                    elif step == "batch":
                        parts = [dict(p) for p in self.now.parts]
                        self.apply(parts, r.batch.events)
                        self.publish(Snapshot(r.batch.revision, parts))
                    elif step == "progress":
                        self.publish(Snapshot(r.progress, self.now.parts))
            except grpc.RpcError as e:
                ctlplugin.log("warn", "the plugin's data is not followed; trying again", error=str(e.code()))
            time.sleep(pause * (1 + random.random()))
            pause = min(2 * pause, 2)

    @staticmethod
    def apply(parts, events):
        for e in events:
            if e.deleted:
                parts[e.prefix].pop(e.entry.key, None)
            else:
                parts[e.prefix][e.entry.key] = (json.loads(e.entry.value), e.entry.revision)

    def publish(self, snapshot):
        with self.moved:
            self.now = snapshot
            self.moved.notify_all()

    def wait_for(self, revision, seconds):
        """Waits until the projection has a revision."""
        with self.moved:
            if not self.moved.wait_for(lambda: self.now is not None and self.now.revision >= revision, max(seconds, 0)):
                raise Fault(UNAVAILABLE, "the plugin's data has not reached revision %d" % revision)

    def before_call(self, context):
        """The host says which revision an answer must not be older than."""
        for name, value in context.invocation_metadata():
            if name == "ctl-min-revision":
                self.wait_for(int(value), ctlplugin.remaining(context, WAIT) - time.monotonic())

    def update(self, decide):
        """Runs decide(tx), commits, and returns when the projection has it. decide may run again."""
        lost = None
        for attempt in range(ATTEMPTS):
            tx = Tx(self, self.now)
            result = decide(tx)
            if not tx.ops:
                return result
            r = self.commit_rpc(pb.CommitRequest(compares=tx.compares.values(), ops=tx.ops), metadata=self.token, timeout=30)
            if not r.HasField("conflict"):
                self.wait_for(r.revision, WAIT)
                return result
            lost = r.conflict
            self.wait_for(lost.revision, WAIT)
            time.sleep(random.random() * 0.01 * attempt)
        raise Fault(IN_USE, "the data was changed meanwhile by %s: read it again and repeat" % (lost.by or "others"))
