package network_test

import (
	"fmt"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
)

// A test of a manager starts a network, lets the manager read the switch list
// (WriteCSV), and compares what it finds with Links.
func Example() {
	n, err := network.Start(network.Options{Topology: "ring:3", Models: []string{"D-Link_DGS-3650"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()

	node := n.Nodes()[0]
	at := node.Server.Addr()
	g := &gosnmp.GoSNMP{Target: at.Addr().String(), Port: at.Port(), Version: gosnmp.Version2c, Community: "private", Timeout: 30 * time.Second}
	if err := g.Connect(); err != nil {
		fmt.Println(err)
		return
	}
	defer g.Conn.Close()
	r, err := g.Set([]gosnmp.SnmpPDU{{Name: "1.3.6.1.2.1.17.7.1.4.3.1.5.100", Type: gosnmp.Integer, Value: 4}})
	fmt.Println(r.Error, err, node.VLANs()[1].ID)

	fmt.Println(n.SetLink("sw1", "sw2", false), n.Links()[0])
	fmt.Println(n.SetFaults("sw3", faults.Set{Loss: 20}))
	// Output:
	// NoError <nil> 100
	// <nil> {{sw1 1} {sw2 1} false}
	// <nil>
}
