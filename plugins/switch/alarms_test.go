package switchplugin

import (
	"encoding/json"
	"testing"

	"ctl.internal/internal/lab/network"
)

type rateAlarm struct {
	Switch string `json:"switch"`
	Port   string `json:"port"`
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	Active bool   `json:"active"`
	Value  uint64 `json:"value"`
	Limit  uint64 `json:"limit"`
}

// A port that is almost full, and one with many faulty frames, are each an event, and another one when that is over.
func TestRateAlarms(t *testing.T) {
	l := start(t, network.Options{Topology: "chain:2"}, listening(map[string]any{
		"counters": map[string]any{"interval": "1s", "utilization_alarm": 80, "errors_alarm": 20}}))
	sw, err := l.Node("sw2")
	if err != nil {
		t.Fatal(err)
	}
	edgeCount(t, l.Plugin, 2)
	limits := map[string]uint64{"utilization": 80, "errors": 20}
	seen, alarms := 0, map[string]bool{}
	until := func(active bool) {
		t.Helper()
		for ctx := deadline(t); alarms["utilization"] != active || alarms["errors"] != active; {
			events, err := l.Host.Events(ctx, seen)
			if err != nil {
				t.Fatalf("alarms %v, want both %v: %v", alarms, active, err)
			}
			seen += len(events)
			for _, e := range events {
				var got struct {
					Alarm *rateAlarm `json:"switch-ports:rate-alarm"`
				}
				if err := json.Unmarshal(e.Data, &got); err != nil {
					t.Fatal(err)
				}
				a := got.Alarm
				if a == nil {
					continue
				}
				reached := a.Active && a.Value >= a.Limit || !a.Active && a.Value*5 < a.Limit*4
				if a.Switch != "sw2" || a.Port != "port1" || a.Number != 1 || a.Limit != limits[a.Kind] || !reached || alarms[a.Kind] == a.Active {
					t.Errorf("the alarm is %+v, and those before were %v", *a, alarms)
				}
				alarms[a.Kind] = a.Active
			}
		}
	}
	for _, active := range []bool{true, false} {
		if err := sw.SetTraffic(1, map[bool]uint64{true: 990_000_000}[active], map[bool]uint64{true: 100}[active]); err != nil {
			t.Fatal(err)
		}
		until(active)
	}
}
