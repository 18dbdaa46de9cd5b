//go:build peers

package truthpeers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// notBegun stands for a request that reached no controller, or one that says that it has changed nothing.
const notBegun = -1

// endpoint is a node as clients reach it.
type endpoint struct {
	url    string
	client *http.Client
}

// worker is one client; it talks to whatever node it picks.
type worker struct {
	nodes  []endpoint
	h      *history
	rnd    *rand.Rand
	serial *atomic.Int64
}

// ask returns the status and body, status 0 when there was no answer.
func (w *worker) ask(ctx context.Context, method, path, body string) (int, string) {
	status, answer, _ := w.send(ctx, method, path, body, nil)
	return status, answer
}

// send is ask with and for headers.
func (w *worker) send(ctx context.Context, method, path, body string, header http.Header) (int, string, http.Header) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	node := w.nodes[w.rnd.IntN(len(w.nodes))]
	req, err := http.NewRequestWithContext(ctx, method, node.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", nil
	}
	for name, v := range header {
		req.Header[name] = v
	}
	req.SetBasicAuth("admin", "admin")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := node.client.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) { // nothing was begun
		w.rest(ctx)
		return notBegun, "connection refused", nil
	}
	if err != nil {
		return 0, err.Error(), nil
	}
	if res.StatusCode == http.StatusServiceUnavailable {
		defer w.rest(ctx)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error(), nil
	}
	if res.StatusCode == http.StatusServiceUnavailable && changedNothing(string(b)) {
		return notBegun, string(b), res.Header
	}
	return res.StatusCode, string(b), res.Header
}

// changedNothing reports whether an answer says that the disk did not take the write: it must be true then.
func changedNothing(body string) bool {
	for _, says := range []string{"the disk is full", "takes no writes, so nothing was changed", "so nothing is written any more"} {
		if strings.Contains(body, says) {
			return true
		}
	}
	return false
}

// rest keeps a worker from filling the history with calls that cannot succeed now.
func (w *worker) rest(ctx context.Context) {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
	}
}

// run makes calls until ctx ends.
func (w *worker) run(ctx context.Context, keys int, step func(ctx context.Context, w *worker, key string)) {
	for ctx.Err() == nil {
		step(ctx, w, fmt.Sprint("k", w.rnd.IntN(keys)))
	}
}

// note records a call around do, which says how it ended.
func (w *worker) note(key, op, value string, do func() (outcome string, keep bool)) {
	c := call{key: key, op: op, value: value, begin: w.h.now()}
	outcome, keep := do()
	c.end, c.outcome = w.h.now(), outcome
	if keep {
		w.h.add(c)
	}
}

// channel is one step on a channel of topology t.
func channel(ctx context.Context, w *worker, key string) { channelOf(ctx, w, "t", key) }

// channelOf is one step on a BIER channel: its register is the name, the value the src-ip.
func channelOf(ctx context.Context, w *worker, topology, key string) {
	tree := "/bier-channel:bier-network-channel/bier-channel=" + topology
	ip := func() string { n := w.serial.Add(1); return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255) }
	rpc := func(name, fields string) func() (string, bool) {
		return func() (string, bool) {
			status, body := w.ask(ctx, "POST", "/restconf/operations/bier-channel-api:"+name, `{"input":{"topology-id":"`+topology+`",`+fields+`}}`)
			switch {
			case status == 200 && strings.Contains(body, "SUCCESS"):
				return done, true
			case status == 200 && (strings.Contains(body, "exists already") || strings.Contains(body, "no channel")):
				return refused, true
			case status == notBegun || status == 400 || status == 401 || status == 404:
				return "", false
			}
			return w.h.open(status, body), true
		}
	}
	flow := func(v string) string {
		return fmt.Sprintf(`"name":%q,"src-ip":%q,"dst-group":"232.1.1.1","domain-id":1,"sub-domain-id":0,"source-wildcard":32,"group-wildcard":32`, key, v)
	}
	switch w.rnd.IntN(6) {
	case 0:
		v := ip()
		w.note(key, "add", v, rpc("add-channel", flow(v)))
	case 1:
		v := ip()
		w.note(key, "modify", v, rpc("modify-channel", flow(v)))
	case 2:
		w.note(key, "remove", "", rpc("remove-channel", fmt.Sprintf(`"channel-name":%q`, key)))
	case 3:
		w.note(key, "read", "", func() (string, bool) {
			status, body := w.ask(ctx, "POST", "/restconf/operations/bier-channel-api:query-channel", fmt.Sprintf(`{"input":{"topology-id":%q,"channel-name":[%q]}}`, topology, key))
			return source(body, "channel"), status == 200
		})
	case 4:
		path := []string{"/rests/data", "/restconf/config", "/restconf/operational"}[w.rnd.IntN(3)]
		w.note(key, "read", "", func() (string, bool) {
			status, body := w.ask(ctx, "GET", path+tree+"/channel="+key, "")
			if status == 404 {
				return "", strings.Contains(body, "no such data")
			}
			return source(body, "channel"), status == 200
		})
	case 5: // the whole list is a read of each register at one moment
		begin := w.h.now()
		status, body := w.ask(ctx, "GET", "/rests/data"+tree, "")
		end := w.h.now()
		if status != 200 {
			return
		}
		all := map[string]string{}
		for _, c := range objects(body, "channel") {
			all[fmt.Sprint(c["name"])] = fmt.Sprint(c["src-ip"])
		}
		for i := range keys {
			k := fmt.Sprint("k", i)
			w.h.add(call{key: k, op: "read", begin: begin, end: end, outcome: all[k]})
		}
	}
}

// source is the src-ip of the first object of a list in an answer.
func source(body, list string) string {
	for _, c := range objects(body, list) {
		if ip, ok := c["src-ip"].(string); ok {
			return ip
		}
	}
	return ""
}

// objects finds the entries of a list by its bare name, anywhere in an answer.
func objects(body, list string) (out []map[string]any) {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return nil
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, x := range v {
				if entries, ok := x.([]any); ok && (name == list || strings.HasSuffix(name, ":"+list)) {
					for _, e := range entries {
						if m, ok := e.(map[string]any); ok {
							out = append(out, m)
						}
					}
					continue
				}
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	return out
}

// user is one step on a user of the identity store: the value is its description.
func user(ctx context.Context, w *worker, key string) {
	id := "/auth/v1/users/" + url.PathEscape(key+"@sdn")
	do := func(method, path, body string, exists, absent int) func() (string, bool) {
		return func() (string, bool) {
			status, _ := w.ask(ctx, method, path, body)
			switch status {
			case 200, 201, 204:
				return done, true
			case exists, absent:
				return refused, true
			case notBegun, 401, 429:
				return "", false
			}
			return unknown, true
		}
	}
	v := fmt.Sprint("v", w.serial.Add(1))
	switch w.rnd.IntN(5) {
	case 0:
		w.note(key, "add", v, do("POST", "/auth/v1/users", fmt.Sprintf(`{"name":%q,"password":"long enough","description":%q,"domainid":"sdn"}`, key, v), 409, 409))
	case 1:
		w.note(key, "modify", v, do("PUT", id, fmt.Sprintf(`{"description":%q}`, v), 404, 404))
	case 2:
		w.note(key, "remove", "", func() (string, bool) {
			status, _ := w.ask(ctx, "DELETE", id, "")
			switch status {
			case 200, 204, 404:
				return done, true
			case notBegun, 401, 429:
				return "", false
			}
			return unknown, true
		})
	default:
		w.note(key, "read", "", func() (string, bool) {
			status, body := w.ask(ctx, "GET", id, "")
			if status == 404 {
				return "", true
			}
			var u struct{ Description string }
			_ = json.Unmarshal([]byte(body), &u)
			return u.Description, status == 200
		})
	}
}

// crowd runs n workers until ctx ends.
func crowd(ctx context.Context, n int, nodes []endpoint, h *history, step func(context.Context, *worker, string)) *sync.WaitGroup {
	var wg sync.WaitGroup
	var serial atomic.Int64
	for i := range n {
		w := &worker{nodes: nodes, h: h, rnd: rand.New(rand.NewPCG(uint64(i), 7)), serial: &serial}
		wg.Go(func() { w.run(ctx, keys, step) })
	}
	return &wg
}
