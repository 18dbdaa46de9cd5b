package simswitch

import "fmt"

// traffic is what passes a port besides the little that always does.
type traffic struct {
	bits, errors    uint64 // a second, since at
	octets, counted uint64 // octets and errors until at
	at              uint32 // sysUpTime
}

func (f traffic) until(now uint32) (octets, errors uint64) {
	ticks := uint64(now - f.at)
	return f.octets + f.bits*ticks/800, f.counted + f.errors*ticks/100
}

// SetTraffic says how much passes a port from now on, in bits a second each way, and how
// many of the frames that come in are faulty, a second.
func (s *Switch) SetTraffic(number int, bits, errors uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.port(number)
	if p == nil {
		return fmt.Errorf("switch %s has ports 1 to %d, not %d", s.name, len(s.ports), number)
	}
	now := s.upTime()
	octets, counted := p.traffic.until(now)
	p.traffic = traffic{bits, errors, octets, counted, now}
	return nil
}

// passed are the octets each way and the faulty frames that an interface has counted.
func (s *Switch) passed(i iface) (octets, errors uint64) {
	now := s.upTime()
	if p := s.port(i.port); p != nil {
		octets, errors = p.traffic.until(now)
	}
	return octets + uint64(now)*10*uint64(i.port+1), errors
}
