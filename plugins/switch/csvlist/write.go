package csvlist

import (
	"encoding/csv"
	"io"
	"strconv"
)

// Write writes a list that Parse reads. Without secrets the cells of communities and
// passwords are empty.
func Write(w io.Writer, entries []Entry, secrets bool) error {
	out := csv.NewWriter(w)
	if err := out.Write(columnNames[:]); err != nil {
		return err
	}
	for _, e := range entries {
		row := e.row()
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

// row is the cells of an entry.
func (e Entry) row() (r [columns]string) {
	r[colMAC], r[colIP], r[colModel], r[colDriver] = e.MAC.String(), e.Address.String(), e.Model, e.Driver
	r[colCLIUser], r[colCLIPassword], r[colVersion] = e.CLIUser, e.CLIPassword, e.Version
	r[colV3User], r[colV3AuthProtocol], r[colV3AuthPassword] = e.V3User, e.V3AuthProtocol, e.V3AuthPassword
	r[colV3PrivProtocol], r[colV3PrivPassword], r[colCLITransport] = e.V3PrivProtocol, e.V3PrivPassword, e.CLITransport
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

// fill gives a row the secrets it lacks from what is known of the switch: a list that
// was written without them can be read again.
func fill(row, known *[columns]string) {
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
