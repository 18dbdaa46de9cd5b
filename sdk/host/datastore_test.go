package host

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// wire is a host that keeps what it is told; before and answer stand for what
// happens on the way there and back.
type wire struct {
	kept   map[string][]byte
	calls  int
	begun  func()
	answer error // instead of the answer to a commit, which is done all the same
	lose   bool  // a commit is not done
}

func (w *wire) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
	switch in := args.(type) {
	case *pluginv1.CommitRequest:
		w.calls++
		for _, o := range in.Ops {
			switch {
			case w.lose:
			case o.Delete:
				delete(w.kept, o.Key)
			default:
				w.kept[o.Key] = o.Value
			}
		}
		if w.begun != nil {
			w.begun()
		}
		if w.answer != nil {
			return w.answer
		}
		proto.Merge(reply.(proto.Message), &pluginv1.CommitResponse{Revision: 7})
	case *pluginv1.GetRequest:
		if v, ok := w.kept[in.Key]; ok {
			proto.Merge(reply.(proto.Message), &pluginv1.GetResponse{Entry: &pluginv1.Entry{Key: in.Key, Value: v}})
		}
	}
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	return nil
}

func (w *wire) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "no streams here")
}

// A caller that goes away while its change is written must not be told that it was
// not: plugins keep in memory what they keep in the datastore.
func TestCommitIsNotGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &wire{kept: map[string][]byte{}, begun: cancel}
	d := newDatastore(w)
	if rev, err := d.Commit(ctx, Private, Txn{Ops: []Op{{Key: "k", Value: []byte("v")}}}); err != nil || rev != 7 {
		t.Errorf("written, and told as %d, %v", rev, err)
	}
	if _, err := d.Commit(ctx, Private, Txn{Ops: []Op{{Key: "k", Value: []byte("w")}}}); err == nil || w.calls != 1 {
		t.Errorf("a change for somebody who is gone was begun: %v", err)
	}
}

// An answer that is lost says nothing; what is kept does.
func TestCommitOfWhichTheAnswerIsLost(t *testing.T) {
	put, remove := []Op{{Key: "a", Value: []byte("1")}, {Key: "b", Value: []byte("2")}}, []Op{{Key: "a", Delete: true}}
	lost := status.Error(codes.Unavailable, "the leader is lost")
	for name, c := range map[string]struct {
		ops    []Op
		space  Space
		lose   bool
		answer error
		ok     bool
	}{
		"written":                 {put, Private, false, lost, true},
		"not written":             {put, Private, true, lost, false},
		"removed":                 {remove, Private, false, lost, true},
		"not removed":             {remove, Private, true, lost, false},
		"refused":                 {put, Private, false, status.Error(codes.PermissionDenied, "no"), false},
		"operational":             {put, Operational, false, lost, false},
		"a prefix, not looked at": {[]Op{{Key: "a", DeletePrefix: true}}, Private, false, lost, false},
	} {
		w := &wire{kept: map[string][]byte{"a": []byte("0")}, answer: c.answer, lose: c.lose}
		if _, err := newDatastore(w).Commit(t.Context(), c.space, Txn{Ops: c.ops}); (err == nil) != c.ok || err != nil && fault.KindOf(err) == fault.InUse {
			t.Errorf("%s: %v", name, err)
		}
	}
}
