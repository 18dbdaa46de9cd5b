package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// shown is an answer of an RPC that a command shows.
type shown interface{ formatTable() string }

// every is the time between two showings with -w.
const every = 2 * time.Second

// dailyCommand makes the command of an RPC that reads: it shows as JSON what the RPC answers, and with -w again and again.
func dailyCommand[In any, Out shown](name, summary, help string, args []commands.Argument, opts []commands.Option,
	read func(*commands.Invocation) (In, error), answer func(context.Context, In) (Out, error)) commands.Command {
	opts = append(
		opts,
		commands.Option{
			Name:  "watch",
			Short: "w",
			Type:  commands.Bool,
			Help:  "show it again every 2 s until Ctrl-C",
		},
	)
	return commands.Command{
		Name:      name,
		Summary:   summary,
		Help:      help,
		Arguments: args,
		Options:   opts,
		Safe:      true,
		Run: func(ctx context.Context, in *commands.Invocation) error {
			asked, err := read(in)
			if err != nil {
				return err
			}
			show := func() error {
				call, cancel := context.WithTimeout(ctx, rpcTime)
				defer cancel()
				out, err := answer(call, asked)
				if err != nil {
					return err
				}
				if in.Flag("watch") && in.Width > 0 {
					in.Printf("\x1b[H\x1b[2J%s   %s\n\n", name, time.Now().Format(time.TimeOnly))
				}
				return in.Emit(out, out.formatTable)
			}
			if !in.Flag("watch") {
				return show()
			}
			for ctx.Err() == nil {
				err := show()
				if err != nil && ctx.Err() == nil {
					return err
				}
				host.Pause(ctx, every)
			}
			return nil
		},
	}
}

func (s *Service) portOption() commands.Option {
	return commands.Option{
		Name:     "port",
		Short:    "p",
		Help:     "only this port: name or number",
		Complete: s.completePort,
	}
}

func vlanOption() commands.Option {
	return commands.Option{
		Name: "vlan",
		Type: commands.Int,
		Help: "only this VLAN",
	}
}

func macOption() commands.Option {
	return commands.Option{
		Name: "mac",
		Help: "only this MAC address",
	}
}

// limitOption bounds what a table shows; a table is never cut without a word.
func limitOption() commands.Option {
	return commands.Option{
		Name:    "last",
		Short:   "n",
		Type:    commands.Int,
		Default: "1000",
		Help:    "entries at most; 0 = all",
	}
}

func vlanID(text string) (uint32, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n < 1 || n > 4094 {
		return 0, fault.At(
			fault.Invalid,
			"vlan",
			"%.20q is not a VLAN; write a number from 1 to 4094",
			text,
		)
	}
	return uint32(n), nil
}

// dailyCommands are what is typed all day.
func (s *Service) dailyCommands() []commands.Command {
	which := func(in *commands.Invocation) (whichIn, error) {
		return whichIn{in.Arg("switch"), in.Option("port")}, nil
	}
	return []commands.Command{
		dailyCommand("switch:ports", "Show the ports of a switch", "State, speed, VLANs, spanning tree and neighbour of each port, read now.\n\nExample: switch:ports sw1 -w",
			s.switchArg(true), []commands.Option{s.portOption()}, which, switchHandler(s, s.getPorts)),
		dailyCommand("switch:vlans", "Show the VLANs of a switch or of all", "Read now, with the names of the ports.\n\nExample: switch:vlans sw1\n         switch:vlans --vlan 100",
			s.switchArg(false), []commands.Option{vlanOption()}, func(in *commands.Invocation) (vlanIDIn, error) {
				id, err := vlanID(in.Option("vlan"))
				return vlanIDIn{Switch: in.Arg("switch"), VLAN: id}, err
			}, s.vlanLines),
		dailyCommand("switch:vlan-mismatches", "Show the VLANs that do not match at the ends of links", "Compares what all switches report now:\n"+
			"  one-end  only one end of a link has the VLAN\n  tagging  one end has it tagged, the other untagged\n  name     switches call the VLAN differently\n\n"+
			"Example: switch:vlan-mismatches --vlan 100", nil, []commands.Option{vlanOption()}, func(in *commands.Invocation) (vlanIDIn, error) {
			id, err := vlanID(in.Option("vlan"))
			return vlanIDIn{VLAN: id}, err
		}, s.vlanMismatches),
		dailyCommand("switch:search", "Search the switches for a part of a name, address or description", "Shows what is known of switches, ports, neighbours and learned addresses, without asking the switches. Case does\n"+
			"not count; of a MAC address any digits in a row.\n\nExample: switch:search 00:1b", []commands.Argument{{
			Name:     "text",
			Help:     "part of what is searched for",
			Required: true,
		}}, nil,
			func(in *commands.Invocation) (searchIn, error) {
				return searchIn{Text: in.Arg("text")}, nil
			}, s.search),
		dailyCommand("switch:counters", "Show rates and errors of the ports of a switch", "Bits a second and errors of the last two readings, of which the last is made now.\n\nExample: switch:counters sw1 -w",
			s.switchArg(true), []commands.Option{s.portOption()}, which, switchHandler(s, s.counterLines)),
		dailyCommand(
			"switch:stp",
			"Show the spanning tree of a switch",
			"State and root of each port, read now.\n\nExample: switch:stp sw1",
			s.switchArg(true),
			nil,
			which,
			switchHandler(s, s.stpLines),
		),
		dailyCommand("switch:neighbors", "Show who is attached to the switches", "The edges of the topology at the ports of a switch, or of all, and the neighbours that were not placed, with the reason.\n"+
			"Shows what is known; switch:TopoDiscover asks the switches again.\n\nExample: switch:neighbors | grep false", s.switchArg(false), nil, which, s.neighborLines),
		dailyCommand("switch:find", "Find where a MAC address, an IP address or a name is", "Asks all switches at the same time. How it is known:\n"+
			"  device    it is this switch, or a port of it\n  neighbor  the device at this port says so by LLDP or CDP\n"+
			"  edge      learned at a port that leads to no other switch: it is there\n  known     not learned now, seen there before\n"+
			"  link      learned at a port that leads to another switch: it is beyond\n\nExample: switch:find 02:00:00:00:01:1f",
			[]commands.Argument{{
				Name:     "address",
				Help:     "MAC address, IP address, or name of a switch or neighbour",
				Required: true,
				Complete: s.completeSwitch,
			}}, nil,
			func(in *commands.Invocation) (findIn, error) {
				return findIn{in.Arg("address")}, nil
			}, s.findAddress),
		dailyCommand("switch:history", "Show the last changes of the network", "One line a change, the newest first: nodes and cables that came or went, switches that fell silent or answer\n"+
			"again, ports that went up or down, addresses that moved, and what made the switches be read: a command, the\ninterval, a new list, or a trap. The last 1000 are kept, on whichever node they were noticed.\n\n"+
			"Example: switch:history sw1 --last 0 | grep removed", s.switchArg(false), []commands.Option{lastOption()}, func(in *commands.Invocation) (historyIn, error) {
			most, err := parseLastOption(in)
			return historyIn{
				Switch: in.Arg("switch"),
				Limit:  most,
			}, err
		}, s.historyLines),
		s.cmdFDB(), s.cmdARP(), s.cmdVLANChange("switch:vlan-add", true), s.cmdVLANChange("switch:vlan-set", false), s.cmdVLANDel(),
		s.cmdPort(), s.cmdPortSet(), s.cmdPortBounce(),
	}
}

func (s *Service) cmdFDB() commands.Command {
	c := commands.Command{
		Name:    "switch:fdb",
		Summary: "Show the forwarding table of a switch",
		Safe:    true,
		Help: "Read now, with the names of the ports. A table of any length can be shown: --last 0 shows all of it.\n\n" +
			"Example: switch:fdb sw1 --vlan 100 --port 1/24",
		Arguments: s.switchArg(true),
		Options:   []commands.Option{s.portOption(), vlanOption(), macOption(), limitOption()},
	}
	c.Run = func(ctx context.Context, in *commands.Invocation) error {
		id, err := vlanID(in.Option("vlan"))
		if err != nil {
			return err
		}
		asked := fdbLinesIn{
			whichIn: whichIn{in.Arg("switch"), in.Option("port")},
			VLAN:    id,
			MAC:     in.Option("mac"),
		}
		return showPaged(ctx, in, func(ctx context.Context, p pageIn) (*page[fdbLine], error) {
			asked.pageIn = p
			return switchHandler(s, s.fdbLines)(ctx, asked)
		})
	}
	return c
}

func (s *Service) cmdARP() commands.Command {
	c := commands.Command{
		Name:      "switch:arp",
		Summary:   "Show the ARP table of a switch",
		Safe:      true,
		Help:      "Read now. A table of any length can be shown: --last 0 shows all of it.\n\nExample: switch:arp sw1",
		Arguments: s.switchArg(true),
		Options:   []commands.Option{macOption(), limitOption()},
	}
	c.Run = func(ctx context.Context, in *commands.Invocation) error {
		asked := arpLinesIn{
			whichIn: whichIn{Switch: in.Arg("switch")},
			MAC:     in.Option("mac"),
		}
		return showPaged(ctx, in, func(ctx context.Context, p pageIn) (*page[arpLine], error) {
			asked.pageIn = p
			return switchHandler(s, s.arpLines)(ctx, asked)
		})
	}
	return c
}

// showPaged shows a table page by page: as text a table each, as JSON one array.
func showPaged[T line](ctx context.Context, in *commands.Invocation,
	read func(context.Context, pageIn) (*page[T], error)) error {
	left, err := parseLastOption(in)
	if err != nil {
		return err
	}
	limited, entries := left > 0, 0
	for p := (pageIn{}); ; {
		if limited {
			p.Limit = left
		}
		call, cancel := context.WithTimeout(ctx, rpcTime)
		out, err := read(call, p)
		cancel()
		if err != nil {
			return err
		}
		if in.Format == "json" && p.Cursor == "" {
			if _, err := io.WriteString(in.Stdout, "["); err != nil {
				return err
			}
		}
		if err := showPage(in, out, entries); err != nil {
			return err
		}
		entries += len(out.Entries)
		if left -= len(out.Entries); out.Next == "" || limited && left <= 0 {
			if in.Format == "json" {
				_, err = io.WriteString(in.Stdout, "]\n")
			} else if out.Next != "" {
				_, err = io.WriteString(
					in.Stderr,
					"There are more entries; --last 0 shows all, --vlan, --port and --mac choose.\n",
				)
			}
			return err
		}
		p.Cursor = out.Next
	}
}

// showPage writes a page that comes after some entries.
func showPage[T line](in *commands.Invocation, out *page[T], before int) error {
	if in.Format == "json" {
		for _, note := range out.Partial {
			if _, err := io.WriteString(in.Stderr, "partial: "+note+"\n"); err != nil {
				return err
			}
		}
		for i, r := range out.Entries {
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			if before+i > 0 {
				text = append([]byte(",\n"), text...)
			}
			if _, err := in.Stdout.Write(text); err != nil {
				return err
			}
		}
		return nil
	}
	if len(out.Entries) == 0 && (before > 0 || out.Next != "") {
		return nil // a page in which nothing was chosen
	}
	text := out.formatTable()
	if before > 0 { // without the title
		for range 2 {
			_, text, _ = strings.Cut(text, "\n")
		}
	}
	_, err := io.WriteString(in.Stdout, text)
	return err
}

func (s *Service) cmdVLANChange(name string, create bool) commands.Command {
	summary := "Replace the ports of a VLAN"
	help := "All other ports leave the VLAN."
	if create {
		summary, help = "Make a VLAN with its ports", "The VLAN is made whole or not at all."
	}
	ports := "names or numbers, or ranges of numbers, separated by commas"
	c := commands.Command{
		Name:    name,
		Summary: summary,
		Help: help + " It is read back before this is called done. Untagged ports get the VLAN as\nPVID and leave the one they were untagged in.\n\n" +
			"Example: " + name + " sw1 100 --tagged 1-2,uplink --untagged 5",
		Arguments: append(
			s.switchArg(true),
			commands.Argument{
				Name:     "vlan",
				Help:     "1 to 4094",
				Required: true,
			},
		),
		Options: []commands.Option{{
			Name:     "tagged",
			Short:    "t",
			Help:     ports,
			Complete: s.completePorts,
		},
			{
				Name:     "untagged",
				Short:    "u",
				Help:     ports,
				Complete: s.completePorts,
			}},
	}
	if create {
		c.Options = append(
			c.Options,
			commands.Option{
				Name: "name",
				Help: "of the VLAN, up to 32 characters",
			},
		)
	}
	change := s.changeVLAN(create)
	c.Run = func(ctx context.Context, in *commands.Invocation) error {
		id, err := vlanID(in.Arg("vlan"))
		if err != nil {
			return err
		}
		if len(in.Option("name")) > 32 {
			return fault.At(fault.Invalid, "name", "a VLAN's name has up to 32 characters")
		}
		out, err := change(
			ctx,
			vlanByName{vlanIDIn{Switch: in.Arg("switch"), VLAN: id}, in.Option("name"), strings.Split(in.Option("tagged"), ","), strings.Split(in.Option("untagged"), ",")},
		)
		return doneVLAN(in, "is written", id, out, err)
	}
	return c
}

func doneVLAN(in *commands.Invocation, what string, id uint32, out *done, err error) error {
	if err != nil {
		return err
	}
	return in.Emit(out, func() string {
		return fmt.Sprintf("VLAN %d of %s %s, and was read back.\n", id, in.Arg("switch"), what)
	})
}

func (s *Service) cmdVLANDel() commands.Command {
	return commands.Command{
		Name:    "switch:vlan-del",
		Summary: "Remove a VLAN",
		Help:    "Ports that are in no other VLAN go back to VLAN 1.\n\nExample: switch:vlan-del sw1 100",
		Arguments: append(
			s.switchArg(true),
			commands.Argument{
				Name:     "vlan",
				Help:     "2 to 4094",
				Required: true,
			},
		),
		Run: func(ctx context.Context, in *commands.Invocation) error {
			id, err := vlanID(in.Arg("vlan"))
			if err != nil {
				return err
			}
			out, err := switchHandler(s, s.dropVLAN)(
				ctx,
				vlanByName{vlanIDIn: vlanIDIn{Switch: in.Arg("switch"), VLAN: id}},
			)
			return doneVLAN(in, "is removed", id, out, err)
		},
	}
}
