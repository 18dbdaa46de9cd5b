// Command restconf measures a running controller against encoding/json on the same data, and event
// streams with many readers:
//
//	go run ./bench/restconf -url http://127.0.0.1:8181 -user admin:admin
//
// It writes below /rests/data/network-topology:network-topology/topology=bench and removes that again.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	encodingxml "encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"ctl.internal/bench/rig"
)

const target = "/rests/data/network-topology:network-topology/topology=bench"

type client struct {
	url, user, password string
	http                *http.Client
	body                bytes.Buffer // of the last answer
	pid                 int
}

func main() {
	url := flag.String("url", "http://127.0.0.1:8181", "the controller")
	user := flag.String("user", "admin:admin", "user and password")
	entries := flag.Int("entries", 10_000, "entries of the list")
	rounds := flag.Int("rounds", 9, "measurements of each side, in turn; the median counts")
	readers := flag.Int("readers", 1000, "readers of an event stream")
	events := flag.Int("events", 100, "events, ten a second")
	pid := flag.Int("pid", 0, "process of the controller, to measure its processor time")
	flag.Parse()
	name, password, _ := strings.Cut(*user, ":")
	c := &client{
		pid:      *pid,
		url:      *url,
		user:     name,
		password: password,
		http: &http.Client{
			Transport: &http.Transport{
				MaxIdleConnsPerHost: 4,
				ReadBufferSize:      64 << 10,
			},
			Timeout: time.Minute,
		},
	}
	rig.Main(func(ctx context.Context) error {
		err := errors.Join(
			c.measureLists(*entries, *rounds),
			c.measureStreams(ctx, *readers, *events),
		)
		_, derr := c.sendRequest("DELETE", target, "", "", nil)
		return errors.Join(err, derr)
	})
}

// sendRequest sends a request and returns the body of the answer, which the next call overwrites.
func (c *client) sendRequest(
	method, path, accept, contentType string,
	body []byte,
) ([]byte, error) {
	r, err := http.NewRequest(method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(c.user, c.password)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	c.body.Reset()
	_, err = c.body.ReadFrom(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s %.300s", method, path, res.Status, c.body.Bytes())
	}
	return c.body.Bytes(), err
}

type end struct {
	Node string `json:"source-node"`
	TP   string `json:"source-tp"`
}

type link struct {
	ID   string `json:"link-id"`
	From end    `json:"source"`
	To   struct {
		Node string `json:"dest-node"`
		TP   string `json:"dest-tp"`
	} `json:"destination"`
}

type topology struct {
	ID    string              `json:"topology-id"`
	Nodes []map[string]string `json:"node"`
	Links []link              `json:"link"`
}

// measureLists compares GET and PUT of a long list with encoding/json.
func (c *client) measureLists(entries, rounds int) error {
	one := topology{
		ID:    "bench",
		Nodes: []map[string]string{{"node-id": "n"}},
	}
	for i := range entries {
		l := link{
			ID:   fmt.Sprintf("link-%05d", i),
			From: end{"n", fmt.Sprintf("port-%d", i%48)},
		}
		l.To.Node, l.To.TP = "n", "1"
		one.Links = append(one.Links, l)
	}
	t := map[string][]topology{"network-topology:topology": {one}}
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if _, err := c.sendRequest("PUT", target, "", "application/yang-data+json", body); err != nil {
		return err
	}
	xml, err := c.sendRequest("GET", target+"?content=config", "application/yang-data+xml", "", nil)
	if err != nil {
		return err
	}
	xml = bytes.Clone(xml)
	get := func(accept string) func() error {
		return func() error {
			_, err := c.sendRequest("GET", target+"?content=config", accept, "", nil)
			return err
		}
	}
	// Each PUT changes one entry, as a client does that sends back what it read.
	n := 0
	put := func(media string, text []byte) func() error {
		return func() error {
			n++
			changed := bytes.Replace(text, []byte("port-7"), fmt.Appendf(nil, "port-%d", 100+n), 1)
			_, err := c.sendRequest("PUT", target, "", media, changed)
			return err
		}
	}
	// What the transfer alone costs: the same bytes from a server that does nothing else.
	texts := map[string][]byte{"/json": body, "/xml": xml}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(texts[r.URL.Path])
	}))
	defer server.Close()
	plain := &client{url: server.URL, http: c.http}
	bare := func(path string) func() error {
		return func() error {
			_, err := plain.sendRequest("GET", path, "", "", nil)
			return err
		}
	}
	marshal := func() error { _, err := json.Marshal(t); return err }
	var generic any
	unmarshal := func() error { generic = nil; return json.Unmarshal(body, &generic) }
	tokens := func() error {
		for d := encodingxml.NewDecoder(bytes.NewReader(xml)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	for _, row := range []struct {
		what       string
		ours, peer func() error
		goal       string
	}{
		{"GET in JSON ÷ json.Marshal", get("application/yang-data+json"), marshal, "0.5"},
		{"GET in XML ÷ json.Marshal", get("application/yang-data+xml"), marshal, "0.5"},
		{"the same JSON from bare net/http", bare("/json"), marshal, "-"},
		{"the same XML from bare net/http", bare("/xml"), marshal, "-"},
		{"PUT in JSON ÷ json.Unmarshal", put("application/yang-data+json", body), unmarshal, "0.3"},
		{"PUT in XML ÷ json.Unmarshal", put("application/yang-data+xml", xml), unmarshal, "-"},
		{"PUT in XML ÷ encoding/xml tokens", put("application/yang-data+xml", xml), tokens, "1.0"},
	} {
		var ours, peer sample
		for range rounds {
			err := errors.Join(
				ours.addTiming(row.ours, func() time.Duration {
					return processorTime(c.pid)
				}),
				peer.addTiming(row.peer, ownTime),
			)
			if err != nil {
				return err
			}
		}
		a, b := rig.At(ours.took, 50), rig.At(peer.took, 50)
		fmt.Printf(
			"%-32s %d entries: ours %v, peer %v, ratio %.2f (target %s)",
			row.what,
			entries,
			a,
			b,
			float64(b)/float64(a),
			row.goal,
		)
		if a, b := rig.At(ours.cpu, 50), rig.At(peer.cpu, 50); c.pid != 0 && a > 0 {
			fmt.Printf(
				"; processor time: controller %v, peer %v, ratio %.2f",
				a,
				b,
				float64(b)/float64(a),
			)
		}
		fmt.Println()
	}
	return nil
}

// sample is how long the rounds of one side took, and the processor time of whoever did the work, which
// other load on the machine does not blur.
type sample struct{ took, cpu []time.Duration }

func (s *sample) addTiming(f func() error, cpu func() time.Duration) error {
	before, began := cpu(), time.Now()
	err := f()
	s.took = append(s.took, time.Since(began))
	s.cpu = append(s.cpu, cpu()-before)
	return err
}

// processorTime is what the threads of a process have used.
func processorTime(pid int) (sum time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		ran, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(ran, 10, 64)
		sum += time.Duration(n)
	}
	return sum
}

func ownTime() time.Duration {
	return processorTime(os.Getpid())
}

// measureStreams measures how late the events of changed data come to many readers.
func (c *client) measureStreams(ctx context.Context, readers, events int) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	watched := "/rests/streams/json/data-change/running/network-topology:network-topology/topology=bench-stream"
	data := "/rests/data/network-topology:network-topology/topology=bench-stream"
	_, err := c.sendRequest(
		"PUT",
		data,
		"",
		"application/yang-data+json",
		[]byte(`{"network-topology:topology":[{"topology-id":"bench-stream"}]}`),
	)
	if err != nil {
		return err
	}
	defer c.sendRequest("DELETE", data, "", "", nil) //nolint:errcheck // best effort
	many := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0}}
	var mu sync.Mutex
	var late []time.Duration
	var failed error
	var open, done sync.WaitGroup
	open.Add(readers)
	for range readers {
		done.Go(func() {
			r, err := http.NewRequestWithContext(ctx, "GET", c.url+watched, nil)
			if err != nil {
				return
			}
			r.SetBasicAuth(c.user, c.password)
			res, err := many.Do(r)
			open.Done()
			if err != nil || res.StatusCode != 200 {
				mu.Lock()
				failed = fmt.Errorf("a reader: %v %v", res, err)
				mu.Unlock()
				return
			}
			defer res.Body.Close()
			var own []time.Duration
			lines := bufio.NewReader(res.Body)
			for len(own) < events {
				line, err := lines.ReadString('\n')
				if err != nil {
					break
				}
				if _, rest, ok := strings.Cut(line, "node-id='"); ok {
					at, _, _ := strings.Cut(rest, "'")
					if sent, err := strconv.ParseInt(at, 10, 64); err == nil {
						own = append(own, time.Since(time.Unix(0, sent)))
					}
				}
			}
			mu.Lock()
			late = append(late, own...)
			mu.Unlock()
		})
	}
	open.Wait()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range events {
		<-tick.C
		id := strconv.FormatInt(time.Now().UnixNano(), 10)
		_, err := c.sendRequest(
			"PUT",
			data+"/node="+id,
			"",
			"application/yang-data+json",
			[]byte(`{"network-topology:node":[{"node-id":"`+id+`"}]}`),
		)
		if err != nil {
			return err
		}
	}
	done.Wait()
	if failed != nil {
		return failed
	}
	if len(late) == 0 {
		return errors.New("no event came")
	}
	fmt.Printf("%d readers, %d events at 10 a second: %d of %d delivered, p50 %v, p99 %v, worst %v (target p99 1s)\n", readers, events, len(late), readers*events,
		rig.At(late, 50).Round(time.Millisecond), rig.At(late, 99).Round(time.Millisecond), rig.At(late, 100).Round(time.Millisecond))
	return nil
}
