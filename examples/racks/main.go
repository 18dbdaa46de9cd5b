// Command racks is the example of docs/plugin-author.md for data that a plugin keeps: a
// tree that clients write over RESTCONF and by RPC, and a rule that YANG cannot say.
package main

import (
	"context"
	"embed"

	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/state"
)

//go:embed plugin.yaml
var manifest []byte

//go:embed yang/*.yang
var modules embed.FS

func main() { sdk.Serve(options()) }

func options() sdk.Options {
	return sdk.Options{Manifest: manifest, YANG: modules, New: newPlugin}
}

// rack is an instance of list rack with all below it.
type rack struct {
	Name    string    `json:"name"`
	Room    *int      `json:"room,omitempty"`
	Machine []machine `json:"machine,omitempty"`
}

type machine struct {
	Name            string `json:"name"`
	ConsolePassword string `json:"console-password,omitempty"`
}

func (r rack) room() int {
	if r.Room == nil {
		return 4
	}
	return *r.Room
}

type plugin struct {
	store *state.Store
	racks *state.Tree[rack]
	where *state.Table[string] // rack by machine, written together with the tree
}

func newPlugin(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	p := &plugin{racks: state.NewTree[rack]("/racks:racks/rack=*"), where: state.NewTable[string](state.Private("machine/"))}
	follow, stop := context.WithCancel(context.WithoutCancel(ctx)) // ctx ends with newPlugin
	var err error
	if p.store, err = state.Open(follow, env.Host, p.racks, p.where); err != nil {
		stop()
		return nil, err
	}
	return &sdk.Plugin{State: p.store, Check: p.check, Stop: func(context.Context) error { stop(); return nil }, Operations: operations.Mux{
		"racks:add":   operations.Func(p.add),
		"racks:where": operations.Func(p.find),
	}}, nil
}

// check decides about the state in tx, whoever changes it: no rack holds more machines
// than it has room for, and no two hold the same. What it reads becomes a condition of
// the change, what it writes is committed with it.
func (p *plugin) check(_ context.Context, tx *state.Tx) error {
	now := map[string]string{}
	for path, r := range p.racks.All(tx) {
		if len(r.Machine) > r.room() {
			return fault.At(fault.Invalid, path, "rack %s has room for %d machines, not for %d", r.Name, r.room(), len(r.Machine))
		}
		for _, m := range r.Machine {
			if other, ok := now[m.Name]; ok {
				return fault.At(fault.Exists, path, "machine %s is in rack %s already", m.Name, other)
			}
			now[m.Name] = r.Name
		}
	}
	for name, old := range p.where.All(tx, "") {
		if now[name] == "" {
			p.where.Delete(tx, name)
		} else if now[name] == old {
			delete(now, name)
		}
	}
	for name, rack := range now {
		if err := p.where.Put(tx, name, rack); err != nil {
			return err
		}
	}
	return nil
}

type addInput struct{ Rack, Machine string }

// add changes the tree by itself. It decides on a snapshot; when somebody else was
// faster, Update calls it again on the newer state.
func (p *plugin) add(ctx context.Context, in addInput) (operations.None, error) {
	_, err := p.store.Update(ctx, func(tx *state.Tx) error {
		if at, ok := p.where.Get(tx, in.Machine); ok {
			return fault.New(fault.Exists, "machine %s is in rack %s already", in.Machine, at)
		}
		r, ok := p.racks.Get(tx, in.Rack)
		if !ok {
			return fault.New(fault.NotFound, "there is no rack %s", in.Rack)
		}
		if len(r.Machine) >= r.room() {
			return fault.New(fault.Invalid, "rack %s has room for %d machines only", in.Rack, r.room())
		}
		r.Machine = append(r.Machine[:len(r.Machine):len(r.Machine)], machine{Name: in.Machine})
		if err := p.racks.Put(tx, r, in.Rack); err != nil {
			return err
		}
		return p.where.Put(tx, in.Machine, in.Rack)
	})
	return operations.None{}, err
}

type place struct {
	Rack string `json:"rack,omitempty"`
}

// find answers from the projection: in a handler it holds all that was acknowledged, on
// any node, before the call.
func (p *plugin) find(_ context.Context, in struct{ Machine string }) (place, error) {
	at, _ := p.where.Get(p.store.Now(), in.Machine)
	return place{at}, nil
}
