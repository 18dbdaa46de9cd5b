package writes

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/switchdriver"
)

// Operation is what is asked for.
type Operation struct {
	What    string        // "setting VLAN 5"
	Request proto.Message // of the driver contract, without the switch, whose logins are secret; nil: a discovery
	Scope   int           // of a discovery
	By      string        // who asked for it, if it is not who calls
	// Ports are the ports in Request that the caller named, by the numbers that their names had then.
	Ports map[uint32]string
	Undo  string // the operation that is taken back; its request, if any, is found when it is carried out
	Force bool   // of an undo: what was changed since is overwritten
	Group string // the plan that it is of
	// Current finds What and Request while no other change of the switch is carried out; without a Request then, there is
	// nothing to do. Only the process that acts on switches carries out such an operation.
	Current func(context.Context, *Operation) error
}

// Name is the name of the operation in the driver contract, "WriteVlan", or Discover or Undo.
func (o *Operation) Name() string {
	switch {
	case o.Request == nil && o.Undo != "":
		return Undo
	case o.Request == nil:
		return Discover
	}
	return switchdriver.NameOf(o.Request)
}

// VLAN is the id of the VLAN that is changed; 0: none is.
func (o *Operation) VLAN() uint32 {
	switch r := o.Request.(type) {
	case *pluginv1.WriteVlanRequest:
		return r.GetVlan().GetVlanId()
	case *pluginv1.DeleteVlanRequest:
		return r.VlanId
	}
	return 0
}

// Bounces reports whether a port is switched off and on again.
func (o *Operation) Bounces() bool {
	r, ok := o.Request.(*pluginv1.WritePortSettingsRequest)
	return ok && r.Bounce > 0
}

// form is an Operation in a record.
type form struct {
	Name    string          `json:"name"`
	What    string          `json:"what"`
	Request json.RawMessage `json:"request,omitempty"`
	Scope   int             `json:"scope,omitempty"`
	By      string          `json:"by,omitempty"`

	Ports map[uint32]string `json:"ports,omitempty"`
	Undo  string            `json:"undo,omitempty"`
	Force bool              `json:"force,omitempty"`
	Group string            `json:"group,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (o Operation) MarshalJSON() (_ []byte, err error) {
	f := form{
		Name:  o.Name(),
		What:  o.What,
		Scope: o.Scope,
		By:    o.By,
		Ports: o.Ports,
		Undo:  o.Undo,
		Force: o.Force,
		Group: o.Group,
	}
	if o.Request != nil {
		f.Request, err = protojson.Marshal(o.Request)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// UnmarshalJSON implements json.Unmarshaler. It refuses an operation that is not known, or what is not its request.
func (o *Operation) UnmarshalJSON(text []byte) error {
	var f form
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	*o = Operation{
		What:  f.What,
		Scope: f.Scope,
		By:    f.By,
		Ports: f.Ports,
		Undo:  f.Undo,
		Force: f.Force,
		Group: f.Group,
	}
	if f.Name == Discover || f.Name == Undo {
		return nil
	}
	if o.Request = switchdriver.NewRequest(f.Name); o.Request == nil {
		return fmt.Errorf("the operation %.40q is not known", f.Name)
	}
	if err := protojson.Unmarshal(f.Request, o.Request); err != nil {
		return fmt.Errorf("the request of operation %s: %w", f.Name, err)
	}
	return nil
}
