package home

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// check holds the settings against each other and against what is there.
func (l *Loaded) check(dir Dir) []Problem {
	c := checker{l: l}
	c.cluster()
	c.tls(dir)
	if f := l.AAA.PasswordBlocked; f != "" {
		if _, err := os.Stat(dir.Path(f)); err != nil {
			c.fault("aaa.passwordBlocked", "%v", err)
		}
	}
	for _, o := range l.AAA.TrustedOrigins {
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(o); err != nil {
			c.fault("aaa.trustedOrigins", "%q is not an origin; write scheme and host only, such as https://ctl.example.org", o)
		}
	}
	if t := l.AAA.Throttle; t.MaxDelay < t.Delay {
		c.fault("aaa.throttle.maxDelay", "%v is not between %v and %v", t.MaxDelay, t.Delay, time.Minute)
	}
	if s := l.Supervisor; s.MaxBackoff < s.Backoff {
		c.fault("supervisor.maxBackoff", "%v is not between %v and %v", s.MaxBackoff, s.Backoff, time.Hour)
	}
	slices.SortStableFunc(c.problems, func(a, b Problem) int { return strings.Compare(a.Key, b.Key) })
	return c.problems
}

type checker struct {
	l        *Loaded
	problems []Problem
}

// fault names the place the value came from.
func (c *checker) fault(key, format string, args ...any) {
	p := Problem{Key: key, Text: fmt.Sprintf(format, args...)}
	for _, e := range c.l.effective {
		if e.Key == key {
			p.File = e.Origin
		}
	}
	if file, line, ok := strings.Cut(p.File, ":"); ok {
		p.File = file
		fmt.Sscan(line, &p.Line)
	}
	c.problems = append(c.problems, p)
}

func (c *checker) cluster() {
	s := c.l.Cluster
	if s.Listen.IsOff() {
		if s.Advertise != "" {
			c.fault("cluster.advertise", "is for a listener, and cluster.listen is off")
		}
		return
	}
	if !c.l.Datastore.Shared {
		c.fault("cluster.listen", "%s is for the nodes of a cluster, which needs datastore.engine: etcd; this is %s", s.Listen, c.l.Datastore.Engine)
	}
	host, _, _ := net.SplitHostPort(string(s.Listen))
	if ip := net.ParseIP(host); (host == "" || ip != nil && ip.IsUnspecified()) && s.Advertise == "" {
		c.fault("cluster.listen", "%s is every address of this machine: say in cluster.advertise by which one the other nodes reach it", s.Listen)
	}
	if strings.ContainsAny(s.Advertise, "/@ ") {
		c.fault("cluster.advertise", "%q is not an address; write HOST or HOST:PORT, such as ctl1.lab:8183", s.Advertise)
	}
}

func (c *checker) tls(dir Dir) {
	pairs := []struct{ cert, key, certKey, keyKey string }{
		{c.l.TLS.Certificate, c.l.TLS.Key, "tls.certificate", "tls.key"},
		{c.l.Datastore.Etcd.Certificate, c.l.Datastore.Etcd.Key, "datastore.etcd.certificate", "datastore.etcd.key"}}
	for _, p := range pairs {
		if (p.cert == "") != (p.key == "") {
			c.fault(p.certKey, "certificate and key are set together or not at all")
			continue
		}
		for key, path := range map[string]string{p.certKey: p.cert, p.keyKey: p.key} {
			if path == "" {
				continue
			}
			if _, err := os.Stat(dir.Path(path)); err != nil {
				c.fault(key, "%v", err)
			}
		}
	}
}
