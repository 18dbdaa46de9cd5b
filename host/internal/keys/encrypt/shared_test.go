package encrypt_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
)

func TestControllersOfAClusterHaveOneKey(t *testing.T) {
	store := newStore(t)
	a, b := newHome(t, fast), newHome(t, fast)
	first := must[*encrypt.Service](t)(open(a, store, true))
	if _, err := open(b, store, true); !errors.Is(err, encrypt.ErrKeyLost) || !strings.Contains(err.Error(), "copy that file") {
		t.Fatal("a second key in one cluster: ", err)
	}
	copyKey := func() {
		write(t, encrypt.ConfigFile(b), string(must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(a)))))
	}
	copyKey()
	second := must[*encrypt.Service](t)(open(b, store, true))
	check := secrets(t, first, store, 5)
	check(second)
	must[encrypt.Found](t)(first.Rotate(t.Context()))
	check(second) // without a watch: what it cannot open makes it look
	if one, two := must[encrypt.Config](t)(encrypt.ReadConfig(a)), must[encrypt.Config](t)(encrypt.ReadConfig(b)); one != two {
		t.Error("the second has not written the key down")
	}
	// One that was away for two rotations finds its way, too.
	must[encrypt.Found](t)(first.Rotate(t.Context()))
	must[encrypt.Found](t)(first.Rotate(t.Context()))
	check(must[*encrypt.Service](t)(open(b, store, true)))
	// One that was away while the earlier keys were ended says what to do.
	must[encrypt.Found](t)(first.Rotate(t.Context()))
	if _, _, err := first.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := open(b, store, true); !errors.Is(err, encrypt.ErrKeyLost) {
		t.Error(err)
	}
	copyKey()
	check(must[*encrypt.Service](t)(open(b, store, true)))
}

// The pass of a rotation comes to the settings files of its own home only.
func TestSettingsFilesOfTheOthersFollowTheKey(t *testing.T) {
	store := newStore(t)
	a, b := newHome(t, fast), newHome(t, fast)
	first := must[*encrypt.Service](t)(open(a, store, true))
	write(t, encrypt.ConfigFile(b), string(must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(a)))))
	second := must[*encrypt.Service](t)(open(b, store, true))
	write(t, b.Etc("ctl.yaml"), must[string](t)(second.SealText("of etcd")))
	early := func() {
		t.Helper()
		text := string(must[[]byte](t)(os.ReadFile(b.Etc("ctl.yaml"))))
		if plain, err := encrypt.OpenBefore(b, text); err != nil || plain != "of etcd" {
			t.Fatalf("%q %v", plain, err)
		}
	}
	early()
	must[encrypt.Found](t)(first.Rotate(t.Context()))
	sealed := must[string](t)(first.SealText("x"))
	must[string](t)(second.OpenText(sealed)) // it makes the second look
	early()
	must[encrypt.Found](t)(first.Rotate(t.Context())) // while the second is away
	early()                                           // with the key it knows
	must[*encrypt.Service](t)(open(b, store, true))
	early()
	if _, _, err := first.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	early()
}

func TestOpeningBeforeTheDatastoreSaysWhatIsMissing(t *testing.T) {
	dir := newHome(t, fast)
	if plain, err := encrypt.OpenBefore(home.Dir(t.TempDir()), "in clear"); err != nil || plain != "in clear" {
		t.Errorf("%q %v", plain, err)
	}
	if _, err := encrypt.OpenBefore(dir, "{sealed}AAAA"); err == nil || !strings.Contains(err.Error(), encrypt.ConfigFile(dir)+" has no key") {
		t.Errorf("without a key: %v", err)
	}
	foreign := must[string](t)(must[*encrypt.Service](t)(open(newHome(t, fast), newStore(t), false)).SealText("pw"))
	must[*encrypt.Service](t)(open(dir, newStore(t), false))
	if _, err := encrypt.OpenBefore(dir, foreign); !errors.Is(err, encrypt.ErrForeign) || !strings.Contains(err.Error(), "aaa:seal-secret") {
		t.Errorf("of another key: %v", err)
	}
	if _, err := encrypt.OpenBefore(dir, "{sealed}!"); err == nil || !strings.Contains(err.Error(), "no base64") {
		t.Errorf("no base64: %v", err)
	}
	write(t, encrypt.ConfigFile(dir), "<damaged")
	if _, err := encrypt.OpenBefore(dir, foreign); err == nil || !strings.Contains(err.Error(), encrypt.ConfigFile(dir)) {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestOthersAreFollowed(t *testing.T) {
	store := newStore(t)
	a, b := newHome(t, fast), newHome(t, fast)
	first := must[*encrypt.Service](t)(open(a, store, true))
	write(t, encrypt.ConfigFile(b), string(must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(a)))))
	second := must[*encrypt.Service](t)(open(b, store, true))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- second.Run(ctx) }()
	must[encrypt.Found](t)(first.Rotate(t.Context()))
	want := must[encrypt.Info](t)(first.Info(ctx)).Key
	for must[encrypt.Info](t)(second.Info(ctx)).Key != want {
		// It comes when the watch reports; the test ends by its own deadline otherwise.
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestDocumentsWithSecretsAreSealed(t *testing.T) {
	store := newStore(t)
	s := must[*encrypt.Service](t)(open(newHome(t, fast), store, false))
	d := s.Documents()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const with, without = `{"m:host":"r1","m:password":"xyzzy"}`, `{"m:host":"r2"}`
	ops := []datastore.Op{datastore.Put(tree, "/m:a=1", []byte(with)), datastore.Put(tree, "/m:a=2", []byte(without)), datastore.Put("other", "k", []byte(with))}
	revision := must[datastore.Revision](t)(d.Commit(ctx, datastore.Txn{Ops: ops}))
	if string(ops[0].Value) != with {
		t.Error("the transaction of the caller was changed")
	}
	if b := get(t, store, tree, "/m:a=1"); strings.Contains(string(b), "xyzzy") {
		t.Error("a password lies in clear")
	}
	if string(get(t, store, tree, "/m:a=2")) != without || string(get(t, store, "other", "k")) != with {
		t.Error("sealed data that is not a secret")
	}
	var seen []string
	err := d.View(ctx, func(v datastore.Snapshot) error {
		for e, err := range v.Range(tree, datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			seen = append(seen, string(e.Value))
		}
		return nil
	})
	if err != nil || strings.Join(seen, "") != with+without || string(get(t, d, tree, "/m:a=1")) != with {
		t.Error(seen, err)
	}
	enough := errors.New("enough")
	err = d.Watch(ctx, revision-1, []datastore.Prefix{{Namespace: tree}}, func(b datastore.Batch) error {
		if string(b.Events[0].Value) != with {
			t.Errorf("%s", b.Events[0].Value)
		}
		return enough
	})
	if !errors.Is(err, enough) {
		t.Error(err)
	}
	large := []byte(`{"m:password":"` + strings.Repeat("x", encrypt.MaxPlaintext) + `"}`)
	if _, err := d.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put(tree, "/m:a=9", large)}}); !errors.Is(err, datastore.ErrTooBig) {
		t.Error(err)
	}
	sealed := get(t, store, tree, "/m:a=1")
	put(t, store, tree, "/m:a=3", sealed)
	if _, err := datastore.Get(ctx, d, tree, "/m:a=3"); !errors.Is(err, encrypt.ErrForged) {
		t.Error("a document was moved: ", err)
	}
}
