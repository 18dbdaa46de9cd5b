package intent

import (
	"fmt"

	"ctl.internal/sdk/fault"
)

// maxFaults is how many faults of a document are said; the others are counted.
const maxFaults = 50

// faults are what is wrong in a document.
type faults struct {
	list fault.List
	more int
}

func (f *faults) add(e *fault.Error) {
	if len(f.list) == maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, e)
}

// at adds a fault at a line of the document; 0 is none.
func (f *faults) at(line int, format string, args ...any) {
	if len(f.list) == maxFaults {
		f.more++ // without the work for its text: there may be many
		return
	}
	f.add(lineFault(line, format, args...))
}

// all are the faults, the last with how many more there are.
func (f *faults) all() fault.List {
	if f.more == 0 {
		return f.list
	}
	return append(f.list, fault.New(fault.Invalid, "and %d more", f.more))
}

// lineFault is a fault at a line of the document; 0 is none.
func lineFault(line int, format string, args ...any) *fault.Error {
	text := fmt.Sprintf(format, args...)
	if line > 0 {
		text = fmt.Sprintf("line %d: %s", line, text)
	}
	return fault.New(fault.Invalid, "%s", text)
}
