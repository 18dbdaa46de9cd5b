package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// Bounds of start-echo-request: packets to each target, echo requests under way at the same time, and hops of a trace.
const (
	echoPackets = 3
	maxEchoes   = 8 // on demand, and as many turns of proactive ones
	maxHops     = 255
)

// Values of check-type and mode-type.
const (
	proactive = "proactive"
	modeTrace = "trace"
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
	Interval uint32       `json:"interval"` // seconds
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
	case in.Topology == "" && in.Check == proactive: // it lasts, and who may read the topology decides who begins it
		return fault.New(fault.Missing, "topology-id is missing: check-type proactive needs it")
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
	Ping      *pingResults `json:"ping,omitempty"`
	Trace     *hopResults  `json:"trace,omitempty"`
}

type echoEgress struct {
	Node string `json:"egress-node-id"`
}

type pingResults struct {
	Targets []pingResult `json:"ping-target-node-ids"`
}

type pingResult struct {
	Node   string `json:"ping-target-node-id"`
	Result string `json:"ping-result"`
}

type hopResults struct {
	Targets []hopResult `json:"trace-target-node-ids"`
}

type hopResult struct {
	Node       string      `json:"trace-target-node-id"`
	Responders []responder `json:"trace-responder-node-ids,omitempty"`
	Result     string      `json:"trace-result"`
}

// responder is a router on the way to a target.
type responder struct {
	Index int    `json:"index"`
	Node  string `json:"trace-responder-node-id"`
}

// summary is what came of an echo request in few words.
func (x *echoReply) summary() string {
	var failed, open []string
	count := 0
	note := func(node, result string) {
		count++
		switch {
		case strings.HasPrefix(result, unknown):
			open = append(open, node+": "+result)
		case !strings.HasPrefix(result, "success"):
			failed = append(failed, node+": "+result)
		}
	}
	if x.Ping != nil {
		for _, t := range x.Ping.Targets {
			note(t.Node, t.Result)
		}
	}
	if x.Trace != nil {
		for _, t := range x.Trace.Targets {
			note(t.Node, t.Result)
		}
	}
	var out []string
	if len(failed) > 0 {
		out = append(
			out,
			fmt.Sprintf("%d of %d failed: %s", len(failed), count, bier.Several(failed)),
		)
	}
	if len(open) > 0 {
		out = append(
			out,
			fmt.Sprintf("%d of %d not known: %s", len(open), count, bier.Several(open)),
		)
	}
	if len(out) == 0 {
		return "success"
	}
	return strings.Join(out, "; ")
}

// startEcho serves start-echo-request: what is wrong is the result of the call, what comes of it a notification.
func (s *Service) startEcho(ctx context.Context, in echoIn) (bier.ConfigureOutput, error) {
	return bier.Configured(s.beginEcho(ctx, in), nil)
}

// beginEcho begins to ping or to trace, once or again and again.
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
	x := echoRequest{
		topology: t.ID,
		channel:  c.Name,
		mode:     in.Mode,
		targets:  targetIDs(in.Targets),
		hops:     int(in.MaxTTL),
		every:    time.Duration(in.Interval) * time.Second,
	}
	for _, node := range x.targets {
		if c.FindEgress(node) == nil {
			return fault.New(fault.Invalid, "node %s is no egress node of channel %s", node, c.Name)
		}
	}
	if x.mode != modeTrace && s.data.status.Lacks(now, c.IngressNode, bierdriver.PingAbility) {
		return fault.New(
			fault.Invalid,
			"the ingress router %s has no BIER ping, or its driver cannot use it; mode-type trace needs none",
			c.IngressNode,
		)
	}
	if in.Check == proactive {
		return s.beginStanding(x)
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
		s.replies.Publish(s.echo(s.life, t, c, x))
	})
	return nil
}

// echoRequest is what is asked for.
type echoRequest struct {
	topology, channel, mode string
	targets                 []string
	hops                    int
	every                   time.Duration // of a proactive one
}

// echo pings or traces targets of a channel and returns what comes of it.
func (s *Service) echo(
	ctx context.Context,
	t *bier.Topology,
	c *bier.Channel,
	x echoRequest,
) *echoReply {
	ctx, cancel := context.WithTimeout(ctx, pinging)
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
	if x.mode == modeTrace {
		out.Trace = &hopResults{s.echoTrace(ctx, t, c, x)}
	} else {
		out.Ping = &pingResults{s.echoPing(ctx, t, c, x)}
	}
	return out
}

// echoTrace traces targets.
func (s *Service) echoTrace(
	ctx context.Context,
	t *bier.Topology,
	c *bier.Channel,
	x echoRequest,
) (out []hopResult) {
	list, err := s.traceChannel(ctx, s.data.store.Now(), t, c, x.targets, x.hops)
	if err != nil {
		for _, node := range x.targets {
			out = append(out, hopResult{Node: node, Result: "failed! " + err.Error()})
		}
		return out
	}
	for i := range list {
		one := hopResult{Node: list[i].Node, Result: list[i].result()}
		for k, node := range list[i].Hops {
			one.Responders = append(one.Responders, responder{k + 1, node})
		}
		out = append(out, one)
	}
	return out
}

// echoPing pings targets.
func (s *Service) echoPing(
	ctx context.Context,
	t *bier.Topology,
	c *bier.Channel,
	x echoRequest,
) (out []pingResult) {
	res, err := s.pingChannel(
		ctx,
		pingIn{
			Topology: t.ID,
			Channel:  c.Name,
			Egress:   x.targets,
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
		for _, node := range x.targets {
			out = append(out, pingResult{node, text})
		}
		return out
	}
	for _, p := range res.Egress {
		text := "success"
		switch {
		case p.Received == 0:
			text = fmt.Sprintf("failed! Time out! None of %d packets was answered", p.Sent)
		case p.Received < p.Sent:
			text = fmt.Sprintf(
				"success, but only %d of %d packets were answered",
				p.Received,
				p.Sent,
			)
		}
		out = append(out, pingResult{p.Node, text})
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
