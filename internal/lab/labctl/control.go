package labctl

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpagent"
)

// switchView is a switch as the control socket shows it.
type switchView struct {
	Name   string          `json:"name"`
	MAC    string          `json:"mac"`
	Addr   string          `json:"addr"`
	Model  string          `json:"model"`
	Faults string          `json:"faults"`
	Stats  snmpagent.Stats `json:"stats"`
}

// linkView is a link as the control socket shows it.
type linkView struct {
	A     string `json:"a"`
	APort int    `json:"a-port"`
	B     string `json:"b"`
	BPort int    `json:"b-port"`
	Up    bool   `json:"up"`
}

// newControlHandler is the control interface: GET /switches, GET /links, and POST /link,
// /fault, /restart, /trap, /traffic, /traps-to with parameters in the query.
func newControlHandler(n *network.Network) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /switches", func(w http.ResponseWriter, _ *http.Request) {
		views := []switchView{}
		for _, node := range n.Nodes() {
			a := node.Server.Agent()
			views = append(views, switchView{node.Name(), node.MAC().String(), node.Server.Addr().String(),
				node.Profile().Model, a.Faults().String(), a.Stats()})
		}
		writeJSON(w, views)
	})
	mux.HandleFunc("GET /links", func(w http.ResponseWriter, _ *http.Request) {
		views := []linkView{}
		for _, l := range n.Links() {
			views = append(views, linkView{l.A.Switch, l.A.Port, l.B.Switch, l.B.Port, l.Up})
		}
		writeJSON(w, views)
	})
	change := func(path string, do func(get func(string) string) error) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := do(r.URL.Query().Get); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
			}
		})
	}
	change("/link", func(get func(string) string) error {
		switch state := get("state"); state {
		case "up", "down":
			return n.SetLink(get("a"), get("b"), state == "up")
		default:
			return fmt.Errorf("link state %.20q: up or down belongs here", state)
		}
	})
	change("/fault", func(get func(string) string) error {
		f, err := faults.Parse(get("faults"))
		if err != nil {
			return err
		}
		if get("switch") != "all" {
			return n.SetFaults(get("switch"), f)
		}
		for _, node := range n.Nodes() {
			node.Server.Agent().SetFaults(f)
		}
		return nil
	})
	change("/restart", func(get func(string) string) error {
		return n.Restart(get("switch"))
	})
	change("/trap", func(get func(string) string) error {
		return n.Trap(get("switch"), get("oid"))
	})
	change("/traffic", func(get func(string) string) error {
		node, err := n.Node(get("switch"))
		if err != nil {
			return err
		}
		var number [3]uint64
		for i, key := range []string{"port", "bits", "errors"} {
			if number[i], err = strconv.ParseUint(get(key), 10, 40); err != nil {
				return fmt.Errorf("%s %.20q: a number from 0 to 2^40 belongs here", key, get(key))
			}
		}
		return node.SetTraffic(int(number[0]), number[1], number[2])
	})
	change("/traps-to", func(get func(string) string) error {
		t, err := parseTarget(get("target"))
		if err == nil {
			n.SetTargets(t)
		}
		return err
	})
	return mux
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the peer may be gone
}
