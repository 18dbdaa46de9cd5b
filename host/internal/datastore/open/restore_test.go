package open

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/memory"
	"ctl.internal/host/internal/datastore/snapshot"
	"ctl.internal/host/internal/home"
)

func TestRestoreMakesAStoreOrNothing(t *testing.T) {
	ctx, settings := context.Background(), home.Default().Datastore
	from := memory.New(memory.Options{})
	defer from.Close()
	if _, err := from.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", []byte("v"))}}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := snapshot.Save(ctx, from, &file); err != nil {
		t.Fatal(err)
	}
	dir := home.Dir(t.TempDir())
	if err := os.MkdirAll(dir.Data(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(ctx, dir, settings, bytes.NewReader(file.Bytes()[:file.Len()-1]), nil); !errors.Is(err, datastore.ErrDamaged) {
		t.Errorf("a damaged snapshot: %v", err)
	}
	if left, err := os.ReadDir(dir.Data()); err != nil || len(left) > 0 {
		t.Errorf("a failed restore left %v, %v", left, err)
	}
	if _, err := Restore(ctx, dir, settings, bytes.NewReader(file.Bytes()), nil); err != nil {
		t.Fatal(err)
	}
	s, err := Store(ctx, dir, settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if e, err := datastore.Get(ctx, s, "n", "k"); err != nil || string(e.Value) != "v" {
		t.Errorf("restored %q, %v", e.Value, err)
	}
	if _, err := Restore(ctx, dir, settings, bytes.NewReader(file.Bytes()), nil); err == nil {
		t.Error("restored over a store")
	}
}
