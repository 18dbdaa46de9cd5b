package inventory

import (
	"context"
	"encoding/json"
	"net/netip"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/csvlist"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
)

// The keys: list/head names the generation in force, whose entries are
// list-row/GEN/MAC.
// A list is replaced by writing another generation and then the head, so that nobody sees
// half of it. Whoever changes an entry writes the head too.
const (
	headPrefix = "list/"
	headKey    = "head"
	rowPrefix  = "list-row/"
)

// Secrets seals and opens; host.Secrets does.
type Secrets interface {
	Seal(ctx context.Context, purpose string, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, purpose string, sealed []byte) ([]byte, error)
	OpenText(ctx context.Context, text string) (string, error)
}

// Head says which list is in force.
type Head struct {
	Generation string    `json:"generation"`
	Path       string    `json:"path,omitempty"` // empty: requests have made the list
	File       string    `json:"file,omitempty"` // the one switch:ReadDB read last
	Sum        string    `json:"sum,omitempty"`  // of the file's text
	Source     string    `json:"source"`         // node that read it
	At         time.Time `json:"at"`
}

// stored is an entry as it is kept: what is secret is sealed.
type stored struct {
	MAC    mib.MAC `json:"mac"`
	Line   int     `json:"line"` // its place in the list
	Open   open    `json:"open"`
	Sealed []byte  `json:"sealed,omitempty"`
}

type open struct {
	Address netip.Addr `json:"address"`
	Port    uint16     `json:"port"`
	Model   string     `json:"model,omitempty"`
	Driver  string     `json:"driver,omitempty"`
	Version string     `json:"version,omitempty"`
	User    string     `json:"user,omitempty"`
	Auth    string     `json:"auth,omitempty"`
	Priv    string     `json:"priv,omitempty"`
	CLIUser string     `json:"cli-user,omitempty"`
	CLIOver string     `json:"cli-transport,omitempty"`
	CLIPort uint16     `json:"cli-port,omitempty"`
}

type secrets struct {
	Read        string `json:"read,omitempty"`
	Write       string `json:"write,omitempty"`
	Auth        string `json:"auth,omitempty"`
	Priv        string `json:"priv,omitempty"`
	CLIPassword string `json:"cli-password,omitempty"`
}

// purpose ties what is sealed to its switch.
func purpose(m mib.MAC) string { return "switch-list/" + m.String() }

func rowKey(generation string, m mib.MAC) string { return generation + "/" + m.String() }

// The bounds of opening or sealing a whole list, and how many secrets at a time.
const (
	openingTime = 30 * time.Second
	sealers     = 16
)

func each(ctx context.Context, n int, f func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sealers)
	for i := range n {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

// open makes the entry of a record; on error it has no secrets.
func (v *Inventory) open(ctx context.Context, s stored) (csvlist.Entry, error) {
	o := s.Open
	e := csvlist.Entry{Line: s.Line, MAC: s.MAC, Address: o.Address, Port: o.Port, Model: o.Model, Driver: o.Driver, Version: o.Version,
		V3User: o.User, V3AuthProtocol: o.Auth, V3PrivProtocol: o.Priv, CLIUser: o.CLIUser, CLITransport: o.CLIOver, CLIPort: o.CLIPort}
	if len(s.Sealed) == 0 {
		return e, nil
	}
	plain, err := v.secrets.Open(ctx, purpose(s.MAC), s.Sealed)
	if err != nil {
		return e, fault.Wrap(fault.KindOf(err), err, "the secrets of switch %s cannot be opened: %v", s.MAC, err)
	}
	var k secrets
	if err := json.Unmarshal(plain, &k); err != nil {
		return e, fault.New(fault.Internal, "the secrets of switch %s are not readable", s.MAC)
	}
	e.ReadCommunity, e.WriteCommunity, e.V3AuthPassword, e.V3PrivPassword, e.CLIPassword = k.Read, k.Write, k.Auth, k.Priv, k.CLIPassword
	return e, nil
}

// seal makes what is kept of an entry.
func (v *Inventory) seal(ctx context.Context, e csvlist.Entry) (s stored, err error) {
	s = stored{MAC: e.MAC, Line: e.Line, Open: open{Address: e.Address, Port: e.Port, Model: e.Model, Driver: e.Driver, Version: e.Version,
		User: e.V3User, Auth: e.V3AuthProtocol, Priv: e.V3PrivProtocol, CLIUser: e.CLIUser, CLIOver: e.CLITransport, CLIPort: e.CLIPort}}
	k := secrets{e.ReadCommunity, e.WriteCommunity, e.V3AuthPassword, e.V3PrivPassword, e.CLIPassword}
	if k == (secrets{}) {
		return s, nil
	}
	plain, err := json.Marshal(k)
	if err != nil {
		return s, err
	}
	s.Sealed, err = v.secrets.Seal(ctx, purpose(e.MAC), plain)
	return s, err
}
