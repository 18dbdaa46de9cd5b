package network

import (
	"bytes"
	"encoding/csv"
	"errors"
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
		row := []string{node.MAC().String(), at.Addr().String(), writeCommunity, "admin", "password",
			node.Profile().Model, strconv.Itoa(int(at.Port())), "v2c", "", "", "", "", "",
			readCommunity, writeCommunity, "", "", ""}
		if node.CLIPort != 0 {
			row[16], row[17] = "telnet", strconv.Itoa(node.CLIPort)
		}
		if n.opts.V3 {
			copy(
				row[7:],
				[]string{"v3", userName, authProtocol.String(), authPassword, privProtocol.String(), privPassword, "", ""},
			)
			row[2] = ""
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.Bytes()
}

// WriteCSV writes the switch list, all of it or nothing, readable by its owner only.
func (n *Network) WriteCSV(path string) error {
	if err := WriteFile(path, n.CSV()); err != nil {
		return fmt.Errorf("switch list: %w", err)
	}
	return nil
}

// WriteFile replaces a file in one step.
func WriteFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".ctl-lab-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // it is gone when all went well
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
