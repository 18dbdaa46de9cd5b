// Command bier measures deployment of BIER channels by a whole controller to simulated
// NETCONF routers, against bare edit-config and commit on as many sessions to the same
// routers, and the computations it needs. It prints a table. Run it in the root of the
// tree: go run ./bench/bier
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"ctl.internal/bench/rig"
)

// options are the flags.
type options struct {
	routers, channels, wide, users, single, rounds int
	only                                           string
}

func main() {
	var o options
	flag.IntVar(&o.routers, "routers", 1000, "routers of the large network")
	flag.IntVar(&o.channels, "channels", 1000, "channels of the throughput part")
	flag.IntVar(&o.wide, "wide", 50, "routers that each of these channels has")
	flag.IntVar(
		&o.users,
		"users",
		48,
		"deployments asked for at a time; the peer has -wide sessions",
	)
	flag.IntVar(&o.single, "single", 100, "changes of each router, one after the other")
	flag.IntVar(&o.rounds, "rounds", 3, "the median of so many rounds of the driver counts")
	flag.StringVar(&o.only, "only", "", "truth: only the part with routers that are off")
	flag.Parse()
	rig.Main(o.runParts)
}

// runParts does the parts; each prints its lines.
func (o *options) runParts(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "cb") // short, for the unix sockets in it
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := buildPrograms(dir); err != nil {
		return err
	}
	if o.wide < 2 || o.wide > o.routers {
		return fmt.Errorf("-wide %d is not between 2 and -routers %d", o.wide, o.routers)
	}
	if o.only == "truth" {
		return o.measureTruth(ctx, dir)
	}
	timeComputations(o.routers)
	if err := o.driverPart(ctx, dir); err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	l, err := startLab(ctx, dir, o.routers)
	if err != nil {
		return err
	}
	defer l.stop()
	if err := o.buildNetwork(ctx, l); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	if err := o.oneToOne(ctx, l); err != nil {
		return fmt.Errorf("one channel to one router: %w", err)
	}
	if err := o.oneToAll(ctx, l); err != nil {
		return fmt.Errorf("one channel: %w", err)
	}
	if err := o.measureThroughput(ctx, l); err != nil {
		return err
	}
	l.routers.Stop()
	again := filepath.Join(dir, "t")
	if err := os.Mkdir(again, 0o700); err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(dir, "bin"), filepath.Join(again, "bin")); err != nil {
		return err
	}
	return o.measureTruth(ctx, again)
}

func printResult(what, format string, args ...any) {
	fmt.Printf("%-46s %s\n", what, fmt.Sprintf(format, args...))
}
