package mib

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ListForm is how an agent shows its PortLists. An agent has one form for all of them: the same octets may be
// ports in each form, so a list is never judged alone.
type ListForm int

// The forms.
const (
	ListBits    ListForm = iota // RFC 4363: the most significant bit of the first octet is port 1
	ListNumbers                 // port numbers in ASCII, "0,4097,4099" (JunOS)
	ListHex                     // the octets of the bits as hexadecimal digits in ASCII
)

// Ports decodes a list. Numbers of ports that are not known are left out, and 0, which is no port.
func (f ListForm) Ports(list []byte, known Ports) Ports {
	p, _ := f.decodeList(list)
	return p.keepKnown(known)
}

// decodeList decodes a list with all the ports in it; false: it is not in this form.
func (f ListForm) decodeList(list []byte) (Ports, bool) {
	switch f {
	case ListNumbers:
		return listedNumbers(list)
	case ListHex:
		octets, ok := hexOctets(list)
		return decodePortBits(octets), ok
	}
	return decodePortBits(list), true
}

// Writable reports whether a SET takes lists of this form: only bits are defined.
func (f ListForm) Writable() bool { return f == ListBits }

// ListError is a list that is in no form that is known.
type ListError struct {
	Index int // of the list
	List  []byte
}

// Error shows the list.
func (e *ListError) Error() string {
	return fmt.Sprintf(
		"the PortList %.40q is neither bits of ports that the switch has, nor port numbers, nor hexadecimal digits",
		e.List,
	)
}

// FormOf finds the form of an agent from all of its lists. known are its ports; nil when that is not known. agree
// counts what else confirms a form, such as PVIDs. Every list that is not empty must be readable in the form.
func FormOf(lists [][]byte, known Ports, agree func(ListForm) int) (ListForm, error) {
	var used [][]byte
	for _, l := range lists {
		if len(l) > 0 {
			used = append(used, l)
		}
	}
	if len(used) == 0 {
		return ListBits, nil
	}
	if isDecimalForm(used, known, agree) {
		return ListNumbers, nil
	}
	if isHexForm(used, known) {
		return ListHex, nil
	}
	for i, l := range lists {
		if isTextList(l, known) {
			return ListBits, &ListError{i, l}
		}
	}
	return ListBits, nil
}

// isTextList reports whether a list is text among lists that are not: as bits it would have no port, or wrong ones.
func isTextList(list []byte, known Ports) bool {
	_, numbers := listedNumbers(list)
	if numbers && bytes.ContainsRune(list, ',') && len(list) < octetsFor(known) {
		return true
	}
	printable := len(list) > 0 && !bytes.ContainsFunc(list, func(r rune) bool {
		return r < ' ' || r > '~'
	})
	return printable && known != nil && len(decodePortBits(list).keepKnown(known)) == 0
}

// isDecimalForm reports whether lists are port numbers. Digits alone may also be bits: then they are numbers if a
// comma is among them, if they are shorter than bits would be, or if more else speaks for numbers.
func isDecimalForm(lists [][]byte, known Ports, agree func(ListForm) int) bool {
	comma := false
	short := false
	some := known == nil
	for _, l := range lists {
		p, ok := listedNumbers(l)
		if !ok {
			return false
		}
		comma = comma || bytes.ContainsRune(l, ',')
		short = short || len(l) < octetsFor(known)
		some = some || len(p.keepKnown(known)) > 0
	}
	return comma || some && (short || agree(ListNumbers) > agree(ListBits))
}

// isHexForm reports whether lists are digits of octets, as many in each as the ports need, of ports that are known.
func isHexForm(lists [][]byte, known Ports) bool {
	if known == nil {
		return false
	}
	size := -1
	some := false
	asBits := true
	for _, l := range lists {
		octets, ok := hexOctets(l)
		if !ok || len(octets) < octetsFor(known) || size >= 0 && len(octets) != size {
			return false
		}
		size = len(octets)
		some = some || len(decodePortBits(octets).keepKnown(known)) > 0
		asBits = asBits && isSubset(decodePortBits(l), known)
	}
	return some && !asBits
}

// octetsFor is how many octets bits of the ports take.
func octetsFor(known Ports) int {
	most := uint32(0)
	for n := range known {
		most = max(most, n)
	}
	return int(most+7) / 8
}

// listedNumbers reads numbers separated by commas; 0 is no port.
func listedNumbers(list []byte) (Ports, bool) {
	p := Ports{}
	if len(list) == 0 {
		return p, false
	}
	for item := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(item), 10, 16)
		if err != nil {
			return nil, false
		}
		if n != 0 {
			p[uint32(n)] = true
		}
	}
	return p, true
}

// hexOctets reads octets written as digits, perhaps with blanks, colons or hyphens between them, or 0x before them.
func hexOctets(list []byte) ([]byte, bool) {
	text := strings.TrimRight(string(list), "\x00")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	i := slices.IndexFunc([]byte(text), func(c byte) bool {
		return strings.IndexByte(" :-", c) >= 0
	})
	if i >= 0 {
		text = strings.ReplaceAll(text, text[i:i+1], "")
	}
	octets, err := hex.DecodeString(text)
	return octets, err == nil && len(octets) > 0
}
