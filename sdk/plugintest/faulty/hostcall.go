package main

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// hostCall is a call to the host's services, made for the host's tests.
type hostCall struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

func write(ctx context.Context, h *host.Client, space host.Space, path string) error {
	_, err := h.Datastore.Commit(ctx, host.Txn{Ops: []host.Op{{Space: space, Key: path, Value: []byte("{}")}}})
	return err
}

func (c hostCall) make(ctx context.Context, h *host.Client) (text, error) {
	switch c.Call {
	case "put":
		return text{}, h.Datastore.Put(ctx, "k", []byte(c.Text))
	case "get":
		e, err := h.Datastore.Get(ctx, host.Private, "k")
		return text{string(e.Value)}, err
	case "publish-tree":
		return text{}, write(ctx, h, host.Operational, c.Text)
	case "write-config":
		return text{}, write(ctx, h, host.Tree, c.Text)
	case "publish":
		return text{}, h.Events.Publish(ctx, c.Text, "faulty:event", map[string]int{"n": 1})
	case "seal":
		sealed, err := h.Secrets.Seal(ctx, "test", []byte(c.Text))
		if err != nil {
			return text{}, err
		}
		plain, err := h.Secrets.Open(ctx, "test", sealed)
		return text{string(plain)}, err
	case "seal-mix":
		sealed, err := h.Secrets.Seal(ctx, "test", []byte(c.Text))
		if err != nil {
			return text{}, err
		}
		_, err = h.Secrets.Open(ctx, "other", sealed)
		return text{}, err
	case "call":
		module, rpc, _ := strings.Cut(c.Text, ":")
		var out map[string]any
		err := h.Operations.Call(ctx, module, rpc, nil, &out)
		return text{fmt.Sprint(out)}, err
	case "providers":
		p, err := h.Switchboard.Providers(ctx, c.Text)
		var names []string
		for _, x := range p {
			names = append(names, fmt.Sprintf("%s:%v", x.Name, x.Ready))
		}
		return text{strings.Join(names, " ")}, err
	case "identity":
		_, err := h.Certificates.Identity(ctx)
		return text{}, err
	}
	return text{}, fault.New(fault.Invalid, "unknown call %q", c.Call)
}
