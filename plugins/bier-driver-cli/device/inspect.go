package device

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// Inspection is how a router shows what it has made of its configuration; empty where it
// shows nothing. Expressions have a group for the value they find.
type Inspection struct {
	Ping struct {
		Line     string `json:"line"`     // with {address} and {count}
		Received string `json:"received"` // how many answers came
	} `json:"ping"`
	Forwarding struct {
		Prepare  []string `json:"prepare"`
		List     string   `json:"list"`     // shows a line for each label
		Label    string   `json:"label"`    // in the lines of BIER's labels
		Show     string   `json:"show"`     // with {label}: shows one
		BSL      string   `json:"bsl"`      // in what that shows
		SI       string   `json:"si"`       //
		Own      string   `json:"own"`      // bits in hexadecimal
		Neighbor string   `json:"neighbor"` // its name, then its bits in hexadecimal
		Counter  string   `json:"counter"`  // bytes that came in, then packets
	} `json:"forwarding"`
	Delivery DeliveryInspection `json:"delivery"`
}

// canShowForwarding reports whether forwarding tables can be read.
func (x *Inspection) canShowForwarding() bool {
	return x.Forwarding.List != "" && x.Forwarding.Show != ""
}

// maxLabels bounds the forwarding tables that are read of one router.
const maxLabels = 4096

// expressions of the Inspection, compiled.
type expressions struct {
	received, label, bsl, si, own, neighbor, counter *regexp.Regexp
	delivery                                         deliveryExpressions
}

// compileExpressions returns the expressions; expression compiles one of a path and an expression.
func (x *Inspection) compileExpressions(expression func(path, text string, groups int) *regexp.Regexp) (e expressions) {
	f := &x.Forwarding
	e.received = expression("ping/received", x.Ping.Received, 1)
	for _, y := range []struct {
		to         **regexp.Regexp
		path, text string
		groups     int
	}{{&e.label, "label", f.Label, 1}, {&e.bsl, "bsl", f.BSL, 1}, {&e.si, "si", f.SI, 1}, {&e.own, "own", f.Own, 1},
		{&e.neighbor, "neighbor", f.Neighbor, 2}, {&e.counter, "counter", f.Counter, 2}} {
		*y.to = expression("forwarding/"+y.path, y.text, y.groups)
	}
	e.delivery = x.Delivery.compile(expression)
	return e
}

// Ping implements bierdriver.Pinger.
func (d *Driver) Ping(
	ctx context.Context,
	r *bierdriver.Router,
	targets []*bierdriver.Member,
	count int,
) (out []*bierdriver.PingReply, err error) {
	if d.set.Inspect.Ping.Line == "" {
		return nil, fault.New(
			fault.Unsupported,
			"the templates of router %s have no ping over BIER",
			r.NodeId,
		)
	}
	var lines []string
	for _, t := range targets {
		p, err := netip.ParsePrefix(t.Ipv4BfrPrefix)
		if err != nil {
			if p, err = netip.ParsePrefix(t.Ipv6BfrPrefix); err != nil {
				return nil, fault.New(
					fault.Invalid,
					"bfr-id %d of sub-domain %d has no BFR-prefix to ping",
					t.BfrId,
					t.SubDomainId,
				)
			}
		}
		lines = append(
			lines,
			strings.NewReplacer(
				"{address}",
				p.Addr().String(),
				"{count}",
				strconv.Itoa(count),
			).Replace(d.set.Inspect.Ping.Line),
		)
	}
	_, _, err = d.withTerminal(ctx, r, func(ctx context.Context, _ *node, t *terminal) error {
		for _, line := range lines {
			said, err := d.sendLine(ctx, t, line)
			if err != nil {
				return err
			}
			found := d.inspect.received.FindStringSubmatch(said)
			if found == nil {
				return fmt.Errorf(
					"%w to say how many answers came to %q: %.200s",
					errRefused,
					line,
					said,
				)
			}
			received, _ := strconv.ParseUint(found[1], 10, 32)
			out = append(
				out,
				&bierdriver.PingReply{
					Sent:     uint32(count),
					Received: uint32(min(received, uint64(count))),
				},
			)
		}
		return nil
	})
	return out, toReadError(err)
}

// Forwarding implements bierdriver.Forwarder.
func (d *Driver) Forwarding(
	ctx context.Context,
	r *bierdriver.Router,
) (out []*bierdriver.Forwarding, err error) {
	f := &d.set.Inspect.Forwarding
	if !d.set.Inspect.canShowForwarding() {
		return nil, fault.New(
			fault.Unsupported,
			"the templates of router %s do not say how it shows forwarding tables",
			r.NodeId,
		)
	}
	_, _, err = d.withTerminal(ctx, r, func(ctx context.Context, _ *node, t *terminal) error {
		for _, line := range f.Prepare {
			if _, err := d.sendLine(ctx, t, line); err != nil {
				return err
			}
		}
		list, err := d.sendLine(ctx, t, f.List)
		if err != nil {
			return err
		}
		for line := range strings.Lines(list) {
			label := d.inspect.label.FindStringSubmatch(strings.TrimSpace(line))
			if label == nil {
				continue
			}
			number, err := strconv.ParseUint(label[1], 10, 20)
			if err != nil || len(out) == maxLabels {
				return fmt.Errorf(
					"%w: %q is not a label, or there are too many labels",
					errRefused,
					label[1],
				)
			}
			said, err := d.sendLine(
				ctx,
				t,
				strings.ReplaceAll(f.Show, "{label}", strconv.FormatUint(number, 10)),
			)
			if err != nil {
				return err
			}
			x, err := d.inspect.parseForwardingTable(said)
			if err != nil {
				return fmt.Errorf("%w to show label %d as expected: %v", errRefused, number, err)
			}
			x.BiftId = uint32(number)
			out = append(out, x)
		}
		return nil
	})
	return out, toReadError(err)
}

// parseForwardingTable reads one table from what a router shows.
func (e *expressions) parseForwardingTable(said string) (*bierdriver.Forwarding, error) {
	out := &bierdriver.Forwarding{}
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		var err error
		switch {
		case e.bsl.MatchString(line):
			out.Bitstringlength, err = parseMatchedNumber(e.bsl, line)
		case e.si.MatchString(line):
			out.Si, err = parseMatchedNumber(e.si, line)
		case e.own.MatchString(line):
			out.Own, err = parseBitString(e.own.FindStringSubmatch(line)[1])
		case e.neighbor.MatchString(line):
			found := e.neighbor.FindStringSubmatch(line)
			n := &bierdriver.Neighbor{Name: found[1]}
			n.FBm, err = parseBitString(found[2])
			out.Neighbors = append(out.Neighbors, n)
		case e.counter.MatchString(line):
			found := e.counter.FindStringSubmatch(line)
			out.HasCounters = true
			if out.Bytes, err = strconv.ParseUint(found[1], 10, 64); err == nil {
				out.Packets, err = strconv.ParseUint(found[2], 10, 64)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("in %.100q: %w", line, err)
		}
	}
	if out.Bitstringlength == 0 || out.Bitstringlength%64 != 0 || out.Bitstringlength > 4096 {
		return nil, fmt.Errorf("there is no length of bit strings in it: %.200q", said)
	}
	for _, n := range out.Neighbors {
		if len(n.FBm) != int(out.Bitstringlength)/8 {
			return nil, fmt.Errorf(
				"neighbour %s has a mask of %d bytes, of %d bits",
				n.Name,
				len(n.FBm),
				out.Bitstringlength,
			)
		}
	}
	return out, nil
}

func parseMatchedNumber(e *regexp.Regexp, line string) (uint32, error) {
	n, err := strconv.ParseUint(e.FindStringSubmatch(line)[1], 10, 16)
	return uint32(n), err
}

func parseBitString(text string) ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(text, " ", ""))
}

// sendLine types a line and returns the answer.
func (d *Driver) sendLine(ctx context.Context, t *terminal, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, d.set.Line.Duration)
	defer cancel()
	return t.runLine(ctx, line)
}

// toReadError is the error of a call that reads.
func toReadError(err error) error {
	switch {
	case errors.Is(err, errRefused):
		return fault.Device(fault.Downstream, "%s", err)
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "%s", err)
	}
	return nil
}
