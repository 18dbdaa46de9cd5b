// Package password hashes passwords with argon2id in bounded memory: however many
// logins arrive at once, only as many hashes run as there are places, and who waits
// does so in turn.
//
// Who has which hash is the business of package identity.
package password

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/netip"
	"runtime"

	"golang.org/x/crypto/argon2"
)

// Params are the cost of a hash. They are stored with it, so they may change.
type Params struct {
	MemoryKiB uint32
	Time      uint32
	Threads   uint8
}

// Default is what OWASP recommends for argon2id with little memory.
var Default = Params{MemoryKiB: 19 * 1024, Time: 2, Threads: 1}

const (
	saltBytes    = 16
	keyBytes     = 32
	maxMemoryKiB = 1 << 20 // 1 GiB: a stored hash may not need more
	maxTime      = 64
	maxThreads   = 16
)

func (p Params) checkRanges() error {
	if p.MemoryKiB < 8*uint32(p.Threads) ||
		p.MemoryKiB > maxMemoryKiB ||
		p.Time < 1 ||
		p.Time > maxTime ||
		p.Threads < 1 ||
		p.Threads > maxThreads {
		return fmt.Errorf("argon2id parameters m=%d KiB, t=%d, p=%d are out of range (m 8*p to %d, t 1 to %d, p 1 to %d)",
			p.MemoryKiB, p.Time, p.Threads, maxMemoryKiB, maxTime, maxThreads)
	}
	return nil
}

// Hasher makes and verifies hashes. It is safe for concurrent use.
type Hasher struct {
	params Params
	line   line
	decoy  string
}

// New returns a hasher that runs at most parallel hashes at once; 0 means half
// the processors, so that logins never starve the requests already logged in.
func New(p Params, parallel int) (*Hasher, error) {
	if err := p.checkRanges(); err != nil {
		return nil, err
	}
	if parallel <= 0 {
		parallel = max(1, runtime.GOMAXPROCS(0)/2)
	}
	h := &Hasher{
		params: p,
		line: line{
			free:    parallel,
			waiting: map[netip.Addr][]chan struct{}{},
		},
	}
	var err error
	h.decoy, err = h.Hash(context.Background(), rand.Text())
	return h, err
}

// runLimited waits for a place and runs f in it.
func (h *Hasher) runLimited(ctx context.Context, f func()) error {
	if err := h.line.enter(ctx); err != nil {
		return err
	}
	defer h.line.leave()
	f()
	return nil
}

// Hash returns the encoded hash of a password, with a salt of its own.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails since Go 1.24
	var key []byte
	err := h.runLimited(ctx, func() {
		key = argon2.IDKey(
			[]byte(password),
			salt,
			h.params.Time,
			h.params.MemoryKiB,
			h.params.Threads,
			keyBytes,
		)
	})
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version,
		h.params.MemoryKiB, h.params.Time, h.params.Threads, b64.EncodeToString(salt), b64.EncodeToString(key)), nil
}

// Verify reports whether a password is that of a stored form, and whether the form should be replaced by that of Hash.
func (h *Hasher) Verify(
	ctx context.Context,
	password, encoded string,
) (ok, outdated bool, err error) {
	stored, err := ParseStored(encoded)
	if err != nil {
		return false, false, err
	}
	ok, err = h.Matches(ctx, password, stored)
	return ok, err == nil && stored.argon2 != h.params, err
}

// Matches reports whether a password is that of a stored form, once it is this login's turn to compute.
func (h *Hasher) Matches(ctx context.Context, password string, stored Stored) (ok bool, err error) {
	err = h.runLimited(ctx, func() { ok = stored.matches(password) })
	return ok, err
}

// Waste does the work of a Verify for a user who does not exist, so that the
// time of the answer reveals nothing.
func (h *Hasher) Waste(ctx context.Context, password string) error {
	_, _, err := h.Verify(ctx, password, h.decoy)
	return err
}
