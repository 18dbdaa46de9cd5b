package inventory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/csvlist"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// The keys of the stored list, in the plugin's private space.
const (
	metaKey     = "switch-db/meta"
	entryPrefix = "switch-db/entry/"
)

// The bounds of the stored list, of sealing at a time, and of the time for it.
const (
	maxStored   = 20000
	sealers     = 16
	storingTime = 30 * time.Second
)

// Database is the stored switch list: what requests have made of the list. While there
// is one, files do not count. Its secrets are sealed.
type Database struct {
	inv     *Inventory
	host    *host.Client // nil: nothing is kept over a restart
	files   []string     // the default lists
	changed sync.Mutex   // one change at a time
}

// NewDatabase makes a Database for an inventory. files are the default lists.
func NewDatabase(inv *Inventory, h *host.Client, files []string) *Database {
	return &Database{inv: inv, host: h, files: files}
}

// stored is an entry as it is kept: what is secret is sealed.
type stored struct {
	MAC    string `json:"mac"`
	Line   int    `json:"line"` // its place in the list
	Open   open   `json:"open"`
	Sealed []byte `json:"sealed,omitempty"`
}

type open struct {
	Address string `json:"address"`
	Port    uint16 `json:"port"`
	Model   string `json:"model,omitempty"`
	Driver  string `json:"driver,omitempty"`
	Version string `json:"version,omitempty"`
	User    string `json:"user,omitempty"`
	Auth    string `json:"auth,omitempty"`
	Priv    string `json:"priv,omitempty"`
	CLIUser string `json:"cli-user,omitempty"`
	CLIOver string `json:"cli-transport,omitempty"`
	CLIPort uint16 `json:"cli-port,omitempty"`
}

type secrets struct {
	Read        string `json:"read,omitempty"`
	Write       string `json:"write,omitempty"`
	Auth        string `json:"auth,omitempty"`
	Priv        string `json:"priv,omitempty"`
	CLIPassword string `json:"cli-password,omitempty"`
}

// purpose ties what is sealed to its switch.
func purpose(mac string) string { return "switch-list/" + mac }

// Load loads the stored list; false: there is none.
func (d *Database) Load(ctx context.Context) (bool, error) {
	if d.host == nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storingTime)
	defer cancel()
	if _, err := d.host.Datastore.Get(ctx, host.Private, metaKey); err != nil {
		if errors.Is(err, &fault.Error{Kind: fault.NotFound}) {
			return false, nil
		}
		return false, err
	}
	var rows []stored
	for e, err := range d.host.Datastore.Range(ctx, host.Private, entryPrefix) {
		if err != nil {
			return false, err
		}
		var s stored
		if err := json.Unmarshal(e.Value, &s); err != nil {
			return false, fault.Wrap(fault.Internal, err, "the stored switch list cannot be read: %v", err)
		}
		rows = append(rows, s)
	}
	entries := make([]csvlist.Entry, len(rows))
	err := each(ctx, len(rows), func(ctx context.Context, i int) (err error) {
		entries[i], err = d.open(ctx, rows[i])
		return err
	})
	if err != nil {
		return false, err
	}
	slices.SortStableFunc(entries, func(a, b csvlist.Entry) int { return a.Line - b.Line })
	d.inv.Set("", entries, nil)
	return true, nil
}

func each(ctx context.Context, n int, f func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sealers)
	for i := range n {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

func (d *Database) open(ctx context.Context, s stored) (csvlist.Entry, error) {
	mac, err := mib.ParseMAC(s.MAC)
	if err != nil {
		return csvlist.Entry{}, err
	}
	address, err := netip.ParseAddr(s.Open.Address)
	if err != nil {
		return csvlist.Entry{}, err
	}
	plain, err := d.host.Secrets.Open(ctx, purpose(s.MAC), s.Sealed)
	if err != nil {
		return csvlist.Entry{}, fault.Wrap(fault.KindOf(err), err, "the secrets of switch %s cannot be opened: %v", s.MAC, err)
	}
	var k secrets
	if err := json.Unmarshal(plain, &k); err != nil {
		return csvlist.Entry{}, fault.New(fault.Internal, "the secrets of switch %s are not readable", s.MAC)
	}
	o := s.Open
	return csvlist.Entry{Line: s.Line, MAC: mac, Address: address, Port: o.Port, Model: o.Model, Driver: o.Driver, Version: o.Version,
		ReadCommunity: k.Read, WriteCommunity: k.Write, V3User: o.User, V3AuthProtocol: o.Auth, V3AuthPassword: k.Auth,
		V3PrivProtocol: o.Priv, V3PrivPassword: k.Priv, CLIUser: o.CLIUser, CLIPassword: k.CLIPassword,
		CLITransport: o.CLIOver, CLIPort: o.CLIPort}, nil
}

// seal makes what is kept of an entry.
func (d *Database) seal(ctx context.Context, e csvlist.Entry) ([]byte, error) {
	plain, err := json.Marshal(secrets{e.ReadCommunity, e.WriteCommunity, e.V3AuthPassword, e.V3PrivPassword, e.CLIPassword})
	if err != nil {
		return nil, err
	}
	sealed, err := d.host.Secrets.Seal(ctx, purpose(e.MAC.String()), plain)
	if err != nil {
		return nil, err
	}
	return json.Marshal(stored{MAC: e.MAC.String(), Line: e.Line, Sealed: sealed, Open: open{Address: e.Address.String(), Port: e.Port, Model: e.Model,
		Driver: e.Driver, Version: e.Version, User: e.V3User, Auth: e.V3AuthProtocol, Priv: e.V3PrivProtocol, CLIUser: e.CLIUser, CLIOver: e.CLITransport, CLIPort: e.CLIPort}})
}

// Add adds a switch; fault.Exists when the MAC address, or address and port, are listed.
func (d *Database) Add(ctx context.Context, e csvlist.Entry) error {
	d.changed.Lock()
	defer d.changed.Unlock()
	all := d.inv.Entries()
	if i := slices.IndexFunc(all, e.Same); i >= 0 {
		return fault.At(fault.Exists, "node-mac", "%s is in the switch list already", all[i])
	}
	return d.put(ctx, append(all, e))
}

// Remove removes the switch at an address, with :port where several share it.
func (d *Database) Remove(ctx context.Context, at string) error {
	d.changed.Lock()
	defer d.changed.Unlock()
	text, port := csvlist.SplitAddress(at)
	address, err := netip.ParseAddr(text)
	if err != nil {
		return fault.At(fault.Invalid, "node-ip", "%.60q is no IP address", at)
	}
	all := d.inv.Entries()
	left := slices.DeleteFunc(slices.Clone(all), func(e csvlist.Entry) bool {
		return e.Address == address && (port == "" || port == strconv.Itoa(int(e.Port)))
	})
	switch len(all) - len(left) {
	case 0:
		return fault.At(fault.NotFound, "node-ip", "there is no switch at %s in the list", at)
	case 1:
		return d.put(ctx, left)
	}
	return fault.At(fault.Invalid, "node-ip", "%d switches are at %s; say which one with its SNMP port, %s:161", len(all)-len(left), at, at)
}

// Replace replaces the whole list. The faults name the entry as [n], from 1.
func (d *Database) Replace(ctx context.Context, entries []csvlist.Entry) error {
	var l fault.List
	seen := make(map[any]int, 2*len(entries))
	for i, e := range entries {
		at := netip.AddrPortFrom(e.Address, e.Port)
		if j := cmp.Or(seen[e.MAC], seen[at]); j > 0 {
			l = append(l, fault.At(fault.Invalid, "all-switch-entry["+strconv.Itoa(i+1)+"]", "%s stands in the list already, as entry %d", e, j))
		}
		seen[e.MAC], seen[at] = i+1, i+1
	}
	if len(l) > 0 {
		return l.Err()
	}
	d.changed.Lock()
	defer d.changed.Unlock()
	return d.put(ctx, entries)
}

// Reload loads the first default file that exists and gives the stored list up. Without
// a file nothing changes.
func (d *Database) Reload(ctx context.Context) (Loaded, error) {
	d.changed.Lock()
	defer d.changed.Unlock()
	l, err := d.inv.LoadFirst(ctx, d.files)
	if err != nil {
		return l, err
	}
	return l, d.drop(ctx)
}

// File loads a file and gives the stored list up.
func (d *Database) File(ctx context.Context, path string) (Loaded, error) {
	d.changed.Lock()
	defer d.changed.Unlock()
	l, err := d.inv.Load(ctx, path)
	if err != nil {
		return l, err
	}
	return l, d.drop(ctx)
}

// Import reads a file into the stored list. Secrets that it lacks are taken from the
// list in force. A file with bad lines changes nothing, unless skip says to leave them out.
func (d *Database) Import(ctx context.Context, path string, skip bool) (Loaded, error) {
	text, err := read(path)
	if err != nil {
		return Loaded{}, err
	}
	d.changed.Lock()
	defer d.changed.Unlock()
	entries, problems := d.inv.parse(ctx, path, text, d.inv.Entries())
	l := Loaded{Path: path, At: time.Now(), Switches: len(entries), Problems: problems}
	if err := usable(path, text, entries, problems); err != nil {
		return l, err
	}
	bad := slices.ContainsFunc(problems, func(p csvlist.Problem) bool { return !p.Loaded })
	if bad && !skip {
		return l, fault.New(fault.Invalid, "%s has lines that cannot be used, so nothing was imported", path)
	}
	return l, d.put(ctx, entries)
}

// put stores a list, then uses it.
func (d *Database) put(ctx context.Context, entries []csvlist.Entry) error {
	if len(entries) > maxStored {
		return fault.New(fault.TooBig, "%d switches are more than the %d that can be stored", len(entries), maxStored)
	}
	for i := range entries {
		entries[i].Line = i + 1
	}
	if d.host != nil {
		ctx, cancel := context.WithTimeout(ctx, storingTime)
		defer cancel()
		ops := make([]host.Op, len(entries)+2)
		ops[0] = host.Op{Key: entryPrefix, DeletePrefix: true}
		ops[1] = host.Op{Key: metaKey, Value: []byte(`{"count":` + strconv.Itoa(len(entries)) + `}`)}
		err := each(ctx, len(entries), func(ctx context.Context, i int) error {
			b, err := d.seal(ctx, entries[i])
			ops[i+2] = host.Op{Key: entryPrefix + entries[i].MAC.String(), Value: b}
			return err
		})
		if err != nil {
			return fault.Wrap(fault.KindOf(err), err, "the switch list stays as it was, because it cannot be stored: %v", err)
		}
		if _, err := d.host.Datastore.Commit(ctx, host.Txn{Ops: ops}); err != nil {
			return fault.Wrap(fault.KindOf(err), err, "the switch list stays as it was, because it cannot be stored: %v", err)
		}
	}
	d.inv.Set("", entries, nil)
	return nil
}

// drop removes the stored list.
func (d *Database) drop(ctx context.Context) error {
	if d.host == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storingTime)
	defer cancel()
	_, err := d.host.Datastore.Commit(ctx, host.Txn{Ops: []host.Op{{Key: entryPrefix, DeletePrefix: true}, {Key: metaKey, Delete: true}}})
	if err != nil {
		return fault.Wrap(fault.KindOf(err), err, "the file is loaded, but a restart will know the stored list again: %v", err)
	}
	return nil
}
