package shell

import (
	"context"
	"os"
	"strconv"
	"time"

	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (s *Shell) routerAdd() commands.Command {
	return commands.Command{Name: "bier:router-add", Summary: "Say how a router is reached",
		Help: "The node-id must be that of the BIER topology. The password is asked for, or read from a pipe, when a user is\n" +
			"given without a key. A host key that is not given is the first the router shows.\n\nExample: bier:router-add r1 192.0.2.1 --user admin",
		Arguments: []commands.Argument{{Name: "node", Help: "its node-id", Required: true, Complete: s.nodes}, {Name: "host", Help: "its address", Required: true}},
		Options: []commands.Option{{Name: "port", Short: "p", Type: commands.Int, Default: "0", Help: "0 = the driver's"}, {Name: "user", Short: "u", Help: "user name"},
			{Name: "key-file", Help: "file with the private key", Type: commands.File}, {Name: "host-key", Help: "the key it may show, ssh-ed25519 AAAA…"},
			{Name: "driver", Help: "driver; chosen when absent", Complete: s.drivers}, {Name: "dialect", Help: "dialect; chosen when absent"}},
		Run: s.runRouterAdd}
}

func (s *Shell) drivers(ctx context.Context, _ string) (out []string) {
	for _, d := range s.Registry.List(ctx) {
		out = append(out, d.Name)
	}
	return out
}

func (s *Shell) runRouterAdd(ctx context.Context, in *commands.Invocation) error {
	port, err := strconv.ParseUint(in.Option("port"), 10, 16)
	if err != nil {
		return fault.New(fault.Invalid, "--port %s is not within 0..65535", in.Option("port"))
	}
	m := mounts.Mount{Node: in.Arg("node"), Host: in.Arg("host"), Port: uint16(port), User: in.Option("user"), HostKey: in.Option("host-key"),
		Driver: in.Option("driver"), Dialect: in.Option("dialect")}
	if file := in.Option("key-file"); file != "" {
		key, err := os.ReadFile(file)
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "the key cannot be read: %v", commands.FileError(err))
		}
		m.PrivateKey = string(key)
	} else if m.User != "" && in.Terminal != nil {
		if m.Password, err = in.Prompt(ctx, "Password of "+m.User+" at "+m.Node+": ", false); err != nil {
			return err
		}
	}
	return s.Mounts.Put(ctx, m)
}

func (s *Shell) routerRemove() commands.Command {
	return commands.Command{Name: "bier:router-remove", Summary: "Forget how a router is reached",
		Help:      "What the router holds stays on it; take the node out of its sub-domains first to have it removed.",
		Arguments: []commands.Argument{{Name: "node", Help: "its node-id", Required: true, Complete: s.nodes}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return s.Mounts.Remove(ctx, in.Arg("node"))
		}}
}

func (s *Shell) routerSync() commands.Command {
	return commands.Command{Name: "bier:router-sync", Summary: "Compare routers with what they must hold, and repair them",
		Help:      "Compares now instead of with the next audit, and waits up to a minute.",
		Arguments: []commands.Argument{{Name: "node", Help: "node-ids; all when absent", Repeated: true, Complete: s.nodes}},
		Run:       s.runRouterSync}
}

func (s *Shell) runRouterSync(ctx context.Context, in *commands.Invocation) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	t := &commands.Table{Empty: "No router must hold anything.", Columns: []commands.Column{{Title: "Node", Key: "node-id"}, {Title: "State", Key: "state"},
		{Title: "Driver", Key: "driver"}, {Title: "Reason", Key: "reason"}}}
	list, err := s.Routers.Compare(ctx, in.Args["node"])
	if err != nil {
		return err
	}
	for _, r := range list {
		t.Add(r.Node, r.State, r.Driver, r.Reason)
	}
	return in.Emit(t, nil)
}
