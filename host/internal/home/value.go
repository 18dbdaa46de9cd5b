package home

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
)

// Off is the address of a listener that is not opened.
const Off Address = "off"

// Address is HOST:PORT or off. Port 0 means any.
type Address string

// IsOff reports whether the listener is not to be opened.
func (a Address) IsOff() bool { return a == Off }

// ParseAddress checks an address; a bare :PORT means all interfaces.
func ParseAddress(s string) (Address, error) {
	if strings.EqualFold(s, string(Off)) {
		return Off, nil
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", fmt.Errorf(
			"%q is not an address; write HOST:PORT, such as 127.0.0.1:8181, or off",
			s,
		)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("%q has no port between 0 and 65535 (read %d)", s, n)
	}
	return Address(s), nil
}

// Size is a number of bytes, written such as 8MiB or 8388608.
type Size int64

var units = []struct {
	name string
	n    int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// String writes the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range units {
		if int64(s) >= u.n && int64(s)%u.n == 0 {
			return fmt.Sprintf("%d%s", int64(s)/u.n, u.name)
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// ParseSize reads a size.
func ParseSize(text string) (Size, error) {
	number, factor := text, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, factor = strings.TrimSpace(rest), u.n
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return 0, fmt.Errorf(
			"%q is not a size: write a number of bytes, or a number with B, KiB, MiB or GiB, such as 8MiB",
			text,
		)
	}
	return Size(n * factor), nil
}
