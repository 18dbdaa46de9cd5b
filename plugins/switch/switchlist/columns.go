package switchlist

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The columns, in the order that holds when the title line does not name them.
const (
	colMAC = iota
	colIP
	colCommunity
	colCLIUser
	colCLIPassword
	colModel
	colPort
	colVersion
	colV3User
	colV3AuthProtocol
	colV3AuthPassword
	colV3PrivProtocol
	colV3PrivPassword
	colReadCommunity
	colWriteCommunity
	colDriver
	colCLITransport
	colCLIPort
	colV3Context
	colV3BridgeContext
	colAnswersFrom
	columns
)

var columnNames = [columns]string{
	"MAC", "IP", "SNMP_Community", "CLI_Username", "CLI_Password", "Model",
	"Port", "Version", "V3_User", "V3_Auth_Protocol", "V3_Auth_Password",
	"V3_Priv_Protocol", "V3_Priv_Password", "Read_Community", "Write_Community", "Driver",
	"CLI_Transport", "CLI_Port", "V3_Context", "V3_Bridge_Context", "Answers_From",
}

// secretColumns are the cells that are left out of a list without secrets, and that
// may be texts of aaa:seal-secret.
var secretColumns = []int{colCommunity, colCLIPassword, colV3AuthPassword, colV3PrivPassword, colReadCommunity, colWriteCommunity}

// layout says which column a cell is in: layout[i] is the column of cell i.
type layout []int

// parseTitles reads the title line. When it names MAC and IP the columns are by name,
// and a name it does not know is a problem (the cells below it are not used);
// otherwise they are by position.
func parseTitles(cells []string) (layout, []string) {
	byName := make(layout, len(cells))
	seen := map[int]bool{}
	var problems []string
	for i, cell := range cells {
		byName[i] = columnIndex(cell)
		switch {
		case byName[i] < 0 && strings.TrimSpace(cell) != "":
			problems = append(
				problems,
				fmt.Sprintf(
					"unknown column %q; known are: %s",
					cell,
					strings.Join(columnNames[:], ", "),
				),
			)
		case byName[i] >= 0 && seen[byName[i]]:
			problems = append(
				problems,
				fmt.Sprintf("column %q stands twice; the second is not used", cell),
			)
			byName[i] = -1
		}
		seen[byName[i]] = true
	}
	if seen[colMAC] && seen[colIP] {
		return byName, problems
	}
	byPosition := make(layout, columns)
	for i := range byPosition {
		byPosition[i] = i
	}
	return byPosition, nil
}

// columnIndex returns the column of a name, -1 for none. Case, blanks, dashes and
// underscores do not matter.
func columnIndex(name string) int {
	plain := func(s string) string {
		return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(strings.TrimSpace(s)))
	}
	for i, n := range columnNames {
		if plain(n) == plain(name) {
			return i
		}
	}
	return -1
}

// Write writes a list that Parse reads. Without secrets the cells of communities and
// passwords are empty.
func Write(w io.Writer, entries []Entry, secrets bool) error {
	out := csv.NewWriter(w)
	if err := out.Write(columnNames[:]); err != nil {
		return err
	}
	for _, e := range entries {
		row := e.toRow()
		if !secrets {
			for _, c := range secretColumns {
				row[c] = ""
			}
		}
		if err := out.Write(row[:]); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// toRow is the cells of an entry.
func (e Entry) toRow() (r [columns]string) {
	r[colMAC], r[colIP], r[colModel], r[colDriver] = e.MAC.String(), e.Address.String(), e.Model, e.Driver
	r[colCLIUser], r[colCLIPassword], r[colVersion] = e.CLIUser, e.CLIPassword, e.Version
	r[colV3User], r[colV3AuthProtocol], r[colV3AuthPassword] = e.V3User, e.V3AuthProtocol, e.V3AuthPassword
	r[colV3PrivProtocol], r[colV3PrivPassword], r[colCLITransport] = e.V3PrivProtocol, e.V3PrivPassword, e.CLITransport
	r[colV3Context], r[colV3BridgeContext], r[colAnswersFrom] = e.V3Context, e.V3BridgeContext, e.AnswersFrom
	if e.CLIPort != 0 {
		r[colCLIPort] = strconv.Itoa(int(e.CLIPort))
	}
	if e.Port != 161 {
		r[colPort] = strconv.Itoa(int(e.Port))
	}
	if e.ReadCommunity == e.WriteCommunity {
		r[colCommunity] = e.ReadCommunity
	} else {
		r[colReadCommunity], r[colWriteCommunity] = e.ReadCommunity, e.WriteCommunity
	}
	return r
}

// fillSecrets gives a row the secrets it lacks from what is known of the switch: a list that
// was written without them can be read again.
func fillSecrets(row, known *[columns]string) {
	if row[colCommunity] == "" && row[colReadCommunity] == "" && row[colWriteCommunity] == "" {
		for _, c := range []int{colCommunity, colReadCommunity, colWriteCommunity} {
			row[c] = known[c]
		}
	}
	for _, c := range []int{colCLIPassword, colV3AuthPassword, colV3PrivPassword} {
		if row[c] == "" {
			row[c] = known[c]
		}
	}
}
