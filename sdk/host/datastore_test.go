package host

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// fakeHost keeps what is written; before and answer stand for what
// happens on the way there and back.
type fakeHost struct {
	kept     map[string][]byte
	calls    int
	begun    func()
	answer   error // instead of the answer to a commit, which is done all the same
	lose     bool  // a commit is not done
	conflict *pluginv1.Conflict
}

func (w *fakeHost) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
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
		proto.Merge(reply.(proto.Message), &pluginv1.CommitResponse{Revision: 7, Conflict: w.conflict})
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

func (w *fakeHost) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "no streams here")
}

// A caller that goes away while its change is written does not undo it, and one that is
// gone before begins nothing.
func TestCommitIsNotGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &fakeHost{kept: map[string][]byte{}, begun: cancel}
	d := (&Datastore{pluginv1.NewHostDatastoreClient(w)})
	if rev, err := d.Commit(ctx, Txn{Ops: []Op{{Key: "k", Value: []byte("v")}}}); err != nil || rev != 7 {
		t.Errorf("written, but the answer is %d, %v", rev, err)
	}
	if _, err := d.Commit(ctx, Txn{Ops: []Op{{Key: "k", Value: []byte("w")}}}); err == nil || w.calls != 1 {
		t.Errorf("a change for a caller that is gone was begun: %v", err)
	}
}

func TestAConflictSaysWhoWasFirst(t *testing.T) {
	w := &fakeHost{kept: map[string][]byte{}, conflict: &pluginv1.Conflict{Index: 1, Key: "k", Revision: 5, By: "ann", Time: 1e18}}
	_, err := (&Datastore{pluginv1.NewHostDatastoreClient(w)}).Commit(t.Context(), Txn{Ops: []Op{{Key: "k"}}})
	var lost *ConflictError
	if !errors.As(err, &lost) || lost.Index != 1 || lost.Revision != 5 || fault.KindOf(err) != fault.InUse ||
		!strings.Contains(err.Error(), "ann") || !strings.Contains(err.Error(), "2001-09-09T01:46:40Z") {
		t.Errorf("%+v: %v", lost, err)
	}
}
