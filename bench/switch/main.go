// Command switch measures the switch plugin's discovery and forwarding-table reads
// against bare gosnmp and against snmpbulkwalk, on the same simulated agents, and
// prints a table. README.md says how to run it.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"

	"ctl.internal/bench/rig"
	"ctl.internal/plugins/switch/switchlist"
)

// options are the flags.
type options struct {
	switches, ports, workers, rounds, fdb, message int
	dead, lossy, looping                           int // of a hundred switches
	cpuprofile                                     string
}

// hasFaultyAgents reports whether some of the agents misbehave.
func (o options) hasFaultyAgents() bool {
	return o.dead+o.lossy+o.looping > 0
}

// listHealthySwitches is the switches that do not misbehave; spoil says which do.
func (o options) listHealthySwitches(list []switchlist.Entry) (out []switchlist.Entry) {
	for i, e := range list {
		if i%100 >= o.dead+o.lossy+o.looping {
			out = append(out, e)
		}
	}
	return out
}

// countAnsweringSwitches is how many switches must answer: all that are neither dead nor lossy.
func (o options) countAnsweringSwitches() int {
	return o.switches - (o.switches/100+1)*(o.dead+o.lossy)
}

func main() {
	var o options
	flag.IntVar(&o.switches, "switches", 1000, "simulated switches")
	flag.IntVar(&o.ports, "ports", 24, "ports of each")
	flag.IntVar(&o.workers, "workers", 256, "switches asked at a time")
	flag.IntVar(&o.rounds, "rounds", 3, "the best of so many rounds counts")
	flag.IntVar(&o.fdb, "fdb", 10_000, "entries of the forwarding table")
	flag.IntVar(&o.message, "message", 0, "largest answer of an agent in octets; 0 = one frame")
	flag.IntVar(&o.dead, "dead", 0, "percent of the agents that never answer")
	flag.IntVar(&o.lossy, "lossy", 0, "percent of the agents that lose every fifth request")
	flag.IntVar(&o.looping, "looping", 0, "percent of the agents whose tables never end")
	flag.StringVar(&o.cpuprofile, "cpuprofile", "", "write a profile of the plugin's side here")
	agents := flag.Bool("agents", false, "internal: run the agents")
	flag.Parse()
	run := o.measureAll
	if *agents {
		run = o.serveAgents
	}
	if o.cpuprofile != "" && !*agents {
		f, err := os.Create(o.cpuprofile)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		defer pprof.StopCPUProfile()
	}
	rig.Main(run)
}
