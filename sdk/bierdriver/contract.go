// Package bierdriver is the capability of configuring BIER routers (RFC 8279)
// through some south-bound interface.
//
// A driver is given what a router must hold, whole, and brings it there; what that
// is, and when, the BIER service decides. Canonical and Compare are the order of lists,
// for drivers that compare. Package bierdriver/conformance is what every driver must pass.
package bierdriver

import (
	"cmp"
	"context"
	"slices"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// The data of the contract. They are the messages of proto/ctl/plugin/v1, where
// each field is described with its range and its leaf of ietf-bier.
type (
	Router        = pluginv1.BierRouter
	Config        = pluginv1.BierConfig
	Global        = pluginv1.BierGlobal
	SubDomain     = pluginv1.BierSubDomain
	Encapsulation = pluginv1.BierEncapsulation
	Channel       = pluginv1.BierChannel
	Member        = pluginv1.BierMember
	Role          = pluginv1.BierChannel_Role
	Session       = pluginv1.BierSession
	SessionState  = pluginv1.BierSession_State
	Drift         = pluginv1.BierDrift
	Notification  = pluginv1.BierNotification
	Result        = pluginv1.ApplyBierResponse
	Outcome       = pluginv1.ApplyBierResponse_State
	Probe         = pluginv1.ProbeBierResponse
	Observed      = pluginv1.ReadBierResponse
	Event         = pluginv1.WatchBierResponse
	Forwarding    = pluginv1.BierForwarding
	Neighbor      = pluginv1.BierForwardingNeighbor
	Delivery      = pluginv1.BierDelivery
	PingReply     = pluginv1.BierPingReply
	Checked       = pluginv1.CheckBierResponse
	Refusal       = pluginv1.BierRefusal
)

// Outcomes of Apply.
const (
	Applied = pluginv1.ApplyBierResponse_STATE_APPLIED
	Pending = pluginv1.ApplyBierResponse_STATE_PENDING
	Failed  = pluginv1.ApplyBierResponse_STATE_FAILED
)

// States of a session.
const (
	Connecting = pluginv1.BierSession_STATE_CONNECTING
	Up         = pluginv1.BierSession_STATE_UP
	Down       = pluginv1.BierSession_STATE_DOWN
	Refused    = pluginv1.BierSession_STATE_REFUSED
)

// Roles of a router for a channel.
const (
	Ingress = pluginv1.BierChannel_ROLE_INGRESS
	Egress  = pluginv1.BierChannel_ROLE_EGRESS
)

// Kinds of notifications of ietf-bier.
const (
	BFRIDCollision       = pluginv1.BierNotification_KIND_BFR_ID_COLLISION
	BFRZero              = pluginv1.BierNotification_KIND_BFR_ZERO
	SubDomainIDCollision = pluginv1.BierNotification_KIND_SUB_DOMAIN_ID_COLLISION
)

// Abilities, in Description.Lacks and Session.Lacks.
const (
	SubDomains        = "sub-domains" // to be in several sub-domains
	Ports             = "ports"       // to be configured with Channel.Ports
	ForwardingAbility = "forwarding"  // Forwarder
	DeliveryAbility   = "delivery"    // Deliverer
	PingAbility       = "ping"        // Pinger
)

// Description says which routers a driver is for.
type Description struct {
	Name         string   // of the plugin; filled in by the SDK
	Capabilities []string // beginnings of capability URIs that routers announce
	Dialects     []string // the preferred one first
	Priority     int32    // the highest wins
	Probes       bool     // false: chosen by the operator only
	Members      bool     // Apply is to be given Config.Members
	// Lacks are abilities that none of the routers has: "tunnel" (RFC 8279 section 6.9),
	// "transit" (BIER without a BFR-id), "ecmp" (more than one neighbour of equal ways),
	// "sub-domains" (more than one sub-domain), "ports" (Channel.Ports),
	// "forwarding" (Forwarder), "delivery" (Deliverer), "ping" (Pinger). The SDK adds the last
	// three where the driver does not implement them. What only some routers lack is in their Session.
	Lacks []string
}

// Permit is asked before acts on a router: with several controllers, another one may have
// become the one that acts. An error means that the driver must not act; it is the reason
// of the Result, whose state is Pending then.
type Permit interface {
	// Begin is called before the router is locked. session is how the router names the
	// session, "" when it does not; former are sessions of earlier processes that may be
	// ended when they hold the lock.
	Begin(ctx context.Context, session string) (former []string, err error)
	// Commit is called when the router holds the change and would still take it back by
	// itself, or, where it cannot, before the change is sent. After an error the change
	// is taken back.
	Commit(ctx context.Context) error
}

// Always is a Permit that permits everything, for tests and for single controllers.
var Always Permit = always{}

type always struct{}

func (always) Begin(context.Context, string) ([]string, error) {
	return nil, nil
}
func (always) Commit(context.Context) error {
	return nil
}

// Driver is what every driver implements. Its methods are called at the same time
// for different routers, and Apply and Read also for the same one: a driver puts
// calls to one router in order. Contexts carry deadlines.
type Driver interface {
	Describe() Description

	// Probe reaches the router and says whether the driver can drive it. A router
	// that cannot be reached is an answer, not an error.
	Probe(ctx context.Context, r *Router) (*Probe, error)

	// Apply brings the router to c: all of it or nothing. It sends only what differs
	// and reads back. What happened at the router is in the Result; an error is
	// trouble of the driver itself, after which the caller repeats. Without a permit it
	// only compares.
	Apply(ctx context.Context, r *Router, c *Config, permit Permit) (*Result, error)

	// Read returns what the router holds. fault.Unavailable when it cannot be
	// reached, fault.Device(…) when it answers wrongly.
	Read(ctx context.Context, r *Router) (*Observed, error)

	// Watch keeps a session to one router, reports its state at once and after each
	// change, and passes on what the router reports, until ctx ends or emit fails.
	// The SDK fills in Event.NodeId, and puts emit's calls in order.
	Watch(ctx context.Context, r *Router, emit func(*Event) error) error
}

// CompareChannels compares two channels by their keys, as cmp.Compare.
func CompareChannels(a, b *Channel) int {
	// Step by step: configurations have thousands, and are compared often.
	if n := cmp.Compare(a.VpnId, b.VpnId); n != 0 {
		return n
	}
	if n := cmp.Compare(a.SourceAddress, b.SourceAddress); n != 0 {
		return n
	}
	if n := cmp.Compare(a.SourceWildcard, b.SourceWildcard); n != 0 {
		return n
	}
	if n := cmp.Compare(a.GroupAddress, b.GroupAddress); n != 0 {
		return n
	}
	return cmp.Compare(a.GroupWildcard, b.GroupWildcard)
}

// CompareMembers compares two members by their keys, as cmp.Compare.
func CompareMembers(a, b *Member) int {
	return cmp.Or(cmp.Compare(a.SubDomainId, b.SubDomainId), cmp.Compare(a.BfrId, b.BfrId))
}

// Canonical puts the lists of a configuration in the order of their keys.
func Canonical(c *Config) {
	slices.SortFunc(c.Channels, CompareChannels)
	for _, x := range c.Channels {
		slices.Sort(x.EgressBfrIds)
		slices.Sort(x.Ports)
	}
	slices.SortFunc(c.Members, CompareMembers)
	if c.Global == nil {
		return
	}
	slices.SortFunc(c.Global.SubDomains, func(a, b *SubDomain) int {
		return cmp.Compare(a.SubDomainId, b.SubDomainId)
	})
	for _, s := range c.Global.SubDomains {
		for _, l := range [][]*Encapsulation{s.Ipv4, s.Ipv6} {
			slices.SortFunc(l, func(a, b *Encapsulation) int {
				return cmp.Or(
					cmp.Compare(a.Bitstringlength, b.Bitstringlength),
					cmp.Compare(a.BierMplsLabelBase, b.BierMplsLabelBase),
				)
			})
		}
	}
}
