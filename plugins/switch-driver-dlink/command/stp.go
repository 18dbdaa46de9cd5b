package command

import (
	"fmt"

	"ctl.internal/sdk/switchdriver"
)

// ShowSTP shows the spanning tree of the switch, or of a port.
func ShowSTP(port uint32) string {
	if port == 0 {
		return "show stp"
	}
	return fmt.Sprintf("show stp ports %d-%d", port, port)
}

// STP switches the spanning tree of the switch (port 0) or of a port on or off.
func STP(port uint32, on bool) string {
	verb := "disable"
	if on {
		verb = "enable"
	}
	if port == 0 {
		return verb + " stp"
	}
	return fmt.Sprintf("config stp ports %d-%d state %s", port, port, verb)
}

// Setting is one of the settings that SDN needs, and the command of it.
type Setting struct{ What, Line string }

// Settings are those that are asked for, in the order of the contract.
func Settings(s *switchdriver.Settings) (out []Setting) {
	for _, x := range []struct {
		asked bool
		Setting
	}{
		{s.GetDisableStp(), Setting{"spanning tree", STP(0, false)}},
		{s.GetDisableBpduFlooding(), Setting{"BPDU flooding", "config stp fbpdu disable"}},
		{s.GetDisableBroadcastFlooding(), Setting{"broadcast flooding", "config traffic control all broadcast disable"}},
		{s.GetDisableMulticastFlooding(), Setting{"multicast flooding", "config traffic control all multicast disable"}},
		{s.GetDisableUnknownFlooding(), Setting{"flooding of unknown addresses", "config traffic control all unicast enable action drop threshold 0"}},
		{s.GetDisableLearning(), Setting{"learning", "config ports all learning disable"}},
	} {
		if x.asked {
			out = append(out, x.Setting)
		}
	}
	return out
}
