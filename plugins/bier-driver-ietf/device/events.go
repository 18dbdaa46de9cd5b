package device

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

const nsBier = "urn:ietf:params:xml:ns:yang:ietf-bier"

// handleNotification passes a notification on, in the terms of the contract.
func (w *watcher) handleNotification(
	ctx context.Context,
	n netconf.Notification,
	own ...*netconf.Session,
) error {
	if n.Lost > 0 {
		w.forgetConfig()
		if err := w.auditRouter(ctx, "", n.At); err != nil {
			return err
		}
	}
	if events := bierEvents(n.Body); events != nil {
		for _, b := range events {
			b.At = timestamppb.New(n.At)
			if err := w.emit(&bierdriver.Event{Notification: b}); err != nil {
				return err
			}
		}
		return nil
	}
	if by, ours := parseConfigChange(n.Body, own); !ours {
		w.forgetConfig()
		return w.auditRouter(ctx, by, n.At)
	}
	return nil
}

// bierEvents reads the notifications of ietf-bier; nil: it is another one. Later drafts write
// received- before the names of leaves, and list the BFR-ids of one collision.
func bierEvents(n *xmltree.Node) []*bierdriver.Notification {
	if n.Space != nsBier {
		return nil
	}
	number := func(n *xmltree.Node, name string) uint32 {
		v, err := strconv.ParseUint(cmp.Or(n.Value(name), n.Value("received-"+name)), 10, 16)
		if err != nil {
			return 0
		}
		return uint32(v)
	}
	switch n.Name {
	case "bfr-id-collision":
		all := n.All(nsBier, "bfr-id-collision")
		if len(all) == 0 {
			all = []*xmltree.Node{n}
		}
		out := make([]*bierdriver.Notification, len(all))
		for i, x := range all {
			out[i] = &bierdriver.Notification{
				Kind:  bierdriver.BFRIDCollision,
				BfrId: number(x, "bfr-id"),
			}
		}
		return out
	case "bfr-zero":
		return []*bierdriver.Notification{{
			Kind:          bierdriver.BFRZero,
			Ipv4BfrPrefix: n.Value("ipv4-bfr-prefix"),
			Ipv6BfrPrefix: n.Value("ipv6-bfr-prefix"),
		}}
	case "sub-domain-id-collision":
		return []*bierdriver.Notification{{
			Kind:        bierdriver.SubDomainIDCollision,
			SubDomainId: number(n, "sub-domain-id"),
			MtId:        number(n, "mt-id"),
		}}
	}
	return nil
}

// parseConfigChange reads netconf-config-change (RFC 6470 section 2.1): who did it, and whether
// it is nothing to look into: another notification, another datastore, ourselves.
func parseConfigChange(n *xmltree.Node, own []*netconf.Session) (by string, ours bool) {
	if !n.Is(netconf.NSBaseEvents, "netconf-config-change") {
		return "", true
	}
	ds := n.Value("datastore")
	if ds != "" && ds != "running" {
		return "", true
	}
	who := n.Down("changed-by")
	id := who.Value("session-id")
	for _, s := range own {
		if id == strconv.Itoa(s.ID()) {
			return "", true
		}
	}
	if who.Down("server") != nil {
		return "the router itself", false
	}
	parts := []string{who.Value("username")}
	if id != "" {
		parts = append(parts, "session "+id)
	}
	if h := who.Value("source-host"); h != "" {
		parts = append(parts, "from "+h)
	}
	return strings.TrimSpace(strings.Join(parts, " ")), false
}

// auditRouter compares what the router holds with what was applied last and reports a
// difference. A router that cannot be read is no drift.
func (w *watcher) auditRouter(ctx context.Context, by string, at time.Time) error {
	if err := w.acquireTurn(ctx); err != nil {
		return err
	}
	defer w.releaseTurn()
	if w.session == nil || w.session.Err() != nil {
		return nil
	}
	lines, err := w.findDrift(ctx)
	if err != nil {
		w.log.Warn("comparing the router's configuration", "error", err)
		return nil
	}
	if len(lines) == 0 {
		return nil
	}
	w.forgetConfig()
	return w.emit(&bierdriver.Event{Drift: &bierdriver.Drift{
		At:   timestamppb.New(at),
		By:   by,
		What: "to repair: " + shortenDifferences(lines),
	}})
}
