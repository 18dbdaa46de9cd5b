package csvlist

import (
	"errors"
	"slices"
	"strings"

	"ctl.internal/sdk/host"
)

// sealed reports whether a cell is a text of aaa:seal-secret.
func sealed(cell string) bool { return strings.HasPrefix(cell, host.SealedMark) }

// opener opens sealed cells, each text once: switches often share a community.
type opener struct {
	open   func(text string) (string, error)
	opened map[string]string
}

// row puts the secrets of a line's sealed cells in their place; the error tells every
// cell that does not open, by its column.
func (o *opener) row(row *[columns]string) error {
	var bad []string
	for col, cell := range row {
		if !sealed(cell) {
			continue
		}
		if !slices.Contains(secretColumns, col) {
			bad = append(bad, columnNames[col]+": a text of aaa:seal-secret may stand for a community or a password only")
			continue
		}
		plain, err := o.text(cell)
		if err != nil {
			bad = append(bad, columnNames[col]+": the sealed text does not open: "+err.Error())
			continue
		}
		row[col] = plain
	}
	if len(bad) > 0 {
		return errors.New(strings.Join(bad, "; "))
	}
	return nil
}

func (o *opener) text(cell string) (string, error) {
	if plain, ok := o.opened[cell]; ok {
		return plain, nil
	}
	if o.open == nil {
		return "", errors.New("there is no controller whose key opens it")
	}
	plain, err := o.open(cell)
	if err != nil {
		return "", err
	}
	if o.opened == nil {
		o.opened = map[string]string{}
	}
	o.opened[cell] = plain
	return plain, nil
}
