package switchdriver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// PortSettingsReader reads what is set at ports; port 0 asks for all. A port that is not there: fault.NotFound. It
// also returns the power supplies of the ports, none where the switch has no power over Ethernet.
type PortSettingsReader interface {
	ReadPortSettings(ctx context.Context, sw *Switch, port uint32) ([]*PortSettings, []*PowerSupply, error)
}

// PortSettingsWriter changes the fields that are set in s, and reads them back. A port that is not there:
// fault.NotFound. A field that this driver or switch cannot change: fault.Unsupported with the name of the field as
// its path, before anything is sent.
type PortSettingsWriter interface {
	WritePortSettings(ctx context.Context, sw *Switch, s *PortSettings) error
}

// PortBouncer is a PortSettingsWriter that takes a port down and up itself: it gives the port the opposite of s, and s
// after the pause. Whatever happens in between, also the end of ctx, it gives the port s. Other drivers need nothing
// for that: they are called twice.
type PortBouncer interface {
	BouncePort(ctx context.Context, sw *Switch, s *PortSettings, pause time.Duration) error
}

func settingsOperations() []operation {
	return []operation{
		newReadOperation(func(ctx context.Context, d PortSettingsReader, r *pluginv1.ReadPortSettingsRequest) (*pluginv1.ReadPortSettingsResponse, error) {
			ports, supplies, err := d.ReadPortSettings(ctx, r.Switch, r.Port)
			return &pluginv1.ReadPortSettingsResponse{
				Ports:    ports,
				Supplies: supplies,
			}, err
		}, validPortSettings),
		newWriteOperation(writePortSettings, "ReadPortSettings",
			func(ctx context.Context, d PortSettingsReader, r *pluginv1.WritePortSettingsRequest) (string, error) {
				ports, _, err := d.ReadPortSettings(ctx, r.Switch, r.Settings.GetPort())
				if err != nil {
					return "", err
				}
				if len(ports) != 1 {
					return fmt.Sprintf(
						"%d ports with the number %d",
						len(ports),
						r.Settings.GetPort(),
					), nil
				}
				return SettingsDiffer(r.Settings, ports[0]), nil
			}),
	}
}

func writePortSettings(
	ctx context.Context,
	d PortSettingsWriter,
	r *pluginv1.WritePortSettingsRequest,
) (*pluginv1.WritePortSettingsResponse, error) {
	answer := &pluginv1.WritePortSettingsResponse{}
	if r.Bounce == 0 {
		return answer, d.WritePortSettings(ctx, r.Switch, r.Settings)
	}
	pause := time.Duration(r.Bounce) * time.Millisecond
	if err := CheckBounce(r.Settings, pause); err != nil {
		return answer, err
	}
	if own, ok := d.(PortBouncer); ok {
		return answer, own.BouncePort(ctx, r.Switch, r.Settings, pause)
	}
	return answer, bouncePort(ctx, d, r.Switch, r.Settings, pause)
}

// bringUpTime bounds how long a port that was taken down is brought up again when the call has ended.
const bringUpTime = 15 * time.Second

// bouncePort takes a port down and up by two calls of a driver. Once the first one may have had an effect, the second
// is made in any case.
func bouncePort(
	ctx context.Context,
	d PortSettingsWriter,
	sw *Switch,
	s *PortSettings,
	pause time.Duration,
) error {
	cause := d.WritePortSettings(ctx, sw, opposite(s))
	if cause != nil && refusedBefore(cause) {
		return cause
	}
	if cause == nil {
		cause = waitFor(ctx, pause)
	}
	up, cancel := context.WithTimeout(context.WithoutCancel(ctx), bringUpTime)
	defer cancel()
	err := d.WritePortSettings(up, sw, s)
	switch {
	case err == nil:
		return cause
	case cause == nil:
		return err
	}
	return fault.Wrap(
		fault.KindOf(err),
		cause,
		"%v; it may be down, because it could not be brought up again: %v",
		cause,
		err,
	)
}

// refusedBefore reports whether a fault says that nothing was sent.
func refusedBefore(err error) bool {
	before := []fault.Kind{fault.Invalid, fault.Missing, fault.NotFound, fault.Unsupported, fault.Denied}
	return slices.Contains(before, fault.KindOf(err))
}

func waitFor(ctx context.Context, pause time.Duration) error {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fault.Wrap(
			fault.Unavailable,
			ctx.Err(),
			"the call ended during the pause; the port was brought up at once",
		)
	}
}

// opposite is what a port is given before it is given s.
func opposite(s *PortSettings) *PortSettings {
	off := false
	o := &PortSettings{Port: s.GetPort()}
	if s.Up != nil {
		o.Up = &off
	}
	if s.Power != nil {
		o.Power = &off
	}
	return o
}

// ReadPortSettings implements PortSettingsReader.
func (c *Client) ReadPortSettings(
	ctx context.Context,
	sw *Switch,
	port uint32,
) ([]*PortSettings, []*PowerSupply, error) {
	r, err := c.rpc.ReadPortSettings(ctx, &pluginv1.ReadPortSettingsRequest{
		Switch: sw,
		Port:   port,
	})
	return r.GetPorts(), r.GetSupplies(), fault.FromStatus(err)
}

// WritePortSettings implements PortSettingsWriter.
func (c *Client) WritePortSettings(ctx context.Context, sw *Switch, s *PortSettings) error {
	_, err := c.rpc.WritePortSettings(
		ctx,
		&pluginv1.WritePortSettingsRequest{
			Switch:   sw,
			Settings: s,
		},
	)
	return fault.FromStatus(err)
}

// The values of PortSettings.
const (
	PowerCritical uint32 = 1 // of power_priority (pethPsePortPowerPriority, RFC 3621)
	PowerHigh     uint32 = 2
	PowerLow      uint32 = 3

	DuplexHalf uint32 = 1
	DuplexFull uint32 = 2

	// MaxDescription is the longest description of a port in octets (ifAlias, RFC 2863).
	MaxDescription = 64
	// MaxPowerLimit is the highest limit of a port in milliwatts (IEEE 802.3bt, class 8, at the supply).
	MaxPowerLimit = 99_900

	maxPowerStatus = 6
	maxPowerClass  = 8
	maxFlowControl = 4
)

// The bounds of the pause of a bounce.
const (
	MinBounce = 100 * time.Millisecond
	MaxBounce = time.Minute
)

// speeds are those of IEEE 802.3 in Mbit/s; 0 is negotiated.
func speeds() []uint32 {
	return []uint32{0, 10, 100, 1000, 2500, 5000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000}
}

// CheckPortSettings refuses settings that no port can have, or that change nothing. All faults are reported at once.
func CheckPortSettings(s *PortSettings) error {
	if s == nil {
		return fault.At(fault.Missing, "settings", "the call has no settings")
	}
	var l fault.List
	bad := func(path, format string, args ...any) {
		l = append(l, fault.At(fault.Invalid, path, format, args...))
	}
	if !validPort(s.Port) {
		bad("port", "%d is not the number of a port, 1 to %d", s.Port, maxPort)
	}
	text := s.GetDescription()
	if len(text) > MaxDescription || !Printable(text) {
		bad(
			"description",
			"%.80q is not a description of up to %d printable ASCII characters",
			text,
			MaxDescription,
		)
	}
	if s.PowerPriority != nil && (*s.PowerPriority < PowerCritical || *s.PowerPriority > PowerLow) {
		bad("power-priority", "%d is not a priority: 1 critical, 2 high, 3 low", *s.PowerPriority)
	}
	if s.PowerLimit != nil && (*s.PowerLimit == 0 || *s.PowerLimit > MaxPowerLimit) {
		bad("power-limit", "%d is not a limit in milliwatts, 1 to %d", *s.PowerLimit, MaxPowerLimit)
	}
	l = append(l, checkSpeed(s)...)
	if readOnly(s) {
		bad(
			"settings",
			"the status, class and power of a powered device, and the state of the link, can only be read",
		)
	}
	if !changes(s) && len(l) == 0 {
		l = append(
			l,
			fault.At(fault.Missing, "settings", "nothing is to be changed at port %d", s.Port),
		)
	}
	return l.Err()
}

func checkSpeed(s *PortSettings) (l fault.List) {
	if !slices.Contains(speeds(), s.GetSpeed()) {
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"speed",
				"%d is not a speed in Mbit/s; 0 is negotiated",
				s.GetSpeed(),
			),
		)
	}
	switch {
	case s.GetDuplex() > DuplexFull:
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"duplex",
				"%d is not a duplex mode: 1 half, 2 full, 0 negotiated",
				s.GetDuplex(),
			),
		)
	case s.GetDuplex() != 0 && s.GetSpeed() == 0:
		l = append(
			l,
			fault.At(fault.Invalid, "duplex", "a duplex mode needs a speed that is not negotiated"),
		)
	case s.GetDuplex() == DuplexHalf && s.GetSpeed() > 100:
		l = append(
			l,
			fault.At(fault.Invalid, "duplex", "there is no half duplex at %d Mbit/s", s.GetSpeed()),
		)
	}
	return l
}

func readOnly(s *PortSettings) bool {
	return s.PowerStatus != nil || s.PowerClass != nil || s.PowerDrawn != nil || s.LinkSpeed != nil || s.LinkDuplex != nil ||
		s.FlowControl != nil
}

func changes(s *PortSettings) bool {
	return s.Up != nil || s.Description != nil || s.Power != nil || s.PowerPriority != nil || s.PowerLimit != nil ||
		s.Speed != nil || s.Duplex != nil
}

// CheckBounce refuses what is not the end of a bounce: either up or power, which must be true, and nothing else.
func CheckBounce(s *PortSettings, pause time.Duration) error {
	l := fault.All(CheckPortSettings(s))
	if pause < MinBounce || pause > MaxBounce {
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"bounce",
				"%v is not a pause from %v to %v",
				pause,
				MinBounce,
				MaxBounce,
			),
		)
	}
	others := s.GetDescription() != "" || s.GetPowerPriority() != 0 || s.GetPowerLimit() != 0 || s.GetSpeed() != 0
	if s.GetUp() == s.GetPower() || others {
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"bounce",
				"a bounce ends with the port up, or with its power on, and changes nothing else",
			),
		)
	}
	return l.Err()
}

// SettingsDiffer says how a port is not as settings ask for; empty if it is.
func SettingsDiffer(want, now *PortSettings) string {
	differences := []string{
		unlike("up", want.Up, now.Up),
		unlike("the description", want.Description, now.Description),
		unlike("power", want.Power, now.Power),
		unlike("power priority", want.PowerPriority, now.PowerPriority),
		unlike("power limit", want.PowerLimit, now.PowerLimit),
		unlike("speed", want.Speed, now.Speed),
		unlike("duplex", want.Duplex, now.Duplex),
	}
	differences = slices.DeleteFunc(differences, func(text string) bool {
		return text == ""
	})
	if len(differences) == 0 {
		return ""
	}
	return fmt.Sprintf("port %d with %s", want.Port, strings.Join(differences, ", "))
}

// unlike names a field and what it is, if it is not as wanted.
func unlike[T comparable](name string, want, now *T) string {
	switch {
	case want == nil, now != nil && *want == *now:
		return ""
	case now == nil:
		return name + " unknown"
	}
	if text, ok := any(*now).(string); ok {
		return fmt.Sprintf("%s %q", name, text)
	}
	return fmt.Sprintf("%s %v", name, *now)
}

func validPortSettings(
	r *pluginv1.ReadPortSettingsRequest,
	a *pluginv1.ReadPortSettingsResponse,
) error {
	if r.Port != 0 && len(a.Ports) != 1 || len(a.Ports) > maxPort || len(a.Supplies) > maxPort {
		return fmt.Errorf("%d ports and %d power supplies", len(a.Ports), len(a.Supplies))
	}
	seen := map[uint32]bool{}
	for _, p := range a.Ports {
		if !validPort(p.Port) ||
			seen[p.Port] ||
			r.Port != 0 && p.Port != r.Port ||
			!validSettings(p) {
			return fmt.Errorf("the settings %v", p)
		}
		seen[p.Port] = true
	}
	return nil
}

func validSettings(p *PortSettings) bool {
	return len(p.GetDescription()) <= 255 && p.GetPowerPriority() <= PowerLow && p.GetPowerStatus() <= maxPowerStatus &&
		p.GetPowerClass() <= maxPowerClass && p.GetDuplex() <= DuplexFull && p.GetLinkDuplex() <= DuplexFull &&
		p.GetFlowControl() <= maxFlowControl
}
