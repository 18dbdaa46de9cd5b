package service

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

func (s *Service) fdbRPCs(m operations.Mux) {
	registerHandler(m, "fdb:get-fdb-table", s.getFDBTable)
	registerHandler(m, "fdb:get-fdb-entry", s.getFDBEntry)
	registerResultHandler(m, "fdb:set-fdb-entry", s.setFDBEntry)
	registerResultHandler(m, "fdb:del-fdb-entry", s.delFDBEntry)
}

// fdbIn is the input of RPCs about an entry; set-fdb-entry alone has the last two leaves.
type fdbIn struct {
	nodeIn
	VLAN uint32  `json:"vlan-id"`
	MAC  mib.MAC `json:"dest-mac-addr"`
	Port uint32  `json:"port"`
	Type string  `json:"type"`
}

// fdbEntry is grouping fdb-entry of module fdb.
type fdbEntry struct {
	NodeID int64  `json:"node-id"`
	VLAN   int32  `json:"vlan-id"`
	MAC    int64  `json:"dest-mac-addr"`
	Port   int32  `json:"port"`
	Type   string `json:"type"`
}

// fdbTypes are the values of dot1qTpFdbStatus.
var fdbTypes = map[int32]string{
	switchdriver.FDBOther:   "OTHER",
	switchdriver.FDBInvalid: "INVALID",
	switchdriver.FDBLearned: "LEARNED",
	switchdriver.FDBSelf:    "SELF",
	switchdriver.FDBMgmt:    "MGMT",
}

func entryOf(sw *switchdriver.Switch, e *switchdriver.FDBEntry) fdbEntry {
	name, ok := fdbTypes[e.Type]
	if !ok {
		name = fdbTypes[switchdriver.FDBOther]
	}
	return fdbEntry{int64(sw.NodeId), int32(e.VlanId), int64(e.Mac), int32(e.Port), name}
}

// entrySize is about how many octets an entry takes as JSON.
const entrySize = 112

// appendJSON is what the general encoder makes of an entry; types are plain words.
func (e fdbEntry) appendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"node-id":`...), e.NodeID, 10)
	b = strconv.AppendInt(append(b, `,"vlan-id":`...), int64(e.VLAN), 10)
	b = strconv.AppendInt(append(b, `,"dest-mac-addr":`...), e.MAC, 10)
	b = strconv.AppendInt(append(b, `,"port":`...), int64(e.Port), 10)
	b = append(append(b, `,"type":"`...), e.Type...)
	return append(b, `"}`...)
}

// pageIn and pageOut are groupings page and page-end of module snmp4sdn-types.
type pageIn struct {
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

// pageRows is how many rows of a table are read for one page.
func (in pageIn) pageRows() int {
	if in.Limit > 0 {
		return min(in.Limit, driver.PageSize)
	}
	return driver.PageSize
}

type pageOut struct {
	Next    string   `json:"next-cursor,omitempty"`
	Partial []string `json:"partial,omitempty"`
}

// fdbTableIn is the input of get-fdb-table.
type fdbTableIn struct {
	fdbIn
	pageIn
}

// getFDBTable answers a page of the table; the host asks for one after the other. It is JSON already: the general
// encoder would take a fifth of the time.
func (s *Service) getFDBTable(ctx context.Context, in fdbTableIn) (json.RawMessage, error) {
	sw, err := s.switchOf("node-id", in.Node)
	if err != nil {
		return nil, err
	}
	p, err := s.drivers.ReadFDB(
		ctx,
		sw,
		driver.Query{
			VLAN:   in.VLAN,
			MAC:    uint64(in.MAC),
			Port:   in.Port,
			Cursor: in.Cursor,
			Limit:  in.pageRows(),
		},
	)
	if err != nil {
		return nil, err
	}
	end, err := json.Marshal(pageOut{p.Next, formatCuts(p.Partial)})
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, 64+len(end)+len(p.Entries)*entrySize), `{"fdb-table-entry":[`...)
	for i, e := range p.Entries {
		if i > 0 {
			out = append(out, ',')
		}
		out = entryOf(sw, e).appendJSON(out)
	}
	out = append(out, ']')
	if len(end) > 2 {
		out = append(append(out, ','), end[1:len(end)-1]...)
	}
	return append(out, '}'), nil
}

func (s *Service) getFDBEntry(ctx context.Context, in fdbIn) (fdbEntry, error) {
	d, sw, err := readerOf[switchdriver.FDBReader](ctx, s, in.Node, "ReadFdb")
	if err != nil {
		return fdbEntry{}, err
	}
	entries, err := d.ReadFDB(ctx, sw, in.VLAN, uint64(in.MAC))
	if err == nil && len(entries) == 0 {
		err = fault.New(
			fault.NotFound,
			"switch %s has no entry for %s in VLAN %d",
			switchdriver.Label(sw),
			in.MAC,
			in.VLAN,
		)
	}
	switch {
	case fault.KindOf(err) == fault.NotFound:
		if e := s.wholeFDB(ctx, sw, in); e != nil {
			err = e
		}
		return fdbEntry{}, err
	case err != nil:
		return fdbEntry{}, err
	}
	return entryOf(sw, entries[0]), nil
}

// wholeFDB fails if the forwarding table of a switch is partial: an entry that was not found may be in the rest of it.
func (s *Service) wholeFDB(ctx context.Context, sw *switchdriver.Switch, in fdbIn) error {
	for q := (driver.Query{Limit: driver.PageSize}); ; {
		p, err := s.drivers.ReadFDB(ctx, sw, q)
		if err != nil {
			return err
		}
		if len(p.Partial) > 0 {
			return fault.Device(fault.Downstream, "whether switch %s has an entry for %s in VLAN %d is not known, because its forwarding table is partial: %s",
				switchdriver.Label(sw), in.MAC, in.VLAN, strings.Join(formatCuts(p.Partial), "; "))
		}
		if q.Cursor = p.Next; q.Cursor == "" {
			return nil
		}
	}
}

func (s *Service) setFDBEntry(ctx context.Context, in fdbIn) error {
	l := fault.All(checkStation("dest-mac-addr", in.MAC))
	if in.Type != "" && in.Type != fdbTypes[switchdriver.FDBMgmt] {
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"type",
				"only entries of type MGMT can be set, not %.20q",
				in.Type,
			),
		)
	}
	if len(l) > 0 {
		return l.Err()
	}
	return s.changeSwitch(ctx, in.Node, writes.Operation{What: "setting the forwarding entry of " + in.MAC.String(),
		Request: &pluginv1.WriteFdbEntryRequest{Entry: &switchdriver.FDBEntry{
			VlanId: in.VLAN,
			Mac:    uint64(in.MAC),
			Port:   in.Port,
			Type:   switchdriver.FDBMgmt,
		}}})
}

func (s *Service) delFDBEntry(ctx context.Context, in fdbIn) error {
	return s.changeSwitch(ctx, in.Node, writes.Operation{What: "removing the forwarding entry of " + in.MAC.String(),
		Request: &pluginv1.DeleteFdbEntryRequest{
			VlanId: in.VLAN,
			Mac:    uint64(in.MAC),
		}})
}
