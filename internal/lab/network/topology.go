package network

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxSwitches bounds a network: MAC addresses and management addresses count in 16 bits.
const MaxSwitches = 20000

// pair is a link between switches, counted from 0.
type pair struct{ a, b int }

// plan is a topology without ports.
type plan struct {
	switches int
	links    []pair
}

// Topologies describes the forms ParseTopology reads, for help texts.
const Topologies = "ring:N, chain:N, tree:LEVELSxFANOUT, leafspine:LEAVESxSPINES, single:N (no links), separated by commas"

// parseTopology reads "ring:8,tree:3x2". The parts are islands.
func parseTopology(text string) (plan, error) {
	var p plan
	for _, part := range strings.Split(text, ",") {
		kind, size, _ := strings.Cut(strings.TrimSpace(part), ":")
		first, second, both := strings.Cut(size, "x")
		n, err := strconv.Atoi(first)
		m := 0
		if err == nil && both {
			m, err = strconv.Atoi(second)
		}
		if err != nil || n < 1 || n > MaxSwitches || both && (m < 1 || m > MaxSwitches) {
			return plan{}, badPart(part)
		}
		before := p.switches
		switch {
		case kind == "ring" && !both && n >= 3:
			p.addChain(n)
			p.links = append(p.links, pair{before + n - 1, before})
		case kind == "chain" && !both:
			p.addChain(n)
		case kind == "single" && !both:
			p.switches += n
		case kind == "tree" && both:
			if err := p.addTree(n, m); err != nil {
				return plan{}, err
			}
		case kind == "leafspine" && both && n*m <= 4*MaxSwitches:
			for leaf := range n {
				for spine := range m {
					p.links = append(p.links, pair{before + leaf, before + n + spine})
				}
			}
			p.switches += n + m
		default:
			return plan{}, badPart(part)
		}
		if p.switches > MaxSwitches {
			return plan{}, fmt.Errorf("topology %.60q has more than %d switches", text, MaxSwitches)
		}
	}
	return p, nil
}

func badPart(part string) error {
	return fmt.Errorf(
		"topology %.40q is not understood; the forms are %s (a ring has 3 or more)",
		part,
		Topologies,
	)
}

func (p *plan) addChain(n int) {
	for i := range n - 1 {
		p.links = append(p.links, pair{p.switches + i, p.switches + i + 1})
	}
	p.switches += n
}

func (p *plan) addTree(levels, fanout int) error {
	root := p.switches
	level := []int{root}
	p.switches++
	for range levels - 1 {
		var below []int
		for _, parent := range level {
			for range fanout {
				p.links = append(p.links, pair{parent, p.switches})
				below = append(below, p.switches)
				if p.switches++; p.switches > MaxSwitches {
					return fmt.Errorf(
						"tree:%dx%d has more than %d switches",
						levels,
						fanout,
						MaxSwitches,
					)
				}
			}
		}
		level = below
	}
	return nil
}
