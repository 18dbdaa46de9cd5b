package network

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Columns returns the header of the switch list.
func Columns() []string {
	return []string{"MAC", "IP", "SNMP_Community", "CLI_Username", "CLI_Password", "Model", "Port", "Version",
		"V3_User", "V3_Auth_Protocol", "V3_Auth_Password", "V3_Priv_Protocol", "V3_Priv_Password",
		"Read_Community", "Write_Community", "Driver", "CLI_Transport", "CLI_Port"}
}

// CSV returns the switch list.
func (n *Network) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(Columns()) // a bytes.Buffer takes everything
	for _, node := range n.nodes {
		at := node.Server.Addr()
		row := []string{node.MAC().String(), at.Addr().String(), n.opts.WriteCommunity, "admin", "password",
			node.Profile().Model, strconv.Itoa(int(at.Port())), "v2c", "", "", "", "", "",
			n.opts.ReadCommunity, n.opts.WriteCommunity, "", "", ""}
		if node.CLIPort != 0 {
			row[16], row[17] = "telnet", strconv.Itoa(node.CLIPort)
		}
		if u := n.opts.User; n.opts.V3 {
			copy(row[7:], []string{"v3", u.Name, u.Auth.String(), u.AuthPassword, u.Priv.String(), u.PrivPassword, "", ""})
			row[2] = ""
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.Bytes()
}

// WriteCSV writes the switch list, all of it or nothing, readable by its owner only.
func (n *Network) WriteCSV(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".switches-*")
	if err != nil {
		return fmt.Errorf("switch list: %w", err)
	}
	_, err = f.Write(n.CSV())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("switch list: %w", err)
	}
	return nil
}
