package service

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"ctl.internal/plugins/switch/traps"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// shownAtOnce is how many lines switch:traps and switch:history show by default.
const shownAtOnce = 20

func lastOption() commands.Option {
	return commands.Option{
		Name:    "last",
		Short:   "n",
		Type:    commands.Int,
		Default: strconv.Itoa(shownAtOnce),
		Help:    "how many to show; 0 = all that are remembered",
	}
}

func (s *Service) cmdTraps() commands.Command {
	return commands.Command{
		Name:    "switch:traps",
		Summary: "Show the last SNMP traps and informs",
		Safe:    true,
		Help: "Shows where traps are received, how many came, and the last of them, the newest first. Only switches of\n" +
			"the list are believed: the address must be listed and the community, or the version 3 user, must be that\n" +
			"switch's. What others send is counted by address and nothing else happens.\n\n" +
			"Example: switch:traps --last 100 | grep linkDown",
		Options: []commands.Option{lastOption()},
		Run:     s.runTraps,
	}
}

// trapState is where traps are received and what came, as the process that receives
// them writes it.
type trapState struct {
	Source    string                `json:"source,omitempty"` // its node
	Epoch     uint64                `json:"epoch,omitempty"`
	At        time.Time             `json:"at,omitzero"`
	Listening string                `json:"listening,omitempty"`
	Error     string                `json:"error,omitempty"`
	Counts    traps.Counts          `json:"counts"`
	Unknown   []traps.UnknownSender `json:"unknown-sources"`
}

type trapReport struct {
	trapState
	Traps []trapLine `json:"traps"`
}

type trapLine struct {
	Time    time.Time `json:"time"`
	Address string    `json:"address"`
	Node    string    `json:"node-id,omitempty"`
	MAC     string    `json:"mac-address,omitempty"`
	Version string    `json:"version"`
	Inform  bool      `json:"inform"`
	Kind    string    `json:"kind"`
	OID     string    `json:"trap-oid"`
	IfIndex uint32    `json:"if-index,omitempty"`
	Admin   int32     `json:"admin-status,omitempty"`
	Oper    int32     `json:"oper-status,omitempty"`
	UpTime  float64   `json:"uptime-seconds"`
	text    string
}

func (s *Service) runTraps(ctx context.Context, in *commands.Invocation) error {
	most, err := parseLastOption(in)
	if err != nil {
		return err
	}
	r, err := s.trapReport(ctx, limitIn{most})
	if err != nil {
		return err
	}
	if in.Format == "json" {
		return in.Emit(r, nil)
	}
	return r.showReport(in)
}

type limitIn struct {
	Limit int `json:"limit"` // 0: none
}

func (s *Service) trapReport(_ context.Context, in limitIn) (*trapReport, error) {
	st, came, err := s.recentTraps()
	if err != nil {
		return nil, err
	}
	if st.Unknown == nil {
		st.Unknown = []traps.UnknownSender{}
	}
	r := &trapReport{trapState: st, Traps: []trapLine{}}
	for i, t := range came {
		if in.Limit > 0 && i == in.Limit {
			break
		}
		l := trapLine{
			Time:    t.At,
			Address: t.From.String(),
			Version: t.Version,
			Inform:  t.Inform,
			Kind:    string(t.Kind),
			OID:     t.OID,
			IfIndex: t.IfIndex,
			Admin:   t.Admin,
			Oper:    t.Oper,
			UpTime:  math.Round(t.UpTime.Seconds()*100) / 100,
			text:    t.Summary(),
		}
		if t.Node != 0 {
			l.Node, l.MAC = strconv.FormatUint(uint64(t.Node), 10), t.Node.String()
		}
		r.Traps = append(r.Traps, l)
	}
	return r, nil
}

// showReport is the report for people.
func (r *trapReport) showReport(in *commands.Invocation) error {
	t := commands.Table{
		Empty: "No traps of listed switches yet.",
		Columns: []commands.Column{{Title: "Time", Key: "time"},
			{
				Title: "Switch",
				Key:   "switch",
			}, {
				Title: "From",
				Key:   "from",
			}, {
				Title: "Version",
				Key:   "version",
			}, {Title: "Trap", Key: "trap", Max: 48}},
	}
	for _, l := range r.Traps {
		version := l.Version
		if l.Inform {
			version += " inform"
		}
		t.Add(l.Time.Format(time.DateTime), l.MAC, l.Address, version, l.text)
	}
	if err := in.Emit(t, nil); err != nil {
		return err
	}
	where := fmt.Sprintf(
		"listening on udp %s of %s; counted %s ago",
		r.Listening,
		r.Source,
		ageOf(r.At),
	)
	switch {
	case r.Error != "":
		where = "not listening: " + r.Error
	case r.Listening == "":
		where = "not listening yet"
	}
	c := r.Counts
	in.Printf("%s\n%d received: %d traps and informs (%d informs answered), %d from addresses not in the list, %d not authentic, %d replayed, %d malformed; %d lost in bursts\n",
		where, c.Received, c.Traps, c.Informs, c.UnknownSource, c.NotAuthentic, c.Replayed, c.Malformed, c.Lost)
	for i, s := range r.Unknown {
		if i == 5 {
			in.Printf("… and %d more unknown addresses\n", len(r.Unknown)-i)
			break
		}
		in.Printf(
			"unknown address %s: %d, last %s\n",
			s.Address,
			s.Count,
			s.Last.Format(time.DateTime),
		)
	}
	return nil
}

// parseLastOption reads the option of that name.
func parseLastOption(in *commands.Invocation) (int, error) {
	text := in.Option("last")
	if text == "" {
		return shownAtOnce, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fault.At(fault.Invalid, "last", "%q is not a number from 0 on", text)
	}
	return n, nil
}
