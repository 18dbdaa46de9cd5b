//go:build peers

package truthpeers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// keys is how many registers a history has.
const keys = 8

// topology is where the tree of topology t is written.
const topology = "/rests/data/bier-topology:bier-network-topology/bier-topology=t"

var roots = []string{"/rests/data", "/restconf/config", "/restconf/operational"}

// rpc is a call of the topology's RPCs. It is refused when the answer says one of the words.
func (w *worker) rpc(ctx context.Context, name, fields string, refusals ...string) func() (string, bool) {
	return func() (string, bool) {
		status, body := w.ask(ctx, "POST", "/restconf/operations/bier-topology-api:"+name, `{"input":{"topology-id":"t",`+fields+`}}`)
		switch {
		case status == 200 && strings.Contains(body, "SUCCESS"):
			return done, true
		case status == notBegun || status == 400 || status == 401 || status == 404:
			return "", false
		}
		for _, why := range refusals {
			if status == 200 && strings.Contains(body, why) {
				return refused, true
			}
		}
		return w.h.open(status, body), true
	}
}

// write is a write of the tree; a deletion is refused where there is nothing.
func (w *worker) write(ctx context.Context, method, path, body string) func() (string, bool) {
	return func() (string, bool) {
		status, answer := w.ask(ctx, method, path, body)
		switch {
		case status == 200 || status == 201 || status == 204:
			return done, true
		case strings.Contains(answer, "data-missing"):
			return refused, true
		case status == notBegun || status == 400 || status == 401:
			return "", false
		}
		return w.h.open(status, answer), true
	}
}

// readList reads the registers of a whole list at one moment; value finds that of an entry.
func (w *worker) readList(ctx context.Context, path, list, id, prefix string, value func(map[string]any) string) {
	begin := w.h.now()
	status, body := w.ask(ctx, "GET", path, "")
	end := w.h.now()
	if status != 200 {
		return
	}
	all := map[string]string{}
	for _, e := range objects(body, list) {
		all[fmt.Sprint(e[id])] = value(e)
	}
	for i := range keys {
		k := fmt.Sprint("k", i)
		w.h.add(call{key: k, op: "read", begin: begin, end: end, outcome: all[prefix+fmt.Sprint(i)]})
	}
}

// domain is one step on a domain of the topology, which is there or not.
func domain(ctx context.Context, w *worker, key string) {
	const there = "there"
	id := "10" + key[1:]
	at := topology + "/bier-domain=" + id
	switch w.rnd.IntN(6) {
	case 0:
		w.note(key, "add", there, w.rpc(ctx, "configure-domain", `"domain":[`+id+`]`, "exists already"))
	case 1:
		w.note(key, "take", "by RPC", w.rpc(ctx, "delete-domain", `"domain-id":`+id, "there is no domain"))
	case 2:
		w.note(key, "put", there, w.write(ctx, "PUT", at, `{"bier-topology:bier-domain":[{"domain-id":`+id+`,"bier-sub-domain":[{"sub-domain-id":0}]}]}`))
	case 3:
		w.note(key, "take", "in the tree", w.write(ctx, "DELETE", at, ""))
	case 4:
		w.note(key, "read", "", func() (string, bool) {
			status, body := w.ask(ctx, "POST", "/restconf/operations/bier-topology-api:query-domain", `{"input":{"topology-id":"t"}}`)
			for _, d := range objects(body, "domain") {
				if fmt.Sprint(d["domain-id"]) == id {
					return there, true
				}
			}
			return "", status == 200
		})
	case 5:
		w.readList(ctx, roots[w.rnd.IntN(3)]+topology[len(roots[0]):], "bier-domain", "domain-id", "10", func(map[string]any) string { return there })
	}
}

// router is one step on a node of the topology; its value is the prefix in domain 1.
func router(ctx context.Context, w *worker, key string) {
	n := w.serial.Add(1)
	v := fmt.Sprintf("10.%d.%d.%d/32", n>>16&255, n>>8&255, n&255)
	number, _ := strconv.Atoi(key[1:])
	configured := fmt.Sprintf(`[{"domain-id":1,"bier-global":{"bitstringlength":"64-bit","bfr-id":%d,"ipv4-bfr-prefix":%q}}]`, number+1, v)
	prefix := func(node map[string]any) string {
		text, _ := json.Marshal(node)
		var in struct {
			Params struct {
				Domains []struct {
					Global struct {
						Prefix string `json:"ipv4-bfr-prefix"`
					} `json:"bier-global"`
				} `json:"domain"`
			} `json:"bier-node-params"`
		}
		if json.Unmarshal(text, &in) != nil || len(in.Params.Domains) != 1 {
			return "?" + string(text)
		}
		return in.Params.Domains[0].Global.Prefix
	}
	at := "/bier-topology:bier-network-topology/bier-topology=t/bier-node=" + key
	switch w.rnd.IntN(6) {
	case 0, 1:
		w.note(key, "put", v, w.write(ctx, "PUT", roots[w.rnd.IntN(2)]+at,
			fmt.Sprintf(`{"bier-topology:bier-node":[{"node-id":%q,"bier-node-params":{"domain":%s}}]}`, key, configured)))
	case 2:
		w.note(key, "modify", v, w.rpc(ctx, "configure-node", fmt.Sprintf(`"node-id":%q,"domain":%s`, key, configured), "there is no node"))
	case 3:
		w.note(key, "take", "in the tree", w.write(ctx, "DELETE", roots[0]+at, ""))
	case 4:
		w.note(key, "read", "", func() (string, bool) {
			status, body := w.ask(ctx, "GET", roots[w.rnd.IntN(3)]+at, "")
			if status == 404 {
				return "", strings.Contains(body, "no such data")
			}
			for _, n := range objects(body, "bier-node") {
				return prefix(n), status == 200
			}
			return "", false
		})
	case 5:
		w.readList(ctx, roots[w.rnd.IntN(3)]+topology[len(roots[0]):], "bier-node", "node-id", "k", prefix)
	}
}

// counter adds one to a leaf of the tree: it is read with its entity tag, and written
// under the condition that it has that tag still.
func counter(ctx context.Context, w *worker, key string) {
	at := topology + "/bier-node=count-" + key
	var from string
	var tag []string
	n := 0
	w.note(key, "read", "", func() (string, bool) {
		status, body, header := w.send(ctx, "GET", at, "", nil)
		for _, node := range objects(body, "bier-node") {
			if text, ok := node["latitude"]; ok {
				from = fmt.Sprint(text)
			}
		}
		tag = header["Etag"]
		return from, status == 200
	})
	if len(tag) != 1 {
		return
	}
	n, _ = strconv.Atoi(from)
	c := call{key: key, op: "swap", from: from, value: fmt.Sprint(n + 1), begin: w.h.now()}
	status, answer, _ := w.send(ctx, "PUT", at, fmt.Sprintf(`{"bier-topology:bier-node":[{"node-id":"count-%s","latitude":"%s"}]}`, key, c.value), http.Header{"If-Match": tag})
	c.end = w.h.now()
	switch status {
	case 200, 201, 204:
		c.outcome = done
	case 412:
		c.outcome = refused
	case notBegun, 400, 401:
		return
	default:
		c.outcome = w.h.open(status, answer)
	}
	w.h.add(c)
}
