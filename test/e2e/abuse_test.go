package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// status reads a line of /proc/PID/status of ctld: VmRSS in KiB, Threads, …
func (c *controller) status(name string) int {
	c.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.PID()))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				c.t.Fatalf("%q: %v", line, err)
			}
			return n
		}
	}
	c.t.Fatalf("no %s in %s", name, text)
	return 0
}

// files are the descriptors that are open; /proc/PID/fd of a controller is closed to its own user.
func (c *controller) files() int { return c.gauge("process_open_fds") }

func (c *controller) goroutines() int { return c.gauge("go_goroutines") }

// gauge is what the controller reports to operators about itself.
func (c *controller) gauge(name string) int {
	c.t.Helper()
	addr, err := os.ReadFile(filepath.Join(c.Home, "data", "run", "admin.addr"))
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := http.Get("http://" + strings.TrimSpace(string(addr)) + "/metrics")
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.Atoi(rest)
			if err != nil {
				c.t.Fatal(err)
			}
			return n
		}
	}
	c.t.Fatalf("no %s in\n%s", name, b)
	return 0
}

// connect opens a connection to ctld and writes the beginning of a request.
func (c *controller) connect(text string) net.Conn {
	c.t.Helper()
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(c.HTTP, "http://"), time.Minute)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		c.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		c.t.Fatal(err)
	}
	return conn
}

// others proves that everybody else is served: by connections of their own, with and
// without credentials, and at the console.
func (c *controller) others(while string) {
	c.t.Helper()
	fresh := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 5 {
		for auth, want := range map[string]int{admin: 200, "": 401} {
			r, err := http.NewRequest("GET", c.HTTP+"/restconf/modules", nil)
			if err != nil {
				c.t.Fatal(err)
			}
			if user, password, ok := strings.Cut(auth, ":"); ok {
				r.SetBasicAuth(user, password)
			}
			a, err := fresh.Do(r)
			if err != nil {
				c.t.Fatalf("while %s: %v", while, err)
			}
			a.Body.Close()
			if a.StatusCode != want {
				c.t.Fatalf("while %s: GET as %q: %d, want %d", while, auth, a.StatusCode, want)
			}
		}
	}
	c.Ctl("feature:list")
}

// roomForFiles lets this process open n files, or skips.
func roomForFiles(t *testing.T, n uint64) {
	t.Helper()
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	if l.Cur >= n {
		return
	}
	raised := syscall.Rlimit{Cur: n, Max: max(l.Max, n)}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peers, %d clients at once, need `ulimit -n %d`; the hard limit here is %d (%v)", n, n, l.Max, err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l) })
}

// What a client can do without credentials costs a bounded amount of memory, files
// and goroutines, and others are served meanwhile.
func TestAbuseIsBounded(t *testing.T) {
	const idle, kept = 10_000, 4096 // kept: limits.connections
	roomForFiles(t, idle+1000)
	c := start(t, harness.NewHome(t))
	c.others("no attack does harm")
	goroutines, files := c.goroutines(), c.files()

	const slow = 600 // more than limits.inFlight
	for range slow {
		c.connect("GET /restconf/modules HTTP/1.1\r\nHost: ctl\r\nX-Slow: ")
	}
	c.others("600 clients send their headers slowly")
	const form = "POST /oauth2/token HTTP/1.1\r\nHost: ctl\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 51\r\n\r\ngrant_type=password&"
	for range slow {
		c.connect(form)
	}
	c.others("600 clients send their bodies slowly")
	for range slow {
		c.connect("PUT /restconf/config/aaa:http-authorization HTTP/1.1\r\nHost: ctl\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"aaa")
	}
	c.others("600 clients send chunked bodies slowly")
	if got := c.goroutines(); got > goroutines+3*slow*4 {
		t.Errorf("%d goroutines for %d slow clients, %d before", got, 3*slow, goroutines)
	}
	late := c.connect(form)
	c.others("one more is slow")
	if _, err := io.WriteString(late, "username=admin&password=admin&x"); err != nil {
		t.Fatal(err)
	}
	if r, err := http.ReadResponse(bufio.NewReader(late), nil); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("a client that was slow, but came to the end: %v, %v", r, err)
	}

	for i := range idle {
		conn := c.connect("")
		if i%10 == 0 { // used once, then kept
			fmt.Fprint(conn, "GET /restconf/modules HTTP/1.1\r\nHost: ctl\r\n\r\n")
			if r, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || r.StatusCode != http.StatusUnauthorized {
				t.Fatalf("connection %d: %v, %v", i, r, err)
			}
		}
	}
	c.others("10,000 connections are held")
	if got := c.files(); got > files+kept+100 {
		t.Errorf("%d files are open, %d before", got, files)
	}
	if got := c.goroutines(); got > goroutines+2*kept {
		t.Errorf("%d goroutines, %d before", got, goroutines)
	}
	if mib := c.status("VmHWM") >> 10; mib > 700 {
		t.Errorf("the controller took %d MiB", mib)
	}
	t.Logf("%d goroutines, %d files, %d MiB at most", c.goroutines(), c.files(), c.status("VmHWM")>>10)
}

// What is too large is refused before it is held.
func TestOversizedRequestsAreRefused(t *testing.T) {
	c := start(t, harness.NewHome(t))
	before := c.status("VmRSS")
	basic := "Authorization: Basic YWRtaW46YWRtaW4=\r\n"
	for _, k := range []struct {
		name, head string
		fill       int // bytes that follow
		want       int
	}{
		{"headers", "GET /restconf/modules HTTP/1.1\r\nHost: ctl\r\n" + basic + "X-Big: ", 1 << 20, 431},
		{"a request line", "GET /restconf/", 1 << 20, 431},
		{"credentials", "GET /restconf/modules HTTP/1.1\r\nHost: ctl\r\nAuthorization: Basic ", 1 << 20, 431},
		{"a declared body", "PUT /restconf/config/aaa:http-authorization HTTP/1.1\r\nHost: ctl\r\n" + basic + "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n", 0, 413},
		{"a body of /auth", "POST /auth/v1/users HTTP/1.1\r\nHost: ctl\r\n" + basic + "Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n", 0, 413},
		{"a form", "POST /oauth2/token HTTP/1.1\r\nHost: ctl\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9000000\r\n\r\n", 0, 413},
		{"a body refused without credentials", "POST /auth/v1/users HTTP/1.1\r\nHost: ctl\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n", 0, 401},
	} {
		conn := c.connect(k.head)
		go func() { // the answer comes before the end of it
			_, _ = conn.Write(bytes.Repeat([]byte("x"), k.fill))
		}()
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		r.Body.Close()
		if r.StatusCode != k.want {
			t.Errorf("%s: %d, want %d", k.name, r.StatusCode, k.want)
		}
	}
	// A chunked body reports no length: it is cut where it becomes too large.
	conn := c.connect("PUT /restconf/config/aaa:http-authorization HTTP/1.1\r\nHost: ctl\r\n" + basic + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	go func() {
		chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<20, strings.Repeat(" ", 1<<20))
		for range 64 {
			if _, err := io.WriteString(conn, chunk); err != nil {
				return
			}
		}
	}()
	if r, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("64 MiB in chunks: %v, %v", r, err)
	}
	c.others("large requests come")
	if grown := (c.status("VmHWM") - before) >> 10; grown > 256 {
		t.Errorf("the controller grew by %d MiB", grown)
	}
}

// A thousand requests at once on one connection are answered one after the other.
func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	c := start(t, harness.NewHome(t))
	const n = 1000
	var all strings.Builder
	for i := range n {
		auth := ""
		if i%2 == 0 {
			auth = "Authorization: Basic YWRtaW46YWRtaW4=\r\n"
		}
		fmt.Fprintf(&all, "GET /restconf/modules?%d HTTP/1.1\r\nHost: ctl\r\n%s\r\n", i, auth)
	}
	conn := c.connect("")
	go func() { _, _ = io.WriteString(conn, all.String()) }()
	r := bufio.NewReader(conn)
	for i := range n {
		a, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if _, err := io.Copy(io.Discard, a.Body); err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		// The rights of one request never serve the next.
		if want := []int{200, 401}[i%2]; a.StatusCode != want {
			t.Fatalf("answer %d: %d, want %d", i, a.StatusCode, want)
		}
	}
	c.others("one client pipelines")
}
