package service

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (s *Service) cmdPort() commands.Command {
	which := func(in *commands.Invocation) (whichIn, error) {
		return whichIn{in.Arg("switch"), in.Option("port")}, nil
	}
	return dailyCommand("switch:port", "Show the settings of the ports of a switch",
		"State, description, speed, flow control and power over Ethernet of each port, read now.\n\nExample: switch:port sw1 --port 1/7",
		s.switchArg(true), []commands.Option{s.portOption()}, which, switchHandler(s, s.getPortSettings))
}

// portArgs are the arguments of a command that changes a port.
func (s *Service) portArgs() []commands.Argument {
	port := commands.Argument{
		Name:     "port",
		Help:     "name or number",
		Required: true,
		Complete: s.completePort,
	}
	return append(s.switchArg(true), port)
}

func forceOption() commands.Option {
	return commands.Option{Name: "force", Type: commands.Bool,
		Help: "also if the port leads to another switch, is of an aggregate, or carries the way to the controller"}
}

func (s *Service) cmdPortSet() commands.Command {
	c := commands.Command{
		Name:    "switch:port-set",
		Summary: "Change the settings of a port",
		Help: "What is not named stays. The change is made whole or not at all, and is read back before this is called done.\n" +
			"A port on which more depends is not switched off without --force.\n\n" +
			"Example: switch:port-set sw1 1/7 --description \"printer, room 3\" --state up\n         switch:port-set sw1 1/7 --power off",
		Arguments: s.portArgs(),
		Options: []commands.Option{
			{Name: "state", Help: "up or down"},
			{
				Name: "description",
				Help: "up to 64 characters; \"\" removes it",
			},
			{
				Name: "power",
				Help: "power over Ethernet: on or off",
			},
			{
				Name: "power-priority",
				Help: "critical, high or low",
			},
			{
				Name: "power-limit",
				Type: commands.Int,
				Help: "in milliwatts",
			},
			{Name: "speed", Help: "in Mbit/s, or auto"},
			{Name: "duplex", Help: "half, full or auto"},
			forceOption(),
		},
	}
	change := switchHandler(s, s.setPort)
	c.Run = func(ctx context.Context, in *commands.Invocation) error {
		asked, err := readPortChange(in)
		if err != nil {
			return err
		}
		out, err := change(ctx, asked)
		return donePort(in, "is set, and was read back", out, err)
	}
	return c
}

// readPortChange reads the options of switch:port-set.
func readPortChange(in *commands.Invocation) (out portChangeIn, err error) {
	out = portChangeIn{
		whichIn: whichIn{in.Arg("switch"), in.Arg("port")},
		Force:   in.Flag("force"),
	}
	var l fault.List
	word := func(name string, words ...string) string {
		text := in.Option(name)
		for _, w := range words {
			if text == w {
				return text
			}
		}
		if text != "" {
			l = append(l, fault.At(fault.Invalid, name, "%.20q is not one of %v", text, words))
		}
		return ""
	}
	number := func(name, auto string) *uint32 {
		text := in.Option(name)
		switch {
		case text == "":
			return nil
		case text == auto:
			return new(uint32(0))
		}
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			l = append(l, fault.At(fault.Invalid, name, "%.20q is not a number", text))
		}
		return new(uint32(n))
	}
	out.State = word("state", stateUp, stateDown)
	out.Power = word("power", powerOn, powerOff)
	out.PowerPriority = word("power-priority", priorities()[1:]...)
	out.Duplex = word("duplex", duplexes()...)
	out.PowerLimit = number("power-limit", "")
	out.Speed = number("speed", "auto")
	if text, given := in.Options["description"]; given {
		out.Description = new(text)
	}
	return out, l.Err()
}

func (s *Service) cmdPortBounce() commands.Command {
	c := commands.Command{
		Name:    "switch:port-bounce",
		Summary: "Switch a port off and on again",
		Help: "The port is always switched on again, also if the controller is killed in between. A port that is off already, and one\n" +
			"on which more depends, is refused.\n\nExample: switch:port-bounce sw1 1/7\n         switch:port-bounce sw1 1/7 --power --pause 10s",
		Arguments: s.portArgs(),
		Options: []commands.Option{
			{
				Name: "power",
				Type: commands.Bool,
				Help: "the power over Ethernet instead of the link",
			},
			{
				Name:    "pause",
				Default: bouncePause.String(),
				Help:    "time for which it is off, 100ms to 1m",
			},
			forceOption(),
		},
	}
	change := switchHandler(s, s.bouncePort)
	c.Run = func(ctx context.Context, in *commands.Invocation) error {
		pause, err := time.ParseDuration(in.Option("pause"))
		if err != nil || pause < time.Millisecond || pause > time.Hour {
			return fault.At(
				fault.Invalid,
				"pause",
				"%.20q is not a time; write 3s",
				in.Option("pause"),
			)
		}
		asked := bounceIn{whichIn{in.Arg("switch"), in.Arg("port")}, in.Flag("power"), uint32(pause.Milliseconds()), in.Flag("force")}
		out, err := change(ctx, asked)
		return donePort(in, "was switched off and on again", out, err)
	}
	return c
}

func donePort(in *commands.Invocation, what string, out *done, err error) error {
	if err != nil {
		return err
	}
	return in.Emit(out, func() string {
		return fmt.Sprintf("Port %s of %s %s.\n", in.Arg("port"), in.Arg("switch"), what)
	})
}
