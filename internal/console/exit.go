package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// Code is how a command ended: the console answers it over SSH, and ctl ends with it.
type Code int

// The codes. They are part of the interface: scripts rely on them.
const (
	OK          Code = 0
	Failed      Code = 1   // the command ran and failed
	Usage       Code = 2   // the line, an option or an argument is wrong; nothing was done
	NotFound    Code = 3   // no such command, or the thing it names does not exist
	Denied      Code = 4   // the user may not do this
	Unavailable Code = 5   // no answer from the controller, a plugin or a device
	Interrupted Code = 130 // Ctrl-C or a closed connection ended it
)

var meanings = map[Code]string{
	OK:          "the command succeeded",
	Failed:      "the command ran and failed; a grep found nothing",
	Usage:       "the line, an option or an argument is wrong; nothing was done",
	NotFound:    "there is no such command, or the thing it names does not exist",
	Denied:      "the user may not do this",
	Unavailable: "no answer from the controller, a plugin or a device",
	Interrupted: "Ctrl-C or a closed connection ended the command",
}

// Meaning returns the code in words.
func (c Code) Meaning() string { return meanings[c] }

// Codes is the table of the codes for help texts.
func Codes() string {
	var b strings.Builder
	for _, c := range slices.Sorted(maps.Keys(meanings)) {
		fmt.Fprintf(&b, "  %3d  %s\n", c, c.Meaning())
	}
	return b.String()
}

// Silent is an error that sets the code and says nothing, as a grep without a hit.
type Silent Code

func (s Silent) Error() string { return "exit" }

// CodeOf returns the code for a command's error.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	var s Silent
	if errors.As(err, &s) {
		return Code(s)
	}
	if errors.Is(err, context.Canceled) {
		return Interrupted
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Missing, fault.Unknown, fault.Malformed, fault.TooBig:
		return Usage
	case fault.NotFound:
		return NotFound
	case fault.Denied:
		return Denied
	case fault.Unavailable, fault.Timeout:
		return Unavailable
	}
	return Failed
}
