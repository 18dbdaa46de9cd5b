package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// options are the flags.
type options struct {
	switches, ports, workers, rounds, fdb, message int
}

func main() {
	var o options
	flag.IntVar(&o.switches, "switches", 1000, "simulated switches")
	flag.IntVar(&o.ports, "ports", 24, "ports of each")
	flag.IntVar(&o.workers, "workers", 64, "switches asked at a time")
	flag.IntVar(&o.rounds, "rounds", 3, "the best of so many rounds counts")
	flag.IntVar(&o.fdb, "fdb", 10_000, "entries of the forwarding table")
	flag.IntVar(&o.message, "message", 0, "largest answer of an agent in octets; 0 = one frame")
	agents := flag.Bool("agents", false, "internal: run the agents")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := o.measure
	if *agents {
		run = o.serve
	}
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
