package device

import (
	"context"

	"ctl.internal/plugins/bier-driver-ietf/dialect"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// Check implements bierdriver.Checker: what the dialect of the router has no place for, as far as its
// modules are known.
func (d *Driver) Check(
	_ context.Context,
	r *bierdriver.Router,
	c *bierdriver.Config,
) (*bierdriver.Checked, error) {
	model, err := d.dialectOf(r)
	if err != nil {
		return nil, err
	}
	out := &bierdriver.Checked{}
	if _, err := model.Want(&bierdriver.Config{Global: c.GetGlobal()}); err != nil {
		out.Reason = err.Error()
	}
	for i, x := range c.GetChannels() {
		_, err := model.Want(&bierdriver.Config{Channels: []*bierdriver.Channel{x}})
		if err != nil {
			out.Channels = append(
				out.Channels,
				&bierdriver.Refusal{
					Channel: uint32(i),
					Reason:  err.Error(),
				},
			)
		}
	}
	return out, nil
}

// dialectOf is the dialect of a router by what it announced on an open session.
func (d *Driver) dialectOf(r *bierdriver.Router) (*dialect.Dialect, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.links {
		if l.router.NodeId != r.NodeId || l.router.Host != r.Host || l.router.Port != r.Port {
			continue
		}
		if s := l.sessionState(); len(s.Capabilities) > 0 {
			return dialect.For(s.Capabilities, r.Dialect)
		}
	}
	return nil, fault.New(
		fault.Unavailable,
		"there is no session to router %s, so its modules are not known",
		r.NodeId,
	)
}
