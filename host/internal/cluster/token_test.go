package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
)

func TestIdentityStaysWithTheHome(t *testing.T) {
	dir := home.Dir(t.TempDir())
	if err := os.MkdirAll(dir.Data(), 0o700); err != nil {
		t.Fatal(err)
	}
	first, err := OpenIdentity(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenIdentity(dir)
	if err != nil || again.ID != first.ID || again.Fingerprint != first.Fingerprint || len(first.Fingerprint) != 64 {
		t.Errorf("%v %v %v", first, again, err)
	}
	if info, _ := os.Stat(dir.Data("node.pem")); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	for _, text := range []string{"", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		if err := os.WriteFile(dir.Data("node.pem"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenIdentity(dir); err == nil || !strings.Contains(err.Error(), "node.pem") || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// member is a home whose controller uses a cluster.
func member(t *testing.T) (home.Dir, home.Datastore) {
	t.Helper()
	dir := home.Dir(t.TempDir())
	for path, text := range map[string]string{encrypt.ConfigFile(dir): "<key/>", dir.Etc("ca.pem"): "CA"} {
		if err := writePrivateFile(path, text); err != nil {
			t.Fatal(err)
		}
	}
	return dir, home.Datastore{Engine: "etcd", Shared: true, Etcd: home.Etcd{Endpoints: []string{"https://127.0.0.1:2379"}, Prefix: "p/", Username: "u", Password: "s: e#c", CA: "etc/ca.pem"}}
}

func TestJoining(t *testing.T) {
	dir, settings := member(t)
	token := filepath.Join(t.TempDir(), "token")
	if err := MakeToken(dir, settings, "node-1", token); err != nil {
		t.Fatal(err)
	}
	joining := home.Dir(filepath.Join(t.TempDir(), "home"))
	for range 2 { // the second time it has joined already
		if err := Join(joining, token, ""); err != nil {
			t.Fatal(err)
		}
	}
	loaded, problems := home.Load(joining, nil, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := loaded.Datastore.Etcd
	if loaded.Datastore.Engine != "etcd" || !slices.Equal(c.Endpoints, settings.Etcd.Endpoints) || c.Prefix != "p/" || c.Username != "u" || c.Password != "s: e#c" ||
		loaded.Cluster.Listen != "127.0.0.1:"+DefaultPort {
		t.Errorf("%+v %+v", loaded.Datastore, loaded.Cluster)
	}
	for path, want := range map[string]string{encrypt.ConfigFile(joining): "<key/>", joining.Path(c.CA): "CA"} {
		b, err := os.ReadFile(path)
		if info, _ := os.Stat(path); err != nil || string(b) != want || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %q %v", path, b, err)
		}
	}
	listening := home.Dir(filepath.Join(t.TempDir(), "home"))
	if err := Join(listening, token, "10.1.2.3:99"); err != nil {
		t.Fatal(err)
	}
	if loaded, _ := home.Load(listening, nil, nil); loaded.Cluster.Listen != "10.1.2.3:99" {
		t.Errorf("listens at %s", loaded.Cluster.Listen)
	}
	// A token that is too old is good for a home that has joined, and for no other.
	text, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	old, err := ReadToken(text)
	if err != nil || old.Expires.Sub(old.Made) != TokenTime {
		t.Fatalf("%+v %v", old, err)
	}
	old.Expires = time.Now().Add(-time.Minute)
	if text, err = json.Marshal(old); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(token, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Join(joining, token, ""); err != nil {
		t.Errorf("a home that has joined: %v", err)
	}
	if err := Join(home.Dir(filepath.Join(t.TempDir(), "home")), token, ""); err == nil || !strings.Contains(err.Error(), "expired at") {
		t.Errorf("an old token: %v", err)
	}
	// Another cluster, or a home that is in use.
	settings.Etcd.Prefix = "other/"
	if err := MakeToken(dir, settings, "node-1", token); err != nil {
		t.Fatal(err)
	}
	if err := Join(joining, token, ""); err == nil || !strings.Contains(err.Error(), "already a home") {
		t.Errorf("another cluster: %v", err)
	}
	used := home.Dir(t.TempDir())
	if err := writePrivateFile(used.Data("format"), "1\n"); err != nil {
		t.Fatal(err)
	}
	if err := Join(used, token, ""); err == nil || !strings.Contains(err.Error(), "new --home") {
		t.Errorf("a home that was used: %v", err)
	}
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Join(listening, token, ""); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("a token that others can read: %v", err)
	}
	if err := MakeToken(dir, home.Datastore{Engine: "badger"}, "node-1", token); err == nil || !strings.Contains(err.Error(), "no cluster") {
		t.Errorf("one controller alone: %v", err)
	}
	if got := Loopback([]string{"https://10.0.0.1:2379", "http://localhost:1", "http://[::1]:1"}); len(got) != 2 {
		t.Errorf("loopback: %v", got)
	}
}

func FuzzReadToken(f *testing.F) {
	f.Add([]byte(`{"format":1,"endpoints":["http://a"],"prefix":"p","secrets":"s"}`))
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if token, err := ReadToken(text); err == nil && (len(token.Endpoints) == 0 || token.Secrets == "") {
			t.Errorf("%q is accepted", text)
		}
	})
}
