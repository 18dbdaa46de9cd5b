package mibdriver

// Item is one thing of a VLAN that a SET can carry.
type Item int

// The items. CreateAndGo makes the VLAN at once; CreateAndWait makes it inactive,
// for Activate after its columns are set (RFC 2579, RowStatus).
const (
	SetName Item = iota
	SetEgress
	SetUntagged
	CreateAndGo
	CreateAndWait
	Activate
)

// Sequence is how a VLAN is made: one SET after the other, each with its items in
// order. Switches differ in what they take.
type Sequence [][]Item

// Sequences returns the ways to try for a model, one after the other: a switch
// that refuses one leaves nothing and is asked in the next.
func Sequences(model string) []Sequence {
	together := Sequence{{SetName, SetEgress, SetUntagged, CreateAndGo}}
	first := Sequence{{CreateAndGo}, {SetName, SetEgress, SetUntagged}}
	waiting := Sequence{{CreateAndWait}, {SetName}, {SetEgress, SetUntagged}, {Activate}}
	if model == "Accton_ECS4610-52T" {
		return []Sequence{first, together, waiting}
	}
	return []Sequence{together, first, waiting}
}
