package switchdriver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// FDBReader reads the forwarding table; vlanID and mac non-zero ask for one entry,
// which fails with fault.NotFound when it is not there. Entries of no port are left out.
type FDBReader interface {
	ReadFDB(ctx context.Context, sw *Switch, vlanID uint32, mac uint64) ([]*FDBEntry, error)
}

// FDBWriter makes and removes static entries (dot1qStaticUnicastTable). The port
// must be in the VLAN (fault.Invalid), the VLAN on the switch (fault.NotFound), the
// type FDBMgmt or 0 unless the driver can do others.
type FDBWriter interface {
	WriteFDBEntry(ctx context.Context, sw *Switch, e *FDBEntry) error
	DeleteFDBEntry(ctx context.Context, sw *Switch, vlanID uint32, mac uint64) error
}

func fdbOperations() []operation {
	return []operation{
		newReadOperation(func(ctx context.Context, d FDBReader, r *pluginv1.ReadFdbRequest) (*pluginv1.ReadFdbResponse, error) {
			e, err := d.ReadFDB(ctx, r.Switch, r.VlanId, r.Mac)
			return &pluginv1.ReadFdbResponse{Entries: e}, err
		}, validFDB),
		newWriteOperation(func(ctx context.Context, d FDBWriter, r *pluginv1.WriteFdbEntryRequest) (*pluginv1.WriteFdbEntryResponse, error) {
			return &pluginv1.WriteFdbEntryResponse{}, d.WriteFDBEntry(ctx, r.Switch, r.Entry)
		}, "ReadFdb", func(ctx context.Context, d FDBReader, r *pluginv1.WriteFdbEntryRequest) (string, error) {
			list, err := d.ReadFDB(ctx, r.Switch, r.GetEntry().GetVlanId(), r.GetEntry().GetMac())
			return entryDiffers(list, err, false, func(e *FDBEntry) bool {
				return e.Port == r.GetEntry().GetPort()
			})
		}),
		newWriteOperation(func(ctx context.Context, d FDBWriter, r *pluginv1.DeleteFdbEntryRequest) (*pluginv1.DeleteFdbEntryResponse, error) {
			return &pluginv1.DeleteFdbEntryResponse{}, d.DeleteFDBEntry(ctx, r.Switch, r.VlanId, r.Mac)
		}, "ReadFdb", func(ctx context.Context, d FDBReader, r *pluginv1.DeleteFdbEntryRequest) (string, error) {
			list, err := d.ReadFDB(ctx, r.Switch, r.VlanId, r.Mac)
			return entryDiffers(list, err, true, func(e *FDBEntry) bool {
				return e.Type == FDBMgmt
			})
		}),
	}
}

// entryDiffers says how a table that was read for one entry does not show its change. is reports whether an entry
// is the one that was written, or was to be removed.
func entryDiffers[E any](list []E, err error, removed bool, is func(E) bool) (string, error) {
	none := errors.Is(err, &fault.Error{Kind: fault.NotFound}) || err == nil && len(list) == 0
	there := !none && err == nil && is(list[0])
	switch {
	case err != nil && !none:
		return "", err
	case removed && there:
		return "the entry still", nil
	case !removed && !there:
		return "another entry, or none", nil
	}
	return "", nil
}

// ReadFDB implements FDBReader.
func (c *Client) ReadFDB(
	ctx context.Context,
	sw *Switch,
	vlanID uint32,
	mac uint64,
) ([]*FDBEntry, error) {
	r, err := c.rpc.ReadFdb(ctx, &pluginv1.ReadFdbRequest{
		Switch: sw,
		VlanId: vlanID,
		Mac:    mac,
	})
	return r.GetEntries(), fault.FromStatus(err)
}

// WriteFDBEntry implements FDBWriter.
func (c *Client) WriteFDBEntry(ctx context.Context, sw *Switch, e *FDBEntry) error {
	_, err := c.rpc.WriteFdbEntry(ctx, &pluginv1.WriteFdbEntryRequest{
		Switch: sw,
		Entry:  e,
	})
	return fault.FromStatus(err)
}

// DeleteFDBEntry implements FDBWriter.
func (c *Client) DeleteFDBEntry(ctx context.Context, sw *Switch, vlanID uint32, mac uint64) error {
	_, err := c.rpc.DeleteFdbEntry(
		ctx,
		&pluginv1.DeleteFdbEntryRequest{
			Switch: sw,
			VlanId: vlanID,
			Mac:    mac,
		},
	)
	return fault.FromStatus(err)
}

// The statuses of an entry of the forwarding table (dot1qTpFdbStatus, RFC 4363).
const (
	FDBOther   int32 = 1
	FDBInvalid int32 = 2
	FDBLearned int32 = 3
	FDBSelf    int32 = 4
	FDBMgmt    int32 = 5
)

// CheckFDBEntry refuses an entry that no switch can have: a bad VLAN id, an address
// that is not a single station's, port 0. Whether its type can be had is the
// driver's business: Mgmt, or 0 for "not said", always; others if it says so.
func CheckFDBEntry(e *FDBEntry) error {
	if e == nil {
		return fault.At(fault.Missing, "entry", "the call names no entry")
	}
	l := append(fault.All(CheckVLANID(e.VlanId)), fault.All(CheckUnicast(e.Mac))...)
	if e.Port == 0 {
		l = append(l, fault.At(fault.Invalid, "port", "0 is not a port"))
	}
	return l.Err()
}

func validFDB(r *pluginv1.ReadFdbRequest, a *pluginv1.ReadFdbResponse) error {
	n := len(a.Entries)
	if n > maxEntries || r.VlanId != 0 && n > 1 {
		return fmt.Errorf("%d entries of a forwarding table", n)
	}
	for _, e := range a.Entries {
		if e.VlanId > MaxVLANID ||
			!validMAC(e.Mac) ||
			!validPort(e.Port) ||
			r.VlanId != 0 && (e.VlanId != r.VlanId || e.Mac != r.Mac) {
			return fmt.Errorf("the forwarding entry %v", e)
		}
	}
	return nil
}

// ARPReader reads the ARP table; an address asks for one entry (fault.NotFound).
type ARPReader interface {
	ReadARP(ctx context.Context, sw *Switch, address string) ([]*ARPEntry, error)
}

// ARPWriter makes and removes static ARP entries.
type ARPWriter interface {
	WriteARPEntry(ctx context.Context, sw *Switch, e *ARPEntry, prefixLength uint32) error
	DeleteARPEntry(ctx context.Context, sw *Switch, address string) error
}

func arpOperations() []operation {
	return []operation{
		newReadOperation(func(ctx context.Context, d ARPReader, r *pluginv1.ReadArpRequest) (*pluginv1.ReadArpResponse, error) {
			e, err := d.ReadARP(ctx, r.Switch, r.IpAddress)
			return &pluginv1.ReadArpResponse{Entries: e}, err
		}, validARP),
		newWriteOperation(func(ctx context.Context, d ARPWriter, r *pluginv1.WriteArpEntryRequest) (*pluginv1.WriteArpEntryResponse, error) {
			return &pluginv1.WriteArpEntryResponse{}, d.WriteARPEntry(ctx, r.Switch, r.Entry, r.PrefixLength)
		}, "ReadArp", func(ctx context.Context, d ARPReader, r *pluginv1.WriteArpEntryRequest) (string, error) {
			list, err := d.ReadARP(ctx, r.Switch, r.GetEntry().GetIpAddress())
			entry := r.GetEntry()
			return entryDiffers(list, err, false, func(e *ARPEntry) bool {
				return e.Mac == entry.GetMac() && e.IpAddress == entry.GetIpAddress()
			})
		}),
		newWriteOperation(func(ctx context.Context, d ARPWriter, r *pluginv1.DeleteArpEntryRequest) (*pluginv1.DeleteArpEntryResponse, error) {
			return &pluginv1.DeleteArpEntryResponse{}, d.DeleteARPEntry(ctx, r.Switch, r.IpAddress)
		}, "ReadArp", func(ctx context.Context, d ARPReader, r *pluginv1.DeleteArpEntryRequest) (string, error) {
			list, err := d.ReadARP(ctx, r.Switch, r.IpAddress)
			return entryDiffers(list, err, true, func(*ARPEntry) bool { return true })
		}),
	}
}

// ReadARP implements ARPReader.
func (c *Client) ReadARP(ctx context.Context, sw *Switch, address string) ([]*ARPEntry, error) {
	r, err := c.rpc.ReadArp(ctx, &pluginv1.ReadArpRequest{
		Switch:    sw,
		IpAddress: address,
	})
	return r.GetEntries(), fault.FromStatus(err)
}

// WriteARPEntry implements ARPWriter.
func (c *Client) WriteARPEntry(
	ctx context.Context,
	sw *Switch,
	e *ARPEntry,
	prefixLength uint32,
) error {
	_, err := c.rpc.WriteArpEntry(
		ctx,
		&pluginv1.WriteArpEntryRequest{
			Switch:       sw,
			Entry:        e,
			PrefixLength: prefixLength,
		},
	)
	return fault.FromStatus(err)
}

// DeleteARPEntry implements ARPWriter.
func (c *Client) DeleteARPEntry(ctx context.Context, sw *Switch, address string) error {
	_, err := c.rpc.DeleteArpEntry(
		ctx,
		&pluginv1.DeleteArpEntryRequest{
			Switch:    sw,
			IpAddress: address,
		},
	)
	return fault.FromStatus(err)
}

// CheckARPEntry refuses an entry that no switch can have: no IPv4 address of a
// station, no unicast MAC address, a prefix longer than 32.
func CheckARPEntry(e *ARPEntry, prefixLength uint32) error {
	if e == nil {
		return fault.At(fault.Missing, "entry", "the call names no entry")
	}
	l := fault.All(CheckIPv4("ip-address", e.IpAddress))
	if err := CheckUnicast(e.Mac); err != nil {
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"mac-address",
				"%#x is not the MAC address of a single station",
				e.Mac,
			),
		)
	}
	if prefixLength > 32 {
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"ip-address",
				"the prefix length %d is more than 32",
				prefixLength,
			),
		)
	}
	return l.Err()
}

func validARP(r *pluginv1.ReadArpRequest, a *pluginv1.ReadArpResponse) error {
	if len(a.Entries) > maxEntries {
		return fmt.Errorf("%d ARP entries", len(a.Entries))
	}
	for _, e := range a.Entries {
		_, err := netip.ParseAddr(e.GetIpAddress())
		if err != nil || !validMAC(e.Mac) || r.IpAddress != "" && e.IpAddress != r.IpAddress {
			return fmt.Errorf("the ARP entry %.60q", e.GetIpAddress())
		}
	}
	return nil
}
