package service

import (
	"context"
	"slices"
	"strconv"

	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Commands describes the console's commands of drivers and routers.
func Commands() []commands.Command {
	return (&Service{}).commandTable()
}

// commandTable is the table of commands; those of the zero Service describe themselves only.
func (s *Service) commandTable() []commands.Command {
	node := commands.Argument{
		Name:     "node",
		Help:     "its node-id",
		Required: true,
		Complete: s.completeNodeIDs,
	}
	topology := commands.Option{
		Name:     "topology",
		Short:    "t",
		Complete: s.completeTopologyIDs,
		Help:     "topology-id; needed when several have the channel",
	}
	nodes := commands.Argument{
		Name:     "node",
		Help:     "node-ids; all when absent",
		Repeated: true,
		Complete: s.completeNodeIDs,
	}
	return []commands.Command{
		{
			Name:    "bier:driver-list",
			Summary: "List the drivers of BIER routers",
			Safe:    true,
			Run:     s.listDrivers,
			Help: "Shows each driver with what it is for, and what its routers are known not to be able to do: tunnel (RFC 8279\n" +
				"section 6.9), transit (without a BFR-id), ecmp (section 6.7), forwarding (show their tables), ping. A router gets\n" +
				"the driver that its mount names, else the one that fits best what it announces.",
		},
		{
			Name:    "bier:session-list",
			Summary: "List the routers with their sessions",
			Safe:    true,
			Run:     s.listSessions,
			Help: "Shows each mounted router: its session, its driver, what it cannot do (see bier:driver-list), and whether it\n" +
				"holds what it must hold.",
		},
		{
			Name:    "bier:router-add",
			Summary: "Say how a router is reached",
			Run:     s.addRouter,
			Help: "The node-id must be that of the BIER topology. The password is asked for, or read from a pipe, when a user is\n" +
				"given without a key. A host key that is not given is the first the router shows.\n\n" +
				"Example: bier:router-add r1 192.0.2.1 --user admin",
			Arguments: []commands.Argument{node, {
				Name:     "host",
				Help:     "its address",
				Required: true,
			}},
			Options: []commands.Option{
				{
					Name:    "port",
					Short:   "p",
					Type:    commands.Int,
					Default: "0",
					Help:    "0 = the driver's",
				},
				{Name: "user", Short: "u", Help: "user name"},
				{
					Name: "key-file",
					Help: "file with the private key",
					Type: commands.File,
				},
				{
					Name: "host-key",
					Help: "the key it may show, ssh-ed25519 AAAA…",
				},
				{
					Name:     "driver",
					Help:     "driver; chosen when absent",
					Complete: s.driverNames,
				},
				{
					Name: "dialect",
					Help: "dialect; chosen when absent",
				}},
		},
		{
			Name:      "bier:router-remove",
			Summary:   "Forget how a router is reached",
			Arguments: []commands.Argument{node},
			Help:      "What the router holds stays on it; take the node out of its sub-domains first to have it removed.",
			Run: func(ctx context.Context, in *commands.Invocation) error {
				return s.data.Remove(ctx, in.Arg("node"))
			},
		},
		{
			Name:      "bier:router-sync",
			Summary:   "Compare routers with what they must hold, and repair them",
			Run:       s.syncRouters,
			Help:      "Compares now instead of with the next audit, and waits up to a minute.",
			Arguments: []commands.Argument{nodes},
		},
		{
			Name:    "bier:alarm-list",
			Summary: "List what is wrong in the network now",
			Safe:    true,
			Run:     s.listAlarms,
			Help:    "Shows routers that are not reached or refuse, what routers report, and channels that suffer from it.",
		},
		{
			Name:      "bier:alarm-clear",
			Summary:   "Forget what a router reported of the network",
			Arguments: []commands.Argument{node},
			Help:      "Routers report a bfr-id-collision and the like, but not their end. They report it again when it is still there.",
			Run: func(ctx context.Context, in *commands.Invocation) error {
				return s.clearNotices(ctx, in.Arg("node"))
			},
		},
		{
			Name:    "bier:verify",
			Summary: "Compare the forwarding tables of routers with those computed",
			Safe:    true,
			Run:     s.showVerified,
			Help: "Reads the tables that routers made of their configuration, where they show them, and says where they\n" +
				"differ. Of equal ways each is right. Packets and bytes are what came in so far, where routers count.",
			Arguments: []commands.Argument{nodes},
		},
		{
			Name:    "bier:bitstring-show",
			Summary: "Show the BitStrings that reach egress nodes of a channel",
			Safe:    true,
			Run:     s.showBitStrings,
			Help:    "Shows the computed BitStrings that the ingress sends, for all egress nodes or for those that are named.",
			Arguments: []commands.Argument{
				{
					Name:     "channel",
					Help:     "its name",
					Required: true,
				},
				{
					Name:     "egress",
					Help:     "node-ids; all when absent",
					Repeated: true,
					Complete: s.completeNodeIDs,
				},
			},
			Options: []commands.Option{topology},
		},
		{
			Name:    "bier:trace",
			Summary: "Show the routers that packets of a channel pass",
			Safe:    true,
			Run:     s.showTraced,
			Help: "Follows packets from the ingress to each egress node by the forwarding tables that routers show now. The next\n" +
				"hop of a router whose driver cannot read them is the computed one; the result says so. Where a table is not read\n" +
				"otherwise, the rest of the way is unknown.",
			Arguments: []commands.Argument{
				{
					Name:     "channel",
					Help:     "its name",
					Required: true,
				},
				{
					Name:     "egress",
					Help:     "node-ids; all when absent",
					Repeated: true,
					Complete: s.completeNodeIDs,
				},
			},
			Options: []commands.Option{topology},
		},
		{
			Name:    "bier:echo-stop",
			Summary: "End the proactive echo requests of a channel",
			Run:     s.stopStanding,
			Help:    "They end also when the channel is not deployed any more, and when the plugin bier-service ends.",
			Arguments: []commands.Argument{{
				Name:     "channel",
				Help:     "its name",
				Required: true,
				Complete: s.completeStanding,
			}},
			Options: []commands.Option{topology},
		},
		{
			Name:    "bier:ping",
			Summary: "Ping the egress nodes of a channel over BIER",
			Safe:    true,
			Run:     s.showPinged,
			Help: "Has the ingress router send packets over BIER, where its model can, and shows how many answers came beside\n" +
				"the state of each egress node.",
			Arguments: []commands.Argument{{
				Name:     "channel",
				Help:     "its name",
				Required: true,
			},
				{
					Name:     "egress",
					Help:     "node-ids; all when absent",
					Repeated: true,
					Complete: s.completeNodeIDs,
				}},
			Options: []commands.Option{topology,
				{
					Name:    "count",
					Short:   "c",
					Type:    commands.Int,
					Default: "5",
					Help:    "packets to each",
				}},
		},
	}
}

// completeNodeIDs completes ids of mounted routers.
func (s *Service) completeNodeIDs(_ context.Context, prefix string) []string {
	return bierplugin.Complete(slices.Values(s.data.Mounts.Nodes(s.data.store.Now())), prefix)
}

// completeTopologyIDs completes ids of topologies with channels.
func (s *Service) completeTopologyIDs(_ context.Context, prefix string) []string {
	return bierplugin.Complete(slices.Values(s.data.ChannelTopologies(s.data.store.Now())), prefix)
}

func (s *Service) driverNames(ctx context.Context, _ string) (out []string) {
	for _, d := range s.registry.List(ctx) {
		out = append(out, d.Name)
	}
	return out
}

// maxKeyFile is the largest file of a private key, in bytes.
const maxKeyFile = 64 << 10

func (s *Service) addRouter(ctx context.Context, in *commands.Invocation) error {
	port, err := strconv.ParseUint(in.Option("port"), 10, 16)
	if err != nil {
		return fault.New(fault.Invalid, "--port %s is not within 0..65535", in.Option("port"))
	}
	m := mounts.Mount{
		Node:    in.Arg("node"),
		Host:    in.Arg("host"),
		Port:    uint16(port),
		User:    in.Option("user"),
		HostKey: in.Option("host-key"),
		Driver:  in.Option("driver"),
		Dialect: in.Option("dialect"),
	}
	if file := in.Option("key-file"); file != "" {
		key, err := in.ReadFile("", file, maxKeyFile)
		if err != nil {
			return err
		}
		m.PrivateKey = string(key)
	} else if m.User != "" && in.Terminal != nil {
		if m.Password, err = in.Prompt(
			ctx,
			"Password of "+m.User+" at "+m.Node+": ",
			false,
		); err != nil {
			return err
		}
	}
	return s.data.Put(ctx, m)
}
