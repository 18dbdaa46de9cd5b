package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/bench/rig"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
)

// What a discovery reads: the same objects for the bare walk.
var (
	scalars = []string{mib.SysObjectID, mib.SysDescr, mib.SysName, mib.BaseBridgeAddress,
		mib.LLDPLocChassisSubtype, mib.LLDPLocChassisID, mib.LLDPLocSysName}
	columns = []string{mib.BasePortIfIndex, mib.IfDescr, mib.IfPhysAddress, mib.IfAdminStatus, mib.IfOperStatus,
		mib.IfName, mib.IfHighSpeed, mib.LLDPLocPortSubtype, mib.LLDPLocPortID, mib.LLDPLocPortDesc,
		mib.LLDPRemChassisSubtype, mib.LLDPRemChassisID, mib.LLDPRemPortSubtype, mib.LLDPRemPortID,
		mib.LLDPRemPortDesc, mib.LLDPRemSysName, mib.LLDPRemManIfSubtype}
	fdbColumns = []string{mib.QTpFdbPort, mib.QTpFdbStatus}
	tables     = []string{".1.3.6.1.2.1.17.1.4", ".1.3.6.1.2.1.2.2", ".1.3.6.1.2.1.31.1.1", ".1.0.8802.1.1.2.1"}
)

// rawWalk reads columns of one switch with gosnmp alone.
func rawWalk(e switchlist.Entry, scalars, columns []string) (values int, err error) {
	g := &gosnmp.GoSNMP{
		Target:         e.Address.String(),
		Port:           e.Port,
		Community:      e.ReadCommunity,
		Version:        gosnmp.Version2c,
		Timeout:        1500 * time.Millisecond,
		Retries:        2,
		MaxOids:        60,
		MaxRepetitions: 50,
	}
	if err := g.Connect(); err != nil {
		return 0, err
	}
	defer g.Close()
	if len(scalars) > 0 {
		p, err := g.Get(scalars)
		if err != nil {
			return 0, err
		}
		values += len(p.Variables)
	}
	for _, c := range columns {
		if err := g.BulkWalk(c, func(gosnmp.SnmpPDU) error {
			values++
			return nil
		}); err != nil {
			return values, err
		}
	}
	return values, nil
}

// rawAll walks all switches with as many workers as the plugin has.
func rawAll(list []switchlist.Entry, workers int) error {
	return rig.Each(len(list), workers, func(i int) error {
		_, err := rawWalk(list[i], scalars, columns)
		return err
	})
}

// sample is how many switches the loop of programs asks.
const sample = 20

// timeWalkPrograms runs a loop of snmpbulkwalk and scales its time up to all switches.
func timeWalkPrograms(ctx context.Context, list []switchlist.Entry) (time.Duration, error) {
	path, err := exec.LookPath("snmpbulkwalk")
	if err != nil {
		return 0, err
	}
	some := list[:min(sample, len(list))]
	start := time.Now()
	for _, e := range some {
		for _, t := range tables {
			c := exec.CommandContext(
				ctx,
				path,
				"-v2c",
				"-c",
				e.ReadCommunity,
				"-On",
				"-Cr50",
				fmt.Sprintf("%s:%d", e.Address, e.Port),
				t,
			)
			c.Env = []string{"MIBS="}
			if out, err := c.CombinedOutput(); err != nil {
				return 0, fmt.Errorf("snmpbulkwalk: %w: %s", err, out)
			}
		}
	}
	return time.Since(start) * time.Duration(len(list)) / time.Duration(len(some)), nil
}
