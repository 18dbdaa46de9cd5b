package conformance

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/internal/pair"
	"ctl.internal/sdk/switchdriver"
)

// spoiled names the way in which the driver of TestMemory is bad.
const spoiled = "CTL_TEST_SPOILED"

func TestMemory(t *testing.T) {
	Run(t, func(t *testing.T) Peer {
		d := newMemory(os.Getenv(spoiled))
		conn := pair.New(t, func(s *grpc.Server) {
			switchdriver.Register(s, "memory", func() (switchdriver.Driver, error) { return d, nil })
		})
		return Peer{Conn: conn, Ports: []uint32{1, 2, 3},
			Switch: &switchdriver.Switch{NodeId: 1, Address: "127.0.0.1", Cli: &pluginv1.CliAccess{Password: "sesame"}}}
	})
}

// A driver that is bad in one way fails, for that reason.
func TestBadDriversAreFound(t *testing.T) {
	for bad, want := range map[string]string{
		"is for nothing":                "for no switch at all",
		"is for everything":             "matches the empty text",
		"does not do what it announces": "ReadVlans is announced",
		"takes any switch":              "ReadVlans of a switch without an address: is done",
		"takes any VLAN":                "a VLAN with id 4095: is done",
		"makes it again":                "making a VLAN again: is done",
		"leaves ports untagged twice":   "want 3002 only",
		"says done and does nothing":    "reads no such VLAN",
		"tells the login":               "the text shows a login",
		"says set and sets nothing":     `the driver shows port 1 with the description ""`,
		"sets all ports":                "the settings of other ports were changed",
		"takes any settings":            "settings with a command: is done",

		"does not name what it cannot set": `names the field ""`,
	} {
		t.Run(bad, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(within(t), os.Args[0], "-test.run=^TestMemory$")
			c.Env = append(os.Environ(), spoiled+"="+bad)
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("not found (%v): want %q in\n%s", err, want, out)
			}
		})
	}
}

// within bounds a process of the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
