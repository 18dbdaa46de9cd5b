package open

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
)

func TestSettingsChooseTheEngine(t *testing.T) {
	dir := home.Dir(t.TempDir())
	s, err := Store(context.Background(), dir, home.Default().Datastore, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", nil)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir.Data("store", "MANIFEST")); err != nil {
		t.Fatal(err)
	}
}

func TestFaultsNameTheSetting(t *testing.T) {
	dir := home.Dir(t.TempDir())
	if err := os.WriteFile(dir.Path("empty.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]home.Datastore{
		"datastore.engine":           {Engine: "mysql"},
		"datastore.etcd.ca":          {Engine: "etcd", Etcd: home.Etcd{CA: "none.pem"}},
		"no certificate":             {Engine: "etcd", Etcd: home.Etcd{CA: "empty.pem"}},
		"datastore.etcd.certificate": {Engine: "etcd", Etcd: home.Etcd{Certificate: "empty.pem", Key: "empty.pem"}},
		"does not answer":            {Engine: "etcd", Etcd: home.Etcd{Endpoints: []string{"http://127.0.0.1:1"}, Timeout: 100 * time.Millisecond}},
	} {
		if _, err := Store(context.Background(), dir, c, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
