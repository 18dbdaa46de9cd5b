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

	"ctl.internal/internal/nearest"
)

// logLevels are those of package logs, which stands beside this one.
var logLevels = []string{"OFF", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}

// check holds the settings against each other and against what is sensible.
func (l *Loaded) check(dir Dir) []Problem {
	c := checker{l: l}
	c.oneOf("datastore.engine", l.Datastore.Engine, "badger", "etcd")
	c.oneOf("tls.minVersion", l.TLS.MinVersion, "1.2", "1.3")
	c.oneOf("tls.clientCertificates", l.TLS.ClientCertificates, "off", "optional", "required")
	c.oneOf("aaa.roleDeniedStatus", fmt.Sprint(l.AAA.RoleDeniedStatus), "401", "403")
	c.oneOf("log.level", strings.ToUpper(l.Log.Level), logLevels...)
	for _, name := range sortedKeys(l.Log.Levels) {
		c.oneOf("log.levels", strings.ToUpper(l.Log.Levels[name]), logLevels...)
	}
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
	for key, v := range map[string]struct{ v, low, high int }{
		"datastore.history":      {l.Datastore.History, 16, 1 << 20},
		"limits.connections":     {l.Limits.Connections, 1, 1 << 20},
		"limits.inFlight":        {l.Limits.InFlight, 1, 1 << 20},
		"aaa.passwordMinimum":    {l.AAA.PasswordMinimum, 1, 256},
		"aaa.throttle.after":     {l.AAA.Throttle.After, 1, 1 << 20},
		"aaa.argon2.time":        {l.AAA.Argon2.Time, 1, 100},
		"aaa.argon2.threads":     {l.AAA.Argon2.Threads, 1, 64},
		"aaa.argon2.parallel":    {l.AAA.Argon2.Parallel, 0, 1024},
		"log.keep":               {l.Log.Keep, 1, 1000},
		"log.buffer":             {l.Log.Buffer, 1, 1 << 20},
		"supervisor.maxFailures": {l.Supervisor.MaxFailures, 1, 1000},
		"console.history":        {l.Console.History, 0, 1 << 20},
	} {
		if v.v < v.low || v.v > v.high {
			c.fault(key, "%d is not between %d and %d", v.v, v.low, v.high)
		}
	}
	for key, v := range map[string]struct{ v, low, high Size }{
		"limits.body":       {l.Limits.Body, 1 << 10, 1 << 30},
		"limits.header":     {l.Limits.Header, 4 << 10, 16 << 20},
		"aaa.argon2.memory": {l.AAA.Argon2.Memory, 8 << 20, 1 << 30},
		"log.maxSize":       {l.Log.MaxSize, 1 << 20, 10 << 30},
	} {
		if v.v < v.low || v.v > v.high {
			c.fault(key, "%s is not between %s and %s", v.v, v.low, v.high)
		}
	}
	for key, v := range map[string]struct{ v, low, high time.Duration }{
		"datastore.etcd.timeout":  {l.Datastore.Etcd.Timeout, 100 * time.Millisecond, time.Minute},
		"limits.headerTimeout":    {l.Limits.HeaderTimeout, time.Second, time.Hour},
		"limits.bodyTimeout":      {l.Limits.BodyTimeout, time.Second, time.Hour},
		"limits.requestTimeout":   {l.Limits.RequestTimeout, time.Second, time.Hour},
		"limits.idleTimeout":      {l.Limits.IdleTimeout, time.Second, 24 * time.Hour},
		"aaa.loginCache":          {l.AAA.LoginCache, 0, 24 * time.Hour},
		"aaa.passwordMaxAge":      {l.AAA.PasswordMaxAge, 0, 10 * 365 * 24 * time.Hour},
		"aaa.tokenLifetime":       {l.AAA.TokenLifetime, time.Second, 10 * 365 * 24 * time.Hour},
		"aaa.throttle.delay":      {l.AAA.Throttle.Delay, 0, time.Minute},
		"aaa.throttle.maxDelay":   {l.AAA.Throttle.MaxDelay, l.AAA.Throttle.Delay, time.Minute},
		"aaa.throttle.forget":     {l.AAA.Throttle.Forget, time.Second, 24 * time.Hour},
		"supervisor.startTimeout": {l.Supervisor.StartTimeout, 100 * time.Millisecond, 10 * time.Minute},
		"supervisor.callTimeout":  {l.Supervisor.CallTimeout, 100 * time.Millisecond, time.Hour},
		"supervisor.backoff":      {l.Supervisor.Backoff, time.Millisecond, time.Minute},
		"supervisor.maxBackoff":   {l.Supervisor.MaxBackoff, l.Supervisor.Backoff, time.Hour},
		"supervisor.stopGrace":    {l.Supervisor.StopGrace, 0, 5 * time.Minute},
		"console.idleTimeout":     {l.Console.IdleTimeout, 0, 30 * 24 * time.Hour},
	} {
		if v.v < v.low || v.v > v.high {
			c.fault(key, "%v is not between %v and %v", v.v, v.low, v.high)
		}
	}
	if e := l.Tracing.Endpoint; e != "" {
		if u, err := url.Parse(e); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
			c.fault("tracing.endpoint", "%q is not an address such as http://127.0.0.1:4318/v1/traces", e)
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
	p := Problem{File: c.l.origin[key], Key: key, Text: fmt.Sprintf(format, args...)}
	if file, line, ok := strings.Cut(p.File, ":"); ok {
		p.File = file
		fmt.Sscan(line, &p.Line)
	}
	c.problems = append(c.problems, p)
}

func (c *checker) oneOf(key, have string, allowed ...string) {
	if !slices.Contains(allowed, have) {
		c.fault(key, "%q is none of %s%s", have, strings.Join(allowed, ", "), nearest.Hint(have, allowed))
	}
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
