package driver

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// checked is a driver plugin that is not trusted: each call has a deadline, each answer
// is checked, and what was written is read back.
type checked struct {
	*switchdriver.Client // on itself
	name                 string
	conn                 grpc.ClientConnInterface
	has                  map[string]bool
	c                    *Chooser
}

func newChecked(p *provider, c *Chooser) *checked {
	g := &checked{
		name: p.Name,
		conn: c.opt.Board.Dial(p.Name),
		has:  p.operations,
		c:    c,
	}
	g.Client = switchdriver.NewClient(g)
	return g
}

// Invoke implements grpc.ClientConnInterface: it makes a call with the deadline, says whose fault an error is, and
// refuses an answer that cannot be true.
func (g *checked) Invoke(
	ctx context.Context,
	method string,
	request, answer any,
	o ...grpc.CallOption,
) error {
	ctx, cancel := context.WithTimeout(ctx, g.c.opt.Deadline)
	defer cancel()
	sw := request.(interface{ GetSwitch() *switchdriver.Switch }).GetSwitch()
	if err := g.conn.Invoke(ctx, method, request, answer, o...); err != nil {
		return g.driverFault(ctx, sw, fault.FromStatus(err))
	}
	m := answer.(proto.Message)
	if err := switchdriver.CheckAnswer(request.(proto.Message), m); err != nil {
		return fault.New(fault.Downstream, "the driver %s returned impossible data for switch %s: %v",
			g.name, switchdriver.Label(sw), err)
	}
	cleanTexts(m.ProtoReflect())
	return nil
}

// NewStream implements grpc.ClientConnInterface; the contract has no streams.
func (g *checked) NewStream(
	context.Context,
	*grpc.StreamDesc,
	string,
	...grpc.CallOption,
) (grpc.ClientStream, error) {
	return nil, fault.New(fault.Unsupported, "the driver %s is not asked for streams", g.name)
}

// maxFaultText bounds what a driver may say went wrong.
const maxFaultText = 500

// driverFault names the driver and the switch where the driver did not, and lets nothing odd
// through.
func (g *checked) driverFault(ctx context.Context, sw *switchdriver.Switch, err error) error {
	l := fault.All(err)
	out := make(fault.List, 0, len(l))
	for _, e := range l {
		text := cleanText(e.Text)
		switch {
		case e.Kind == fault.Timeout && e.Source != fault.SourceDevice, ctx.Err() != nil && e.Kind == fault.Unavailable:
			return &fault.Error{
				Kind:  fault.Timeout,
				Cause: err,
				Text: fmt.Sprintf(
					"the driver %s did not answer for switch %s in time",
					g.name,
					switchdriver.Label(sw),
				),
			}
		case e.Kind == fault.Internal || e.Kind == fault.Unavailable:
			text = fmt.Sprintf(
				"the driver %s failed for switch %s: %s",
				g.name,
				switchdriver.Label(sw),
				text,
			)
		}
		path := ""
		if isLeafName(e.Path) {
			path = e.Path
		}
		out = append(
			out,
			&fault.Error{
				Kind:   e.Kind,
				Text:   text,
				Path:   path,
				Source: e.Source,
				Cause:  err,
			},
		)
	}
	return out.Err()
}

// isLeafName reports whether a path is the name of a leaf, which is all a driver may give.
func isLeafName(path string) bool {
	return path != "" && len(path) <= 64 && !strings.ContainsFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// cleanTexts cleans the texts of an answer. Lists of messages without texts, which may be long, are passed over.
func cleanTexts(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsList() && f.Message() != nil && hasTexts(f.Message()):
			for i := range v.List().Len() {
				cleanTexts(v.List().Get(i).Message())
			}
		case f.IsList() && f.Kind() == protoreflect.StringKind:
			for i := range v.List().Len() {
				v.List().Set(i, protoreflect.ValueOfString(cleanText(v.List().Get(i).String())))
			}
		case f.IsList():
		case f.Message() != nil:
			cleanTexts(v.Message())
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(cleanText(v.String())))
		}
		return true
	})
}

func hasTexts(d protoreflect.MessageDescriptor) bool {
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if f.Kind() == protoreflect.StringKind || f.Message() != nil {
			return true
		}
	}
	return false
}

// cleanText is text of a driver for people: bounded, without control characters.
func cleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > maxFaultText {
		s = string(r[:maxFaultText]) + "…"
	}
	return s
}
