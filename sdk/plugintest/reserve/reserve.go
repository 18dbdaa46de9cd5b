// Package reserve gives tests that run beside each other ports, numbers and
// directories of their own: for servers that cannot choose a port themselves, for
// names of network namespaces, for homes. Who ends without a word leaves nothing
// reserved; what it left on the disk the next one removes.
package reserve

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Numbers below the ports that the kernel gives to connections: a port of these is
// not taken by chance between its choice and its use.
const lowest, highest = 10_000, 32_767

// Port returns a port of the address ip, from 1024 to 65535, at which no program listens
// and which no other caller of this package gets until the test ends. network is
// "tcp" or "udp". It ends the test if no port is free.
//
// A listener on port 0 that reports its port is better where that can be had.
func Port(t testing.TB, network, ip string) int {
	t.Helper()
	first, last := portRange()
	var port int
	var failed error
	reserveNumber(t, "port", first, last, func(n int) bool {
		address := net.JoinHostPort(ip, strconv.Itoa(n))
		if failed = tryListen(network, address); failed == nil {
			port = n
		}
		return failed == nil
	})
	if port == 0 {
		t.Fatalf("no port of %s can be had for %s: %v", ip, network, failed)
	}
	return port
}

// tryListen is nil when one can listen at an address.
func tryListen(network, address string) error {
	if network == "udp" {
		c, err := net.ListenPacket(network, address)
		if err != nil {
			return err
		}
		return c.Close()
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	return l.Close()
}

// portRange are the range to choose from.
func portRange() (first, last int) {
	first, last = lowest, highest
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	f := strings.Fields(string(text))
	if err == nil && len(f) == 2 {
		low, err := strconv.Atoi(f[0])
		if err == nil && low > first+1000 {
			last = min(last, low-1)
		}
	}
	return first, last
}

// Number returns one from first to last that no other test of this machine's network
// namespace has under the same name, until the test ends. A number that somebody
// reserved who was killed is free again. It ends the test when all are taken.
func Number(t testing.TB, name string, first, last int) int {
	t.Helper()
	n, found := 0, false
	reserveNumber(t, name, first, last, func(got int) bool {
		n, found = got, true
		return true
	})
	if !found {
		t.Fatalf("all of %d to %d are reserved (%s)", first, last, name)
	}
	return n
}

// Free calls f if the number is not reserved under the name, and not if it is.
func Free(name string, number int, f func()) {
	if l, err := takeNumber(name, number); err == nil {
		defer l.Close()
		f()
	}
}

// reserveNumber reserves numbers, from one at random on, until good takes one.
func reserveNumber(t testing.TB, name string, first, last int, good func(int) bool) {
	t.Helper()
	size := last - first + 1
	start := rand.IntN(size) // tests that begin together do not try the same ones
	for i := range size {
		n := first + (start+i)%size
		l, err := takeNumber(name, n)
		if err != nil {
			continue
		}
		if good(n) {
			t.Cleanup(func() { l.Close() })
			return
		}
		l.Close()
	}
}

// takeNumber holds a number: a name without a file, which the kernel keeps for each network
// namespace, gives to one holder at a time, and frees when that one dies.
func takeNumber(name string, number int) (net.Listener, error) {
	return net.Listen("unix", fmt.Sprintf("@ctl-reserve/%s/%d", name, number))
}
