package device

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// DeliveryInspection is how a router shows what it does with a channel. Lines have {family}, {source} and {group}.
type DeliveryInspection struct {
	Prepare  []string `json:"prepare"`
	Show     string   `json:"show"`     // shows a channel
	Absent   string   `json:"absent"`   // the answer if the router does not know the channel
	Counter  string   `json:"counter"`  // packets that were forwarded or delivered
	Receiver string   `json:"receiver"` // a port that packets leave by
	Local    string   `json:"local"`    // the router itself is a receiver
	NoPath   string   `json:"no_path"`  // there is no reverse path to the source
	// ByHand are lines to enter at an egress router without receivers, ByHandPort those for each {port} of the channel.
	ByHand     []string `json:"by_hand"`
	ByHandPort []string `json:"by_hand_port"`
}

// deliveryExpressions are the expressions of a DeliveryInspection, compiled.
type deliveryExpressions struct {
	absent, counter, receiver, local, noPath *regexp.Regexp
}

func (x *DeliveryInspection) compile(expression func(path, text string, groups int) *regexp.Regexp) deliveryExpressions {
	return deliveryExpressions{
		absent:   expression("delivery/absent", x.Absent, 0),
		counter:  expression("delivery/counter", x.Counter, 1),
		receiver: expression("delivery/receiver", x.Receiver, 1),
		local:    expression("delivery/local", x.Local, 0),
		noPath:   expression("delivery/no_path", x.NoPath, 0),
	}
}

// fillIn returns what puts the family and the addresses of a channel into lines.
func fillIn(c *bierdriver.Channel) (*strings.Replacer, error) {
	source, err := netip.ParseAddr(c.SourceAddress)
	if err != nil {
		return nil, fmt.Errorf("the source %q is not an address", c.SourceAddress)
	}
	group, err := netip.ParseAddr(c.GroupAddress)
	if err != nil {
		return nil, fmt.Errorf("the group %q is not an address", c.GroupAddress)
	}
	family := "ipv6"
	if group.Is4() {
		family = "ipv4"
	}
	return strings.NewReplacer(
		"{family}", family,
		"{source}", source.WithZone("").String(),
		"{group}", group.WithZone("").String()), nil
}

// Delivery implements bierdriver.Deliverer.
func (d *Driver) Delivery(
	ctx context.Context,
	r *bierdriver.Router,
	channels []*bierdriver.Channel,
) (out []*bierdriver.Delivery, err error) {
	set := &d.set.Inspect.Delivery
	if set.Show == "" {
		return nil, fault.New(
			fault.Unsupported,
			"the templates of router %s do not say how it shows channels",
			r.NodeId,
		)
	}
	_, _, err = d.withTerminal(ctx, r, func(ctx context.Context, _ *node, t *terminal) error {
		for _, line := range set.Prepare {
			_, err := d.sendLine(ctx, t, line)
			if err != nil {
				return err
			}
		}
		for _, c := range channels {
			x, err := d.readDelivery(ctx, t, c)
			if err != nil {
				return err
			}
			out = append(out, x)
		}
		return nil
	})
	return out, toReadError(err)
}

// readDelivery reads what the router does with one channel.
func (d *Driver) readDelivery(
	ctx context.Context,
	t *terminal,
	c *bierdriver.Channel,
) (*bierdriver.Delivery, error) {
	values, err := fillIn(c)
	if err != nil {
		return nil, err
	}
	said, err := d.sendLine(ctx, t, values.Replace(d.set.Inspect.Delivery.Show))
	if errors.Is(err, errRefused) && d.inspect.delivery.absent.MatchString(err.Error()) {
		said, err = "", nil
	}
	if err != nil {
		return nil, err
	}
	x, err := d.inspect.delivery.read(said, c)
	if err != nil {
		return nil, fmt.Errorf(
			"%w to show channel %s %s as expected: %v",
			errRefused,
			c.SourceAddress,
			c.GroupAddress,
			err,
		)
	}
	if x.HasReceivers && len(x.Receivers) == 0 {
		x.ByHand = d.set.Inspect.Delivery.byHand(values, c.Ports)
	}
	return x, nil
}

// read reads what a router shows of a channel, "" if it does not know the channel.
func (e *deliveryExpressions) read(
	said string,
	c *bierdriver.Channel,
) (*bierdriver.Delivery, error) {
	egress := c.Role == bierdriver.Egress
	out := &bierdriver.Delivery{
		HasReceivers: egress,
		HasCounters:  said == "",
	}
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		counted := e.counter.FindStringSubmatch(line)
		port := e.receiver.FindStringSubmatch(line)
		switch {
		case counted != nil:
			packets, err := strconv.ParseUint(counted[1], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("in %.100q: %w", line, err)
			}
			out.HasCounters, out.Packets = true, packets
		case port != nil && egress:
			out.Receivers = append(out.Receivers, port[1])
		case e.local.MatchString(line) && egress:
			out.Receivers = append(out.Receivers, "local")
		case e.noPath.MatchString(line):
			out.Fault = fmt.Sprintf("it has no reverse path to the source %s", c.SourceAddress)
		}
	}
	return out, nil
}

// byHand are the lines to enter at an egress router that has no receivers of a channel with these ports.
func (x *DeliveryInspection) byHand(values *strings.Replacer, ports []string) (out []string) {
	if len(ports) == 0 || len(x.ByHandPort) == 0 {
		for _, line := range x.ByHand {
			out = append(out, values.Replace(line))
		}
		return out
	}
	for _, port := range ports {
		for _, line := range x.ByHandPort {
			out = append(out, strings.ReplaceAll(values.Replace(line), "{port}", port))
		}
	}
	return out
}
