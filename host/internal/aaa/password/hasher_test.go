package password_test

import (
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/aaa/password"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var cheap = password.Params{MemoryKiB: 64, Time: 1, Threads: 1}

func hasher(t testing.TB, p password.Params, parallel int) *password.Hasher {
	t.Helper()
	h, err := password.New(p, parallel)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestRoundTripAndUpgrade(t *testing.T) {
	ctx, h := context.Background(), hasher(t, cheap, 1)
	enc, err := h.Hash(ctx, "p:w\u00fc")
	if err != nil || strings.Contains(enc, "p:w") {
		t.Fatalf("%q, %v", enc, err)
	}
	if ok, old, err := h.Verify(ctx, "p:w\u00fc", enc); !ok || old || err != nil {
		t.Errorf("right password: %v %v %v", ok, old, err)
	}
	if ok, _, _ := h.Verify(ctx, "p:w", enc); ok {
		t.Error("a wrong password was accepted")
	}
	stronger := hasher(t, password.Params{MemoryKiB: 128, Time: 1, Threads: 1}, 1)
	if ok, old, _ := stronger.Verify(ctx, "p:w\u00fc", enc); !ok || !old {
		t.Error("a hash with weaker parameters is not reported as outdated")
	}
	again, _ := h.Hash(ctx, "p:w\u00fc")
	if again == enc {
		t.Error("two hashes share a salt")
	}
}

func TestDamagedAndGreedyHashesAreRefused(t *testing.T) {
	ctx, h := context.Background(), hasher(t, cheap, 1)
	for _, enc := range []string{
		"", "plain", "$argon2id$v=19$m=4194304,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=64,t=1,p=1$!$AAAA", "$sha512$i=2000000000$AAAA$AAAA", "$sha256$AAAA$",
	} {
		if ok, _, err := h.Verify(ctx, "x", enc); ok || err == nil {
			t.Errorf("%q: %v %v", enc, ok, err)
		}
	}
	if _, err := password.New(password.Params{MemoryKiB: 1 << 30, Time: 1, Threads: 1}, 1); err == nil {
		t.Error("a terabyte a hash was accepted")
	}
}

func TestACancelledLoginHashesNothing(t *testing.T) {
	h := hasher(t, cheap, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := h.Hash(ctx, "x"); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if err := h.Waste(context.Background(), "x"); err != nil {
		t.Errorf("the slot was not given back: %v", err)
	}
}

func BenchmarkFirstLogin(b *testing.B) {
	h := hasher(b, password.Default, 0)
	enc, _ := h.Hash(context.Background(), "x")
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = h.Verify(context.Background(), "x", enc)
	}
}
