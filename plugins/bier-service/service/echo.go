package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// Bounds of start-echo-request: packets to each target, and echo requests under way at the same time.
const (
	echoPackets = 3
	maxEchoes   = 8
)

// targetNode is an egress node that a call names.
type targetNode struct {
	Node string `json:"target-node-id"`
}

func targetIDs(list []targetNode) (out []string) {
	for _, x := range list {
		out = append(out, bier.ShortID(x.Node))
	}
	return out
}

// echoIn is the input of start-echo-request.
type echoIn struct {
	Topology string       `json:"topology-id"`
	Channel  string       `json:"channel-name"`
	Targets  []targetNode `json:"target-node-ids"`
	Check    string       `json:"check-type"`
	Mode     string       `json:"mode-type"`
	MaxTTL   uint16       `json:"max-ttl"`
}

// check says what is wrong with the input itself.
func (in *echoIn) check() error {
	switch {
	case in.Channel == "":
		return fault.New(fault.Missing, "channel-name is missing")
	case len(in.Targets) == 0:
		return fault.New(fault.Missing, "target-node-ids is missing: a list of egress nodes")
	case in.Check == "":
		return fault.New(fault.Missing, "check-type is missing")
	case in.Mode == "":
		return fault.New(fault.Missing, "mode-type is missing")
	case in.Check == "proactive":
		return fault.New(fault.Invalid, "check-type proactive is not offered: the proof of delivery pings continuously "+
			"(settings proof and proof_packets of bier-service)")
	case in.Mode == "trace":
		return fault.New(
			fault.Invalid,
			"mode-type trace is not offered: no driver has a BIER trace",
		)
	case in.MaxTTL == 0:
		return fault.New(fault.Invalid, "max-ttl is 0")
	}
	return nil
}

// echoReply is the notification receive-echo-reply.
type echoReply struct {
	Topology  string       `json:"topology-id"`
	Channel   string       `json:"channel-name"`
	SubDomain uint16       `json:"subdomain-id"`
	Ingress   string       `json:"ingress-node-id"`
	Egress    []echoEgress `json:"egress-node-ids"`
	Ping      echoResults  `json:"ping"`
}

type echoEgress struct {
	Node string `json:"egress-node-id"`
}

type echoResults struct {
	Targets []echoResult `json:"ping-target-node-ids"`
}

type echoResult struct {
	Node   string `json:"ping-target-node-id"`
	Result string `json:"ping-result"`
}

// startEcho serves start-echo-request: what is wrong is the result of the call, what comes of the ping a notification.
func (s *Service) startEcho(ctx context.Context, in echoIn) (bier.ConfigureOutput, error) {
	return bier.Configured(s.beginEcho(ctx, in), nil)
}

// beginEcho begins to ping.
func (s *Service) beginEcho(ctx context.Context, in echoIn) error {
	err := in.check()
	if err != nil {
		return err
	}
	now, err := s.data.store.Fresh(ctx)
	if err != nil {
		return err
	}
	t, c, err := s.findChannel(now, in.Topology, in.Channel)
	if err != nil {
		return err
	}
	targets := targetIDs(in.Targets)
	for _, node := range targets {
		if c.FindEgress(node) == nil {
			return fault.New(fault.Invalid, "node %s is no egress node of channel %s", node, c.Name)
		}
	}
	if s.data.status.Lacks(now, c.IngressNode, bierdriver.PingAbility) {
		return fault.New(
			fault.Invalid,
			"the ingress router %s has no BIER ping, or its driver cannot use it",
			c.IngressNode,
		)
	}
	if !s.echoes.TryAcquire(1) {
		return fault.New(
			fault.Invalid,
			"%d echo requests are under way: try again when one of them has ended",
			maxEchoes,
		)
	}
	s.group.Go(func() {
		defer s.echoes.Release(1)
		s.replies.Publish(s.echo(t, c, targets))
	})
	return nil
}

// echo pings targets and returns what comes of it.
func (s *Service) echo(t *bier.Topology, c *bier.Channel, targets []string) *echoReply {
	ctx, cancel := context.WithTimeout(s.life, pinging)
	defer cancel()
	out := &echoReply{
		Topology:  t.ID,
		Channel:   c.Name,
		SubDomain: c.SubDomainID,
		Ingress:   c.IngressNode,
	}
	for _, e := range c.EgressNodes {
		out.Egress = append(out.Egress, echoEgress{e.ID})
	}
	res, err := s.pingChannel(
		ctx,
		pingIn{
			Topology: t.ID,
			Channel:  c.Name,
			Egress:   targets,
			Count:    echoPackets,
		},
	)
	if err != nil {
		text := "failed! " + err.Error()
		if errors.Is(err, context.DeadlineExceeded) {
			text = fmt.Sprintf(
				"failed! The router did not answer within %s",
				pinging.Round(time.Second),
			)
		}
		for _, node := range targets {
			out.Ping.Targets = append(out.Ping.Targets, echoResult{node, text})
		}
		return out
	}
	for _, x := range res.Egress {
		text := "success"
		switch {
		case x.Received == 0:
			text = fmt.Sprintf("failed! Time out! None of %d packets was answered", x.Sent)
		case x.Received < x.Sent:
			text = fmt.Sprintf(
				"success, but only %d of %d packets were answered",
				x.Received,
				x.Sent,
			)
		}
		out.Ping.Targets = append(out.Ping.Targets, echoResult{x.Node, text})
	}
	return out
}

// bitStringIn is the input of get-target-bitstring.
type bitStringIn struct {
	Topology string       `json:"topology-id"`
	Channel  string       `json:"channel-name"`
	Targets  []targetNode `json:"target-node-ids"`
}

type bitStringOut struct {
	SubDomain  uint16            `json:"subdomain-id"`
	Ingress    string            `json:"ingress-node-id"`
	BitStrings []targetBitString `json:"bitstring,omitempty"`
}

// targetBitString is a bit string that leaves the ingress.
type targetBitString struct {
	SI   int    `json:"si"`
	BSL  uint16 `json:"bitstringlength"`
	Bits string `json:"bits"`
}

// targetBitStrings serves get-target-bitstring.
func (s *Service) targetBitStrings(ctx context.Context, in bitStringIn) (*bitStringOut, error) {
	if in.Channel == "" {
		return nil, fault.At(
			fault.Missing,
			"/bier-service-api:input/channel-name",
			"channel-name is missing",
		)
	}
	now, err := s.data.store.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	t, c, err := s.findChannel(now, in.Topology, in.Channel)
	if err != nil {
		return nil, err
	}
	plan, err := bier.PlanChannel(t, c)
	if err != nil {
		return nil, fault.New(fault.Invalid, "channel %s has no BitString: %v", c.Name, err)
	}
	list, unknown := plan.TargetBitStrings(targetIDs(in.Targets))
	if unknown != "" {
		return nil, fault.New(
			fault.Invalid,
			"node %s is no egress node of channel %s that packets can reach",
			unknown,
			c.Name,
		)
	}
	out := &bitStringOut{
		SubDomain: c.SubDomainID,
		Ingress:   c.IngressNode,
	}
	for _, b := range list {
		out.BitStrings = append(out.BitStrings, targetBitString{b.SI, uint16(plan.BSL), b.Hex()})
	}
	return out, nil
}
