package home

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"time"
)

// checkSettings holds the settings against each other and against what is there. fault names a setting that is wrong.
func (c *Config) checkSettings(dir Dir, fault func(key, format string, args ...any)) {
	c.checkCluster(fault)
	c.Notify.check(dir, fault)
	for _, p := range []struct{ cert, key, certFile, keyFile string }{
		{"tls.certificate", "tls.key", c.TLS.Certificate, c.TLS.Key},
		{"datastore.etcd.certificate", "datastore.etcd.key", c.Datastore.Etcd.Certificate, c.Datastore.Etcd.Key},
		{"audit.syslogCertificate", "audit.syslogKey", c.Audit.SyslogCertificate, c.Audit.SyslogKey},
	} {
		if (p.certFile == "") != (p.keyFile == "") {
			fault(p.cert, "certificate and key are set together or not at all")
			continue
		}
		checkFile(dir, p.cert, p.certFile, fault)
		checkFile(dir, p.key, p.keyFile, fault)
	}
	checkFile(dir, "audit.syslogAuthorities", c.Audit.SyslogAuthorities, fault)
	a := c.Audit
	if a.SyslogAuthorities+a.SyslogCertificate != "" && !strings.HasPrefix(a.Syslog, "tls://") {
		fault(
			"audit.syslog",
			"%q is not over TLS, and certificates for it are set; write tls://HOST:6514",
			a.Syslog,
		)
	}
	checkFile(dir, "aaa.passwordBlocked", c.AAA.PasswordBlocked, fault)
	for _, o := range c.AAA.TrustedOrigins {
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(o); err != nil {
			fault(
				"aaa.trustedOrigins",
				"%q is not an origin; write scheme and host only, such as https://ctl.example.org",
				o,
			)
		}
	}
	for _, n := range c.Listeners.Names {
		if !hostName.MatchString(n) {
			fault(
				"listeners.names",
				"%q is not the name of a host; write it without scheme and port, such as ctl.example.org, or *.example.org for all below",
				n,
			)
		}
	}
	for _, p := range c.Listeners.Proxies {
		if _, err := ParsePrefix(p); err != nil {
			fault("listeners.proxies", "%v", err)
		}
	}
	if t := c.AAA.Throttle; t.MaxDelay < t.Delay {
		fault(
			"aaa.throttle.maxDelay",
			"%v is not between %v and %v",
			t.MaxDelay,
			t.Delay,
			time.Minute,
		)
	}
	if s := c.Supervisor; s.MaxBackoff < s.Backoff {
		fault(
			"supervisor.maxBackoff",
			"%v is not between %v and %v",
			s.MaxBackoff,
			s.Backoff,
			time.Hour,
		)
	}
}

var hostName = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$`)

// ParsePrefix reads an address or a network.
func ParsePrefix(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", text)
	}
	return p.Masked(), nil
}

// checkFile checks that the file which a setting names is there; empty = it names none.
func checkFile(dir Dir, key, path string, fault func(key, format string, args ...any)) {
	if path == "" {
		return
	}
	if _, err := os.Stat(dir.Path(path)); err != nil {
		fault(key, "%v", err)
	}
}

func (c *Config) checkCluster(fault func(key, format string, args ...any)) {
	s := c.Cluster
	if s.Listen.IsOff() {
		if s.Advertise != "" {
			fault("cluster.advertise", "is for a listener, and cluster.listen is off")
		}
		return
	}
	if !c.Datastore.Shared {
		fault(
			"cluster.listen",
			"%s is for the nodes of a cluster, which needs datastore.engine: etcd; this is %s",
			s.Listen,
			c.Datastore.Engine,
		)
	}
	host, _, _ := net.SplitHostPort(string(s.Listen))
	ip := net.ParseIP(host)
	if (host == "" || ip != nil && ip.IsUnspecified()) && s.Advertise == "" {
		fault(
			"cluster.listen",
			"%s is every address of this machine: say in cluster.advertise by which one the other nodes reach it",
			s.Listen,
		)
	}
	if strings.ContainsAny(s.Advertise, "/@ ") {
		fault(
			"cluster.advertise",
			"%q is not an address; write HOST or HOST:PORT, such as ctl1.lab:8183",
			s.Advertise,
		)
	}
}
