package switchcli

// The commands of RFC 854 and the options of RFC 857 and 858 that are agreed to.
const (
	se   = 240
	sb   = 250
	will = 251
	wont = 252
	do   = 253
	dont = 254
	iac  = 255

	optEcho            = 1
	optSuppressGoAhead = 3
)

// decoder takes the telnet commands out of what comes in.
type decoder struct {
	state byte // 0 data, iac, the verb whose option follows, sb, or se: IAC within sb
	cr    bool // the last octet was CR
	// answered are the answers given: each is given once, so that no two ends go on forever.
	answered map[[2]byte]bool
}

// decode returns the data, and what to answer.
func (d *decoder) decode(in []byte) (data, reply []byte) {
	for _, c := range in {
		switch d.state {
		case 0:
			switch {
			case c == iac:
				d.state = iac
			case c == 0 && d.cr: // CR NUL is CR
				d.cr = false
			default:
				d.cr = c == '\r'
				data = append(data, c)
			}
		case iac:
			switch c {
			case iac:
				data, d.state = append(data, iac), 0
			case will, wont, do, dont, sb:
				d.state = c
			default: // NOP, GA and the like
				d.state = 0
			}
		case sb:
			if c == iac {
				d.state = se
			}
		case se:
			d.state = sb
			if c == se {
				d.state = 0
			}
		default:
			verb := answerOption(d.state, c)
			if verb != 0 && !d.answered[[2]byte{verb, c}] {
				d.answered[[2]byte{verb, c}] = true
				reply = append(reply, iac, verb, c)
			}
			d.state = 0
		}
	}
	return data, reply
}

// answerOption answers a request: the switch may echo, both may do without go-aheads.
func answerOption(verb, option byte) byte {
	switch {
	case verb == do && option == optSuppressGoAhead:
		return will
	case verb == do:
		return wont
	case verb == will && (option == optSuppressGoAhead || option == optEcho):
		return do
	case verb == will:
		return dont
	}
	return 0 // wont and dont are the state already
}
