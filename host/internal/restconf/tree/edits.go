package tree

import (
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// TextEdit replaces the instance at a path by the JSON of another, or deletes it.
type TextEdit struct {
	Path   string
	Value  []byte
	Delete bool
}

// ApplyText makes edits of a plugin part of the draft. Deleting what is not there is no
// error. The result is not checked yet.
func (d *Draft) ApplyText(edits []TextEdit) error {
	for _, e := range edits {
		p, err := ParseText(d.set, e.Path)
		if err != nil {
			return err
		}
		if len(p) == 0 {
			return fault.New(fault.Unsupported, "a tree is not written as a whole")
		}
		one := Edit{Op: Remove, Path: p}
		if !e.Delete {
			one.Op = Replace
			if one.Value, err = DecodeAt(p, e.Value, yang.Options{}); err != nil {
				return err
			}
		}
		if _, err := d.Apply(one); err != nil {
			return err
		}
	}
	return nil
}
