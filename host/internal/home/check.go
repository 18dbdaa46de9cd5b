package home

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// check holds the settings against each other and against what is there.
func (l *Loaded) check(dir Dir) []Problem {
	c := checker{l: l}
	c.etcd()
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
	if e := l.Tracing.Endpoint; e != "" {
		if u, err := url.Parse(e); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
			c.fault("tracing.endpoint", "%q is not an address such as http://127.0.0.1:4318/v1/traces", e)
		}
	}
	if a := l.Audit.Syslog; a != "" {
		if u, err := url.Parse(a); err != nil || !slices.Contains([]string{"udp", "tcp", "unix"}, u.Scheme) || (u.Scheme == "unix") == (u.Port() != "") {
			c.fault("audit.syslog", "%q is not an address such as udp://192.0.2.1:514, tcp://log.example.org:601 or unix:///dev/log", a)
		}
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

func (c *checker) etcd() {
	if c.l.Datastore.Engine != "etcd" {
		return
	}
	if len(c.l.Datastore.Etcd.Endpoints) == 0 {
		c.fault("datastore.etcd.endpoints", "engine etcd needs at least one endpoint, such as https://10.0.0.1:2379")
	}
	for _, e := range c.l.Datastore.Etcd.Endpoints {
		u, err := url.Parse(e)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "unix") || u.User != nil {
			c.fault("datastore.etcd.endpoints", "%q is not an address such as https://10.0.0.1:2379", e)
		}
	}
}

func (c *checker) cluster() {
	s := c.l.Cluster
	if s.Listen.IsOff() {
		if s.Advertise != "" {
			c.fault("cluster.advertise", "is for a listener, and cluster.listen is off")
		}
		return
	}
	if c.l.Datastore.Engine != "etcd" {
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
