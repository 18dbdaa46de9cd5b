package template

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"strings"
)

// Routers that count their sections get a number for each channel. It begins as a hash of the flow and
// is the next free one from there on; the router's configuration itself keeps it, since the section
// names its flow.

// maxNumber bounds {number}: what fits a number of an interface everywhere. maxProbes bounds how far a
// number is from the hash of its flow; a section further away is not ours.
const (
	maxNumber = 1 << 30
	maxProbes = 1 << 12
)

// Numbers are the numbers of sections that are in use on a router.
type Numbers struct {
	ByFlow map[string]string // of our sections, by the flow
	Others map[string]bool   // of sections that are not ours
	taken  map[string]bool
}

// reserve returns the numbers with those in use taken.
func (n Numbers) reserve() Numbers {
	n.taken = map[string]bool{}
	maps.Copy(n.taken, n.Others)
	for _, number := range n.ByFlow {
		n.taken[number] = true
	}
	return n
}

// assignNumber returns the number of a flow, and takes it. That of a flow that has one stays.
func (n Numbers) assignNumber(v values) string {
	if number := n.ByFlow[flowName(v)]; number != "" {
		return number
	}
	begin := hashOf(v)
	for i := range uint32(maxProbes) {
		if number := numberAt(begin, i); !n.taken[number] {
			n.taken[number] = true
			return number
		}
	}
	return "" // the template then says what is missing
}

// canBeFlowNumber reports whether a number may have been given to a flow.
func canBeFlowNumber(number string, of values) bool {
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || n < 1 || n > maxNumber {
		return false
	}
	return (uint32(n)-1-hashOf(of)+maxNumber)%maxNumber < maxProbes
}

func numberAt(begin, i uint32) string {
	return strconv.FormatUint(uint64(1+(begin+i)%maxNumber), 10)
}

// hashOf is 0..maxNumber-1.
func hashOf(of values) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, flowName(of))
	return h.Sum32() % maxNumber
}

// flowName identifies a flow.
func flowName(of values) string {
	var b strings.Builder
	for _, name := range strings.Fields(flow) {
		b.WriteString(of[name] + " ")
	}
	return b.String()
}

// Numbers returns the numbers that are in use on a router that shows its configuration; last is what it
// was brought to last: flows that it has lost get their numbers again.
func (m *Model) Numbers(show string, last []Section) Numbers {
	n := Numbers{
		ByFlow: map[string]string{},
		Others: map[string]bool{},
	}
	if m.identity == nil {
		return n
	}
	used := map[string]bool{}
	for _, s := range m.parseSections(show) {
		number := m.channel.readValues(s.Header)["number"]
		if number == "" {
			continue
		}
		used[number] = true
		of := m.flowIn(s)
		if of != nil && canBeFlowNumber(number, of) && n.ByFlow[flowName(of)] == "" {
			n.ByFlow[flowName(of)] = number
		} else {
			n.Others[number] = true
		}
	}
	for _, s := range last {
		number := m.channel.readValues(s.Header)["number"]
		of := m.flowIn(s)
		if of != nil && number != "" && !used[number] && n.ByFlow[flowName(of)] == "" {
			n.ByFlow[flowName(of)] = number
		}
	}
	return n
}

// flowIn is the flow that a section names, nil if none.
func (m *Model) flowIn(s Section) values {
	for _, l := range s.Lines {
		if v := m.identity.readValues(l); v != nil {
			return v
		}
	}
	return nil
}
