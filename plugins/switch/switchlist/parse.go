package switchlist

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/host"
)

// The bounds of a list: size of the file and of one line, in octets.
const (
	MaxFile = 16 << 20
	maxLine = 16 << 10
)

// Parse reads a switch list. name is the file's, for the problems. It never fails
// as a whole: what cannot be used is among the problems, in the order of lines.
func Parse(name string, text []byte) ([]Entry, []Problem) {
	return ParseWith(Options{}, name, text)
}

// Options of reading a list.
type Options struct {
	// Known are switches whose secrets are taken where the list lacks them.
	Known []Entry
	// Open opens a text of aaa:seal-secret; nil: a cell with one cannot be used.
	Open func(text string) (string, error)
}

// ParseWith is Parse with options.
func ParseWith(o Options, name string, text []byte) ([]Entry, []Problem) {
	p := parser{
		name:    name,
		byMAC:   map[mib.MAC]int{},
		byPlace: map[string]int{},
		known:   map[mib.MAC][columns]string{},
		open:    o.Open,
		opened:  map[string]string{},
	}
	for _, e := range o.Known {
		p.known[e.MAC] = e.toRow()
	}
	if len(text) > MaxFile {
		p.addProblem(
			1,
			false,
			"the file has %d octets, more than %d; nothing was read",
			len(text),
			MaxFile,
		)
		return nil, p.problems
	}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		p.parseLine(n, strings.TrimRight(line, "\r\n"))
	}
	if len(p.entries) == 0 &&
		len(p.problems) > 0 &&
		!isPlausibleList(text) { // the lines of another file are not to be shown
		p.problems = nil
		p.addProblem(
			1,
			false,
			"this is not a switch list: the first line does not name columns such as %s, and no line begins with a MAC address",
			Title(),
		)
	}
	return slices.DeleteFunc(p.entries, func(e Entry) bool {
		return e.Line == 0
	}), p.problems
}

// isPlausibleList reports whether a text can be meant as a switch list: its title line names a column, or a
// line begins with a MAC address.
func isPlausibleList(text []byte) bool {
	first := true
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		cells := strings.Split(line, ",")
		if first &&
			slices.ContainsFunc(cells, func(c string) bool {
				return columnIndex(strings.Trim(c, "\"\r\n ")) >= 0
			}) {
			return true
		}
		if _, err := mib.ParseMAC(strings.Trim(cells[0], "\" ")); err == nil {
			return true
		}
		first = false
	}
	return false
}

type parser struct {
	name     string
	layout   layout
	titles   int // cells of the title line
	entries  []Entry
	byMAC    map[mib.MAC]int
	byPlace  map[string]int // where SNMP is spoken, and as whom
	problems []Problem
	known    map[mib.MAC][columns]string
	open     func(text string) (string, error)
	opened   map[string]string // each sealed text once: switches often share a community
}

func (p *parser) addProblem(line int, loaded bool, format string, args ...any) {
	p.problems = append(p.problems, Problem{p.name, line, loaded, fmt.Sprintf(format, args...)})
}

func (p *parser) parseLine(n int, text string) {
	switch trimmed := strings.TrimSpace(text); {
	case len(text) > maxLine:
		p.addProblem(n, false, "the line has more than %d octets", maxLine)
		return
	case trimmed == "" && n > 1, strings.HasPrefix(trimmed, "#") && n > 1:
		return
	}
	cells, err := splitCells(text)
	if n == 1 {
		p.parseTitleLine(cells, err)
		return
	}
	if err != nil {
		p.addProblem(n, false, "%v", err)
		return
	}
	if len(cells) > p.titles {
		p.addProblem(
			n,
			false,
			"%d cells, but the title line has %d columns; put a cell that has a comma in it between quotation marks",
			len(cells),
			p.titles,
		)
		return
	}
	var row [columns]string
	for i, cell := range cells {
		if c := p.layout[i]; c >= 0 {
			row[c] = cell
		}
	}
	if err := p.unsealRow(&row); err != nil {
		p.addProblem(n, false, "%v", err)
		return
	}
	if m, err := mib.ParseMAC(row[colMAC]); err == nil {
		if known, ok := p.known[m]; ok {
			fillSecrets(&row, &known)
		}
	}
	e, bad := parseRow(row)
	if len(bad) > 0 {
		texts := make([]string, len(bad))
		for i, b := range bad {
			texts[i] = columnNames[b.column] + ": " + b.text
		}
		p.addProblem(n, false, "%s", strings.Join(texts, "; "))
		return
	}
	e.Line = n
	if i, ok := p.byMAC[e.MAC]; ok {
		p.addProblem(
			n,
			true,
			"MAC %s stands in line %d already; the later line holds",
			e.MAC,
			p.entries[i].Line,
		)
		p.entries[i].Line = 0
	}
	if place := e.Place() + "\x00" + e.ReadCommunity + "\x00" + e.V3User; e.Version != NoSNMP {
		i, ok := p.byPlace[place]
		if ok && p.entries[i].MAC != e.MAC && p.entries[i].Line != 0 {
			p.addProblem(
				n,
				true,
				"IP %s stands in line %d already, for %s; a switch that is in the list twice is changed by two at a time: leave one line out",
				e.Place(),
				p.entries[i].Line,
				p.entries[i].MAC,
			)
		}
		p.byPlace[place] = len(p.entries)
	}
	p.byMAC[e.MAC] = len(p.entries)
	p.entries = append(p.entries, e)
}

// Title is the shortest title line.
func Title() string {
	return strings.Join(columnNames[:colModel+1], ",")
}

// parseTitleLine reads the first line, which is never a switch.
func (p *parser) parseTitleLine(cells []string, err error) {
	if err != nil {
		cells = nil
	}
	var problems []string
	p.layout, problems = parseTitles(cells)
	p.titles = len(p.layout)
	for _, text := range problems {
		p.addProblem(1, true, "%s", text)
	}
	if len(cells) > 1 {
		_, err := mib.ParseMAC(cells[0])
		if err == nil {
			p.addProblem(
				1,
				false,
				"the first line must be the title line; put %q above this switch",
				Title(),
			)
		}
	}
}

// splitCells reads the cells of one line. A cell cannot go on in the next line, so a
// forgotten quotation mark spoils one line only.
func splitCells(text string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	r.FieldsPerRecord = -1
	cells, err := r.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		var pe *csv.ParseError
		if errors.As(err, &pe) {
			return nil, fmt.Errorf(
				"column %d: %v; put the cell between quotation marks and double those inside",
				pe.Column,
				pe.Err,
			)
		}
		return nil, err
	}
	for i := range cells {
		cells[i] = strings.TrimRight(cells[i], " \t")
	}
	return cells, nil
}

// isSealed reports whether a cell is a text of aaa:seal-secret.
func isSealed(cell string) bool {
	return strings.HasPrefix(cell, host.SealedMark)
}

// unsealRow puts the secrets of a line's sealed cells in their place; the error names every
// cell that does not open, by its column.
func (p *parser) unsealRow(row *[columns]string) error {
	var bad []string
	for col, cell := range row {
		if !isSealed(cell) {
			continue
		}
		if !slices.Contains(secretColumns, col) {
			bad = append(
				bad,
				columnNames[col]+": a text of aaa:seal-secret may stand for a community or a password only",
			)
			continue
		}
		plain, err := p.openCell(cell)
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

func (p *parser) openCell(cell string) (string, error) {
	if plain, ok := p.opened[cell]; ok {
		return plain, nil
	}
	if p.open == nil {
		return "", errors.New("no controller has the key to open it")
	}
	plain, err := p.open(cell)
	if err == nil {
		p.opened[cell] = plain
	}
	return plain, err
}
