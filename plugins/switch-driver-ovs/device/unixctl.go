package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
)

// The control socket of ovs-vswitchd, as ovs-appctl uses it: the forwarding table is not in OVSDB. It speaks
// JSON-RPC 1.0.

// maxAnswer bounds an answer, in bytes: a table of a million entries fits.
const maxAnswer = 64 << 20

// refusedError is what ovs-vswitchd answers instead of doing what it was asked.
type refusedError struct{ Text string }

func (e *refusedError) Error() string {
	return "ovs-vswitchd refuses: " + strings.TrimSpace(e.Text)
}

// runAppctl has ovs-vswitchd carry out one command and returns its output. target is
// unix:PATH, where * stands for any text in a file name and the first socket that
// answers counts, or tcp:ADDRESS:PORT.
func runAppctl(ctx context.Context, target, method string, params ...string) (string, error) {
	scheme, place, _ := strings.Cut(target, ":")
	places := []string{place}
	if scheme == "unix" && strings.Contains(place, "*") {
		var err error
		if places, err = filepath.Glob(place); err != nil {
			return "", err
		}
	}
	err := fmt.Errorf("there is no socket %s", place)
	for _, p := range places { // sockets of ended processes do not answer
		var c net.Conn
		if c, err = (&net.Dialer{}).DialContext(ctx, scheme, p); err == nil {
			return askUnixctl(ctx, c, method, params)
		}
	}
	return "", err
}

func askUnixctl(ctx context.Context, c net.Conn, method string, params []string) (string, error) {
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	if params == nil {
		params = []string{}
	}
	q := struct {
		Method string   `json:"method"`
		Params []string `json:"params"`
		ID     int      `json:"id"`
	}{method, params, 1}
	if err := json.NewEncoder(c).Encode(q); err != nil {
		return "", errors.Join(err, ctx.Err())
	}
	var a struct {
		Result any `json:"result"`
		Error  any `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(c, maxAnswer)).Decode(&a); err != nil {
		return "", errors.Join(fmt.Errorf("no answer from ovs-vswitchd: %w", err), ctx.Err())
	}
	if a.Error != nil {
		return "", &refusedError{fmt.Sprintf("%.300v", a.Error)}
	}
	text, ok := a.Result.(string)
	if !ok {
		return "", errors.New("the answer of ovs-vswitchd is not text")
	}
	return text, nil
}

// fdbRow is a row of fdb/show.
type fdbRow struct {
	Port   uint32 // OpenFlow port number
	VLAN   uint32 // 0: frames without a tag on a port without a VLAN
	MAC    uint64
	Static bool
}

// parseFDB reads the output of fdb/show. Rows of the bridge's own port, and what is
// no row, are left out.
func parseFDB(text string) (out []fdbRow) {
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		port, err1 := strconv.ParseUint(f[0], 10, 16)
		vlan, err2 := strconv.ParseUint(f[1], 10, 12)
		mac, err3 := strconv.ParseUint(strings.ReplaceAll(f[2], ":", ""), 16, 48)
		if err1 != nil || err2 != nil || err3 != nil || len(f[2]) != 17 || port == 0 {
			continue
		}
		out = append(
			out,
			fdbRow{
				Port:   uint32(port),
				VLAN:   uint32(vlan),
				MAC:    mac,
				Static: strings.HasPrefix(f[3], "static"),
			},
		)
	}
	return out
}
