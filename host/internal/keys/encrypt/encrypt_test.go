package encrypt_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const tree = "config-tree"

// fast is a file whose key is derived quickly.
const fast = `<aaa-encrypt-service-config xmlns="urn:ctl:yang:aaa:encrypt"><!-- mine -->
<encrypt-key></encrypt-key><encrypt-salt/>
<encrypt-method>PBKDF2WithHmacSHA256</encrypt-method><encrypt-iteration-count>1000</encrypt-iteration-count>
<encrypt-key-length>256</encrypt-key-length><cipher-transforms>AES/GCM/NoPadding</cipher-transforms>
</aaa-encrypt-service-config>`

func newHome(t testing.TB, text string) home.Dir {
	t.Helper()
	dir := home.Dir(t.TempDir())
	write(t, encrypt.ConfigFile(dir), text)
	if err := os.MkdirAll(dir.Data(), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func newStore(t testing.TB) datastore.Store {
	s := storetest.New(storetest.Options{})
	t.Cleanup(func() { s.Close() })
	return s
}

func open(dir home.Dir, store datastore.Store, shared bool) (*encrypt.Service, error) {
	return encrypt.Open(context.Background(), encrypt.Options{Dir: dir, Store: store, Shared: shared, Documents: tree, Log: slog.New(slog.DiscardHandler)})
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func put(t testing.TB, store datastore.Store, ns, key string, value []byte) {
	t.Helper()
	must[datastore.Revision](t)(store.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put(ns, key, value)}}))
}

func get(t testing.TB, store datastore.Store, ns, key string) []byte {
	t.Helper()
	return must[datastore.Entry](t)(datastore.Get(context.Background(), store, ns, key)).Value
}

func TestFirstStartMakesAKeyAndTheNextUsesIt(t *testing.T) {
	for name, text := range map[string]string{"shipped": fast, "absent": "", "without key and salt": "<aaa-encrypt-service-config></aaa-encrypt-service-config>"} {
		t.Run(name, func(t *testing.T) {
			dir, store := newHome(t, text), newStore(t)
			s := must[*encrypt.Service](t)(open(dir, store, false))
			sealed := must[[]byte](t)(s.Seal([]byte("x"), []byte("p")))
			c := must[encrypt.Config](t)(encrypt.ReadConfig(dir))
			salt, _ := base64.StdEncoding.DecodeString(c.Salt)
			if len(c.Key) != 64 || len(salt) != 16 {
				t.Fatalf("%+v", c)
			}
			if text != fast && c.Params != encrypt.Documented() {
				t.Errorf("not the documented defaults: %+v", c.Params)
			}
			after := string(must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(dir))))
			if text == fast && !strings.Contains(after, "<!-- mine -->") {
				t.Error("a comment is lost")
			}
			if info := must[os.FileInfo](t)(os.Stat(encrypt.ConfigFile(dir))); info.Mode().Perm() != 0o600 {
				t.Error(info.Mode())
			}
			s = must[*encrypt.Service](t)(open(dir, store, false))
			if plain, err := s.Open(sealed, []byte("p")); err != nil || string(plain) != "x" {
				t.Fatal(err)
			}
			if again := string(must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(dir)))); again != after {
				t.Error("the second start changed the file")
			}
			if other := newHome(t, text); must[*encrypt.Service](t)(open(other, newStore(t), false)) != nil && must[encrypt.Config](t)(encrypt.ReadConfig(other)).Key == c.Key {
				t.Error("two homes have the same key")
			}
		})
	}
}

// What a module says is secret is sealed whatever its name; what it says nothing of is not, whatever its name.
func TestTheSchemaSaysWhatIsSealed(t *testing.T) {
	dir, store := newHome(t, fast), newStore(t)
	s := must[*encrypt.Service](t)(open(dir, store, false))
	put(t, s.Documents(), tree, "/m:c", []byte(`{"console-password":"guessed"}`))
	s.UseSchema(func(key string, doc []byte) (secret, known bool) { return key == "/m:vault", key != "/other:c" })
	for key, doc := range map[string]string{"/m:vault": `{"pin":"1234"}`, "/m:open": `{"shown-password":"open"}`, "/other:c": `{"password":"guessed"}`} {
		put(t, s.Documents(), tree, key, []byte(doc))
		if got := string(get(t, s.Documents(), tree, key)); got != doc {
			t.Errorf("%s reads %s", key, got)
		}
	}
	for key, want := range map[string]bool{"/m:c": true, "/m:vault": true, "/m:open": false, "/other:c": true} {
		if sealed := encrypt.Sealed(get(t, store, tree, key)); sealed != want {
			t.Errorf("%s: sealed %v", key, sealed)
		}
	}
}

func TestALostOrStrangeKeyIsTold(t *testing.T) {
	for name, text := range map[string]string{
		"gone": "", "emptied": fast, "another": strings.Replace(fast, "<encrypt-key></encrypt-key>", "<encrypt-key>another</encrypt-key>", 1),
	} {
		dir, store := newHome(t, fast), newStore(t)
		must[*encrypt.Service](t)(open(dir, store, false))
		if err := os.Remove(encrypt.ConfigFile(dir)); err != nil {
			t.Fatal(err)
		}
		write(t, encrypt.ConfigFile(dir), text)
		_, err := open(dir, store, false)
		if !errors.Is(err, encrypt.ErrKeyLost) || !strings.Contains(err.Error(), "backup") {
			t.Errorf("%s: %v", name, err)
		}
		if now, _ := os.ReadFile(encrypt.ConfigFile(dir)); string(now) != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestFaultsNameThePlace(t *testing.T) {
	for body, says := range map[string]string{
		"<encrypt-kay/>": ":1: <encrypt-kay>: no such element", "<encrypt-key/><encrypt-key/>": "set twice",
		"<encrypt-iteration-count>many</encrypt-iteration-count>": "not a number from 1000", "<encrypt-salt>!</encrypt-salt>": "base64",
		"<encrypt-method>MD5</encrypt-method>": "PBKDF2WithHmacSHA256", "<cipher-transforms>AES/ECB</cipher-transforms>": "AES/GCM/NoPadding", "<": "not well-formed",
	} {
		_, err := open(newHome(t, "<aaa-encrypt-service-config>"+body+"</aaa-encrypt-service-config>"), newStore(t), false)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "aaa-encrypt-service-config.xml") {
			t.Errorf("%s: %v, want %q", body, err, says)
		}
	}
	dir := newHome(t, strings.Replace(fast, "<encrypt-key></encrypt-key>", "<encrypt-key>k</encrypt-key>", 1))
	if err := os.Chmod(encrypt.ConfigFile(dir), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := open(dir, newStore(t), false); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Error(err)
	}
}

// secrets fills a store with what the rooms keep, n of each, and returns what checks
// that all of it opens, and with the current key.
func secrets(t *testing.T, s *encrypt.Service, store datastore.Store, n int) (check func(*encrypt.Service)) {
	for i := range n {
		key := fmt.Sprintf("k/%04d", i)
		put(t, store, "plugin/switch", key, must[[]byte](t)(s.Seal([]byte("raw"+key), []byte("raw"))))
		doc, _ := json.Marshal(map[string]any{"hash": must[[]byte](t)(s.Seal([]byte("doc"+key), []byte("doc"))), "n": i})
		put(t, store, "aaa-identity", key, doc)
		put(t, store, "other", key, []byte("no secret"))
	}
	return func(s *encrypt.Service) {
		t.Helper()
		if _, err := s.Open(get(t, store, "plugin/switch", "k/0000"), []byte("raw")); err != nil {
			t.Fatal(err) // and if the key was replaced elsewhere, it is known here now
		}
		info := must[encrypt.Info](t)(s.Info(context.Background()))
		id := []byte(info.Key)
		for i := range n {
			key := fmt.Sprintf("k/%04d", i)
			raw := get(t, store, "plugin/switch", key)
			if plain, err := s.Open(raw, []byte("raw")); err != nil || string(plain) != "raw"+key {
				t.Fatalf("%s: %v", key, err)
			}
			var doc struct{ Hash []byte }
			if err := json.Unmarshal(get(t, store, "aaa-identity", key), &doc); err != nil {
				t.Fatal(err)
			}
			if plain, err := s.Open(doc.Hash, []byte("doc")); err != nil || string(plain) != "doc"+key {
				t.Fatalf("%s: %v", key, err)
			}
			for _, text := range [][]byte{raw, doc.Hash} {
				if !info.Pending && fmt.Sprintf("%x", text[1:9]) != string(id) {
					t.Fatalf("%s is sealed with %x, the current key is %s", key, text[1:9], id)
				}
			}
			if string(get(t, store, "other", key)) != "no secret" {
				t.Fatal("what is no secret was changed")
			}
		}
	}
}

func TestRotationSealsEverythingAnew(t *testing.T) {
	ctx, dir, store := context.Background(), newHome(t, fast), newStore(t)
	s := must[*encrypt.Service](t)(open(dir, store, false))
	check := secrets(t, s, store, 520) // more than a page
	sealed := must[string](t)(s.SealText("ldap-password"))
	write(t, dir.Etc("sec.ini"), "[main]\nldapRealm.systemPassword = "+sealed+" # mine\n")
	write(t, dir.Etc("repoinfo.yaml"), "password: '"+sealed+"'\n")
	write(t, dir.Etc("list.csv"), "MAC,IP,SNMP_Community\n020000000001,192.0.2.1,"+sealed+"\n")
	old := must[encrypt.Config](t)(encrypt.ReadConfig(dir))
	report := must[encrypt.Found](t)(s.Rotate(ctx))
	if report.Renewed != 1043 || len(report.Left) != 0 {
		t.Errorf("%+v", report)
	}
	check(s)
	now := must[encrypt.Config](t)(encrypt.ReadConfig(dir))
	if now.Key == old.Key || now.Salt == old.Salt || now.Params != old.Params {
		t.Errorf("%+v, then %+v", old, now)
	}
	s = must[*encrypt.Service](t)(open(dir, store, false))
	check(s)
	ini := string(must[[]byte](t)(os.ReadFile(dir.Etc("sec.ini"))))
	text, _, _ := strings.Cut(strings.TrimPrefix(ini, "[main]\nldapRealm.systemPassword = "), " ")
	if plain, err := s.OpenText(text); err != nil || plain != "ldap-password" || text == sealed || !strings.HasSuffix(ini, " # mine\n") {
		t.Errorf("%q %v: %s", plain, err, ini)
	}
	if plain, err := s.OpenText(sealed); err != nil || plain != "ldap-password" {
		t.Error("the earlier key does not open any more: ", err)
	}
	dropped, report, err := s.Forget(ctx)
	if err != nil || len(dropped) != 1 || report.Renewed != 0 {
		t.Fatal(dropped, report, err)
	}
	if _, err := s.OpenText(sealed); !errors.Is(err, encrypt.ErrForeign) {
		t.Error("a key that was ended opens: ", err)
	}
	check(must[*encrypt.Service](t)(open(dir, store, false)))
}

// interrupted fails the nth commit, and everything after it, as a kill would.
type interrupted struct {
	datastore.Store
	left int
}

var errKilled = errors.New("killed")

func (i *interrupted) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if i.left--; i.left < 0 {
		return 0, errKilled
	}
	return i.Store.Commit(ctx, t)
}

func TestInterruptedRotationGoesOn(t *testing.T) {
	for left := 0; ; left++ {
		dir, store := newHome(t, fast), newStore(t)
		s := must[*encrypt.Service](t)(open(dir, store, false))
		check := secrets(t, s, store, 60)
		s = must[*encrypt.Service](t)(open(dir, &interrupted{store, left}, false))
		_, err := s.Rotate(t.Context())
		again := must[*encrypt.Service](t)(open(dir, store, false))
		check(again) // nothing is lost
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- again.Run(ctx) }()
		must[encrypt.Found](t)(again.Pass(ctx)) // after the one of Run, or instead of it
		check(again)
		if i := must[encrypt.Info](t)(again.Info(ctx)); i.Pending {
			t.Fatalf("after %d commits: %+v", left, i)
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if err == nil {
			if left < 5 {
				t.Fatal("not interrupted at all")
			}
			return
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
}

func TestAKeyThatWasNotWrittenIsHandedOver(t *testing.T) {
	dir, store := newHome(t, fast), newStore(t)
	s := must[*encrypt.Service](t)(open(dir, store, false))
	check := secrets(t, s, store, 3)
	before := string(must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(dir))))
	_, err := must[*encrypt.Service](t)(open(dir, &interrupted{store, 1}, false)).Rotate(t.Context())
	if !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	write(t, encrypt.ConfigFile(dir), before) // killed between the datastore and the file
	s = must[*encrypt.Service](t)(open(dir, store, false))
	check(s)
	if now := string(must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(dir)))); now == before {
		t.Error("the new key is not in the file")
	}
}

func TestOtherParametersInTheFileCount(t *testing.T) {
	dir, store := newHome(t, fast), newStore(t)
	s := must[*encrypt.Service](t)(open(dir, store, false))
	check := secrets(t, s, store, 3)
	text := string(must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(dir))))
	write(t, encrypt.ConfigFile(dir), strings.Replace(text, "AES/GCM/NoPadding", "AES/CBC/PKCS5Padding", 1))
	s = must[*encrypt.Service](t)(open(dir, store, false))
	if i := must[encrypt.Info](t)(s.Info(t.Context())); !i.Pending || len(i.Retired) != 1 || i.Transform != "AES/CBC/PKCS5Padding" {
		t.Errorf("%+v", i)
	}
	check(s)
	if r := must[encrypt.Found](t)(s.Pass(t.Context())); r.Renewed != 6 {
		t.Errorf("%+v", r)
	}
	check(s)
}

func TestSealedTextsInSettingsAreOpened(t *testing.T) {
	s := must[*encrypt.Service](t)(open(newHome(t, fast), newStore(t), false))
	sealed := must[string](t)(s.SealText("pw \"1\""))
	doc := must[[]byte](t)(json.Marshal(map[string]any{"a": []any{map[string]any{"password": sealed}}, "n": 12345678901234567, "plain": "{sealed"}))
	got := must[[]byte](t)(s.OpenJSON(doc))
	if want := `{"a":[{"password":"pw \"1\""}],"n":12345678901234567,"plain":"{sealed"}`; string(got) != want {
		t.Errorf("%s", got)
	}
	if _, err := s.OpenJSON([]byte(`{"a":{"b":["x","{sealed}AAAA"]}}`)); err == nil || !strings.HasPrefix(err.Error(), "a.b[1]: ") || !strings.Contains(err.Error(), "aaa:seal-secret") {
		t.Error(err)
	}
	if text, err := s.OpenText("as it is"); err != nil || text != "as it is" {
		t.Error(err)
	}
}

func TestNoWayIsGivenUpBeforeTheFileHoldsTheKey(t *testing.T) {
	dir, store := newHome(t, fast), newStore(t)
	s := must[*encrypt.Service](t)(open(dir, store, false))
	check := secrets(t, s, store, 3)
	file := encrypt.ConfigFile(dir)
	before := string(must[[]byte](t)(os.ReadFile(file)))
	if err := os.WriteFile(file, []byte("<damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, f := range []func() error{
		func() error { _, err := s.Rotate(t.Context()); return err },
		func() error { _, err := s.Pass(t.Context()); return err },
		func() error { _, _, err := s.Forget(t.Context()); return err },
	} {
		if err := f(); err == nil {
			t.Errorf("%d: a key that is written nowhere", i)
		}
	}
	write(t, file, before) // the operator mends the file with the key that was in it
	s = must[*encrypt.Service](t)(open(dir, store, false))
	check(s)
	must[encrypt.Found](t)(s.Pass(t.Context()))
	check(must[*encrypt.Service](t)(open(dir, store, false)))
}
