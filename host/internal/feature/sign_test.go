package feature

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"aead.dev/minisign"

	"ctl.internal/sdk/fault"
)

// author signs catalogues as minisign does.
type author struct {
	pub  minisign.PublicKey
	priv minisign.PrivateKey
}

func newAuthor(t *testing.T) author {
	t.Helper()
	pub, priv, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return author{pub, priv}
}

// publish writes a catalogue with its signature and public key.
func (a author) publish(h *host, name, text string) (path string) {
	path = h.file(name, text)
	h.file(name+".minisig", string(minisign.Sign(a.priv, []byte(text))))
	h.file(name+".pub", "untrusted comment: public key of acme\n"+a.pub.String()+"\n")
	return path
}

const goodSum = "1111111111111111111111111111111111111111111111111111111111111111"

func signedRepo(serial int, more string) string {
	return fmt.Sprintf("name: vendor\nserial: %d\n%sfeatures:\n- {name: acme, version: 1.0.0, plugins: [{name: acme, sha256: %q}]}\n", serial, more, goodSum)
}

func TestAKeyIsTrustedOnce(t *testing.T) {
	h, a := newHost(t), newAuthor(t)
	path := a.publish(h, "vendor.yaml", signedRepo(1, ""))
	_, _, err := h.m.AddRepository(t.Context(), path, AddOptions{By: "ann@sdn"})
	var untrusted *UntrustedError
	if !errors.As(err, &untrusted) || untrusted.Signer.Key != a.pub.String() || fault.KindOf(err) != fault.Denied {
		t.Fatalf("%v", err)
	}
	r, _, err := h.m.AddRepository(t.Context(), path, AddOptions{By: "ann@sdn", Key: untrusted.Signer.Key, Install: true})
	if err != nil || r.SignedBy != untrusted.Signer.ID {
		t.Fatalf("%+v %v", r, err)
	}
	other := a.publish(h, "other.yaml", "name: other\nfeatures: []\n")
	if _, _, err := h.m.AddRepository(t.Context(), other, AddOptions{}); err != nil {
		t.Fatalf("a second catalogue of a trusted key: %v", err)
	}
	h.restart()
	keys := h.m.Keys()
	if len(keys) != 1 || keys[0].By != "ann@sdn" || strings.Join(keys[0].Repositories, " ") != "other vendor" {
		t.Fatalf("%+v", keys)
	}
	h.wants("acme:S base:S", "acme")
	if o := h.plugins.running["acme"].Origin; o != "catalogue vendor, signed with the key "+r.SignedBy {
		t.Error(o)
	}
}

func TestWhatIsNotAsItsAuthorSignedItIsRefused(t *testing.T) {
	h, a, b := newHost(t), newAuthor(t), newAuthor(t)
	if _, _, err := h.m.AddRepository(t.Context(), a.publish(h, "vendor.yaml", signedRepo(7, "")), AddOptions{Key: a.pub.String()}); err != nil {
		t.Fatal(err)
	}
	changed := a.publish(h, "changed.yaml", signedRepo(8, ""))
	h.file("changed.yaml", signedRepo(9, ""))
	half := a.publish(h, "half.yaml", signedRepo(8, ""))
	h.file("half.yaml.minisig", "untrusted comment: x\n")
	for name, c := range map[string]struct {
		path, says string
		o          AddOptions
	}{
		"no signature":             {h.file("plain.yaml", "name: plain\nfeatures: []\n"), "is not signed", AddOptions{}},
		"signed before, now not":   {h.file("plain2.yaml", signedRepo(8, "")), "fetch its signature", AddOptions{Unsigned: true}},
		"a key and no signature":   {h.file("plain3.yaml", "name: plain\nfeatures: []\n"), "cannot be checked", AddOptions{Key: a.pub.String()}},
		"changed after signing":    {changed, "not what its author signed", AddOptions{}},
		"half a signature":         {half, "invalid signature", AddOptions{}},
		"another author":           {b.publish(h, "b.yaml", signedRepo(8, "")), "was signed with another", AddOptions{Key: b.pub.String()}},
		"another key than pinned":  {a.publish(h, "p.yaml", signedRepo(8, "")), "and --key is", AddOptions{Key: b.pub.String()}},
		"an invalid key":           {a.publish(h, "q.yaml", signedRepo(8, "")), "--key", AddOptions{Key: "RWnonsense"}},
		"older than what is there": {a.publish(h, "old.yaml", signedRepo(6, "")), "older (serial 6)", AddOptions{}},
		"expired":                  {a.publish(h, "exp.yaml", signedRepo(8, "expires: 2020-01-31\n")), "expired on 2020-01-31", AddOptions{}},
		"a program without a sum":  {a.publish(h, "sum.yaml", "name: vendor\nserial: 8\nfeatures:\n- {name: acme, version: 1.0.0, plugins: [{name: acme}]}\n"), "without its sha256", AddOptions{}},
	} {
		if _, _, err := h.m.AddRepository(t.Context(), c.path, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	newer := a.publish(h, "newer.yaml", signedRepo(8, "expires: 2999-01-31\n"))
	if _, _, err := h.m.AddRepository(t.Context(), newer, AddOptions{}); err != nil {
		t.Errorf("a newer one: %v", err)
	}
}

func TestARevokedKeyRunsNothing(t *testing.T) {
	h, a := newHost(t), newAuthor(t)
	path := a.publish(h, "vendor.yaml", signedRepo(1, ""))
	r, _, err := h.m.AddRepository(t.Context(), path, AddOptions{Key: a.pub.String(), Install: true})
	if err != nil {
		t.Fatal(err)
	}
	h.wants("acme:S base:S", "acme")
	if _, err := h.m.RevokeKey(t.Context(), "0000000000000000", "ann@sdn"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	for shown, want := range map[string]string{"F0FCC1241FF038D": "0F0FCC1241FF038D", "0f0fcc1241ff038d": "0F0FCC1241FF038D", "1": "0000000000000001", "E7620F1842B4E81F0": "E7620F1842B4E81F0"} {
		if got := wholeID(shown); got != want {
			t.Errorf("%s is %s, want %s", shown, got, want)
		}
	}
	if _, err := h.m.RevokeKey(t.Context(), strings.TrimLeft(r.SignedBy, "0"), "ann@sdn"); err != nil {
		t.Fatal(err)
	}
	if names := h.plugins.names(); names != "" {
		t.Errorf("still running: %s", names)
	}
	h.restart()
	if names := h.plugins.names(); names != "" {
		t.Errorf("running after a restart: %s", names)
	}
	i := h.m.Repositories()
	if last := i[len(i)-1]; last.Name != "vendor" || !strings.Contains(last.Note, "revoked by ann@sdn") {
		t.Errorf("%+v", i)
	}
	if _, _, err := h.m.AddRepository(t.Context(), path, AddOptions{}); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("%v", err)
	}
	if _, _, err := h.m.AddRepository(t.Context(), path, AddOptions{Key: a.pub.String(), Install: true}); err != nil {
		t.Fatalf("trusted again by name: %v", err)
	}
	h.wants("acme:S base:S", "acme")
}

func TestARevokedFileRunsNoMore(t *testing.T) {
	h, a := newHost(t), newAuthor(t)
	if _, _, err := h.m.AddRepository(t.Context(), a.publish(h, "vendor.yaml", signedRepo(1, "")), AddOptions{Key: a.pub.String(), Install: true}); err != nil {
		t.Fatal(err)
	}
	h.wants("acme:S base:S", "acme")
	revoked := fmt.Sprintf("revoked:\n- {sha256: %q, why: it sent passwords away}\n", goodSum)
	if _, _, err := h.m.AddRepository(t.Context(), a.publish(h, "vendor.yaml", signedRepo(2, revoked)), AddOptions{}); err != nil {
		t.Fatal(err)
	}
	if names := h.plugins.names(); names != "" {
		t.Errorf("still running: %s", names)
	}
	i, err := h.m.Info("acme", "")
	if err != nil || i.State != Unresolved || !strings.Contains(i.Note, "it sent passwords away") {
		t.Errorf("%+v %v", i, err)
	}
	// Another catalogue that was added does not revoke it.
	if _, _, err := h.m.AddRepository(t.Context(), a.publish(h, "vendor.yaml", signedRepo(3, "")), AddOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.m.Install(t.Context(), []string{"acme"}, InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	foreign := h.file("foreign.yaml", "name: foreign\n"+revoked+"features: []\n")
	if _, _, err := h.m.AddRepository(t.Context(), foreign, AddOptions{Unsigned: true}); err != nil {
		t.Fatal(err)
	}
	h.wants("acme:S base:S", "acme")
	// The catalogue of the home revokes what it likes.
	if err := os.MkdirAll(h.dir.Path("features.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.file("features.d/revoked.yaml", "name: revoked\n"+revoked+"features: []\n")
	if _, err := h.m.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wants("acme:U base:S", "")
}

func TestVerifyNamesWhatHasChanged(t *testing.T) {
	h, a := newHost(t), newAuthor(t)
	if _, _, err := h.m.AddRepository(t.Context(), a.publish(h, "vendor.yaml", signedRepo(1, "")), AddOptions{Key: a.pub.String(), Install: true}); err != nil {
		t.Fatal(err)
	}
	all, err := h.m.Verify(nil)
	if err != nil || len(all) != 1 || all[0].Fault != "" || all[0].SHA256 != goodSum {
		t.Fatalf("%+v %v", all, err)
	}
	h.plugins.fails["acme"] = errors.New("its file has changed")
	if all, err = h.m.Verify([]string{"acme"}); err != nil || all[0].Fault != "its file has changed" {
		t.Fatalf("%+v %v", all, err)
	}
	if _, err := h.m.Verify([]string{"sw"}); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

func FuzzPublicKeyAndSignature(f *testing.F) {
	f.Add("untrusted comment: x\nRWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n", "untrusted comment: x\nRUQf\ntrusted comment: y\nz\n")
	f.Fuzz(func(t *testing.T, key, sig string) {
		k, err := parseKey(key)
		if err != nil {
			return
		}
		if again, err := parseKey(k.String()); err != nil || !again.Equal(k) {
			t.Errorf("%q reads as %v, %v", k, again, err)
		}
		if minisign.Verify(k, []byte("text"), []byte(sig)) {
			t.Errorf("a signature that was not made: %q", sig)
		}
	})
}
