package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"ctl.internal/bench/rig"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/service"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/topology"
)

// rooms are the plugin's, without the host.
type rooms struct {
	client    *snmp.Client
	inventory *switchlist.Inventory
	survey    *discovery.Surveyor
	publisher topology.Publisher
	mux       operations.Mux
	sockets   int
	published chan discovery.Cause // the last ones
	read      sync.Map             // when each switch was last read, by node
}

func newRooms(list []switchlist.Entry, workers int) *rooms {
	r := &rooms{
		client:    snmp.NewClient(snmp.Options{}),
		inventory: switchlist.New(nil),
		published: make(chan discovery.Cause, 64),
	}
	r.inventory.Set("agents", list, nil)
	d := mibdriver.New(r.client)
	r.survey = discovery.New(discovery.Options{
		Inventory: r.inventory,
		Observe: func(ctx context.Context, sw *switchdriver.Switch) (*discovery.Observation, error) {
			o, err := d.Observe(ctx, sw)
			r.read.Store(sw.NodeId, time.Now())
			return o, err
		},
		Workers: workers,
		Log:     slog.New(slog.NewTextHandler(io.Discard, nil)),
		Refresh: d.Refresh,
		Infer:   d.Evidence,
		Publish: func(_, n *discovery.Network, cause discovery.Cause, _ string) {
			r.publisher.Set(service.Topology("switch:1", n))
			select {
			case r.published <- cause:
			default:
			}
		},
		Finished: func() {
			r.sockets = max(r.sockets, r.client.Sockets())
			r.client.Trim(16, nil)
		},
	})
	r.mux = service.ReadRPCs(r.inventory, driver.New(driver.Options{Standard: d}), r.survey)
	return r
}

func (r *rooms) close() {
	r.survey.Close()
	r.client.Close()
}

// measureAll does everything and prints the table.
func (o options) measureAll(ctx context.Context) error {
	list, stop, err := o.startAgents()
	if err != nil {
		return err
	}
	defer stop()
	before := heapBytes()
	list, big := list[:o.switches], list[o.switches]
	r := newRooms(list, o.workers)
	defer r.close()
	fmt.Printf(
		"%d switches of %d ports, %d workers, %d CPUs, best of %d rounds\n\n",
		o.switches,
		o.ports,
		o.workers,
		runtime.NumCPU(),
		o.rounds,
	)
	if err := o.measureDiscovery(ctx, r, list, before); err != nil {
		return err
	}
	if !o.hasFaultyAgents() {
		if err := o.afterTrap(ctx, list); err != nil {
			return err
		}
	}
	r.inventory.Set("agents", append(list, big), nil)
	return o.measureTableRead(ctx, r, big)
}

func (o options) measureDiscovery(
	ctx context.Context,
	r *rooms,
	list []switchlist.Entry,
	before uint64,
) error {
	var sum discovery.Summary
	ours := rig.Never()
	raw := rig.Never()
	quick := rig.Never()
	var well time.Duration // until the last of the well ones was read
	for range o.rounds {
		began := time.Now()
		err := ours.Round(func() (err error) {
			sum, err = r.survey.Discover(ctx, discovery.All, nil)
			return err
		})
		if err != nil {
			return err
		}
		for _, e := range o.listHealthySwitches(list) {
			if at, ok := r.read.Load(uint64(e.MAC)); ok {
				well = max(well, at.(time.Time).Sub(began))
			}
		}
		if sum.Answered < o.countAnsweringSwitches() {
			return fmt.Errorf("only %d switches answered: %v", sum.Answered, sum.Failures[0])
		}
		if !o.hasFaultyAgents() { // those that lose requests would be waited for once more
			err := quick.Round(func() error {
				_, err := r.survey.Periodic(ctx)
				return err
			})
			if err != nil {
				return err
			}
		}
		// Bare gosnmp would stop at the first that is dead, or never end: it asks the others.
		if err := raw.Round(func() error {
			return rawAll(o.listHealthySwitches(list), o.workers)
		}); err != nil {
			return fmt.Errorf("gosnmp: %w", err)
		}
	}
	per := float64(heapBytes()-before) / float64(o.switches) / 1024
	fmt.Printf("found %d ports, %d links, %d not placed\n\n", sum.Ports, sum.Links, sum.Unresolved)
	if o.hasFaultyAgents() {
		n := len(o.listHealthySwitches(list))
		rig.Row("discovery, plugin", ours.Clock, fmt.Sprintf("%d answered, %d failed, the slowest by their deadline; the %d that are well were read after %.1f s; processor time of a switch %.2f of bare gosnmp",
			sum.Answered, len(sum.Failures), n, well.Seconds(), ratePerSecond(o.switches, ours.CPU)/ratePerSecond(n, raw.CPU)))
		rig.Row(
			"the same objects, gosnmp",
			raw.Clock,
			fmt.Sprintf(
				"%.0f switches/s; at the %d that are well, alone",
				ratePerSecond(n, raw.Clock),
				n,
			),
		)
		fmt.Printf(
			"%-26s %10.1f KiB  in the plugin, published topology included\n",
			"memory per switch",
			per,
		)
		fmt.Printf("%-26s %10d      at most, all switches\n", "sockets", r.sockets)
		return nil
	}
	rig.Row(
		"discovery, plugin",
		ours.Clock,
		fmt.Sprintf(
			"%.0f switches/s; %s; asked for 0.85",
			ratePerSecond(o.switches, ours.Clock),
			formatRatio(raw, ours),
		),
	)
	rig.Row(
		"the same objects, gosnmp",
		raw.Clock,
		fmt.Sprintf("%.0f switches/s", ratePerSecond(o.switches, raw.Clock)),
	)
	rig.Row(
		"again, only what changed",
		quick.Clock,
		fmt.Sprintf("%.2f of the time of reading all", rig.Ratio(quick.Clock, ours.Clock)),
	)
	loop, err := timeWalkPrograms(ctx, list)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		fmt.Println("snmpbulkwalk is not installed: not compared")
	case err != nil:
		return err
	default:
		rig.Row(
			"loop of snmpbulkwalk",
			loop,
			fmt.Sprintf(
				"%.0f switches/s; the plugin is %.0f times as fast; asked for 10",
				ratePerSecond(o.switches, loop),
				rig.Ratio(loop, ours.Clock),
			),
		)
	}
	fmt.Printf(
		"%-26s %10.1f KiB  in the plugin, published topology included\n",
		"memory per switch",
		per,
	)
	fmt.Printf("%-26s %10d      at most, all switches\n", "sockets", r.sockets)
	return nil
}

// measureTableRead reads the full forwarding table of the first switch.
func (o options) measureTableRead(ctx context.Context, r *rooms, e switchlist.Entry) error {
	ours := rig.Never()
	raw := rig.Never()
	size := 0
	input := json.RawMessage(fmt.Sprintf(`{"node-id":%d}`, uint64(e.MAC)))
	for range o.rounds * 5 {
		err := ours.Round(func() error {
			out, err := r.mux.Invoke(
				ctx,
				&operations.Request{
					Module: "fdb",
					RPC:    "get-fdb-table",
					Input:  input,
				},
			)
			if err != nil {
				return err
			}
			text, err := operations.Encode("fdb", "get-fdb-table", out)
			size = len(text)
			return err
		})
		if err != nil {
			return err
		}
		err = raw.Round(func() error {
			n, err := rawWalk(e, nil, fdbColumns)
			if err == nil && n < 2*o.fdb {
				err = fmt.Errorf("the bare walk gave %d values, there are %d entries", n, o.fdb)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	rig.Row(
		"get-fdb-table, plugin",
		ours.Clock,
		fmt.Sprintf(
			"%d entries, %d KiB of JSON; %s; asked for 0.8",
			o.fdb,
			size>>10,
			formatRatio(raw, ours),
		),
	)
	rig.Row("the same objects, gosnmp", raw.Clock, "")
	return nil
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func ratePerSecond(n int, d time.Duration) float64 {
	return float64(n) / d.Seconds()
}

// formatRatio is how fast ours is beside what does the same without us.
func formatRatio(raw, ours rig.Best) string {
	return fmt.Sprintf(
		"%.2f of bare gosnmp (processor time %.2f)",
		rig.Ratio(raw.Clock, ours.Clock),
		rig.Ratio(raw.CPU, ours.CPU),
	)
}
