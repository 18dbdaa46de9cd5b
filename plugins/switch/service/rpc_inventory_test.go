package service

import (
	"context"
	"strings"
	"testing"
	"time"
)

// entities is the ENTITY-MIB of a switch with an optic, and sensors.
func entities() string {
	var b strings.Builder
	row := func(index, class, in, name, model, serial string) {
		base := "1.3.6.1.2.1.47.1.1.1.1."
		b.WriteString(base + "2." + index + "|4|the " + name + "\n" + base + "4." + index + "|2|" + in + "\n")
		b.WriteString(base + "5." + index + "|2|" + class + "\n" + base + "7." + index + "|4|" + name + "\n")
		b.WriteString(base + "11." + index + "|4|" + serial + "\n" + base + "12." + index + "|4|Acme\n")
		b.WriteString(base + "13." + index + "|4|" + model + "\n" + base + "16." + index + "|2|1\n")
	}
	row("1", "3", "0", "chassis", "S-24", "SN1")
	row("2", "9", "1", "slot 1", "SFP-LX", "=SN2")
	row("3", "8", "1", "temperature", "", "")
	row("4", "8", "1", "fan", "", "")
	sensor := func(index, kind, scale, precision, value, status string) {
		for i, text := range []string{kind, scale, precision, value, status} {
			b.WriteString("1.3.6.1.2.1.99.1.1.1." + string(rune('1'+i)) + "." + index + "|2|" + text + "\n")
		}
	}
	sensor("3", "8", "9", "1", "425", "1")
	sensor("4", "10", "9", "0", "0", "3")
	return b.String()
}

// What a switch is made of, by the RPC and as NetBox imports it.
func TestInventory(t *testing.T) {
	s := playedService(t, bridgeOfTwo+entities())
	out, err := ask(t, s.rpcMux(), "switch-inventory:get-inventory", `{"switch":"02:00:00:00:00:01"}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"index":1,"class":"chassis","name":"chassis","description":"the chassis","vendor":"Acme","model":"S-24","serial":"SN1","replaceable":true}`,
		`"index":2,"contained-in":1,"class":"module","name":"slot 1"`,
		`"class":"sensor","name":"temperature","description":"the temperature","vendor":"Acme","replaceable":true,"value":42.5,"unit":"°C","status":"ok"}`,
		`"unit":"rpm","status":"failed"}`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nhas no %s", out, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all, err := s.getInventory(ctx, inventoryIn{Serials: true})
	if err != nil || len(all.Entries) != 2 || len(all.Partial) > 0 {
		t.Fatalf("%v %+v", err, all)
	}
	name := all.Entries[0].Switch
	for form, want := range map[string]string{
		netBoxDevices: "name,role,manufacturer,device_type,serial,site,status\n" + name + ",switch,Acme,S-24,SN1,,active\n",
		netBoxModules: "device,module_bay,module_type,status,serial\n" + name + ",slot 1,SFP-LX,active,'=SN2\n",
	} {
		if got, err := all.formatNetBox(form); err != nil || got != want {
			t.Errorf("%v\n got %s\nwant %s", err, got, want)
		}
	}
	none := playedService(t, bridgeOfTwo)
	if all, err := none.getInventory(ctx, inventoryIn{}); err != nil || len(all.Entries) > 0 {
		t.Errorf("a switch without the table: %v %+v", err, all)
	}
}

// A chassis without a serial number is a device, too, and what is in it is no device instead of it.
func TestNetBoxOfChassisWithoutSerial(t *testing.T) {
	s := playedService(t, bridgeOfTwo+strings.ReplaceAll(entities(), "|4|SN1", "|4|"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all, err := s.getInventory(ctx, inventoryIn{Serials: true, chassis: true})
	if err != nil {
		t.Fatal(err)
	}
	name := all.Entries[0].Switch
	for form, want := range map[string]string{
		netBoxDevices: "name,role,manufacturer,device_type,serial,site,status\n" + name + ",switch,Acme,S-24,,,active\n",
		netBoxModules: "device,module_bay,module_type,status,serial\n" + name + ",slot 1,SFP-LX,active,'=SN2\n",
	} {
		if got, err := all.formatNetBox(form); err != nil || got != want {
			t.Errorf("%v\n got %s\nwant %s", err, got, want)
		}
	}
	if all, err = s.getInventory(ctx, inventoryIn{Serials: true}); err != nil || len(all.Entries) != 1 {
		t.Errorf("%v %+v", err, all)
	}
}

// The components of all switches in an answer are bounded; a switch is shown with all of its own, or not.
func TestInventoryIsBounded(t *testing.T) {
	out := &inventoryOut{}
	if err := out.add(make([]componentLine, 3), 5); err != nil {
		t.Fatal(err)
	}
	if err := out.add(make([]componentLine, 3), 5); err == nil || !strings.Contains(err.Error(), "ask for this switch alone") {
		t.Error(err)
	}
	if err := out.add(make([]componentLine, 2), 5); err != nil || len(out.Entries) != 5 {
		t.Errorf("%v: %d entries", err, len(out.Entries))
	}
}
